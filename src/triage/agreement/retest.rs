//! Test–retest: how far a reviewer agrees with an earlier self. It bounds what two reviewers can reach.

use super::kappa::{Table, cohen};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// One label with its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedLabel {
    /// The item.
    pub item: String,
    /// Who.
    pub reviewer: String,
    /// The label.
    pub label: String,
    /// When, microseconds UTC.
    pub at_us: i64,
}

/// One reviewer's agreement with an earlier self.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Retest {
    /// Items labelled twice, far enough apart.
    pub items: usize,
    /// Share of equal labels.
    pub raw: f64,
    /// Cohen's κ of first against second label; nothing where it is undefined.
    pub kappa: Option<f64>,
    /// Items on which the reviewer changed.
    pub changed: Vec<String>,
}

/// Compares each reviewer's first label of an item with the first one given at least `gap_us` later.
pub fn retest(labels: &[TimedLabel], gap_us: i64) -> BTreeMap<String, Retest> {
    let mut by: BTreeMap<&str, BTreeMap<&str, Vec<&TimedLabel>>> = BTreeMap::new();
    for label in labels {
        let items = by.entry(&label.reviewer).or_default();
        items.entry(&label.item).or_default().push(label);
    }
    by.into_iter()
        .filter_map(|(who, items)| {
            let pairs: Vec<(&str, &str, &str)> = items
                .into_iter()
                .filter_map(|(item, mut all)| {
                    all.sort_by_key(|l| l.at_us);
                    let first = *all.first()?;
                    let later = all
                        .iter()
                        .find(|l| l.at_us.saturating_sub(first.at_us) >= gap_us)?;
                    (later.at_us != first.at_us).then_some((
                        item,
                        first.label.as_str(),
                        later.label.as_str(),
                    ))
                })
                .collect();
            (!pairs.is_empty()).then(|| (who.to_owned(), report(&pairs)))
        })
        .collect()
}

fn report(pairs: &[(&str, &str, &str)]) -> Retest {
    let names: BTreeSet<&str> = pairs.iter().flat_map(|(_, a, b)| [*a, *b]).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let place = |label: &str| names.iter().position(|n| *n == label).unwrap_or(0) as f64;
    let units: Vec<Vec<f64>> = pairs
        .iter()
        .map(|(_, a, b)| vec![place(a), place(b)])
        .collect();
    let changed: Vec<String> = pairs
        .iter()
        .filter(|(_, a, b)| a != b)
        .map(|(item, _, _)| (*item).to_owned())
        .collect();
    Retest {
        items: pairs.len(),
        raw: 1.0 - changed.len() as f64 / pairs.len() as f64,
        kappa: cohen(&Table::from_pairs(&units, names.len())),
        changed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reviewer_is_compared_with_an_earlier_self_only_after_the_gap() {
        let label = |item: &str, label: &str, at_us| TimedLabel {
            item: item.into(),
            reviewer: "ann".into(),
            label: label.into(),
            at_us,
        };
        let all = [
            label("1", "index", 0),
            label("1", "index", 10),
            label("2", "index", 0),
            label("2", "tool", 10),
            label("3", "tool", 0),
            label("3", "tool", 10),
            label("4", "tool", 0),
            label("4", "tool", 10),
            label("5", "tool", 0),
            label("5", "index", 3),
        ];
        let got = retest(&all, 7);
        let ann = &got["ann"];
        // By hand: 3 of 4 equal; table [[1,1],[0,2]]: p_e = (2·1 + 2·3)/16 = 1/2 → κ = 1/2. Item 5 came back too soon.
        assert_eq!(
            (ann.items, ann.raw, &ann.changed),
            (4, 0.75, &vec!["2".to_owned()])
        );
        assert!((ann.kappa.unwrap() - 0.5).abs() < 1e-12);
        assert!(retest(&all[8..], 7).is_empty());
    }
}
