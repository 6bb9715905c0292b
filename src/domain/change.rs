//! A change: a thing that somebody changed, with fingerprints before and after.

use super::step::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was changed. A prompt edit has no path to `parameters` (S-12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangedThing {
    /// Index or its filters.
    Index,
    /// What is put into the context.
    Context,
    /// Tool descriptions or tools.
    Tool,
    /// System prompt.
    Prompt,
    /// A skill file.
    Skill,
    /// A memory file or memo.
    Memory,
    /// Weights.
    Parameters,
    /// The program that runs the agent.
    Harness,
    /// The grader.
    Grader,
    /// State of the runtime or environment.
    Environment,
}

words!(ChangedThing {
    Index => "index", Context => "context", Tool => "tool", Prompt => "prompt", Skill => "skill",
    Memory => "memory", Parameters => "parameters", Harness => "harness", Grader => "grader",
    Environment => "environment",
});

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeState {
    /// It stays.
    Accepted,
    /// It was taken back to its rollback target.
    RolledBack,
}

words!(ChangeState { Accepted => "accepted", RolledBack => "rolled-back" });

/// A row of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Short name.
    pub id: String,
    /// What was changed.
    pub thing: ChangedThing,
    /// What somebody says about it.
    pub claim: String,
    /// Fingerprints before, by name (weights, tokenizer, prompt, index, …).
    #[serde(default)]
    pub before: BTreeMap<String, String>,
    /// Fingerprints after.
    #[serde(default)]
    pub after: BTreeMap<String, String>,
    /// How it is accepted.
    #[serde(default)]
    pub acceptance: Option<String>,
    /// What to go back to.
    #[serde(default)]
    pub rollback: Option<String>,
}
