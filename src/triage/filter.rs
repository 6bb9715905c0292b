//! The filter language of `--filter`, the `f` line and saved queues: read, printed back, completed.
//!
//! Does not run filters; the store turns a parsed filter into a query.

mod complete;
mod print;
mod read;
mod split;
mod vocabulary;

pub use complete::{Choice as FilterChoice, Completion, complete_filter};
pub use print::print_filter;
pub use read::parse_filter;

/// What is wrong with a filter, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("filter: {what} at character {}{}", .at + 1, hint_text(.hint))]
pub struct FilterError {
    /// First character, from 0.
    pub at: usize,
    /// How many characters it spans; 0 = something is missing there.
    pub len: usize,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub hint: Option<String>,
}

fn hint_text(hint: &Option<String>) -> String {
    hint.as_ref()
        .map_or_else(String::new, |h| format!("\nhint: {h}"))
}

#[cfg(test)]
mod tests;
