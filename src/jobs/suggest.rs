//! The machine's layer for failed runs, with the newest probe of the decision where one was run.

use super::JobError;
use super::cohort::cohorts;
use super::evidence::{RunFacts, run_facts};
use super::probe::{Probe, probes_of};
use crate::domain::chat::{decision_start, decisions};
use crate::domain::{Decision, Filter, Layer, Outcome, Progress, RunId};
use crate::store::{Store, StoreError};
use crate::triage::{
    AgreementReport, Register, RunView, SuggestFacts, Suggestion, SuggestionTable,
    machine_agreement, suggest as judge, suggestion_table,
};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Seed of the intervals: the same labels give the same numbers.
const SEED: u64 = 1;

/// Suggestions of one cohort, and how they agree with people who had not seen them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CohortSuggestions {
    /// The cohort's name.
    pub cohort: String,
    /// Statuses, layers, abstention.
    #[serde(flatten)]
    pub table: SuggestionTable,
    /// Verdicts that were given before the machine was seen.
    pub blind: usize,
    /// Verdicts given after it was seen: they prove nothing.
    pub not_blind: usize,
    /// Agreement on the blind ones.
    pub agreement: Option<AgreementReport>,
    /// What a person said, what the machine said, how often; blind ones only.
    pub confusion: Vec<(Layer, Layer, u32)>,
}

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

/// Puts suggestions into one table a cohort, with the agreement on blind verdicts; the cohort with most failures first.
pub fn suggestion_tables(
    store: &Store,
    suggestions: &[Suggestion],
) -> Result<Vec<CohortSuggestions>, JobError> {
    let mut of_run: HashMap<&str, &Suggestion> =
        suggestions.iter().map(|s| (s.run.as_str(), s)).collect();
    let mut out = Vec::new();
    for cohort in cohorts(store, &Filter::default())? {
        let said: Vec<Suggestion> = cohort
            .failures()
            .filter_map(|row| of_run.remove(row.id.as_str()))
            .cloned()
            .collect();
        if !said.is_empty() {
            out.push(one_table(store, cohort.name, &said)?);
        }
    }
    Ok(out)
}

fn one_table(
    store: &Store,
    cohort: String,
    said: &[Suggestion],
) -> Result<CohortSuggestions, JobError> {
    let mut blind: Vec<(&RunId, Layer, Layer)> = Vec::new();
    let mut not_blind = 0;
    for one in said {
        let Some(record) = store.verdict(&one.run)? else {
            continue;
        };
        match record.decision {
            Decision::Verdict(v) | Decision::Adjudication(v) if v.suggestion_seen => not_blind += 1,
            Decision::Verdict(v) | Decision::Adjudication(v) => {
                blind.push((&one.run, v.layer, one.layer));
            }
            _ => {}
        }
    }
    let mut cells: BTreeMap<(Layer, Layer), u32> = BTreeMap::new();
    for (_, person, machine) in &blind {
        *cells.entry((*person, *machine)).or_default() += 1;
    }
    Ok(CohortSuggestions {
        cohort,
        table: suggestion_table(said),
        not_blind,
        agreement: (!blind.is_empty()).then(|| machine_agreement(blind.iter().copied(), SEED)),
        confusion: cells.into_iter().map(|((p, m), n)| (p, m, n)).collect(),
        blind: blind.len(),
    })
}
