//! Runs before and after a change, found by the fingerprints that runs carry, and the same tasks on both sides.

use crate::change::{AcceptanceComparison, PairedCounts, compare_paired};
use crate::domain::{Change, Cohort, Outcome};
use crate::jobs::CohortRuns;
use crate::stats::{Interval, wilson};
use serde::Serialize;
use std::collections::BTreeMap;

/// Significance of the comparison on the same tasks.
const LEVEL: f64 = 0.05;

/// One side of a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangeSide {
    /// Cohorts whose versions are those of this side.
    pub cohorts: Vec<String>,
    /// Their runs.
    pub runs: u32,
    /// Runs whose pass or fail is known.
    pub known: u32,
    /// Of those, passed.
    pub passed: u32,
    /// Share passed, with Wilson's 95% interval.
    pub share: Option<(f64, Interval)>,
}

/// Both sides of a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangeSides {
    /// Before.
    pub before: ChangeSide,
    /// After.
    pub after: ChangeSide,
    /// Tasks that were run on both sides; each counts as right where most of its runs passed.
    pub same_tasks: AcceptanceComparison,
}

impl ChangeSides {
    /// Tasks on both sides.
    pub fn tasks(&self) -> u32 {
        let c = &self.same_tasks.counts;
        c.both_right + c.fixed + c.broken + c.both_wrong
    }
}

/// Finds both sides; nothing where no fingerprint that runs carry differs, or neither side has a run.
pub(super) fn sides(change: &Change, all: &[CohortRuns]) -> Option<ChangeSides> {
    let differs = CARRIED
        .iter()
        .any(|(name, _)| change.before.get(*name) != change.after.get(*name));
    // A print that only one side names does not tell the sides apart; a cohort of both would be compared with itself.
    let of = |prints: &BTreeMap<String, String>,
              other: &BTreeMap<String, String>|
     -> Vec<&CohortRuns> {
        let own =
            |c: &&CohortRuns| differs && is_side(&c.cohort, prints) && !is_side(&c.cohort, other);
        all.iter().filter(own).collect()
    };
    let before = of(&change.before, &change.after);
    let after = of(&change.after, &change.before);
    if before.is_empty() && after.is_empty() {
        return None;
    }
    let (old, new) = (tasks(&before), tasks(&after));
    let mut counts = PairedCounts::default();
    for (task, was) in &old {
        match (was, new.get(task)) {
            (_, None) => {}
            (true, Some(true)) => counts.both_right += 1,
            (false, Some(true)) => counts.fixed += 1,
            (true, Some(false)) => counts.broken += 1,
            (false, Some(false)) => counts.both_wrong += 1,
        }
    }
    Some(ChangeSides {
        before: side(&before),
        after: side(&after),
        same_tasks: compare_paired(counts, LEVEL),
    })
}

type Field = fn(&Cohort) -> &Option<String>;

/// Fingerprints that runs carry themselves.
const CARRIED: [(&str, Field); 5] = [
    ("weights", |c| &c.checkpoint),
    ("prompt", |c| &c.prompt),
    ("toolset", |c| &c.toolset),
    ("index", |c| &c.index),
    ("harness", |c| &c.harness),
];

/// Every fingerprint of the side that runs carry is the cohort's.
fn is_side(cohort: &Cohort, prints: &BTreeMap<String, String>) -> bool {
    let mut named = CARRIED
        .iter()
        .filter_map(|(name, field)| Some((prints.get(*name)?, field)))
        .peekable();
    named.peek().is_some() && named.all(|(print, field)| field(cohort).as_ref() == Some(print))
}

/// Each task with a known outcome: did most of its runs pass?
fn tasks<'a>(side: &[&'a CohortRuns]) -> BTreeMap<&'a str, bool> {
    let mut tries: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    let rows = side.iter().flat_map(|c| &c.rows);
    for row in rows.filter(|r| r.outcome != Outcome::Unknown) {
        if let Some(task) = &row.task {
            let entry = tries.entry(task).or_default();
            entry.0 += 1;
            entry.1 += u32::from(row.outcome == Outcome::Pass);
        }
    }
    tries
        .into_iter()
        .map(|(task, (runs, passes))| (task, passes * 2 > runs))
        .collect()
}

fn side(of: &[&CohortRuns]) -> ChangeSide {
    let rows = || of.iter().flat_map(|c| &c.rows);
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let known = count(rows().filter(|r| r.outcome != Outcome::Unknown).count());
    let passed = count(rows().filter(|r| r.outcome == Outcome::Pass).count());
    ChangeSide {
        cohorts: of.iter().map(|c| c.name.clone()).collect(),
        runs: count(rows().count()),
        known,
        passed,
        share: (known > 0).then(|| (f64::from(passed) / f64::from(known), wilson(passed, known))),
    }
}
