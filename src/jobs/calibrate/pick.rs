//! Draws the failures that get all cells: every cause in proportion, by seed.

use super::suite::Case;
use crate::stats::Chance;
use std::collections::BTreeMap;

/// Returns the places of `wanted` cases, in the order of the suite.
pub(super) fn pick(cases: &[Case], wanted: usize, seed: u64) -> Vec<usize> {
    let mut causes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (i, case) in cases.iter().enumerate() {
        causes.entry(&case.cause).or_default().push(i);
    }
    let mut queue: Vec<(f64, usize)> = Vec::new();
    for (cause, mut of) in causes {
        Chance::named(seed, cause).shuffle(&mut of);
        let n = of.len() as f64;
        // The first of each cause stand early in the queue in proportion to how many there are.
        queue.extend(
            of.into_iter()
                .enumerate()
                .map(|(rank, i)| ((rank as f64 + 0.5) / n, i)),
        );
    }
    Chance::named(seed, "ties").shuffle(&mut queue);
    queue.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut out: Vec<usize> = queue.into_iter().take(wanted).map(|(_, i)| i).collect();
    out.sort_unstable();
    out
}
