//! A cleaning finding: something in the logs that a person should look at before anybody trains on it.

use super::id::{RunId, TaskId};
use super::step::words;
use serde::{Deserialize, Serialize};

/// Which of the checks found it (S-75).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingKind {
    /// A key, token or password.
    Secret,
    /// Data about a person.
    Personal,
    /// Two tasks that are nearly one.
    Duplicate,
    /// One skeleton that covers too many rows.
    Template,
    /// The agent touched what grades it.
    Tamper,
    /// A citation that does not hold.
    Evidence,
}

words!(FindingKind {
    Secret => "secret", Personal => "personal", Duplicate => "duplicate",
    Template => "template", Tamper => "tamper", Evidence => "evidence",
});

/// What a person decided about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingAction {
    /// It is harmless: export it as it is.
    Keep,
    /// Put the typed placeholder in its place.
    Redact,
    /// Leave the rows that hold it out.
    Drop,
}

words!(FindingAction { Keep => "keep", Redact => "redact", Drop => "drop" });

/// Where in a run a finding stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FindingPlace {
    /// The run.
    pub run: RunId,
    /// The step; `None` = the run's head.
    pub step: Option<u32>,
    /// Which field: `text`, `extra` or `tools`; the last two as compact JSON.
    pub field: String,
    /// First byte in that field.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
}

/// Something that a person should look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable: the same content gets the same id on every run.
    pub id: String,
    /// Which check.
    pub kind: FindingKind,
    /// Which rule of that check.
    pub rule: String,
    /// Where; `None` for findings about tasks.
    #[serde(default)]
    pub place: Option<FindingPlace>,
    /// Tasks that it is about.
    #[serde(default)]
    pub tasks: Vec<TaskId>,
    /// What stands in its place when it is redacted.
    #[serde(default)]
    pub placeholder: Option<String>,
    /// What it looks like, masked: safe to show and to store.
    pub excerpt: String,
    /// What it means and what to do, in one line.
    pub reason: String,
    /// Similarity, entropy or share, where the rule has one.
    #[serde(default)]
    pub score: Option<f64>,
}

/// A finding and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingState {
    /// The finding.
    pub finding: Finding,
    /// The current decision; `None` = nobody has looked.
    #[serde(default)]
    pub action: Option<FindingAction>,
}

/// Words of one run that leave as a placeholder, wherever in the run they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction {
    /// The finding that asks for it.
    pub finding: String,
    /// The words. Never stored, never shown.
    pub words: String,
    /// What stands in their place.
    pub placeholder: String,
}
