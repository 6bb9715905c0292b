//! Is this model any good as a proxy? Probes the fault suite and compares the suggestions with those of the rules alone.
//!
//! The answer decides whether its probes enter suggestions: a model that does not win stays out, and says so.

mod known;
mod pick;
mod suite;
mod work;

pub use known::{calibration_of, recorded_calibrations};
pub use work::{CalibrateOptions, calibrate};

use crate::domain::{Binding, Layer};
use crate::triage::{Gain, ProbeSettings, Quality, Reliability, RowRecord};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Why a model cannot be calibrated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CalibrateError {
    /// What the program carries is damaged.
    #[error("the program's own fault suite cannot be read: line {line}: {why}")]
    Suite {
        /// Line.
        line: usize,
        /// Why.
        why: String,
    },
    /// The model cannot score any of it.
    #[error("this model can score no case of the fault suite: {0}")]
    Nothing(String),
}

/// What was said about one failure of the suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseResult {
    /// Its name.
    pub id: String,
    /// What was put in.
    pub cause: String,
    /// What is right to say.
    pub truth: Layer,
    /// What the rules say.
    pub rules: Layer,
    /// What rules and probe say together.
    pub probe: Layer,
    /// The row that says so.
    pub row: Option<u32>,
    /// First gate that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_gate: Option<String>,
    /// Effect of each variant over placebo, in nats.
    pub effects: BTreeMap<String, f64>,
    /// Why it could not be scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_scored: Option<String>,
}

/// Rules alone against rules and probe, on the same failures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Cells for each variant.
    pub cells: usize,
    /// The rules alone.
    pub rules: Quality,
    /// Rules and probe.
    pub probe: Quality,
    /// How much the probe adds.
    pub gain: Option<Gain>,
    /// Right ones by row.
    pub rows: Vec<RowRecord>,
    /// Do probabilities by row hold?
    pub reliability: Option<Reliability>,
    /// How often each gate failed first.
    pub failed_gates: BTreeMap<String, u32>,
    /// Every failure.
    pub cases: Vec<CaseResult>,
}

/// What the fault suite says about one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Which model.
    pub binding: Binding,
    /// Which edition of the suite.
    pub suite: String,
    /// Seed of sample and draws.
    pub seed: u64,
    /// Thresholds.
    pub settings: ProbeSettings,
    /// All failures with one cell: point values, no tests.
    pub screen: Comparison,
    /// A sample with all cells.
    pub full: Comparison,
    /// It turns on evidence where evidence is what was missing.
    pub uses_evidence: bool,
    /// Its probes enter suggestions.
    pub ship: bool,
    /// The same in words.
    pub verdict: String,
}
