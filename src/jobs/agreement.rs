//! Labels of all reviewers on the same runs or pairs, as agreement is computed on: each reviewer's own, before anything
//! was settled.

use super::JobError;
use crate::domain::chat::decision_at;
use crate::domain::{Candidate, Decision, Layer, Pair, RunId, Verdict};
use crate::store::Store;
use crate::triage::{PairTrace, Ratings};
use std::collections::HashSet;

/// Layers by run and reviewer; only runs in `among`, where it is given.
pub fn layer_ratings(store: &Store, among: Option<&HashSet<String>>) -> Result<Ratings, JobError> {
    let records = store.own("verdict")?;
    let labels = records.iter().filter_map(|record| match &record.decision {
        Decision::Verdict(v) => Some((v.run.as_str(), record.reviewer.as_str(), v.layer.word())),
        _ => None,
    });
    let passing = |run: &str| among.is_none_or(|names| names.contains(run));
    Ok(Ratings::from_labels(
        labels.filter(|(run, _, _)| passing(run)),
    ))
}

/// Settles a run on which reviewers differ. Everything but the layer is taken from a reviewer who chose that layer, so that its
/// evidence stays; the original labels stay as they are.
pub fn adjudication(
    store: &Store,
    run: &RunId,
    layer: Layer,
    note: &str,
) -> Result<Decision, JobError> {
    let labels = store.live_on("verdict", run.as_str())?;
    let agreeing = labels.into_iter().rev().find_map(|r| match r.decision {
        Decision::Verdict(v) if v.layer == layer => Some(v),
        _ => None,
    });
    let mut verdict = agreeing.unwrap_or_else(|| Verdict::new(run.clone(), layer));
    note.clone_into(&mut verdict.note);
    Ok(Decision::Adjudication(verdict))
}

/// Choices by pair of candidates and reviewer.
pub fn pair_ratings(store: &Store) -> Result<Ratings, JobError> {
    let records = store.own("pair")?;
    let subjects: Vec<String> = records.iter().map(|r| r.decision.subject()).collect();
    let labels = records
        .iter()
        .zip(&subjects)
        .filter_map(|(record, subject)| {
            let Decision::Pair(pair) = &record.decision else {
                return None;
            };
            Some((
                subject.as_str(),
                record.reviewer.as_str(),
                pair.choice.word(),
            ))
        });
    Ok(Ratings::from_labels(labels))
}

/// What bias is read from: side shown left, and lengths of both sides.
pub fn pair_traces(store: &Store) -> Result<Vec<PairTrace>, JobError> {
    store
        .pairs()?
        .into_iter()
        .map(|(record, pair)| trace(store, &record.reviewer, &pair))
        .collect()
}

fn trace(store: &Store, reviewer: &str, pair: &Pair) -> Result<PairTrace, JobError> {
    Ok(PairTrace {
        reviewer: reviewer.to_owned(),
        choice: pair.choice,
        left: pair.left,
        length_a: length(store, &pair.a)?,
        length_b: length(store, &pair.b)?,
    })
}

fn length(store: &Store, side: &Candidate) -> Result<u32, JobError> {
    let message = match side {
        Candidate::Human { message, .. } => Some(message.clone()),
        Candidate::Recorded { at } => decision_at(&store.steps(&at.run)?, at.step),
    };
    let chars = message.map_or(0, |m| {
        let calls = m.tool_calls.iter().map(|c| c.arguments.chars().count());
        m.content.as_deref().map_or(0, |c| c.chars().count()) + calls.sum::<usize>()
    });
    Ok(u32::try_from(chars).unwrap_or(u32::MAX))
}
