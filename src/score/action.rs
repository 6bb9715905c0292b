//! What goes in and what comes out: a context with actions, and the log-probs of each.

use crate::domain::{Binding, ChatMessage, Score, ScoreSubject};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Actions to score after one context.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Messages before the action.
    pub context: &'a [ChatMessage],
    /// Tool schemas as the model saw them.
    pub tools: &'a [Value],
    /// Assistant messages, scored one by one after the same context.
    pub actions: &'a [ChatMessage],
    /// When the run took place (microseconds UTC), for templates that print the date. Templates that
    /// can do without then use their own default.
    pub now_us: Option<i64>,
}

/// What a token of an action belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Text before the answer.
    Reasoning,
    /// The answer's text.
    Text,
    /// A tool's name.
    ToolName,
    /// A tool call's arguments.
    Arguments,
    /// What the template puts around them; the model writes it too.
    Markup,
    /// The token that ends the turn.
    Stop,
    /// What the template adds after the stop token; TRL counts it, the model never writes it.
    Tail,
}

/// One token of an action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenScore {
    /// Vocabulary number.
    pub id: u32,
    /// Its text; a token that is part of a character shows as U+FFFD.
    pub text: String,
    /// Log-prob in nats.
    pub logp: f32,
    /// Entropy of the distribution that it came from, in nats; a server does not tell it.
    pub entropy: Option<f32>,
    /// How many tokens were more probable, 0 = it was the first choice; a server does not tell it.
    pub rank: Option<u32>,
    /// What it belongs to.
    pub part: Part,
}

/// Log-probs of one action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActionScore {
    /// Sum over model-owned tokens, the stop token included, in nats.
    pub logp_sum: f64,
    /// Sum as TRL's DPO counts: everything after the generation prompt.
    pub logp_sum_trl: f64,
    /// Model-owned tokens, the stop token included.
    pub tokens: u32,
    /// Bytes of the model-owned text without the stop token.
    pub bytes: u32,
    /// Tokens before the action.
    pub prompt_tokens: u32,
    /// Every token after the generation prompt.
    pub per_token: Vec<TokenScore>,
    /// What the template left out or changed; shown beside the score.
    pub warnings: Vec<String>,
}

impl ActionScore {
    /// Returns the sum and the number of tokens of one part.
    pub fn part(&self, part: Part) -> (f64, u32) {
        let of_part = self.per_token.iter().filter(|t| t.part == part);
        of_part.fold((0.0, 0), |(sum, n), t| (sum + f64::from(t.logp), n + 1))
    }

    /// Warnings that say that the template wrote something else than was recorded: left out, or changed.
    pub fn unlike_the_record(&self) -> impl Iterator<Item = &str> {
        let all = self.warnings.iter().map(String::as_str);
        all.filter(|w| w.starts_with("the chat template") || w.starts_with("the arguments of"))
    }

    /// Returns the form that is stored.
    pub fn into_score(self, subject: ScoreSubject, binding: Binding, device: &str) -> Score {
        Score {
            subject,
            binding,
            device: device.to_owned(),
            logp_sum: self.logp_sum,
            logp_sum_trl: self.logp_sum_trl,
            tokens: self.tokens,
            bytes: self.bytes,
            token_logps: self.per_token.iter().map(|t| t.logp).collect(),
            token_texts: self.per_token.into_iter().map(|t| t.text).collect(),
            prompt_tokens: self.prompt_tokens,
        }
    }
}
