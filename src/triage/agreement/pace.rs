//! Time per item: active time only, for planning and for spotting haste. People are never ranked by speed.

use crate::stats::{median, quantile};
use serde::Serialize;

/// Fewest items in a row that make a hasty stretch.
const STRETCH: usize = 5;

/// Faster than this share of the reviewer's own median is hasty. Our judgement.
const HASTY: f64 = 0.2;

/// One reviewer's pace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pace {
    /// Items.
    pub items: usize,
    /// Median active time, ms.
    pub median_ms: f64,
    /// Quartiles, ms.
    pub quartiles_ms: (f64, f64),
    /// Hasty stretches: first item and number of items, in the order in which they were labelled.
    pub hasty: Vec<(usize, usize)>,
}

/// Reads a reviewer's active times, in the order in which items were labelled.
pub fn pace(active_ms: &[u64]) -> Option<Pace> {
    let times: Vec<f64> = active_ms.iter().map(|t| *t as f64).collect();
    let middle = median(&times)?;
    Some(Pace {
        items: times.len(),
        median_ms: middle,
        quartiles_ms: (quantile(&times, 0.25)?, quantile(&times, 0.75)?),
        hasty: stretches(&times, HASTY * middle),
    })
}

fn stretches(times: &[f64], limit: f64) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut start = 0;
    for end in 0..=times.len() {
        if times.get(end).is_some_and(|t| *t < limit) {
            continue;
        }
        if end - start >= STRETCH {
            out.push((start, end - start));
        }
        start = end + 1;
    }
    out
}
