//! What a model's probe may say: whether its rows enter suggestions, and whether it may speak of model behaviour.

use super::Calibration;
use crate::domain::{Binding, Layer};
use serde::{Deserialize, Serialize};

/// Recall on index and context faults from which a proxy is taken to use evidence (SCIENCE 3 step 8).
const MIN_EVIDENCE_RECALL: f64 = 0.7;

/// How far a probe is trusted, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    /// Its rows enter the suggestion.
    pub heeded: bool,
    /// Rows 7 and 8 may name model behaviour.
    pub speaks_for_model: bool,
    /// Why, in one line.
    pub why: String,
}

/// Decides by calibration; `insisted` = the user wants its rows in spite of it.
pub(super) fn trust(
    calibration: Option<&Calibration>,
    binding: &Binding,
    checkpoint: Option<&str>,
    insisted: bool,
) -> Trust {
    let is_policy =
        !binding.is_proxy && checkpoint.is_some_and(|c| c == binding.weights || c == binding.model);
    let uses_evidence = calibration.is_some_and(uses_evidence);
    let wins = calibration.is_some_and(|c| c.ship);
    let calibrated = match calibration {
        None => "this model was not calibrated (`triagent calibrate --model M`)".to_owned(),
        Some(c) => c.verdict.clone(),
    };
    let why = match (wins, insisted) {
        (true, _) => calibrated,
        (false, true) => format!("{calibrated}; heeded because you asked for it"),
        (false, false) => {
            format!("{calibrated}; its rows stay out of `suggest` (--heed lets them in)")
        }
    };
    Trust {
        heeded: wins || insisted,
        speaks_for_model: is_policy || uses_evidence,
        why,
    }
}

/// The proxy was shown to turn on evidence where evidence is what was missing.
pub(in crate::jobs) fn uses_evidence(calibration: &Calibration) -> bool {
    let of = |layer| {
        let recall = calibration.screen.probe.recall(layer);
        recall.is_some_and(|r| r >= MIN_EVIDENCE_RECALL)
    };
    of(Layer::Index) && of(Layer::Context)
}
