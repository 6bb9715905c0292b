//! Repeated rollouts: is a failure stable, and does anybody ever pass?

use super::{CohortRuns, Failure, count};
use crate::advise::AttemptFact;
use crate::domain::{Layer, Outcome};
use std::collections::{BTreeMap, BTreeSet};

/// Rollouts of one task that make it repeated (gate G5: two of three).
const REPEATED: u32 = 3;
/// The larger k of pass@k.
const MANY: u32 = 8;

#[derive(Default)]
struct Tries {
    runs: u32,
    passes: u32,
}

pub(super) fn attempts(cohort: &CohortRuns, failures: &[Failure<'_>]) -> AttemptFact {
    let tries = tries(cohort);
    let complete: BTreeSet<&str> = failures
        .iter()
        .filter(|f| f.is_evidence_complete())
        .filter_map(|f| f.row.task.as_deref())
        .collect();
    let behaviour: BTreeSet<&str> = failures
        .iter()
        .filter(|f| f.row.layer == Some(Layer::Model))
        .filter_map(|f| f.row.task.as_deref())
        .collect();
    let repeated: Vec<&Tries> = complete
        .iter()
        .filter_map(|task| tries.get(task))
        .filter(|t| t.runs >= REPEATED)
        .collect();
    // At least two of three rollouts fail.
    let stable = repeated
        .iter()
        .filter(|t| (t.runs - t.passes) * 3 >= t.runs * 2);
    let passed = behaviour
        .iter()
        .filter(|task| tries.get(*task).is_some_and(|t| t.passes > 0));
    AttemptFact {
        repeated: count(repeated.len()),
        stable: count(stable.count()),
        behaviour_tasks: count(behaviour.len()),
        ever_passed: count(passed.count()),
        pass_at_1: pass_at(1, MANY, &tries),
        pass_at_8: pass_at(MANY, MANY, &tries),
    }
}

fn tries(cohort: &CohortRuns) -> BTreeMap<&str, Tries> {
    let mut tries: BTreeMap<&str, Tries> = BTreeMap::new();
    let known = cohort.rows.iter().filter(|r| r.outcome != Outcome::Unknown);
    for (row, task) in known.filter_map(|r| Some((r, r.task.as_deref()?))) {
        let entry = tries.entry(task).or_default();
        entry.runs += 1;
        entry.passes += u32::from(row.outcome == Outcome::Pass);
    }
    tries
}

/// Mean of the unbiased estimate over tasks with at least `least` rollouts: 1 − C(n−c, k) / C(n, k).
fn pass_at(k: u32, least: u32, tries: &BTreeMap<&str, Tries>) -> Option<f64> {
    let enough: Vec<f64> = tries
        .values()
        .filter(|t| t.runs >= least)
        .map(|t| one_pass_at(k, t))
        .collect();
    crate::stats::mean(&enough)
}

fn one_pass_at(k: u32, tries: &Tries) -> f64 {
    let wrong = tries.runs - tries.passes;
    if wrong < k {
        return 1.0;
    }
    // C(n−c, k) / C(n, k), factor by factor.
    let none: f64 = (0..k)
        .map(|i| f64::from(wrong - i) / f64::from(tries.runs - i))
        .product();
    1.0 - none
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pass_at_k_by_hand() {
        let tries = Tries { runs: 4, passes: 1 };
        // 1 − 3/4, and 1 − (3·2)/(4·3) = 1 − C(3,2)/C(4,2) = 0.5.
        assert!((one_pass_at(1, &tries) - 0.25).abs() < 1e-12);
        assert!((one_pass_at(2, &tries) - 0.5).abs() < 1e-12);
        assert!((one_pass_at(4, &tries) - 1.0).abs() < 1e-12);
    }
}
