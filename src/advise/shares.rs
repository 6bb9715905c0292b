//! Share of each layer among labelled failures, with Wilson intervals; only what was drawn at random enters them.

use super::facts::{CohortFacts, LabelFact};
use crate::domain::advice::LayerShare;
use crate::domain::{Layer, Shares};
use crate::stats::wilson;

/// Layers that the system owns, in the order in which ties are settled: mending the first helps the rest.
pub const LAYER_ORDER: [Layer; 5] = [
    Layer::Index,
    Layer::Environment,
    Layer::Context,
    Layer::Tool,
    Layer::Grader,
];

/// How the shares were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Draw {
    /// Every failure of the cohort is labelled, so nothing was picked.
    Census,
    /// From a seeded random queue.
    Random,
    /// All by hand: there is no honest interval.
    ByHand,
}

/// Returns the shares of a cohort's labelled failures.
pub fn shares(facts: &CohortFacts) -> Shares {
    let draw = drawn(facts);
    let enters = |l: &&LabelFact| draw != Draw::Random || l.random;
    let counted: Vec<&LabelFact> = facts
        .labels
        .iter()
        .filter(enters)
        .filter(|l| counts(l))
        .collect();
    let n = count(counted.len());
    let one = |hits: usize| share(count(hits), n, draw);
    let of = |layer: Layer| counted.iter().filter(|l| l.layer == layer).count();
    let layers = LAYER_ORDER
        .into_iter()
        .chain([Layer::Model])
        .map(|l| (l, one(of(l))));
    let system = LAYER_ORDER.into_iter().map(of).sum();
    let by_hand = facts
        .labels
        .iter()
        .filter(|l| !l.random && draw != Draw::Census);
    Shares {
        n,
        layers: layers.collect(),
        system: (n > 0).then(|| one(system)),
        unproven: count(
            facts
                .labels
                .iter()
                .filter(|l| l.layer == Layer::Model && !l.proven)
                .count(),
        ),
        undetermined: count(
            facts
                .labels
                .iter()
                .filter(|l| l.layer == Layer::Undetermined)
                .count(),
        ),
        picked_by_hand: count(by_hand.count()),
    }
}

pub(super) fn drawn(facts: &CohortFacts) -> Draw {
    let labelled = count(facts.labels.len());
    if labelled > 0 && labelled >= facts.failures {
        Draw::Census
    } else if facts.labels.iter().any(|l| l.random && counts(l)) {
        Draw::Random
    } else {
        Draw::ByHand
    }
}

/// Undetermined and unproven `model` labels are shown apart.
fn counts(label: &LabelFact) -> bool {
    match label.layer {
        Layer::Undetermined => false,
        Layer::Model => label.proven,
        Layer::Index | Layer::Context | Layer::Tool | Layer::Environment | Layer::Grader => true,
    }
}

fn share(hits: u32, n: u32, draw: Draw) -> LayerShare {
    let interval = match draw {
        Draw::Census | Draw::Random => wilson(hits, n),
        Draw::ByHand => wilson(0, 0),
    };
    LayerShare {
        count: hits,
        share: if n == 0 {
            0.0
        } else {
            f64::from(hits) / f64::from(n)
        },
        low: interval.low,
        high: interval.high,
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
