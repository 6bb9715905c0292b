//! Advice for a cohort: shares of each layer, gates, the first rule that holds, refusals and next steps.
//!
//! The rules are data (`assets/rules.toml`). Nothing is summed into a score, and the machine only advises: a lead's
//! override carries a name and a reason. Facts come in as plain counts; this room reads no store and no clock.

mod decide;
mod facts;
mod gates;
mod measure;
mod next;
mod pages;
mod reach;
mod rules;
mod shares;

pub use decide::{AdviceBook, advise};
pub use facts::{
    AgreementFact, AttemptFact, CohortFacts, DemonstrationFact, EvidenceFact, LabelFact,
    OverrideFact, PairFact, ReachFact, RecordedFact, RewardFact, RolloutFact, SplitFact,
};
pub use pages::{EvidenceSlot, Page};
pub use reach::{Reach, reach};
pub use rules::{
    Behaviour, FactRule, GateCompare, GateRule, Row, Rule, Rules, SystemBand, Unit, Unmeasured,
};
pub use shares::{LAYER_ORDER, shares};

/// What is wrong with rules, thresholds or facts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdviseError {
    /// The rule file is no TOML of its shape.
    #[error("rules: {0}\nhint: compare the file with assets/rules.toml")]
    Unreadable(String),
    /// A gate measures something that nobody measures.
    #[error(
        "rules: gate {0} measures `{1}`, which nothing provides\nhint: see assets/rules.toml for the names"
    )]
    UnknownMeasure(String, String),
    /// A rule names a gate that is not there.
    #[error(
        "rules: rule {0} names gate `{1}`, which is not defined\nhint: add the gate or correct the name"
    )]
    UnknownGate(u32, String),
    /// An override that fits nothing.
    #[error("unknown threshold `{name}`\nhint: {hint}")]
    UnknownThreshold {
        /// What was written.
        name: String,
        /// What may be meant.
        hint: String,
    },
    /// An override that is no number.
    #[error("threshold `{0}` is {1}, which is no number\nhint: write a number, shares as 0 to 1")]
    NotANumber(String, String),
    /// A fact that nobody asks for.
    #[error("unknown fact `{0}`\nhint: {1}")]
    UnknownFact(String, String),
}

#[cfg(test)]
mod tests;
