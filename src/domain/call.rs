//! A call: one real inference inside a rollout.

use super::rollout::SourceSpan;
use super::step::words;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Whether the harness went on with this attempt's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Adopted {
    /// It did.
    Yes,
    /// It did not.
    No,
    /// The log does not say.
    Unknown,
}

words!(Adopted { Yes => "yes", No => "no", Unknown => "unknown" });

/// Token counts as the log reports them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens, cached ones included.
    pub input: Option<u64>,
    /// Generated tokens.
    pub output: Option<u64>,
    /// Prompt tokens served from a cache.
    pub cached: Option<u64>,
    /// Generated tokens that were reasoning.
    pub reasoning: Option<u64>,
}

/// One real inference. Two calls under one logical request are two attempts and never merge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Position in the rollout, from 0.
    pub index: u32,
    /// What the harness wanted; retries share it.
    pub logical_request_id: Option<String>,
    /// The request that was actually sent.
    pub request_id: Option<String>,
    /// Which try this is, as the log names it.
    pub attempt: Option<String>,
    /// The report of this inference. Reports with one event id are one inference.
    pub event_id: Option<String>,
    /// The log has no event id and the importer made one from source hash and position.
    pub event_id_minted: bool,
    /// How often the log reported this one inference.
    pub reports: u32,
    /// Whether the harness went on with it.
    pub adopted: Adopted,
    /// Model name as logged.
    pub model: Option<String>,
    /// Weights version as logged.
    pub model_version: Option<String>,
    /// Temperature and the like.
    pub sampling: Map<String, Value>,
    /// Token counts.
    pub usage: Usage,
    /// Why generation stopped, as logged.
    pub finish_reason: Option<String>,
    /// What went wrong with the request itself.
    pub error: Option<String>,
    /// Hidden retries that the log only counts.
    pub retry_count: Option<u32>,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
    /// How long it took.
    pub latency_ms: Option<f64>,
    /// Exact prompt tokens, where logged. Never re-derived from text.
    pub prompt_token_ids: Option<Vec<u32>>,
    /// Exact generated tokens, where logged.
    pub completion_token_ids: Option<Vec<u32>>,
    /// Behaviour log-probs of the generated tokens, where logged, in nats.
    pub logprobs: Option<Vec<f64>>,
    /// The prompt did not continue what was known before: compaction, sub-agent, edit or branch.
    pub context_rewrite: bool,
    /// When, in microseconds UTC.
    pub at_us: Option<i64>,
    /// Where in the file it stands.
    pub source: SourceSpan,
    /// What the format says and no field above holds.
    pub extra: Map<String, Value>,
}

impl Default for Call {
    fn default() -> Self {
        Self {
            index: 0,
            logical_request_id: None,
            request_id: None,
            attempt: None,
            event_id: None,
            event_id_minted: false,
            reports: 1,
            adopted: Adopted::Unknown,
            model: None,
            model_version: None,
            sampling: Map::new(),
            usage: Usage::default(),
            finish_reason: None,
            error: None,
            retry_count: None,
            cost_usd: None,
            latency_ms: None,
            prompt_token_ids: None,
            completion_token_ids: None,
            logprobs: None,
            context_rewrite: false,
            at_us: None,
            source: SourceSpan::default(),
            extra: Map::new(),
        }
    }
}
