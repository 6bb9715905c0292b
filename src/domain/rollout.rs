//! A rollout: one run of a harness on a task.

use super::id::{RunId, TaskId};
use super::step::words;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Pass or fail, from the file or a reviewer. A status of "completed" is not a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The task was solved.
    Pass,
    /// It was not.
    Fail,
    /// Nobody said.
    Unknown,
}

words!(Outcome { Pass => "pass", Fail => "fail", Unknown => "unknown" });

/// How the log stops, which says nothing about success.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// The agent or the harness closed it.
    Finished,
    /// It just stops: after a tool result, or in an answer without an end.
    Abrupt,
    /// An exception or a provider error ended it.
    Error,
    /// A limit on steps, tokens, time or cost ended it.
    Limit,
    /// The log does not say.
    Unknown,
}

words!(Ending { Finished => "finished", Abrupt => "abrupt", Error => "error", Limit => "limit", Unknown => "unknown" });

/// A stretch of a source file, for `show --raw`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceSpan {
    /// First byte (of the unpacked text, where the file is compressed).
    pub offset: u64,
    /// Length in bytes; 0 = not known.
    pub len: u64,
    /// Line, from 1; 0 = not known.
    pub line: u64,
}

/// The program that ran the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Harness {
    /// Its name.
    pub name: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// When it stops.
    pub stop_rule: Option<String>,
    /// How it shortens the context.
    pub compression: Option<String>,
}

/// One run of a harness on a task. Steps, calls and rewards are kept beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rollout {
    /// The file's own id where it has one, else minted from content.
    pub id: RunId,
    /// The importer made the id.
    pub id_minted: bool,
    /// The task, where the log names one.
    pub task: Option<TaskId>,
    /// Task family.
    pub family: Option<String>,
    /// Environment scenario.
    pub scenario: Option<String>,
    /// Rollouts with one group were sampled for one comparison.
    pub group: Option<String>,
    /// Which repetition of the task this is.
    pub trial: Option<String>,
    /// Importer's name of the format.
    pub format: String,
    /// File, as the user named it.
    pub source: String,
    /// Where in that file.
    pub span: SourceSpan,
    /// The program that ran it.
    pub harness: Harness,
    /// Model name.
    pub model: Option<String>,
    /// Versions that tell cohorts apart; `None` = unknown, which is a value of its own.
    pub index_version: Option<String>,
    /// Prompt version.
    pub prompt_version: Option<String>,
    /// Tool set version.
    pub toolset_version: Option<String>,
    /// Weights.
    pub checkpoint: Option<String>,
    /// Tokenizer.
    pub tokenizer: Option<String>,
    /// Tool schemas that the model saw, in the OpenAI shape.
    pub tools: Vec<Value>,
    /// Pass or fail.
    pub outcome: Outcome,
    /// Who says so: `file:reward`, `file:score`, …
    pub outcome_source: Option<String>,
    /// How the log stops.
    pub ending: Ending,
    /// The log's own word for it.
    pub ending_note: Option<String>,
    /// Only the final answer was kept: no tool choice, no recovery can be learnt from it.
    pub outcome_only: bool,
    /// First and last time seen, microseconds UTC.
    pub started_us: Option<i64>,
    /// Last time seen.
    pub finished_us: Option<i64>,
    /// What the format says and no field above holds.
    pub extra: Map<String, Value>,
}

impl Rollout {
    /// Returns an empty head; the importer fills in what its format tells.
    pub fn new(id: impl Into<String>, format: &str, source: &str) -> Self {
        Self {
            id: RunId(id.into()),
            id_minted: false,
            task: None,
            family: None,
            scenario: None,
            group: None,
            trial: None,
            format: format.to_owned(),
            source: source.to_owned(),
            span: SourceSpan::default(),
            harness: Harness::default(),
            model: None,
            index_version: None,
            prompt_version: None,
            toolset_version: None,
            checkpoint: None,
            tokenizer: None,
            tools: Vec::new(),
            outcome: Outcome::Unknown,
            outcome_source: None,
            ending: Ending::Unknown,
            ending_note: None,
            outcome_only: false,
            started_us: None,
            finished_us: None,
            extra: Map::new(),
        }
    }
}
