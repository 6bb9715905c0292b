//! Exports: what leaves, what stays out and why, and that the same input gives the same bytes.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

mod atif;
mod consumers;
mod fixtures;
mod manifest;
mod preview;
mod refusals;
mod split;
mod tokens;
mod trl;
