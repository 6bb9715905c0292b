//! Completes the word under the cursor of a filter line.

use super::print::value;
use super::vocabulary::{OTHER_KEYS, closed_values, features};
use crate::domain::filter::Field;

/// What could stand at the cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    /// First character that a choice replaces, from 0.
    pub start: usize,
    /// First character after it.
    pub end: usize,
    /// The choices, best first.
    pub choices: Vec<Choice>,
}

/// One choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What is put in.
    pub insert: String,
    /// A few words about it.
    pub note: String,
}

/// Completes at `cursor` (in characters). `known` gives the values that a column has in the workspace.
pub fn complete_filter(
    text: &str,
    cursor: usize,
    known: &dyn Fn(Field) -> Vec<String>,
) -> Completion {
    let chars: Vec<char> = text.chars().collect();
    let end = cursor.min(chars.len());
    let start = word_start(&chars, end);
    let word: String = chars[start..end].iter().collect();
    let bare = word.strip_prefix('-').unwrap_or(&word);
    let minus = word.chars().count() - bare.chars().count();
    match bare.split_once(':') {
        None => Completion {
            start: start + minus,
            end,
            choices: matching(bare, key_choices()),
        },
        Some((key, typed)) => {
            let last = typed.rsplit(',').next().unwrap_or(typed);
            let last = last.strip_prefix('"').unwrap_or(last);
            let last_len = typed.rsplit(',').next().map_or(0, |t| t.chars().count());
            Completion {
                start: end - last_len,
                end,
                choices: matching(last, value_choices(key, known)),
            }
        }
    }
}

fn word_start(chars: &[char], end: usize) -> usize {
    let mut start = 0;
    let mut in_quotes = false;
    for (i, c) in chars[..end].iter().enumerate() {
        match c {
            '"' => in_quotes = !in_quotes,
            c if c.is_whitespace() && !in_quotes => start = i + 1,
            _ => {}
        }
    }
    start
}

fn key_choices() -> Vec<Choice> {
    let columns = Field::ALL.iter().map(|(field, word)| Choice {
        insert: format!("{word}:"),
        note: closed_values(*field).map_or_else(String::new, |v| v.join(", ")),
    });
    let others = OTHER_KEYS.iter().map(|(word, note)| Choice {
        insert: format!("{word}:"),
        note: (*note).to_owned(),
    });
    columns.chain(others).collect()
}

fn value_choices(key: &str, known: &dyn Fn(Field) -> Vec<String>) -> Vec<Choice> {
    let words: Vec<String> = match key {
        "has" => features().map(str::to_owned).collect(),
        "labelled" => ["me", "any", "none"].map(str::to_owned).to_vec(),
        "sort" => sort_words(),
        _ => Field::from_word(key).map_or_else(Vec::new, |field| column_words(field, known)),
    };
    words.into_iter().map(plain).collect()
}

fn sort_words() -> Vec<String> {
    let up = Field::ALL.iter().map(|(_, w)| (*w).to_owned());
    let down = Field::ALL.iter().map(|(_, w)| format!("-{w}"));
    up.chain(down).collect()
}

fn column_words(field: Field, known: &dyn Fn(Field) -> Vec<String>) -> Vec<String> {
    let mut words: Vec<String> = match closed_values(field) {
        Some(closed) => closed.into_iter().map(str::to_owned).collect(),
        None => known(field).iter().map(|v| value(v)).collect(),
    };
    words.push("none".to_owned());
    words
}

fn plain(insert: String) -> Choice {
    Choice {
        insert,
        note: String::new(),
    }
}

/// Keeps what starts with the typed word, then what holds it.
fn matching(typed: &str, choices: Vec<Choice>) -> Vec<Choice> {
    let typed = typed.to_lowercase();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for choice in choices {
        let word = choice.insert.trim_start_matches('"').to_lowercase();
        if word.starts_with(&typed) {
            first.push(choice);
        } else if word.contains(&typed) {
            rest.push(choice);
        }
    }
    first.extend(rest);
    first
}
