//! A pair: two candidates for the same request.

use super::chat::ChatMessage;
use super::id::{StepRef, TaskId};
use super::step::words;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One side of a pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "source", rename_all = "lowercase")]
pub enum Candidate {
    /// A decision that a model made.
    Recorded {
        /// Where.
        at: StepRef,
    },
    /// A side that a reviewer wrote, for the context before `at`.
    Human {
        /// The decision that it stands in for.
        at: StepRef,
        /// What was written.
        message: ChatMessage,
        /// Who wrote it.
        author: String,
    },
}

impl Candidate {
    /// The decision whose context the candidate answers.
    pub fn at(&self) -> &StepRef {
        match self {
            Self::Recorded { at } | Self::Human { at, .. } => at,
        }
    }

    /// Written by a person.
    pub fn is_human(&self) -> bool {
        matches!(self, Self::Human { .. })
    }
}

/// A side in canonical order; which one was shown left is stored apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The first candidate.
    A,
    /// The second candidate.
    B,
}

words!(Side { A => "a", B => "b" });

/// What the reviewer decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// `a` is better.
    A,
    /// `b` is better.
    B,
    /// Equally good.
    Tie,
    /// Neither is acceptable.
    BothBad,
    /// They do not answer one request, or something else forbids a comparison.
    NotComparable,
}

words!(Choice { A => "a", B => "b", Tie => "tie", BothBad => "both-bad", NotComparable => "not-comparable" });

impl Choice {
    /// The preferred side, where there is one.
    pub fn preferred(self) -> Option<Side> {
        match self {
            Self::A => Some(Side::A),
            Self::B => Some(Side::B),
            Self::Tie | Self::BothBad | Self::NotComparable => None,
        }
    }
}

/// Why one side is better (S-42).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// Its citation is valid.
    CitationValid,
    /// Its conditions are complete.
    ConditionsComplete,
    /// It only reads better. Cannot stand alone unless the task standard allows it.
    OnlySmoother,
    /// Something else; the reason says what.
    Other,
}

words!(Criterion {
    CitationValid => "citation-valid", ConditionsComplete => "conditions-complete",
    OnlySmoother => "only-smoother", Other => "other",
});

/// A decided pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// First candidate.
    pub a: Candidate,
    /// Second candidate.
    pub b: Candidate,
    /// Hash of task and visible context, equal for both sides.
    pub context_hash: String,
    /// The decision.
    pub choice: Choice,
    /// Criteria that decided.
    pub criteria: Vec<Criterion>,
    /// Compulsory reason.
    pub reason: String,
    /// Words that prove it.
    #[serde(default)]
    pub evidence: Option<String>,
    /// Version of the task standard that was applied.
    #[serde(default)]
    pub standard: Option<String>,
    /// Side that was shown left; `None` when decided without a screen.
    #[serde(default)]
    pub left: Option<Side>,
    /// Seed that chose it.
    #[serde(default)]
    pub side_seed: Option<u64>,
    /// Time spent, idle time left out.
    #[serde(default)]
    pub active_ms: Option<u64>,
}

/// Returns the hash of a request: task, messages that the model had before it, and the tools it was shown.
/// Two candidates are comparable only where this is equal (S-41). Call ids do not count: every run invents its own.
pub fn context_hash(task: Option<&TaskId>, context: &[ChatMessage], tools: &[Value]) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut add = |bytes: &[u8]| {
        // The length in front keeps two neighbours from passing for one another.
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    add(task.map_or("", TaskId::as_str).as_bytes());
    for tool in tools {
        add(tool.to_string().as_bytes());
    }
    add(b"messages");
    for message in context {
        add(&message.fingerprint_bytes());
    }
    hasher.finalize().to_hex().chars().take(32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::chat::Role;
    use serde_json::json;

    #[test]
    fn a_context_hash_tells_requests_apart_and_ignores_call_ids() {
        let task = TaskId::from("t1");
        let call = |id: &str| ChatMessage {
            content: None,
            tool_calls: vec![crate::domain::ToolCall {
                id: Some(id.to_owned()),
                name: "search".to_owned(),
                arguments: "{}".to_owned(),
            }],
            ..ChatMessage::text(Role::Assistant, "")
        };
        let hash = |task: &TaskId, id: &str, tools: &[Value]| {
            context_hash(
                Some(task),
                &[ChatMessage::text(Role::User, "hi"), call(id)],
                tools,
            )
        };
        let base = hash(&task, "c1", &[]);
        assert_eq!(base, hash(&task, "c2", &[]));
        assert_eq!(base.len(), 32);
        assert_ne!(base, hash(&TaskId::from("t2"), "c1", &[]));
        assert_ne!(base, hash(&task, "c1", &[json!({"name": "search"})]));
        assert_ne!(
            base,
            context_hash(Some(&task), &[ChatMessage::text(Role::User, "hi")], &[])
        );
    }
}
