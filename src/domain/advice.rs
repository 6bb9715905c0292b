//! Advice: what to do for a cohort, with every gate shown.

use super::step::words;
use super::verdict::Layer;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Task family × versions. An unknown version is a value of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cohort {
    /// Task family.
    pub family: Option<String>,
    /// Harness name and version.
    pub harness: Option<String>,
    /// Index version.
    pub index: Option<String>,
    /// Prompt version.
    pub prompt: Option<String>,
    /// Tool set version.
    pub toolset: Option<String>,
    /// Weights.
    pub checkpoint: Option<String>,
}

impl Cohort {
    /// A name that is stable and can be typed: known parts joined, or `unknown`. (`all` stands for every cohort where facts are recorded.)
    pub fn name(&self) -> String {
        let parts = [
            &self.family,
            &self.harness,
            &self.index,
            &self.prompt,
            &self.toolset,
            &self.checkpoint,
        ];
        let labels = ["", "harness=", "index=", "prompt=", "tools=", "ckpt="];
        let known: Vec<String> = parts
            .iter()
            .zip(labels)
            .filter_map(|(part, label)| part.as_ref().map(|p| format!("{label}{p}")))
            .collect();
        if known.is_empty() {
            "unknown".to_owned()
        } else {
            known.join("/")
        }
    }
}

/// A gate's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateState {
    /// Holds.
    Pass,
    /// Does not hold.
    Fail,
    /// Nobody measured it.
    Unmeasured,
    /// Does not matter here.
    NotApplicable,
}

words!(GateState { Pass => "pass", Fail => "fail", Unmeasured => "unmeasured", NotApplicable => "not_applicable" });

/// A named condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// `G0`, `G1a`, `F1`, …
    pub id: String,
    /// What it asks, in one line.
    pub asks: String,
    /// Measured value, as people read it.
    pub value: String,
    /// Threshold, as people read it.
    pub threshold: String,
    /// Its state.
    pub state: GateState,
    /// What is missing.
    pub missing: String,
    /// How to get it.
    pub how: String,
    /// Where the value comes from: the log, a decision, a configuration.
    pub source: String,
}

/// A method that is refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// `SFT`, `DPO`, `RL`, `training`.
    pub method: String,
    /// Gate id.
    pub gate: String,
    /// Measured value.
    pub value: String,
    /// Threshold.
    pub threshold: String,
    /// What is missing.
    pub missing: String,
    /// How to get it.
    pub how: String,
}

/// Share of each layer among labelled failures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    /// Labelled failures that count.
    pub n: u32,
    /// Count, share and Wilson 95% interval of each layer.
    pub layers: BTreeMap<Layer, LayerShare>,
    /// index + context + tool + environment + grader.
    pub system: Option<LayerShare>,
    /// `model` verdicts with an incomplete checklist, shown apart.
    pub unproven: u32,
    /// Shown apart.
    pub undetermined: u32,
    /// Labels picked by hand: counted, not in the interval.
    pub picked_by_hand: u32,
}

/// A share with its interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LayerShare {
    /// How many.
    pub count: u32,
    /// Of all that count.
    pub share: f64,
    /// Wilson 95%, lower end.
    pub low: f64,
    /// Wilson 95%, upper end.
    pub high: f64,
}

/// What to do for a cohort.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// Cohort name.
    pub cohort: String,
    /// Rule that fired.
    pub rule: u32,
    /// One line.
    pub headline: String,
    /// Share of each layer.
    pub shares: Shares,
    /// All gates.
    pub gates: Vec<Gate>,
    /// All refusals.
    pub refusals: Vec<Refusal>,
    /// What to do next, in order.
    pub next: Vec<String>,
    /// Version of the rule file.
    pub rules_version: String,
}
