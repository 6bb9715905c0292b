//! A plain-language page for a headline: what to change, which object that changes, what would show that it worked,
//! what to go back to. The five rows are the chapter's table (S-06 to S-10).

use super::decide::Reading;
use super::rules::Row;
use crate::domain::GateState;
use serde::Serialize;

/// A page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Page {
    /// Row of the table; empty where nothing is to be changed yet.
    pub row: String,
    /// What to change.
    pub change: String,
    /// Which object that changes.
    pub changes: String,
    /// Evidence slots, filled or missing.
    pub evidence: Vec<EvidenceSlot>,
    /// What to go back to, and when.
    pub rollback: String,
}

/// One piece of evidence that the row asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvidenceSlot {
    /// What is asked.
    pub asks: String,
    /// It is there.
    pub filled: bool,
    /// What is there, or what is missing.
    pub shown: String,
}

pub(super) fn page(reading: &Reading, rule: u32) -> Page {
    let id = match rule {
        2..=4 => "runtime",
        5 => "prompt",
        7 => "SFT",
        8 => "DPO",
        9 => "RL",
        10 => reading.nearest(),
        _ => "",
    };
    match reading.rules.rows.iter().find(|r| r.id == id) {
        Some(row) => Page {
            row: row.id.clone(),
            change: row.change.clone(),
            changes: row.changes.clone(),
            evidence: slots(reading, row),
            rollback: row.rollback.clone(),
        },
        None => Page {
            change: "nothing yet: what failed is not known well enough".to_owned(),
            ..Page::default()
        },
    }
}

fn slots(reading: &Reading, row: &Row) -> Vec<EvidenceSlot> {
    row.evidence
        .iter()
        .map(|name| slot(reading, name))
        .collect()
}

fn slot(reading: &Reading, name: &str) -> EvidenceSlot {
    let e = &reading.facts.evidence;
    let of_known = |n: u32, what: &str| match e.known {
        0 => (
            false,
            "evidence status is unknown: supply documents and tasks".to_owned(),
        ),
        known => (n == known, format!("{what} in {n} of {known} failures")),
    };
    let (asks, (filled, shown)) = match name {
        "document-visible" => (
            "the document is visible",
            of_known(e.in_prompt, "all evidence in the prompt"),
        ),
        "version-valid" => ("its version is valid", of_known(e.valid, "valid version")),
        "result-correct" => ("the result is correct", from_gate(reading, "G0")),
        "behaviour-change" => (
            "behaviour change on the same tasks",
            from_gate(reading, "G4"),
        ),
        "failures-and-regressions" => (
            "failures and regressions",
            from_fact(reading, "regressions"),
        ),
        "demonstrations" => ("high-quality demonstrations", from_gate(reading, "F1")),
        "independent-set" => ("result on an independent set", from_gate(reading, "F6")),
        "comparable-pairs" => (
            "comparable pairs of the same task",
            from_gate(reading, "D1"),
        ),
        "evaluation-rule" => ("the evaluation rule", from_gate(reading, "D2")),
        "full-trajectories" => ("full trajectories", from_gate(reading, "R9")),
        "reward" => ("reward", from_gate(reading, "R2")),
        "behaviour-probabilities" => ("behaviour probabilities", from_gate(reading, "R3")),
        "training-stability" => (
            "training stability",
            from_fact(reading, "training-stability"),
        ),
        other => (other, (false, "not known here".to_owned())),
    };
    EvidenceSlot {
        asks: asks.to_owned(),
        filled,
        shown,
    }
}

fn from_gate(reading: &Reading, id: &str) -> (bool, String) {
    match reading.gate(id) {
        Some(g) if g.state == GateState::Pass => (true, g.value.clone()),
        Some(g) if g.missing.is_empty() => (false, g.value.clone()),
        Some(g) => (false, format!("{}; missing: {}", g.value, g.missing)),
        None => (false, "not measured".to_owned()),
    }
}

fn from_fact(reading: &Reading, name: &str) -> (bool, String) {
    match reading.facts.recorded.get(name) {
        Some(f) => (true, format!("{} ({})", f.value, f.evidence)),
        None => (
            false,
            format!("not recorded (triagent cohort C --set {name}=…)"),
        ),
    }
}
