//! The real binary on a real pseudo-terminal: what a person at a shell would see, down to the state in which the
//! terminal is left. Every play runs inside a shell, so that what follows the program shows how the terminal was left.

mod label;
mod leave;
mod term;
