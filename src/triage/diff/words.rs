//! Differences inside one text, word by word; Chinese, Japanese and Korean character by character.

use serde::Serialize;
use similar::{Algorithm, ChangeTag, TextDiffConfig};

/// Past this much text on either side only lines are compared: the work grows with the square of the difference.
const MAX_WORD_DIFF_BYTES: usize = 32 * 1024;

/// Past this many lines on either side the texts stand whole against each other.
const MAX_DIFF_LINES: usize = 10_000;

/// Which side holds a stretch of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WordSide {
    /// Both.
    Both,
    /// The first text only.
    A,
    /// The second text only.
    B,
}

/// A stretch of text and who holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WordChange {
    /// Who holds it.
    pub side: WordSide,
    /// The text.
    pub text: String,
}

/// Compares two texts; the stretches of one side, joined, give that side back.
pub fn word_diff(a: &str, b: &str) -> Vec<WordChange> {
    let mut config = TextDiffConfig::default();
    config.algorithm(Algorithm::Myers);
    let long = a.len().max(b.len()) > MAX_WORD_DIFF_BYTES;
    let huge = long && a.lines().count().max(b.lines().count()) > MAX_DIFF_LINES;
    let mut out: Vec<WordChange> = Vec::new();
    let mut add = |tag: ChangeTag, text: &str| {
        let side = match tag {
            ChangeTag::Equal => WordSide::Both,
            ChangeTag::Delete => WordSide::A,
            ChangeTag::Insert => WordSide::B,
        };
        match out.last_mut().filter(|last| last.side == side) {
            Some(last) => last.text.push_str(text),
            None => out.push(WordChange {
                side,
                text: text.to_owned(),
            }),
        }
    };
    if huge && a != b {
        add(ChangeTag::Delete, a);
        add(ChangeTag::Insert, b);
    } else if long {
        let diff = config.diff_lines(a, b);
        diff.iter_all_changes()
            .for_each(|c| add(c.tag(), c.value()));
    } else {
        let diff = config.diff_unicode_words(a, b);
        diff.iter_all_changes()
            .for_each(|c| add(c.tag(), c.value()));
    }
    out
}
