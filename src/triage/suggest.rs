//! The machine's layer for a failed run: deterministic rows first, probe rows where a probe was run (SCIENCE 3 step 8).
//!
//! A suggestion, never a label: it stays hidden until the reviewer has saved one.

mod facts;
mod rows;
mod table;

pub use facts::SuggestFacts;
pub use table::{SuggestionTable, machine_agreement, suggestion_table};

use super::evidence::Evidence;
use super::probe::ProbeReport;
use crate::domain::{Layer, RunId};
use serde::Serialize;

/// What a suggestion rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// A fact of the log: a tool failed, two graders disagree.
    Rule,
    /// Where the evidence got lost, by register and log.
    Provenance,
    /// The same, and a probe says that it would have mattered.
    Confirmed,
    /// A probe alone.
    Probe,
    /// Nothing holds.
    None,
}

/// The machine's layer for one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suggestion {
    /// The run.
    pub run: RunId,
    /// The layer.
    pub layer: Layer,
    /// Row of the table; nothing where no row holds.
    pub row: Option<u32>,
    /// Why, in one line.
    pub reason: String,
    /// What it rests on.
    pub strength: Strength,
    /// Status of each required document.
    pub evidence: Vec<Evidence>,
    /// The probe, where one was run.
    pub probe: Option<ProbeReport>,
}

/// Suggests a layer for a failed run.
pub fn suggest(facts: &SuggestFacts) -> Suggestion {
    let found = rows::first_match(facts);
    Suggestion {
        run: facts.run.rollout.id.clone(),
        layer: found.layer,
        row: found.row,
        reason: found.reason,
        strength: found.strength,
        evidence: facts.evidence.to_vec(),
        probe: facts.probe.cloned(),
    }
}

#[cfg(test)]
mod tests;
