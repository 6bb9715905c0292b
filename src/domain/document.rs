//! Documents of the register, and what became of a required one in a run.

use super::step::words;
use serde::{Deserialize, Serialize};

/// A document and, where known, its version.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DocRef {
    /// Register id.
    pub doc_id: String,
    /// Version.
    #[serde(default)]
    pub version: Option<String>,
}

/// One version of one document of the register.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Register id.
    pub doc_id: String,
    /// Version.
    pub version: String,
    /// Title.
    #[serde(default)]
    pub title: Option<String>,
    /// Text.
    pub text: String,
    /// First day it holds (YYYY-MM-DD).
    #[serde(default)]
    pub valid_from: Option<String>,
    /// Last day it holds; `None` = still valid.
    #[serde(default)]
    pub valid_until: Option<String>,
    /// Index versions that hold it; `None` = unknown.
    #[serde(default)]
    pub indexed_in: Option<Vec<String>>,
}

/// What became of a required document at the decisive step; the first that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceStatus {
    /// The run's index held no version of it.
    NotIndexed,
    /// The run's index held only versions not valid on the task's date.
    StaleOnly,
    /// Indexed, and no observation brought it.
    NotRetrieved,
    /// Brought, and a required span, condition or date was not before the model when it decided.
    NotInPrompt,
    /// All of it was before the model.
    InPrompt,
    /// The log or the register cannot tell.
    Unknown,
}

words!(EvidenceStatus {
    NotIndexed => "not indexed", StaleOnly => "stale only", NotRetrieved => "not retrieved",
    NotInPrompt => "not in prompt", InPrompt => "in prompt", Unknown => "unknown",
});
