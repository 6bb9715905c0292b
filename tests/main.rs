//! All integration tests, in one binary: a second one would link candle a second time.

mod advise;
mod clean;
mod cli;
mod export;
mod house;
mod import;
mod pty;
mod reward;
mod score;
mod spine;
mod store;
mod triage;
mod tui;
