//! What a grader reads in an answer: citations, numbers, questions.

use crate::text::fold;

/// A citation as the answer writes it: `[hotel-cap v2]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Citation {
    pub(super) doc_id: String,
    pub(super) version: Option<String>,
}

/// Reads all citations of an answer: a document id in square brackets, perhaps with a version behind it.
pub(super) fn citations(answer: &str) -> Vec<Citation> {
    let mut out = Vec::new();
    let mut rest = answer;
    while let Some((_, after)) = rest.split_once(['[', '【']) {
        let Some((inside, tail)) = after.split_once([']', '】']) else {
            break;
        };
        let mut words = inside.split_whitespace();
        if let Some(doc_id) = words.next() {
            let version: Vec<&str> = words.collect();
            out.push(Citation {
                doc_id: doc_id.to_owned(),
                version: (!version.is_empty()).then(|| version.join(" ")),
            });
        }
        rest = tail;
    }
    out
}

/// The answer without its citations: ids and versions are no figures.
pub(super) fn without_citations(answer: &str) -> String {
    let mut out = String::new();
    let mut rest = answer;
    while let Some((before, after)) = rest.split_once(['[', '【']) {
        out.push_str(before);
        match after.split_once([']', '】']) {
            Some((_, tail)) => rest = tail,
            None => return out,
        }
    }
    out.push_str(rest);
    out
}

/// Numbers of a text, separators of thousands dropped; days like 2025-07-01 are not figures.
pub(super) fn numbers(text: &str) -> Vec<String> {
    let folded: Vec<char> = fold(text).chars().collect();
    let mut out = Vec::new();
    let mut i = 0;
    while i < folded.len() {
        if !folded[i].is_ascii_digit() {
            i += 1;
            continue;
        }
        let start = i;
        while i < folded.len() && is_number_char(&folded, i) {
            i += 1;
        }
        let word: String = folded[start..i].iter().filter(|c| **c != ',').collect();
        let glued = start > 0 && folded[start - 1].is_ascii_alphabetic();
        if !glued && !word.contains(['-', '/', ':']) {
            out.push(word.trim_end_matches('.').to_owned());
        }
    }
    out
}

fn is_number_char(text: &[char], i: usize) -> bool {
    let digit = |j: usize| text.get(j).is_some_and(char::is_ascii_digit);
    let joint = matches!(text[i], ',' | '.' | '-' | '/' | ':');
    text[i].is_ascii_digit() || (joint && i > 0 && digit(i - 1) && digit(i + 1))
}

/// The answer asks back.
pub(super) fn asks(answer: &str) -> bool {
    answer.contains(['?', '？'])
}
