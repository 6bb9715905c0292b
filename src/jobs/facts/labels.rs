//! Labels of a cohort's failures, and how far reviewers agree on them.

use super::{CohortRuns, Failure, Ground, count};
use crate::advise::{AgreementFact, LabelFact};
use crate::domain::{Decision, Layer};
use crate::jobs::JobError;
use crate::store::Store;
use crate::triage::{AlphaMetric, alpha};
use std::collections::{BTreeMap, BTreeSet};

/// The settled label of each labelled failure.
pub(super) fn labels(store: &Store, failures: &[Failure<'_>]) -> Result<Vec<LabelFact>, JobError> {
    let mut labels = Vec::new();
    for failure in failures {
        let Some(record) = store.verdict(&failure.row.id)? else {
            continue;
        };
        let (Decision::Verdict(verdict) | Decision::Adjudication(verdict)) = record.decision else {
            continue;
        };
        labels.push(LabelFact {
            proven: verdict.is_proven(),
            run: verdict.run,
            layer: verdict.layer,
            cause: verdict.cause,
            random: verdict.from_random_queue,
        });
    }
    Ok(labels)
}

/// Each reviewer's own label counts, before anything was settled.
pub(super) fn agreement(
    ground: &Ground<'_>,
    cohort: &CohortRuns,
) -> Result<AgreementFact, JobError> {
    let failed: BTreeSet<&str> = cohort.failures().map(|r| r.id.as_str()).collect();
    let mut labels: BTreeMap<String, Vec<Layer>> = BTreeMap::new();
    for record in &ground.verdicts {
        if let Decision::Verdict(verdict) = &record.decision
            && failed.contains(verdict.run.as_str())
        {
            labels
                .entry(verdict.run.0.clone())
                .or_default()
                .push(verdict.layer);
        }
    }
    let twice: Vec<(&String, &Vec<Layer>)> = labels.iter().filter(|(_, l)| l.len() > 1).collect();
    let mut unsettled = 0;
    for (run, layers) in &twice {
        let differ = layers.iter().any(|l| *l != layers[0]);
        if differ && ground.store.live_on("adjudication", run)?.is_empty() {
            unsettled += 1;
        }
    }
    let units: Vec<Vec<f64>> = labels
        .values()
        .map(|l| l.iter().map(number).collect())
        .collect();
    Ok(AgreementFact {
        alpha: alpha(&units, AlphaMetric::Nominal).and_then(|a| a.value),
        labelled_twice: count(twice.len()),
        unsettled,
    })
}

/// A layer as a category number; nominal agreement asks only whether two are equal.
fn number(layer: &Layer) -> f64 {
    let at = Layer::ALL.iter().position(|l| l == layer).unwrap_or(0);
    f64::from(u32::try_from(at).unwrap_or(0))
}
