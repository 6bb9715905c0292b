//! Signs: every state has a sign, a word and an ink, so that no one of them must be seen.

use crate::domain::{Ending, EvidenceStatus, Outcome, Owner, RewardStatus, StepKind, StepStatus};
use crate::tui::theme::Ink;

/// Sign and ink of an outcome.
pub(super) fn outcome(outcome: Outcome) -> (&'static str, Ink) {
    match outcome {
        Outcome::Pass => ("✓", Ink::Pass),
        Outcome::Fail => ("✗", Ink::Fail),
        Outcome::Unknown => ("?", Ink::Unsure),
    }
}

/// Sign of a step: who wrote it and what it is.
pub(super) fn step(owner: Owner, kind: StepKind) -> &'static str {
    match (owner, kind) {
        (_, StepKind::Event) => "!",
        (Owner::Model, StepKind::Reasoning) => "∴",
        (Owner::Model, StepKind::ToolCall) => "→",
        (Owner::Model, _) => "◆",
        (Owner::Tool, _) => "←",
        (Owner::Runtime, _) => "#",
        (Owner::System, _) => "§",
        (Owner::User, _) => "»",
        (Owner::Unknown, _) => "?",
    }
}

/// Ink of an owner.
pub(super) fn owner(owner: Owner) -> Ink {
    match owner {
        Owner::Model => Ink::Model,
        Owner::Tool => Ink::Tool,
        Owner::Runtime => Ink::Runtime,
        Owner::System => Ink::System,
        Owner::User => Ink::User,
        Owner::Unknown => Ink::Unknown,
    }
}

/// Words for what a step is.
pub(super) fn kind(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Text => "text",
        StepKind::Reasoning => "reasoning",
        StepKind::ToolCall => "calls",
        StepKind::Observation => "returns",
        StepKind::Media => "media",
        StepKind::Event => "event",
    }
}

/// Sign and ink of a tool's status, where it says something.
pub(super) fn status(status: StepStatus) -> Option<(&'static str, Ink)> {
    match status {
        StepStatus::Ok => Some(("✓ ok", Ink::Pass)),
        StepStatus::Error => Some(("✗ error", Ink::Fail)),
        StepStatus::Timeout => Some(("✗ timeout", Ink::Fail)),
        StepStatus::Denied => Some(("✗ denied", Ink::Fail)),
        StepStatus::Unknown => None,
    }
}

/// Sign and ink of a reward's status.
pub(super) fn reward(status: RewardStatus) -> (&'static str, Ink) {
    match status {
        RewardStatus::Ok => ("✓", Ink::Pass),
        RewardStatus::Missing => ("?", Ink::Unsure),
        RewardStatus::Contaminated | RewardStatus::Untrusted => ("✗", Ink::Fail),
    }
}

/// Sign and ink of what became of a document.
pub(super) fn evidence(status: EvidenceStatus) -> (&'static str, Ink) {
    match status {
        EvidenceStatus::InPrompt => ("✓", Ink::Pass),
        EvidenceStatus::Unknown => ("?", Ink::Unsure),
        EvidenceStatus::NotIndexed
        | EvidenceStatus::StaleOnly
        | EvidenceStatus::NotRetrieved
        | EvidenceStatus::NotInPrompt => ("✗", Ink::Fail),
    }
}

/// Words for an ending that people should know of.
pub(super) fn ending(ending: Ending) -> Option<&'static str> {
    match ending {
        Ending::Abrupt => Some("stops abruptly"),
        Ending::Error => Some("ended by an error"),
        Ending::Limit => Some("ended by a limit"),
        Ending::Finished | Ending::Unknown => None,
    }
}
