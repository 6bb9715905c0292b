//! Macro-F1, confusion and abstention of suggestions, and how much one list of suggestions beats another.

use super::{Judged, class};
use crate::domain::Layer;
use crate::stats::{Confusion, Interval, bootstrap};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How well one class was named.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassQuality {
    /// The class.
    pub layer: Layer,
    /// How often it was true.
    pub support: u32,
    /// Right among what was said.
    pub precision: Option<f64>,
    /// Found among what was true.
    pub recall: Option<f64>,
    /// Their harmonic mean.
    pub f1: Option<f64>,
}

/// How often one class was said where another (or the same) was true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfusionCount {
    /// What was true.
    pub truth: Layer,
    /// What was said.
    pub said: Layer,
    /// How often.
    pub n: u32,
}

/// How well a list of suggestions names the causes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// Items.
    pub items: usize,
    /// Plain mean of F1 over all classes, `undetermined` among them.
    pub macro_f1: Option<f64>,
    /// Share of right suggestions.
    pub accuracy: Option<f64>,
    /// Share of items without a layer named.
    pub abstention: f64,
    /// Share of right ones among the layers that were named.
    pub right_when_named: Option<f64>,
    /// By class; classes that never occur are left out.
    pub classes: Vec<ClassQuality>,
    /// Counts above 0.
    pub confusion: Vec<ConfusionCount>,
}

impl Quality {
    /// Recall of one class.
    pub fn recall(&self, layer: Layer) -> Option<f64> {
        self.classes
            .iter()
            .find(|c| c.layer == layer)
            .and_then(|c| c.recall)
    }
}

/// Measures a list of suggestions.
pub fn quality(items: &[Judged]) -> Quality {
    let counts = confusion(items.iter());
    let named = items.iter().filter(|i| !i.is_abstention()).count();
    let right = items
        .iter()
        .filter(|i| !i.is_abstention() && i.is_right())
        .count();
    let classes = Layer::ALL.iter().map(|l| (*l, class(*l)));
    Quality {
        items: items.len(),
        macro_f1: counts.macro_f1(),
        accuracy: counts.accuracy(),
        abstention: share(items.len() - named, items.len()).unwrap_or(0.0),
        right_when_named: share(right, named),
        classes: classes
            .filter(|(_, c)| counts.f1(*c).is_some())
            .map(|(layer, c)| ClassQuality {
                layer,
                support: counts.support(c),
                precision: counts.precision(c),
                recall: counts.recall(c),
                f1: counts.f1(c),
            })
            .collect(),
        confusion: cells(&counts),
    }
}

fn cells(counts: &Confusion) -> Vec<ConfusionCount> {
    let pairs = Layer::ALL
        .iter()
        .flat_map(|t| Layer::ALL.iter().map(move |s| (*t, *s)));
    pairs
        .map(|(truth, said)| ConfusionCount {
            truth,
            said,
            n: counts.count(class(truth), class(said)),
        })
        .filter(|c| c.n > 0)
        .collect()
}

fn confusion<'a>(items: impl Iterator<Item = &'a Judged>) -> Confusion {
    Confusion::of(
        Layer::ALL.len(),
        items.map(|i| (class(i.truth), class(i.said))),
    )
}

fn share(hits: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| hits as f64 / of as f64)
}

/// How much better one list of suggestions is than another on the same items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// Macro-F1 of the one less macro-F1 of the other.
    pub difference: f64,
    /// 95% interval: whole tasks are drawn, both lists in the same draw.
    pub interval: Option<Interval>,
    /// Tasks to draw from.
    pub groups: usize,
    /// Draws.
    pub draws: usize,
    /// Seed of the draws.
    pub seed: u64,
}

impl Gain {
    /// The lower end lies above 0.
    pub fn is_proven(&self) -> bool {
        self.interval.is_some_and(|i| i.low > 0.0)
    }
}

/// Compares two lists over the same items in the same order; nothing where they are not.
pub fn macro_f1_gain(new: &[Judged], old: &[Judged], draws: usize, seed: u64) -> Option<Gain> {
    let same = |(a, b): (&Judged, &Judged)| a.id == b.id && a.group == b.group;
    if new.len() != old.len() || !new.iter().zip(old).all(same) {
        return None;
    }
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (i, item) in new.iter().enumerate() {
        groups.entry(&item.group).or_default().push(i);
    }
    let groups: Vec<Vec<usize>> = groups.into_values().collect();
    let f1 = |list: &[Judged], picked: &[usize]| {
        let drawn = picked.iter().filter_map(|g| groups.get(*g)).flatten();
        confusion(drawn.filter_map(|i| list.get(*i))).macro_f1()
    };
    let gain = |picked: &[usize]| Some(f1(new, picked)? - f1(old, picked)?);
    let all: Vec<usize> = (0..groups.len()).collect();
    Some(Gain {
        difference: gain(&all)?,
        interval: bootstrap(groups.len(), draws, 0.95, seed, gain),
        groups: groups.len(),
        draws,
        seed,
    })
}
