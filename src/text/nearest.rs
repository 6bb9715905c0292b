//! "Did you mean": the nearest of a few known words.

/// Returns the candidate nearest to `word`, if one is near enough to be what was meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = word.chars().count().div_ceil(3).max(1);
    candidates
        .into_iter()
        .map(|c| (distance(word, c), c))
        .filter(|(d, c)| *d <= most || (word.len() > 1 && c.starts_with(word)))
        .min_by_key(|(d, c)| (*d, c.len()))
        .map(|(_, c)| c)
}

/// Edits (insert, delete, replace, swap of neighbours) between two words; optimal string alignment.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut older: Vec<usize> = Vec::new();
    let mut old: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (old[j] + 1).min(row[j - 1] + 1).min(old[j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(older[j - 2] + 1);
            }
            row.push(best);
        }
        older = std::mem::replace(&mut old, row);
    }
    old[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    // Distances by hand.
    #[test]
    fn counts_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("outcome", "outcmoe"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn suggests_only_what_is_near() {
        let words = ["layer", "outcome", "family"];
        assert_eq!(nearest("outcmoe", words), Some("outcome"));
        assert_eq!(nearest("fam", words), Some("family"));
        assert_eq!(nearest("zzz", words), None);
    }
}
