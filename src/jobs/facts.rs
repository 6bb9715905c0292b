//! Gathers what advice is read from: plain counts of one cohort, taken from the store.
//!
//! Counts only. What a count means is the advice room's word.

mod attempts;
mod demonstrations;
mod labels;
mod pairs;
mod rewards;
mod rollouts;
mod similar;
mod split;

use super::cohort::CohortRuns;
use super::evidence::RunFacts;
use super::{Audit, ChangeSides, JobError, audits, ledger, register, run_facts};
use crate::advise::{CohortFacts, EvidenceFact, OverrideFact, RecordedFact, Rules};
use crate::domain::{
    ChangedThing, Decision, DecisionRecord, EvidenceStatus, Outcome, Pair, Progress, TaskId,
};
use crate::store::{RunRow, Store};
use crate::triage::{Evidence, Register};
use std::collections::BTreeMap;

/// Facts recorded for this cohort hold for every cohort.
const EVERY_COHORT: &str = "all";

/// What the counts of all cohorts share, read once.
pub struct Ground<'a> {
    store: &'a Store,
    register: Register,
    pairs: Vec<(DecisionRecord, Pair)>,
    verdicts: Vec<DecisionRecord>,
    facts: Vec<DecisionRecord>,
    /// Oldest first.
    audits: Vec<Audit>,
    levers: u32,
    duplicates: Option<Vec<(TaskId, TaskId)>>,
    rules: Rules,
}

fn audits_by_age(store: &Store) -> Result<Vec<Audit>, JobError> {
    let mut kept = audits(store)?;
    kept.sort_by_key(|(at, _)| *at);
    Ok(kept.into_iter().map(|(_, audit)| audit).collect())
}

impl<'a> Ground<'a> {
    /// Reads it.
    pub fn read(store: &'a Store, rules: &Rules) -> Result<Self, JobError> {
        Ok(Self {
            store,
            register: register(store)?,
            pairs: store.pairs()?,
            verdicts: store.own("verdict")?,
            facts: store.own("fact")?,
            audits: audits_by_age(store)?,
            levers: levers(store)?,
            duplicates: split::open_duplicates(store)?,
            rules: rules.clone(),
        })
    }

    /// Pairs whose first candidate belongs to the cohort.
    fn pairs_of(&self, cohort: &CohortRuns) -> impl Iterator<Item = &(DecisionRecord, Pair)> {
        self.pairs
            .iter()
            .filter(|(_, pair)| cohort.holds(&pair.a.at().run))
    }
}

/// A failed run, read once for every count that needs its steps.
struct Failure<'a> {
    row: &'a RunRow,
    facts: RunFacts,
    evidence: Vec<Evidence>,
}

impl Failure<'_> {
    /// All that was required was in view, and valid.
    fn is_evidence_complete(&self) -> bool {
        let fine = |e: &Evidence| e.status == EvidenceStatus::InPrompt && e.valid != Some(false);
        !self.evidence.is_empty() && self.evidence.iter().all(fine)
    }
}

/// Counts everything that advice for a cohort is read from.
pub fn cohort_facts(
    ground: &Ground<'_>,
    cohort: &CohortRuns,
    progress: &Progress,
) -> Result<CohortFacts, JobError> {
    let store = ground.store;
    let mut failures = Vec::new();
    for row in cohort.failures() {
        if progress.is_cancelled() {
            return Err(JobError::Cancelled);
        }
        let facts = run_facts(store, &row.id)?;
        let evidence = facts.evidence(&ground.register);
        failures.push(Failure {
            row,
            facts,
            evidence,
        });
        progress.add(1);
    }
    let known = cohort.rows.iter().filter(|r| r.outcome != Outcome::Unknown);
    Ok(CohortFacts {
        cohort: cohort.name.clone(),
        runs: count(cohort.rows.len()),
        outcome_known: count(known.count()),
        failures: count(failures.len()),
        labels: labels::labels(store, &failures)?,
        agreement: labels::agreement(ground, cohort)?,
        evidence: evidence(&failures),
        rewards: rewards::rewards(store, &ground.audits, cohort, &failures)?,
        attempts: attempts::attempts(cohort, &failures),
        split: split::split(ground, cohort),
        levers_compared: ground.levers,
        demonstrations: demonstrations::demonstrations(ground, cohort)?,
        pairs: pairs::pairs(ground, cohort)?,
        rollouts: rollouts::rollouts(ground, cohort)?,
        reach: pairs::reach(ground, cohort)?,
        recorded: recorded(ground, &cohort.name),
        overridden: overridden(store, &cohort.name)?,
    })
}

fn evidence(failures: &[Failure<'_>]) -> EvidenceFact {
    let known = |e: &Evidence| e.status != EvidenceStatus::Unknown;
    let of =
        |test: &dyn Fn(&Failure<'_>) -> bool| count(failures.iter().filter(|f| test(f)).count());
    EvidenceFact {
        known: of(&|f| !f.evidence.is_empty() && f.evidence.iter().all(known)),
        in_prompt: of(&|f| {
            !f.evidence.is_empty()
                && f.evidence
                    .iter()
                    .all(|e| e.status == EvidenceStatus::InPrompt)
        }),
        valid: of(&|f| !f.evidence.is_empty() && f.evidence.iter().all(|e| e.valid == Some(true))),
    }
}

/// Facts that people recorded; the cohort's own go before those for every cohort.
fn recorded(ground: &Ground<'_>, name: &str) -> BTreeMap<String, RecordedFact> {
    let mut facts = BTreeMap::new();
    for wanted in [EVERY_COHORT, name] {
        for record in &ground.facts {
            let Decision::Fact {
                cohort,
                fact,
                value,
                evidence,
            } = &record.decision
            else {
                continue;
            };
            if cohort == wanted {
                let found = RecordedFact {
                    value: value.clone(),
                    evidence: evidence.clone(),
                    reviewer: record.reviewer.clone(),
                };
                facts.insert(fact.clone(), found);
            }
        }
    }
    facts
}

fn overridden(store: &Store, name: &str) -> Result<Option<OverrideFact>, JobError> {
    let last = store.live_on("override", name)?.pop();
    Ok(last.and_then(|record| match record.decision {
        Decision::Override {
            headline, reason, ..
        } => Some(OverrideFact {
            reviewer: record.reviewer,
            headline,
            reason,
        }),
        _ => None,
    }))
}

/// Changes of prompt, skill, memory or tool text that were compared: a person decided on them, or the same tasks were run on both sides. An
/// acceptance method alone is a promise.
fn levers(store: &Store) -> Result<u32, JobError> {
    let compared = ledger(store)?.into_iter().filter(|entry| {
        let cheap = matches!(
            entry.change.thing,
            ChangedThing::Prompt | ChangedThing::Skill | ChangedThing::Memory | ChangedThing::Tool
        );
        let tasks = entry.sides.as_ref().map_or(0, ChangeSides::tasks);
        cheap && (!entry.settled.is_empty() || tasks > 0)
    });
    Ok(count(compared.count()))
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
