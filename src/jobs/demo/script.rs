//! What the demo's reviewer decides: read from `sample-logs/EXPECTED.json`, which was written before any program looked.

use crate::domain::Layer;
use crate::jobs::sample;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The script cannot be read, which a test forbids.
#[derive(Debug, thiserror::Error)]
#[error("sample-logs/EXPECTED.json: {0}")]
pub struct ScriptError(String);

/// The answers beside the sample logs, as far as the demo uses them.
#[derive(Debug, Clone, Deserialize)]
pub struct Script {
    /// What is known of each run.
    pub(super) runs: BTreeMap<String, RunScript>,
    /// The four policy trajectories.
    pub(super) four: Four,
    /// The teaching case.
    pub(super) teaching: Teaching,
}

/// What is known of one run.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct RunScript {
    #[serde(default)]
    pub(super) layer: Option<Layer>,
    #[serde(default)]
    pub(super) cause: Option<String>,
    #[serde(default)]
    pub(super) decisive_step: Option<u32>,
    #[serde(default)]
    pub(super) evidence_status: Option<String>,
    #[serde(default)]
    pub(super) corrected: Option<String>,
    #[serde(default)]
    pub(super) sft_worthy: bool,
}

/// The four policy trajectories.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Four {
    pub(super) pairs: Vec<PairScript>,
}

/// A pair of recorded decisions.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct PairScript {
    pub(super) chosen: String,
    pub(super) rejected: String,
    pub(super) criterion: String,
    pub(super) reason: String,
}

/// The teaching case.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Teaching {
    pub(super) passes: BTreeMap<String, Pass>,
}

/// A pass beside a failure of the same task.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Pass {
    #[serde(default)]
    pub(super) pair_with: Option<String>,
    #[serde(default)]
    pub(super) at: Option<u32>,
}

impl Script {
    /// Reads the script that comes with the program.
    pub fn embedded() -> Result<Self, ScriptError> {
        let bytes =
            sample("EXPECTED.json").ok_or_else(|| ScriptError("not embedded".to_owned()))?;
        serde_json::from_slice(bytes).map_err(|e| ScriptError(e.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_can_be_read_and_holds_the_teaching_case() {
        let script = Script::embedded().unwrap();
        let of = |layer| {
            let teaching = script
                .runs
                .iter()
                .filter(|(run, _)| run.starts_with("teach-"));
            teaching.filter(|(_, r)| r.layer == Some(layer)).count()
        };
        // S-55: half never retrieved the new version, half had the evidence.
        assert_eq!((of(Layer::Index), of(Layer::Model)), (10, 10));
    }
}
