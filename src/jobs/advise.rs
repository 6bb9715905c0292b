//! Advice for every cohort, or for one: facts are gathered, the advice room is asked, and what it said is kept.

use super::JobError;
use super::cohort::{CohortRuns, cohorts, find_cohort};
use super::facts::{Ground, cohort_facts};
use crate::advise::{AdviceBook, CohortFacts, Rules, advise as judge};
use crate::domain::{Filter, Progress};
use crate::store::Store;
use serde::Serialize;

/// Kind under which advice is kept.
const KIND: &str = "advice";

/// Advice with the facts that it was read from, so that it can be checked and repeated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CohortAdvice {
    /// The advice.
    #[serde(flatten)]
    pub book: AdviceBook,
    /// What it was read from.
    pub facts: CohortFacts,
}

/// Advises on one cohort, or on all; keeps what it said where the workspace may be written.
pub fn advise(
    store: &mut Store,
    cohort: Option<&str>,
    overrides: &toml::Table,
    now_us: i64,
    progress: &Progress,
) -> Result<Vec<CohortAdvice>, JobError> {
    let rules = Rules::embedded()?.with_overrides(overrides)?;
    let all = cohorts(store, &Filter::default())?;
    let wanted: Vec<&CohortRuns> = match cohort {
        Some(typed) => vec![find_cohort(&all, typed)?],
        None => all.iter().collect(),
    };
    let failures: usize = wanted.iter().map(|c| c.failures().count()).sum();
    progress.set_total(failures as u64);
    let ground = Ground::read(store, &rules)?;
    let mut said = Vec::new();
    for cohort in wanted {
        let facts = cohort_facts(&ground, cohort, progress)?;
        let book = judge(&facts, &rules);
        said.push(CohortAdvice { book, facts });
    }
    if !store.is_read_only() {
        for advice in &said {
            store.put_result(KIND, &advice.facts.cohort, "latest", now_us, advice)?;
        }
    }
    Ok(said)
}
