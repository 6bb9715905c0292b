//! Who agrees with whom: κ, α, AC1 with intervals, disagreements, bias of side and length, test–retest, time per item.
//!
//! Original labels only: an adjudicated label settles a difference and never enters agreement.

mod alpha;
mod bias;
mod kappa;
mod pace;
mod retest;

pub use alpha::{Alpha, Metric as AlphaMetric, alpha};
pub use bias::{BiasReport, PairTrace, SwapCheck, pair_bias, swap_check};
pub use kappa::{Table, ac1, cohen, fleiss, pabak, table_alpha};
pub use pace::{Pace, pace};
pub use retest::{Retest, TimedLabel, retest};

use crate::stats::{Interval, bootstrap};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Labels of several reviewers on the same items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ratings {
    /// Item → reviewer → label.
    pub items: BTreeMap<String, BTreeMap<String, String>>,
}

/// One statistic with its interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Statistic {
    /// Its name.
    pub statistic: String,
    /// Its value; nothing where it is undefined.
    pub value: Option<f64>,
    /// 95% bootstrap interval over items.
    pub interval: Option<Interval>,
    /// Items that entered.
    pub n: usize,
    /// Why it is undefined, or how to read it.
    pub reason: String,
}

/// An item on which reviewers differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// The item.
    pub item: String,
    /// Who says what.
    pub labels: BTreeMap<String, String>,
}

/// Everything about one set of labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgreementReport {
    /// Statistics, the headline first.
    pub statistics: Vec<Statistic>,
    /// Agreement of each label: of the reviewers who meet it on an item, how many others give it too.
    pub per_label: BTreeMap<String, Option<f64>>,
    /// How often two labels met on one item, unordered pairs of reviewers.
    pub matrix: BTreeMap<String, BTreeMap<String, u32>>,
    /// Items on which reviewers differ.
    pub disagreements: Vec<Disagreement>,
    /// Items with fewer than two labels, dropped.
    pub dropped: usize,
}

/// Draws of the bootstrap.
const DRAWS: usize = 2000;

impl Ratings {
    /// Collects labels; a reviewer's later label on the same item replaces the earlier one.
    pub fn from_labels<'a>(labels: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>) -> Self {
        let mut out = Self::default();
        for (item, reviewer, label) in labels {
            let of_item = out.items.entry(item.to_owned()).or_default();
            of_item.insert(reviewer.to_owned(), label.to_owned());
        }
        out
    }

    /// All reviewers.
    pub fn reviewers(&self) -> BTreeSet<&str> {
        self.items
            .values()
            .flat_map(|l| l.keys().map(String::as_str))
            .collect()
    }

    /// Items with at least two labels, as category numbers, and the categories.
    fn units(&self) -> (Vec<Vec<f64>>, Vec<&str>) {
        let names: BTreeSet<&str> = self
            .items
            .values()
            .flat_map(|l| l.values().map(String::as_str))
            .collect();
        let names: Vec<&str> = names.into_iter().collect();
        let number = |label: &str| names.iter().position(|n| *n == label).unwrap_or(0) as f64;
        let shared = self.items.values().filter(|l| l.len() > 1);
        let units = shared
            .map(|l| l.values().map(|v| number(v)).collect())
            .collect();
        (units, names)
    }
}

/// Reports on a set of labels. The same seed gives the same intervals.
pub fn agreement_report(ratings: &Ratings, seed: u64) -> AgreementReport {
    let (units, names) = ratings.units();
    let mut statistics = vec![alpha_statistic(&units, seed)];
    statistics.extend(kappa_statistics(ratings, &units, &names, seed));
    statistics.push(raw_statistic(&units, seed));
    statistics.push(ac1_statistic(&units, names.len(), seed));
    AgreementReport {
        statistics,
        per_label: per_label(&units, &names),
        matrix: matrix(ratings),
        disagreements: disagreements(ratings),
        dropped: ratings.items.len() - units.len(),
    }
}

fn alpha_statistic(units: &[Vec<f64>], seed: u64) -> Statistic {
    let of = |units: &[Vec<f64>]| alpha(units, AlphaMetric::Nominal).and_then(|a| a.value);
    let value = of(units);
    let reading = match value {
        Some(v) if v >= 0.8 => "reliable (>= .800)",
        Some(v) if v >= 0.667 => "tentative (.667-.800)",
        Some(_) => "below .667: settle differences, sharpen the codebook",
        None if units.is_empty() => "n/a: no item carries two labels",
        None => "n/a: all labels are the same, so agreement by chance is certain",
    };
    statistic(
        "krippendorff-alpha-nominal",
        value,
        units,
        seed,
        reading,
        of,
    )
}

fn kappa_statistics(
    ratings: &Ratings,
    units: &[Vec<f64>],
    names: &[&str],
    seed: u64,
) -> Vec<Statistic> {
    let reviewers = ratings.reviewers().len();
    let categories = names.len();
    let same = units
        .first()
        .map(Vec::len)
        .filter(|m| units.iter().all(|u| u.len() == *m));
    let complete = units.len() == ratings.items.len();
    match same {
        Some(2) if reviewers == 2 && complete => {
            let of = |units: &[Vec<f64>]| cohen(&Table::from_pairs(units, categories));
            vec![statistic(
                "cohen-kappa",
                of(units),
                units,
                seed,
                "two reviewers, every item",
                of,
            )]
        }
        Some(m) if m > 2 && reviewers == m && complete => {
            let of = |units: &[Vec<f64>]| fleiss(&counts(units, categories));
            vec![statistic(
                "fleiss-kappa",
                of(units),
                units,
                seed,
                "the same number of reviewers on every item",
                of,
            )]
        }
        _ => Vec::new(),
    }
}

fn raw_statistic(units: &[Vec<f64>], seed: u64) -> Statistic {
    statistic(
        "raw-agreement",
        raw(units),
        units,
        seed,
        "share of equal pairs, chance included",
        raw,
    )
}

fn ac1_statistic(units: &[Vec<f64>], categories: usize, seed: u64) -> Statistic {
    let of = |units: &[Vec<f64>]| ac1(&counts(units, categories));
    let reading = "Gwet: steady where one label prevails and kappa is not";
    statistic("gwet-ac1", of(units), units, seed, reading, of)
}

fn statistic(
    name: &str,
    value: Option<f64>,
    units: &[Vec<f64>],
    seed: u64,
    reading: &str,
    of: impl Fn(&[Vec<f64>]) -> Option<f64>,
) -> Statistic {
    let interval = value.and_then(|_| {
        bootstrap(units.len(), DRAWS, 0.95, seed, |picked| {
            let drawn: Vec<Vec<f64>> = picked
                .iter()
                .filter_map(|i| units.get(*i).cloned())
                .collect();
            of(&drawn)
        })
    });
    let undefined = value.is_none() && !reading.starts_with("n/a");
    Statistic {
        statistic: name.to_owned(),
        value,
        interval,
        n: units.len(),
        reason: if undefined {
            "n/a: undefined for these labels".to_owned()
        } else {
            reading.to_owned()
        },
    }
}

/// Labels of each item counted by category.
fn counts(units: &[Vec<f64>], categories: usize) -> Vec<Vec<u32>> {
    units
        .iter()
        .map(|u| (0..categories).map(|c| same_as(u, c as f64)).collect())
        .collect()
}

fn same_as(unit: &[f64], category: f64) -> u32 {
    u32::try_from(unit.iter().filter(|v| **v == category).count()).unwrap_or(u32::MAX)
}

/// Mean share of agreeing pairs an item.
fn raw(units: &[Vec<f64>]) -> Option<f64> {
    let shares: Vec<f64> = units
        .iter()
        .filter(|u| u.len() > 1)
        .map(|u| pair_share(u))
        .collect();
    crate::stats::mean(&shares)
}

fn pair_share(unit: &[f64]) -> f64 {
    let m = unit.len();
    let same: usize = unit
        .iter()
        .map(|v| unit.iter().filter(|w| *w == v).count() - 1)
        .sum();
    same as f64 / (m * (m - 1)) as f64
}

fn per_label(units: &[Vec<f64>], names: &[&str]) -> BTreeMap<String, Option<f64>> {
    let share = |category: f64| {
        let (mut same, mut met) = (0.0, 0.0);
        for unit in units.iter().filter(|u| u.len() > 1) {
            let mine = f64::from(same_as(unit, category));
            same += mine * (mine - 1.0);
            met += mine * (unit.len() as f64 - 1.0);
        }
        (met > 0.0).then(|| same / met)
    };
    let numbered = names.iter().zip(0_u32..);
    numbered
        .map(|(name, c)| ((*name).to_owned(), share(f64::from(c))))
        .collect()
}

fn matrix(ratings: &Ratings) -> BTreeMap<String, BTreeMap<String, u32>> {
    let mut out: BTreeMap<String, BTreeMap<String, u32>> = BTreeMap::new();
    for labels in ratings.items.values() {
        let given: Vec<&String> = labels.values().collect();
        for (i, a) in given.iter().enumerate() {
            for b in given.iter().skip(i + 1) {
                *out.entry((*a).clone())
                    .or_default()
                    .entry((*b).clone())
                    .or_default() += 1;
            }
        }
    }
    out
}

fn disagreements(ratings: &Ratings) -> Vec<Disagreement> {
    let differ = |labels: &BTreeMap<String, String>| {
        let all: BTreeSet<&String> = labels.values().collect();
        all.len() > 1
    };
    let items = ratings.items.iter().filter(|(_, labels)| differ(labels));
    items
        .map(|(item, labels)| Disagreement {
            item: item.clone(),
            labels: labels.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests;
