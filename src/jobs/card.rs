//! Gathers what a run's one-page card is made of; secrets are masked before anything reaches it.

use super::JobError;
use super::check::cleaner;
use super::evidence::{register, run_facts};
use crate::domain::{Decision, RunId};
use crate::store::Store;
use crate::triage::{Card, CardFacts, RunView, Taxonomy, card};

/// Makes the card of a run.
pub fn card_of(store: &Store, run: &RunId, taxonomy: &Taxonomy) -> Result<Card, JobError> {
    let facts = run_facts(store, run)?;
    let calls = store.calls(run)?;
    let evidence = facts.evidence(&register(store)?);
    let verdict = store.verdict(run)?.and_then(|r| match r.decision {
        Decision::Verdict(v) | Decision::Adjudication(v) => Some(v),
        _ => None,
    });
    let cleaner = cleaner(store)?;
    Ok(card(&CardFacts {
        run: RunView {
            rollout: &facts.rollout,
            steps: &facts.steps,
            calls: &calls,
        },
        task: facts.task.as_ref(),
        verdict: verdict.as_ref(),
        evidence: &evidence,
        taxonomy,
        mask: &|text| cleaner.mask(text).into_owned(),
    }))
}
