//! How alike two texts are, character by character; used to find pairs whose sides hardly differ (gate D7).

use similar::{Algorithm, capture_diff_slices, diff_ratio};
use std::collections::HashMap;

/// Characters of each side that are compared; what is equal so far and differs later differs enough.
const MAX_CHARS: usize = 4_000;

/// Share of equal characters, 0 to 1. Below `least` the answer may be too high, never too low: most pairs are told apart without a comparison.
pub(super) fn similarity(a: &str, b: &str, least: f64) -> f64 {
    let a: Vec<char> = a.chars().take(MAX_CHARS).collect();
    let b: Vec<char> = b.chars().take(MAX_CHARS).collect();
    let total = (a.len() + b.len()) as f64;
    if total == 0.0 {
        return 1.0;
    }
    let most = 2.0 * shared(&a, &b) as f64 / total;
    if most <= least {
        return most;
    }
    let ops = capture_diff_slices(Algorithm::Myers, &a, &b);
    f64::from(diff_ratio(&ops, a.len(), b.len()))
}

/// Characters that both hold, wherever they stand.
fn shared(a: &[char], b: &[char]) -> usize {
    let mut counts: HashMap<char, usize> = HashMap::new();
    for c in a {
        *counts.entry(*c).or_default() += 1;
    }
    let mut both = 0;
    for c in b {
        if let Some(left) = counts.get_mut(c).filter(|n| **n > 0) {
            *left -= 1;
            both += 1;
        }
    }
    both
}

#[cfg(test)]
mod tests {
    use super::similarity;

    #[test]
    fn ratio_by_hand() {
        // One of twenty characters differs on each side: 2 * 19 / 40.
        let (a, b) = ("abcdefghijklmnopqrst", "abcdefghijklmnopqrsX");
        assert!((similarity(a, b, 0.5) - 0.95).abs() < 1e-6);
        assert!((similarity(a, a, 0.95) - 1.0).abs() < 1e-9);
        // The same letters in another order are told apart by the comparison, not by the count.
        assert!(similarity("abcdefghij", "jihgfedcba", 0.95) < 0.5);
        assert!(similarity("上限150欧元", "上限120欧元", 0.95) < 0.95);
    }
}
