//! Cleaning: what is found, how well, and that it stays a question to people.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail loudly")]

mod checks;
mod corpus;
