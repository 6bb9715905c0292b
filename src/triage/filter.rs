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

/// Returns the known word that a typing error most likely meant.
pub fn nearest_word<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed: Vec<char> = word.to_lowercase().chars().collect();
    let reach = typed.len().div_ceil(3).min(3);
    known
        .into_iter()
        .map(|k| {
            let letters: Vec<char> = k.to_lowercase().chars().collect();
            let starts = typed.len() >= 2 && letters.starts_with(&typed);
            (if starts { 1 } else { edits(&typed, &letters) }, k)
        })
        .filter(|(d, _)| *d <= reach)
        .min_by_key(|(d, _)| *d)
        .map(|(_, k)| k)
}

/// Edits between two words: insert, delete, replace, swap of neighbours.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(rows[i - 2][j - 2] + 1);
            }
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests;
