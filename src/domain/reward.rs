//! A reward belongs to a rollout, never to a step, and is four fields, never one score.

use super::step::words;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Whether the reward can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RewardStatus {
    /// It can.
    Ok,
    /// The log has none. Missing is not 0.
    Missing,
    /// A tool outage, a wrong rule or a changed environment spoilt it.
    Contaminated,
    /// It was read from a place that the agent could write.
    Untrusted,
}

words!(RewardStatus { Ok => "ok", Missing => "missing", Contaminated => "contaminated", Untrusted => "untrusted" });

/// What one grader said about one rollout.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reward {
    /// Grader's name, or the key that held the value.
    pub grader: String,
    /// Grader's version.
    #[serde(default)]
    pub version: Option<String>,
    /// Whether it ran where the agent could not reach it.
    #[serde(default)]
    pub isolated: Option<bool>,
    /// Final result.
    #[serde(default)]
    pub result: Option<f64>,
    /// Evidence support.
    #[serde(default)]
    pub evidence: Option<f64>,
    /// Forbidden side effects that happened; `None` = not checked, empty = checked and none.
    #[serde(default)]
    pub side_effects: Option<Vec<String>>,
    /// Cost, in the grader's own unit.
    #[serde(default)]
    pub cost: Option<f64>,
    /// Whether it can be used.
    pub status: RewardStatus,
    /// Why the status is what it is, and the grader's own details.
    #[serde(default)]
    pub detail: Value,
}

impl Reward {
    /// A reward of which the file told only the result.
    pub fn result(grader: &str, result: f64) -> Self {
        Self {
            result: Some(result),
            ..Self::missing(grader)
        }
        .with_status(RewardStatus::Ok)
    }

    /// A grader that said nothing.
    pub fn missing(grader: &str) -> Self {
        Self {
            grader: grader.to_owned(),
            version: None,
            isolated: None,
            result: None,
            evidence: None,
            side_effects: None,
            cost: None,
            status: RewardStatus::Missing,
            detail: Value::Null,
        }
    }

    fn with_status(mut self, status: RewardStatus) -> Self {
        self.status = status;
        self
    }
}
