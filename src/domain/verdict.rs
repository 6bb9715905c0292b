//! A verdict: a reviewer's label of a failed rollout.

use super::id::RunId;
use super::step::words;
use super::task::Requirement;
use serde::{Deserialize, Serialize};

/// Which layer failed, or which outcome lies beyond the layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// The document was missing, stale or not returned.
    Index,
    /// It was lost, cut or stripped of its date.
    Context,
    /// The tool's description misled.
    Tool,
    /// With all that in view, the model still decided wrongly.
    Model,
    /// A tool outage, a permission, a changed environment.
    Environment,
    /// The grader was wrong.
    Grader,
    /// Nobody can tell from this log.
    Undetermined,
}

words!(Layer {
    Index => "index", Context => "context", Tool => "tool", Model => "model",
    Environment => "environment", Grader => "grader", Undetermined => "undetermined",
});

/// What must be ticked before "model" counts as proven (S-04).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checklist {
    /// The right document was visible.
    #[serde(default)]
    pub document_visible: bool,
    /// Its version was valid.
    #[serde(default)]
    pub version_valid: bool,
    /// Its date was in the context.
    #[serde(default)]
    pub date_in_context: bool,
    /// The tool text was clear.
    #[serde(default)]
    pub tool_text_clear: bool,
}

impl Checklist {
    /// All four are ticked.
    pub fn is_complete(self) -> bool {
        self.document_visible && self.version_valid && self.date_in_context && self.tool_text_clear
    }
}

/// A span quoted as evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// Step that holds it.
    pub step: u32,
    /// The words.
    pub quote: String,
}

/// A reviewer's label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The run.
    pub run: RunId,
    /// Layer or outcome.
    pub layer: Layer,
    /// Sub-cause, a name of the codebook.
    #[serde(default)]
    pub cause: Option<String>,
    /// First decisive step.
    #[serde(default)]
    pub decisive_step: Option<u32>,
    /// Steps that contributed.
    #[serde(default)]
    pub contributing: Vec<u32>,
    /// Evidence checklist.
    #[serde(default)]
    pub checklist: Checklist,
    /// Spans quoted as evidence.
    #[serde(default)]
    pub pins: Vec<Pin>,
    /// Documents that the reviewer says were required; count like the task list's.
    #[serde(default)]
    pub requires: Vec<Requirement>,
    /// Free words.
    #[serde(default)]
    pub note: String,
    /// The machine's suggestion was on screen before the label was saved.
    #[serde(default)]
    pub suggestion_seen: bool,
    /// The run came from a seeded random queue; only then may it enter an interval.
    #[serde(default)]
    pub from_random_queue: bool,
    /// Time spent, idle time left out.
    #[serde(default)]
    pub active_ms: Option<u64>,
}

impl Verdict {
    /// A bare label.
    pub fn new(run: RunId, layer: Layer) -> Self {
        Self {
            run,
            layer,
            cause: None,
            decisive_step: None,
            contributing: Vec::new(),
            checklist: Checklist::default(),
            pins: Vec::new(),
            requires: Vec::new(),
            note: String::new(),
            suggestion_seen: false,
            from_random_queue: false,
            active_ms: None,
        }
    }

    /// A `model` verdict counts only with the checklist complete; every other verdict counts.
    pub fn is_proven(&self) -> bool {
        self.layer != Layer::Model || self.checklist.is_complete()
    }
}
