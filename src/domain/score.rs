//! A score: log-probs of model-owned tokens under one exact model.

use super::id::{DecisionId, StepRef};
use super::pair::Side;
use serde::{Deserialize, Serialize};

/// What a score is bound to. Scores of different bindings never mix.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Binding {
    /// Hash of the weights.
    pub weights: String,
    /// Hash of the tokenizer.
    pub tokenizer: String,
    /// Hash of the chat template.
    pub template: String,
    /// `f32`, `bf16`, `gguf-q4_1`, …
    pub dtype: String,
    /// Raised only when results change.
    pub numerics: u32,
    /// What the model is called on screen.
    pub model: String,
    /// A proxy speaks for itself, not for the recorded policy.
    pub is_proxy: bool,
}

/// What was scored.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreSubject {
    /// A recorded decision.
    Step(StepRef),
    /// A side of a pair.
    PairSide {
        /// The pair's decision id.
        pair: DecisionId,
        /// Which side.
        side: Side,
    },
}

/// Log-probs of one action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// What was scored.
    pub subject: ScoreSubject,
    /// Under which model.
    pub binding: Binding,
    /// Where it ran; recorded, not part of the binding.
    pub device: String,
    /// Sum over model-owned tokens, the stop token included, in nats.
    pub logp_sum: f64,
    /// Sum as TRL counts: with the template's tail after the stop token.
    pub logp_sum_trl: f64,
    /// Model-owned tokens, the stop token included.
    pub tokens: u32,
    /// Bytes of the model-owned text.
    pub bytes: u32,
    /// Log-prob of each token of the action, the template's tail included.
    pub token_logps: Vec<f32>,
    /// Text of each token.
    pub token_texts: Vec<String>,
    /// Prompt tokens before the action.
    pub prompt_tokens: u32,
}

impl Score {
    /// Nats for each byte of the action; comparable between lengths, never between tokenizers.
    pub fn logp_per_byte(&self) -> f64 {
        if self.bytes == 0 {
            0.0
        } else {
            self.logp_sum / f64::from(self.bytes)
        }
    }
}
