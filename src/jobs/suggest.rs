//! The machine's layer for failed runs.

use super::JobError;
use super::evidence::run_facts;
use crate::domain::{Decision, Filter, Outcome, Progress, RunId};
use crate::store::{Store, StoreError};
use crate::triage::{Register, RunView, SuggestFacts, Suggestion, suggest as judge};

/// Suggests a layer for one run.
pub fn suggest_run(
    store: &Store,
    run: &RunId,
    register: &Register,
) -> Result<Suggestion, JobError> {
    let facts = run_facts(store, run)?;
    let evidence = facts.evidence(register);
    let (calls, rewards) = (store.calls(run)?, store.rewards(run)?);
    let said = store.live_on("outcome", run.as_str())?.pop();
    let reviewed = said.and_then(|record| match record.decision {
        Decision::Outcome { outcome, .. } => Some(outcome),
        _ => None,
    });
    Ok(judge(&SuggestFacts {
        run: RunView {
            rollout: &facts.rollout,
            steps: &facts.steps,
            calls: &calls,
        },
        evidence: &evidence,
        rewards: &rewards,
        reviewed,
        decisive: facts.decisive,
        probe: None,
    }))
}

/// Suggests a layer for every failed run that passes the filter, in order of import.
pub fn suggest(
    store: &Store,
    filter: &Filter,
    register: &Register,
    progress: &Progress,
) -> Result<Vec<Suggestion>, JobError> {
    let mut failed = Vec::new();
    store.each_run(filter, |row| {
        if row.outcome == Outcome::Fail {
            failed.push(row.id);
        }
        Ok::<(), StoreError>(())
    })?;
    progress.set_total(failed.len() as u64);
    let mut out = Vec::new();
    for run in failed {
        if progress.is_cancelled() {
            return Err(JobError::Cancelled);
        }
        out.push(suggest_run(store, &run, register)?);
        progress.add(1);
    }
    Ok(out)
}
