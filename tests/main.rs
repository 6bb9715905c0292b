//! All integration tests, in one binary: a second one would link candle a second time.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::string_slice,
    clippy::too_many_lines,
    reason = "a test fails by panicking, and says why it was skipped on stderr"
)]

mod advise;
mod clean;
mod cli;
mod docs;
mod export;
mod house;
mod import;
mod probe;
mod pty;
mod reward;
mod sandbox;
mod score;
mod spine;
mod store;
mod triage;
mod tui;
