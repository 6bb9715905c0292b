//! A task: a request to be solved, and what solving it needs.

use super::id::TaskId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A document version that the right answer needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    /// Register id.
    pub doc_id: String,
    /// Version; `None` = whichever is valid on the task's date.
    #[serde(default)]
    pub version: Option<String>,
    /// Text that must be in view.
    #[serde(default)]
    pub spans: Vec<String>,
    /// Conditions that must be in view.
    #[serde(default)]
    pub conditions: Vec<String>,
}

/// A line of the task list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Task id.
    pub task_id: TaskId,
    /// Task family.
    #[serde(default)]
    pub family: Option<String>,
    /// Environment scenario.
    #[serde(default)]
    pub scenario: Option<String>,
    /// The request.
    #[serde(default)]
    pub prompt: Option<String>,
    /// The day the task is asked on (YYYY-MM-DD).
    #[serde(default)]
    pub date: Option<String>,
    /// What must be in view.
    #[serde(default)]
    pub requires: Vec<Requirement>,
    /// The right answer or actions.
    #[serde(default)]
    pub expected: Value,
    /// Task standard: `{version, criteria: [ordered], smoother_alone: bool}` or a plain name.
    #[serde(default)]
    pub standard: Value,
    /// Grader's name.
    #[serde(default)]
    pub grader: Value,
    /// Tool schemas.
    #[serde(default)]
    pub tools: Value,
}
