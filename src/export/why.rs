//! Why a row stays out. Every reason has a stable code and says what to do about it.

use serde::Serialize;
use thiserror::Error;

/// A row that stays out, with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// `RUN`, `RUN:STEP`, a pair's decision id or a task id.
    pub subject: String,
    /// Stable code.
    pub code: &'static str,
    /// What is wrong and what to do.
    pub reason: String,
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident $({ $($field:ident : $type:ty),+ })? => $code:literal, $text:literal;)+) => {
        /// Why a row stays out.
        #[derive(Debug, Clone, PartialEq, Eq, Error)]
        pub enum Why {
            $($(#[$doc])* #[error($text)] $variant $({ $(#[doc = "Named in the text."] $field: $type),+ })?,)+
        }

        impl Why {
            /// Stable code, for counts and scripts.
            pub fn code(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $code,)+ }
            }
        }
    };
}

reasons! {
    /// S-16.
    UnknownOwner { step: u32 } => "unknown-owner", "step {step} has an unknown owner; declare it first, it is never guessed";
    /// The step is not the model's.
    NotTheModels { step: u32 } => "not-the-models", "step {step} was not written by the model, so it cannot be a target";
    /// Broken JSON.
    MalformedArguments { tool: String } => "malformed-arguments", "arguments of `{tool}` are not a JSON object; pair it against a correct call, or leave it out";
    /// A call without a name.
    NamelessTool => "nameless-tool", "a tool call has no tool name";
    /// TRAINING A1: trained as a bare stop token.
    EmptySide { side: &'static str } => "empty-side", "{side} says nothing and calls nothing; the trainer would learn a bare stop token";
    /// TRAINING A1: accepted silently, gradient 0.
    IdenticalSides => "identical-sides", "both sides are the same; there is nothing to prefer";
    /// S-46.
    NoPreference { choice: String } => "no-preference", "the reviewer decided `{choice}`; only a preferred side can be learnt";
    /// Reviewers differ.
    Disagreement => "disagreement", "reviewers prefer different sides; settle it first";
    /// Two reviewers agree: one row is enough.
    SameDecision { of: String } => "same-decision", "another reviewer decided the same ({of}); it is exported once";
    /// S-41.
    ContextMismatch => "context-mismatch", "the two sides answer different contexts; pair candidates of one request";
    /// The stored hash is of another context than the log now shows.
    ContextChanged => "context-changed", "the context is not the one the reviewer saw; decide the pair again";
    /// S-42.
    MissingReason => "missing-reason", "no reason was given; say why one side is better";
    /// S-42.
    MissingCriteria => "missing-criteria", "no criterion was given; say what decided";
    /// S-42.
    OnlySmoother => "only-smoother", "`only-smoother` cannot stand alone; the task standard does not allow it";
    /// S-43.
    MissingStandard => "missing-standard", "no version of a task standard is bound; decide it again with `triagent pair … --standard VERSION`, or name one in the task list";
    /// S-04.
    UnprovenModel => "model-unproven", "the verdict `model` has an incomplete checklist; tick all four or label another layer";
    /// S-24.
    OffPath { step: u32 } => "off-path", "step {step} is not on the path that went on";
    /// S-24.
    NotAdopted { step: u32 } => "not-adopted", "the harness did not go on with the attempt of step {step}";
    /// S-24.
    AdoptionUnknown { step: u32 } => "adoption-unknown", "step {step} is one of several attempts, and the log does not say which one went on";
    /// Counted once elsewhere.
    Copied { step: u32 } => "copied", "step {step} is a copy of context that another run holds";
    /// The answer was cut when it was sampled.
    CutByLimit { step: u32 } => "cut-by-limit", "the answer of step {step} stopped at the token limit, so its end is missing";
    /// S-36.
    NotASuccess { outcome: String } => "not-a-success", "the run's outcome is {outcome}; only successes demonstrate";
    /// S-52.
    Contaminated { grader: String, status: String } => "reward-not-usable", "the reward of `{grader}` is {status}; the outcome cannot be relied on";
    /// S-54, S-71.
    SideEffect { effect: String } => "side-effect", "a forbidden side effect happened: {effect}";
    /// S-18.
    OutcomeOnly => "outcome-only", "only the final answer was kept; no tool choice and no recovery can be learnt from it";
    /// DESIGN §9.
    UnresolvedFinding { finding: String, rule: String } => "unresolved-finding", "finding {finding} ({rule}) is not resolved; keep, redact or drop it";
    /// A person decided so.
    DroppedFinding { finding: String, rule: String } => "dropped-finding", "finding {finding} ({rule}) was marked drop";
    /// The placeholder would break the JSON.
    RedactionBreaks { tool: String } => "redaction-breaks", "redacting would leave arguments of `{tool}` that are no JSON";
    /// Nothing would be replaced, so the words would leave.
    WordsNotFound { finding: String } => "words-not-found", "finding {finding} shall leave as a placeholder, but its words were not found in the run again; run `triagent check` again";
    /// The tool list is no message.
    RedactedTools { finding: String } => "redacted-tools", "finding {finding} stands in the tool list, which the trainer reads as the model saw it; keep it, or leave the run out";
    /// S-72, S-75.
    CannotDemonstrate { finding: String, rule: String } => "cannot-demonstrate", "finding {finding} ({rule}): the run cannot be a demonstration or a preferred side";
    /// The limit that the user gave.
    TooLong { tokens: u32, limit: u32 } => "too-long", "prompt and target have {tokens} tokens, over the limit of {limit}; the trainer would cut the target silently";
    /// The template cannot say the row.
    TemplateFails { error: String } => "template-fails", "the model's template refuses the row: {error}";
    /// TRAINING A1.
    TemplateDrops { what: String } => "template-drops", "the model's template {what}; the row would train something else";
    /// The consumer cannot say it.
    CannotSay { consumer: &'static str, what: String } => "format-cannot-say", "{consumer} cannot say this row: {what}";
    /// Said twice.
    Duplicate { of: String } => "duplicate-row", "the same prompt and target as {of}";
    /// No target in the row.
    NoTarget => "no-target", "no decision of the model is left to train on";
    /// RL needs a prompt.
    NoPrompt => "no-prompt", "the task has no request to start from";
    /// S-52.
    NoReward { status: String } => "no-reward", "the reward is {status}; missing is not 0, and a spoilt one is left out of its group";
}

impl Why {
    /// Puts the reason beside its subject.
    pub fn of(&self, subject: impl ToString) -> LeftOut {
        LeftOut {
            subject: subject.to_string(),
            code: self.code(),
            reason: self.to_string(),
        }
    }
}
