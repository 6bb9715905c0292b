//! Demonstrations that a reviewer accepted: runs whose pass a reviewer decided, and sides that a reviewer wrote and preferred.

use super::{CohortRuns, Ground};
use crate::advise::DemonstrationFact;
use crate::domain::chat::{decision_at, decisions};
use crate::domain::{Candidate, ChatMessage, Outcome, Owner, Pair, Side, Step};
use crate::export::{Cell, cell_of};
use crate::jobs::JobError;
use crate::store::RunRow;

pub(super) fn demonstrations(
    ground: &Ground<'_>,
    cohort: &CohortRuns,
) -> Result<DemonstrationFact, JobError> {
    let store = ground.store;
    let mut fact = DemonstrationFact::default();
    let mut lengths = Vec::new();
    for row in cohort.rows.iter().filter(|r| r.outcome == Outcome::Pass) {
        if store.live_on("outcome", row.id.as_str())?.is_empty() {
            continue;
        }
        let steps = store.steps(&row.id)?;
        let Some(last) = decisions(&steps).last().copied() else {
            continue;
        };
        if let Some(message) = decision_at(&steps, last) {
            add(&mut fact, row, &steps, last, &message);
            lengths.push(f64::from(row.steps));
        }
    }
    for (_, pair) in ground.pairs_of(cohort) {
        if let Some((at, message)) = written_and_preferred(pair) {
            let row = store.run_row(&at.run)?;
            add(&mut fact, &row, &store.steps(&at.run)?, at.step, message);
        }
    }
    fact.length_ratio = ratio(&lengths, cohort);
    Ok(fact)
}

fn add(fact: &mut DemonstrationFact, row: &RunRow, steps: &[Step], at: u32, message: &ChatMessage) {
    fact.reviewed += 1;
    // A cohort is made of versions, so its own runs are made under its own tools and harness.
    fact.current += 1;
    let owned = !steps
        .iter()
        .any(|s| s.index <= at && s.owner == Owner::Unknown);
    fact.owned += u32::from(owned);
    match cell_of(row.scenario.as_deref(), steps, at, message) {
        Cell::Normal => fact.normal += 1,
        Cell::Clarification => fact.clarification += 1,
        Cell::Boundary => fact.boundary += 1,
        Cell::Recovery => fact.recovery += 1,
    }
}

fn written_and_preferred(pair: &Pair) -> Option<(&crate::domain::StepRef, &ChatMessage)> {
    let side = match pair.choice.preferred()? {
        Side::A => &pair.a,
        Side::B => &pair.b,
    };
    match side {
        Candidate::Human { at, message, .. } => Some((at, message)),
        Candidate::Recorded { .. } => None,
    }
}

/// Median length of the reviewed runs over that of all successes of the cohort.
fn ratio(reviewed: &[f64], cohort: &CohortRuns) -> Option<f64> {
    let all: Vec<f64> = cohort
        .rows
        .iter()
        .filter(|r| r.outcome == Outcome::Pass)
        .map(|r| f64::from(r.steps))
        .collect();
    let whole = crate::stats::median(&all).filter(|m| *m > 0.0)?;
    Some(crate::stats::median(reviewed)? / whole)
}
