//! A step: one ordered item of a rollout, with the owner of its tokens.

use super::chat::Role;
use super::document::DocRef;
use super::rollout::SourceSpan;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Who wrote the tokens of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    /// Reasoning, text and tool calls that the policy sampled. The only tokens that training targets.
    Model,
    /// What a tool returned.
    Tool,
    /// What the harness inserted: reminders, summaries, error notes, demonstrations.
    Runtime,
    /// The system prompt.
    System,
    /// A person, or the simulator that plays one.
    User,
    /// The file does not tell. Never guessed.
    Unknown,
}

/// What a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Text of a message.
    Text,
    /// Text the model wrote before it acted.
    Reasoning,
    /// A call of a tool; `text` holds the arguments as logged.
    ToolCall,
    /// A tool's answer.
    Observation,
    /// An image, sound or file; `text` holds a short description, never the bytes.
    Media,
    /// Something that happened and was in nobody's context: a limit, an abort, a hook.
    Event,
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepStatus {
    /// The tool worked.
    Ok,
    /// The tool failed.
    Error,
    /// The tool did not answer in time.
    Timeout,
    /// Permission was refused.
    Denied,
    /// Not a tool's answer, or the log does not say.
    Unknown,
}

/// One ordered item of a rollout.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Position in the rollout, from 0.
    pub index: u32,
    /// Who wrote it.
    pub owner: Owner,
    /// What it is.
    pub kind: StepKind,
    /// The chat role it had in the prompt, which may differ from the owner (a reminder sent as `user`).
    pub role: Role,
    /// Steps with one number came as one message: reasoning, text and calls of one answer.
    pub message: u32,
    /// Which inference produced it (index into the rollout's calls); model-owned steps only.
    pub call: Option<u32>,
    /// The text; for a tool call its arguments exactly as logged.
    pub text: String,
    /// Tool name, for calls and observations.
    pub tool: Option<String>,
    /// Joins a tool call with its observation.
    pub tool_call_id: Option<String>,
    /// How the tool ended; observations only.
    pub status: StepStatus,
    /// Speaker, where several agents share a log.
    pub name: Option<String>,
    /// Documents that this observation brought, where the log names them.
    pub documents: Vec<DocRef>,
    /// Steps that this one took out of the context (a compaction summary replaces what it sums up).
    pub replaces: Vec<u32>,
    /// Not on the path that went on: an attempt not adopted, or a branch that was left.
    pub off_path: bool,
    /// A copy of context that another rollout or file already holds: counted once.
    pub copied: bool,
    /// When, in microseconds UTC, where the log says.
    pub at_us: Option<i64>,
    /// Where in the file it stands.
    pub source: SourceSpan,
    /// What the format says and no field above holds.
    pub extra: Map<String, Value>,
}

impl Step {
    /// Returns a plain step; the importer fills in what its format tells.
    pub fn new(owner: Owner, kind: StepKind, role: Role, text: impl Into<String>) -> Self {
        Self {
            index: 0,
            owner,
            kind,
            role,
            message: 0,
            call: None,
            text: text.into(),
            tool: None,
            tool_call_id: None,
            status: StepStatus::Unknown,
            name: None,
            documents: Vec::new(),
            replaces: Vec::new(),
            off_path: false,
            copied: false,
            at_us: None,
            source: SourceSpan::default(),
            extra: Map::new(),
        }
    }

    /// A tool's answer that says something went wrong.
    pub fn is_failed(&self) -> bool {
        matches!(
            self.status,
            StepStatus::Error | StepStatus::Timeout | StepStatus::Denied
        )
    }

    /// Stood in the context of later calls on the main path.
    pub fn is_in_context(&self) -> bool {
        !self.off_path && self.kind != StepKind::Event
    }
}

macro_rules! words {
    ($type:ident { $($variant:ident => $word:literal),+ $(,)? }) => {
        impl $type {
            /// All values, in the order people read them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word used in files, tables and on screen.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Reads the word back.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}
pub(crate) use words;

words!(Owner { Model => "model", Tool => "tool", Runtime => "runtime", System => "system", User => "user", Unknown => "unknown" });
words!(StepKind {
    Text => "text", Reasoning => "reasoning", ToolCall => "tool_call",
    Observation => "observation", Media => "media", Event => "event",
});
words!(StepStatus { Ok => "ok", Error => "error", Timeout => "timeout", Denied => "denied", Unknown => "unknown" });
