//! The machine's layer for failed runs, with the newest probe of the decision where one was run.

use super::JobError;
use super::evidence::{RunFacts, run_facts};
use super::probe::{Probe, probes_of};
use crate::domain::chat::{decision_start, decisions};
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
    let probe = probe_at_decision(store, &facts)?;
    let mut out = judge(&SuggestFacts {
        run: RunView {
            rollout: &facts.rollout,
            steps: &facts.steps,
            calls: &calls,
        },
        evidence: &evidence,
        rewards: &rewards,
        reviewed,
        decisive: facts.decisive,
        probe: probe.as_ref().filter(|p| p.trust.heeded).map(|p| &p.report),
    });
    if let Some(ignored) = probe.filter(|p| !p.trust.heeded) {
        // Shown, so that nobody wonders where it went.
        out.reason = format!("{}; a probe was run and not heeded", out.reason);
        out.probe = Some(ignored.report);
    }
    Ok(out)
}

/// The newest probe of the decision that the suggestion is about; a full one before a quick look.
fn probe_at_decision(store: &Store, facts: &RunFacts) -> Result<Option<Probe>, JobError> {
    let steps = &facts.steps;
    let at = facts.decisive.or_else(|| decisions(steps).last().copied());
    let Some(at) = at.map(|step| decision_start(steps, step)) else {
        return Ok(None);
    };
    let mut probes = probes_of(store, &facts.rollout.id)?;
    probes.retain(|p| p.step == at);
    probes.sort_by_key(|p| (!p.trust.heeded, p.report.screen_only));
    Ok(probes.into_iter().next())
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
