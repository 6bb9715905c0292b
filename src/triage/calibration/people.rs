//! Suggestions against labels that other people published, in our words by a table (SCIENCE part 2).
//!
//! Their labels never become verdicts here: another codebook, other definitions, no checklist.

use super::{Judged, Quality, class, quality};
use crate::domain::Layer;
use crate::stats::Interval;
use crate::triage::agreement::{Table, cohen};
use serde::{Deserialize, Serialize};

/// Draws of the intervals.
const DRAWS: usize = 2000;
/// Seed of the intervals.
const SEED: u64 = 20_250_701;

/// Read beside every figure of a comparison with published labels.
const CAVEATS: [&str; 4] = [
    "the labels name agent behaviour by another codebook; the table that maps them is ours, and two of its lines are ambiguous",
    "no label says index or tool text: agreement here says nothing about those layers",
    "two expert teams who labelled the same 28 runs agreed on the decisive step in none and on the agent with kappa 0.08, so one label is no gold",
    "`undetermined` counts as disagreement in kappa, although it claims nothing",
];

/// A label that somebody else published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutsideLabel {
    /// The run.
    pub run: String,
    /// Category in its own words.
    pub category: String,
    /// Our layers that it may mean, the likeliest first.
    pub layers: Vec<Layer>,
    /// The decisive step, where it names one.
    pub step: Option<u32>,
}

/// Layers that a category of AgentRx may mean; empty for one that the table does not know.
pub fn agentrx_layers(category: &str) -> &'static [Layer] {
    let plain: String = category
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { ' ' })
        .collect();
    let plain = plain
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase();
    match plain.as_str() {
        "misinterpretation of tool output"
        | "instruction adherence failure"
        | "plan adherence failure"
        | "instruction plan adherence failure"
        | "intent plan misalignment"
        | "invention of new information" => &[Layer::Model],
        "underspecified user intent" => &[Layer::Context],
        "invalid invocation" => &[Layer::Tool, Layer::Model],
        "intent not supported" | "guardrails triggered" | "system failure" => &[Layer::Environment],
        _ => &[],
    }
}

/// How suggestions and published labels agree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeopleReport {
    /// Suggestions against the likeliest layer of each label.
    pub quality: Quality,
    /// Cohen's κ over all items; nothing where it is undefined.
    pub kappa: Option<f64>,
    /// Its 95% bootstrap interval over items.
    pub kappa_interval: Option<Interval>,
    /// Items with a layer named.
    pub named: u32,
    /// Of those, how many name a layer that the label may mean.
    pub agreed: u32,
    /// How many items agree if one always says the commonest label.
    pub commonest: u32,
    /// How to read it.
    pub caveats: Vec<String>,
}

/// Compares suggestions with labels, given as (label, what was said).
pub fn compare_with_people(pairs: &[(OutsideLabel, Layer)]) -> PeopleReport {
    let items: Vec<Judged> = pairs
        .iter()
        .filter_map(|(label, said)| {
            Some(Judged {
                id: label.run.clone(),
                group: label.run.clone(),
                truth: *label.layers.first()?,
                said: *said,
                row: None,
            })
        })
        .collect();
    let named = pairs.iter().filter(|(_, s)| *s != Layer::Undetermined);
    let agreed = named.clone().filter(|(label, s)| label.layers.contains(s));
    let kappa_of = |picked: &[usize]| kappa(picked.iter().filter_map(|i| items.get(*i)));
    let all: Vec<usize> = (0..items.len()).collect();
    PeopleReport {
        kappa: kappa_of(&all),
        kappa_interval: crate::stats::bootstrap(items.len(), DRAWS, 0.95, SEED, kappa_of),
        named: count(named.count()),
        agreed: count(agreed.count()),
        commonest: commonest(&items),
        quality: quality(&items),
        caveats: CAVEATS.map(str::to_owned).to_vec(),
    }
}

fn kappa<'a>(items: impl Iterator<Item = &'a Judged>) -> Option<f64> {
    let of = Layer::ALL.len();
    let mut cells = vec![vec![0; of]; of];
    for item in items {
        if let Some(slot) = cells
            .get_mut(class(item.truth))
            .and_then(|row| row.get_mut(class(item.said)))
        {
            *slot += 1;
        }
    }
    cohen(&Table { cells })
}

fn commonest(items: &[Judged]) -> u32 {
    let with = |layer: &Layer| items.iter().filter(|i| i.truth == *layer).count();
    count(Layer::ALL.iter().map(with).max().unwrap_or(0))
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
