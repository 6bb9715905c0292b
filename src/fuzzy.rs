//! Fuzzy matching of short names: the palette, the jump list, completion.
//!
//! The only file that knows which crate does it, so that it can be swapped. Not for full-text search.

use fuzzy_matcher::FuzzyMatcher;
use fuzzy_matcher::skim::SkimMatcherV2;

/// Longest candidate that is looked at, in bytes: a longer one would cost more than it helps.
const MAX_CANDIDATE: usize = 512;

/// A candidate that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Its place in the list that was given.
    pub index: usize,
    /// The higher the better.
    pub score: i64,
}

/// Returns the candidates that match `pattern`, best first, at most `most` of them.
///
/// An empty pattern matches everything, in the order given. Equal scores keep that order too.
pub fn rank<'a>(
    pattern: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Vec<Hit> {
    let candidates = candidates.into_iter().enumerate();
    if pattern.is_empty() {
        return candidates
            .take(most)
            .map(|(index, _)| Hit { index, score: 0 })
            .collect();
    }
    let matcher = SkimMatcherV2::default();
    let mut hits: Vec<Hit> = candidates
        .filter_map(|(index, text)| {
            let text = crate::text::capped(text, MAX_CANDIDATE).0;
            let score = matcher.fuzzy_match(text, pattern)?;
            Some(Hit { index, score })
        })
        .collect();
    hits.sort_by_key(|hit| (-hit.score, hit.index));
    hits.truncate(most);
    hits
}

/// Returns which characters of `text` match, for highlighting.
pub fn matched(pattern: &str, text: &str) -> Vec<usize> {
    SkimMatcherV2::default()
        .fuzzy_indices(text, pattern)
        .map_or_else(Vec::new, |(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_match_comes_first_and_order_is_kept() {
        let names = ["next failure", "move down", "new filter", "报销政策"];
        let first = |pattern| rank(pattern, names, 9).first().map(|h| names[h.index]);
        assert_eq!(first("nfa"), Some("next failure"));
        assert_eq!(first("down"), Some("move down"));
        assert_eq!(first("政策"), Some("报销政策"));
        assert_eq!(first("zzz"), None);
        assert_eq!(rank("", names, 2).len(), 2);
        assert_eq!(matched("nf", "next failure"), vec![0, 5]);
    }
}
