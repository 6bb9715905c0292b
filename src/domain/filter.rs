//! A filter, parsed: the one language of `--filter`, the `f` line and saved queues.

/// All terms must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Conditions.
    pub terms: Vec<Term>,
    /// Order.
    pub sort: Vec<Sort>,
}

/// One condition, perhaps negated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// `-term` excludes.
    pub negated: bool,
    /// The condition.
    pub condition: Condition,
}

/// What a term asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// A column equals one of the values: `family:refund,exchange`. `none` asks for no value.
    Is {
        /// Which column.
        field: Field,
        /// Values, any of which will do.
        values: Vec<String>,
    },
    /// A number compares: `steps:>20`, `reward.result:0`.
    Number {
        /// Which column.
        field: Field,
        /// How.
        compare: Compare,
        /// With what; text so that the term stays `Eq`.
        value: String,
    },
    /// A body of the run holds the words: `text:"旧政策"` or a bare word.
    Text(String),
    /// A step used this tool: `step.tool:search`.
    StepTool(String),
    /// Somebody (or `me`, already resolved to a name) labelled it: `labelled:me`, `labelled:any`.
    Labelled(Option<String>),
    /// The run has something: `has:error`, `has:secret`, `has:retry`, `has:rewrite`, `has:pair`, `has:score`, `has:note`.
    Has(Feature),
}

/// A column that runs can be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// Run id (prefix).
    Run,
    /// Task id.
    Task,
    /// Family.
    Family,
    /// Scenario.
    Scenario,
    /// Format.
    Format,
    /// Source file (part of the path).
    Source,
    /// Outcome.
    Outcome,
    /// Ending.
    Ending,
    /// Layer of the current verdict.
    Layer,
    /// Sub-cause of the current verdict.
    Cause,
    /// Model name.
    Model,
    /// Harness name.
    Harness,
    /// Index version.
    Index,
    /// Prompt version.
    Prompt,
    /// Tool set version.
    Toolset,
    /// Weights.
    Checkpoint,
    /// Group.
    Group,
    /// Number of steps.
    Steps,
    /// Number of calls.
    Calls,
    /// Number of failed tool results.
    Errors,
    /// Reward's result.
    RewardResult,
    /// Reward's status.
    RewardStatus,
    /// Time imported, newest last.
    Imported,
}

/// How numbers compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// Equal.
    Equal,
    /// Less.
    Less,
    /// Less or equal.
    AtMost,
    /// Greater.
    Greater,
    /// Greater or equal.
    AtLeast,
}

/// Something that a run can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Feature {
    /// A failed tool result.
    Error,
    /// An unresolved secret finding.
    Secret,
    /// A second attempt under one logical request.
    Retry,
    /// A context rewrite.
    Rewrite,
    /// A decided pair.
    Pair,
    /// A score.
    Score,
    /// A note.
    Note,
    /// A reward.
    Reward,
    /// A step of unknown owner.
    UnknownOwner,
    /// An abrupt ending.
    Abrupt,
}

/// An order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sort {
    /// By what.
    pub field: Field,
    /// `sort:-steps`.
    pub descending: bool,
}

impl Field {
    /// All fields with their words in the language.
    pub const ALL: &'static [(Self, &'static str)] = &[
        (Self::Run, "run"),
        (Self::Task, "task"),
        (Self::Family, "family"),
        (Self::Scenario, "scenario"),
        (Self::Format, "format"),
        (Self::Source, "source"),
        (Self::Outcome, "outcome"),
        (Self::Ending, "ending"),
        (Self::Layer, "layer"),
        (Self::Cause, "cause"),
        (Self::Model, "model"),
        (Self::Harness, "harness"),
        (Self::Index, "index"),
        (Self::Prompt, "prompt"),
        (Self::Toolset, "toolset"),
        (Self::Checkpoint, "checkpoint"),
        (Self::Group, "group"),
        (Self::Steps, "steps"),
        (Self::Calls, "calls"),
        (Self::Errors, "errors"),
        (Self::RewardResult, "reward.result"),
        (Self::RewardStatus, "reward.status"),
        (Self::Imported, "imported"),
    ];

    /// The word in the language.
    pub fn word(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(f, _)| *f == self)
            .map_or("", |(_, w)| w)
    }

    /// Reads the word back.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, w)| *w == word).map(|(f, _)| *f)
    }

    /// Holds a number.
    pub fn is_number(self) -> bool {
        matches!(
            self,
            Self::Steps | Self::Calls | Self::Errors | Self::RewardResult
        )
    }
}

impl Feature {
    /// All features with their words in the language.
    pub const ALL: &'static [(Self, &'static str)] = &[
        (Self::Error, "error"),
        (Self::Secret, "secret"),
        (Self::Retry, "retry"),
        (Self::Rewrite, "rewrite"),
        (Self::Pair, "pair"),
        (Self::Score, "score"),
        (Self::Note, "note"),
        (Self::Reward, "reward"),
        (Self::UnknownOwner, "unknown-owner"),
        (Self::Abrupt, "abrupt"),
    ];
}
