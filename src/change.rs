//! The ledger of changes: what was changed, by fingerprint; what it may claim; how it is accepted and rolled back.
//!
//! Stores nothing and trains nothing. A prompt edit has no path to "parameters" here (S-12).

mod acceptance;
mod check;
mod fingerprint;
mod stage;

pub use acceptance::{
    AcceptancePlan, Comparison as AcceptanceComparison, Metric, Outcome as AcceptanceOutcome,
    PairedCounts, acceptance_plan, compare_paired, effects_bound,
};
pub use check::{ChangeProblem, attribution, check_change};
pub use fingerprint::{
    FINGERPRINTS, Fingerprint, changed_layers, fingerprints, harness_differences,
};
pub use stage::{Stage, StageFacts, stage};
