//! Do probabilities hold? A row's share of right suggestions, learnt on other tasks, against what then happened.
//!
//! No suggestion gets a probability without this table.

use super::Judged;
use crate::domain::Layer;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Width of a bin of the table.
const BINS: usize = 5;

/// How often the suggestions of one row were right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowRecord {
    /// The row.
    pub row: u32,
    /// What it said.
    pub layer: Layer,
    /// Right ones.
    pub right: u32,
    /// All of them.
    pub of: u32,
}

/// Counts right and wrong by row and layer, abstentions left out.
pub fn row_record(items: &[Judged]) -> Vec<RowRecord> {
    let mut counts: BTreeMap<(u32, Layer), (u32, u32)> = BTreeMap::new();
    for (row, item) in named(items) {
        let slot = counts.entry((row, item.said)).or_default();
        slot.0 += u32::from(item.is_right());
        slot.1 += 1;
    }
    let record = |((row, layer), (right, of))| RowRecord {
        row,
        layer,
        right,
        of,
    };
    counts.into_iter().map(record).collect()
}

/// Suggestions whose probability lay in one stretch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// Lower end.
    pub from: f64,
    /// Upper end.
    pub to: f64,
    /// Suggestions.
    pub n: u32,
    /// Mean probability.
    pub said: f64,
    /// Share that was right.
    pub right: f64,
}

/// A reliability table with its Brier score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reliability {
    /// Suggestions that named a layer.
    pub n: u32,
    /// Mean squared distance of probability and truth: 0 is best, 0.25 is what a coin gives.
    pub brier: f64,
    /// The same for the one probability that fits all of them best.
    pub brier_constant: f64,
    /// Bins that hold anything.
    pub bins: Vec<ReliabilityBin>,
}

/// Gives every named layer the share of right suggestions that its row had on all other tasks, and checks it.
///
/// Nothing where no layer was named.
pub fn reliability(items: &[Judged]) -> Option<Reliability> {
    let all: Vec<(u32, &Judged)> = named(items).collect();
    let told: Vec<(f64, bool)> = all
        .iter()
        .map(|(row, item)| (elsewhere(&all, *row, item), item.is_right()))
        .collect();
    let base = mean(told.iter().map(|(_, right)| truth(*right)))?;
    let brier = mean(told.iter().map(|(p, right)| (p - truth(*right)).powi(2)))?;
    Some(Reliability {
        n: u32::try_from(told.len()).unwrap_or(u32::MAX),
        brier,
        brier_constant: mean(told.iter().map(|(_, right)| (base - truth(*right)).powi(2)))?,
        bins: (0..BINS).filter_map(|b| bin(&told, b)).collect(),
    })
}

fn named(items: &[Judged]) -> impl Iterator<Item = (u32, &Judged)> {
    let with_row = items.iter().filter(|i| !i.is_abstention());
    with_row.filter_map(|i| i.row.map(|row| (row, i)))
}

/// Laplace's share: a row that was never seen elsewhere says one half.
fn elsewhere(all: &[(u32, &Judged)], row: u32, item: &Judged) -> f64 {
    let others = all
        .iter()
        .filter(|(r, o)| *r == row && o.said == item.said && o.group != item.group);
    let (right, of) = others.fold((0.0, 0.0), |(right, of), (_, o)| {
        (right + truth(o.is_right()), of + 1.0)
    });
    (right + 1.0) / (of + 2.0)
}

fn bin(told: &[(f64, bool)], at: usize) -> Option<ReliabilityBin> {
    let (from, to) = (at as f64 / BINS as f64, (at + 1) as f64 / BINS as f64);
    let is_last = at + 1 == BINS;
    let here: Vec<&(f64, bool)> = told
        .iter()
        .filter(|(p, _)| *p >= from && (*p < to || is_last))
        .collect();
    Some(ReliabilityBin {
        from,
        to,
        n: u32::try_from(here.len()).unwrap_or(u32::MAX),
        said: mean(here.iter().map(|(p, _)| *p))?,
        right: mean(here.iter().map(|(_, right)| truth(*right)))?,
    })
}

fn truth(right: bool) -> f64 {
    if right { 1.0 } else { 0.0 }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    crate::stats::mean(&values.collect::<Vec<_>>())
}
