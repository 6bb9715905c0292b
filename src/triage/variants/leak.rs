//! An inserted text must not give the answer away: no run of eight words shared with the corrected action.

use crate::domain::ChatMessage;
use crate::text::is_cjk;

/// Length of a run that counts as copied; a Chinese character counts as a word.
pub const LEAK_WORDS: usize = 8;

/// Returns the first run of eight words of `inserted` that also stands in the corrected action, unless `known` (the
/// document itself, the recorded context) holds it too: quoting the rule is not giving the answer away.
pub fn leaked_words(inserted: &str, corrected: &ChatMessage, known: &[&str]) -> Option<String> {
    let calls = corrected.tool_calls.iter().map(|c| c.arguments.as_str());
    let texts: Vec<&str> = corrected
        .content
        .as_deref()
        .into_iter()
        .chain(calls)
        .collect();
    let answer: Vec<Vec<String>> = texts.iter().map(|t| words(t)).collect();
    let open: Vec<Vec<String>> = known.iter().map(|t| words(t)).collect();
    let mine = words(inserted);
    mine.windows(LEAK_WORDS)
        .find(|run| holds(&answer, run) && !holds(&open, run))
        .map(|run| run.join(" "))
}

fn holds(texts: &[Vec<String>], run: &[String]) -> bool {
    texts
        .iter()
        .any(|t| t.windows(LEAK_WORDS).any(|w| w == run))
}

fn words(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut open = false;
    for c in crate::text::fold(text).chars() {
        if is_cjk(c) && c.is_alphanumeric() {
            out.push(c.to_string());
            open = false;
        } else if c.is_alphanumeric() {
            match out.last_mut().filter(|_| open) {
                Some(word) => word.push(c),
                None => out.push(c.to_string()),
            }
            open = true;
        } else {
            open = false;
        }
    }
    out
}
