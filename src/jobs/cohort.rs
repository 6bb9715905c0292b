//! Cohorts of the workspace: runs of one family under one set of versions.

use super::JobError;
use crate::domain::{Cohort, Filter, Outcome, RunId};
use crate::store::{RunRow, Store, StoreError};
use std::collections::{BTreeMap, HashSet};

/// A cohort with its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CohortRuns {
    /// What its runs share.
    pub cohort: Cohort,
    /// Its name, which can be typed.
    pub name: String,
    /// Its runs, in order of import.
    pub rows: Vec<RunRow>,
    /// Names of its runs.
    names: HashSet<RunId>,
}

impl CohortRuns {
    /// The run is one of its own.
    pub fn holds(&self, run: &RunId) -> bool {
        self.names.contains(run)
    }

    /// Failed runs.
    pub fn failures(&self) -> impl Iterator<Item = &RunRow> {
        self.rows.iter().filter(|r| r.outcome == Outcome::Fail)
    }
}

/// Returns the cohorts of the runs that pass, the one with most failures first.
pub fn cohorts(store: &Store, filter: &Filter) -> Result<Vec<CohortRuns>, JobError> {
    let mut found: BTreeMap<Cohort, Vec<RunRow>> = BTreeMap::new();
    store.each_run(filter, |row| {
        found.entry(cohort_of(&row)).or_default().push(row);
        Ok::<(), StoreError>(())
    })?;
    let mut all: Vec<CohortRuns> = found
        .into_iter()
        .map(|(cohort, rows)| CohortRuns {
            name: cohort.name(),
            cohort,
            names: rows.iter().map(|r| r.id.clone()).collect(),
            rows,
        })
        .collect();
    // Stable: cohorts with equally many failures stay in the order of their names.
    all.sort_by_key(|c| std::cmp::Reverse(c.failures().count()));
    Ok(all)
}

/// The cohort that a run belongs to.
pub fn cohort_of(row: &RunRow) -> Cohort {
    let harness = [row.harness.as_deref(), row.harness_version.as_deref()];
    let harness: Vec<&str> = harness.into_iter().flatten().collect();
    Cohort {
        family: row.family.clone(),
        harness: (!harness.is_empty()).then(|| harness.join(" ")),
        index: row.index_version.clone(),
        prompt: row.prompt_version.clone(),
        toolset: row.toolset_version.clone(),
        checkpoint: row.checkpoint.clone(),
    }
}

/// Finds the cohort that somebody typed: its name, or a beginning or part of it that fits one only.
pub fn find_cohort<'a>(all: &'a [CohortRuns], typed: &str) -> Result<&'a CohortRuns, JobError> {
    if let Some(exact) = all.iter().find(|c| c.name == typed) {
        return Ok(exact);
    }
    let begins: Vec<&CohortRuns> = all.iter().filter(|c| c.name.starts_with(typed)).collect();
    let holds: Vec<&CohortRuns> = all.iter().filter(|c| c.name.contains(typed)).collect();
    match (begins.as_slice(), holds.as_slice()) {
        ([one], _) | ([], [one]) => Ok(one),
        ([], []) => Err(JobError::NoCohort(typed.to_owned())),
        _ => Err(JobError::ManyCohorts {
            typed: typed.to_owned(),
            names: holds.iter().map(|c| c.name.clone()).collect(),
        }),
    }
}
