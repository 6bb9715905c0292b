//! Questions that read.

use super::pages::{Bodies, CallHead, Listing, Outline, RunPage};
use super::reply::Answer;
use crate::clean::Cleaner;
use crate::domain::filter::Field;
use crate::domain::{Filter, RunId, Score};
use crate::jobs::drift_of;
use crate::store::{Store, StoreError};
use crate::triage::{FilterError, parse_filter};
use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a step's text that a list row needs.
const PREVIEW_BYTES: usize = 240;
/// Bytes of a step's text that are shown before somebody asks for the rest.
pub(super) const SHOWN_BYTES: usize = 256 * 1024;
/// Runs that the beginning of a long list holds: more than any screen has rows.
const FIRST: u32 = 200;
/// What the board's side counts.
const FACETS: [Field; 7] = [
    Field::Outcome,
    Field::Layer,
    Field::Family,
    Field::Harness,
    Field::Model,
    Field::Format,
    Field::Ending,
];

fn parsed(filter: &str, reviewer: &str) -> Result<Filter, FilterError> {
    parse_filter(filter, Some(reviewer))
}

/// Runs that pass: all where that is quick, else as many as a screen shows.
pub(super) fn first_runs(store: &Store, filter: String, me: &str) -> Result<Answer, StoreError> {
    let parsed = match parsed(&filter, me) {
        Ok(parsed) => parsed,
        Err(error) => return Ok(Answer::BadFilter { filter, error }),
    };
    let found = store.first_seqs(&parsed, FIRST)?;
    Ok(Answer::Listing(Listing {
        filter,
        seqs: found.seqs,
        is_whole: found.is_whole,
        total: store.count_runs(&Filter::default())?,
    }))
}

/// Runs that pass, all of them.
pub(super) fn listing(store: &Store, filter: String, me: &str) -> Result<Listing, StoreError> {
    let parsed = parsed(&filter, me).unwrap_or_default();
    Ok(Listing {
        seqs: store.run_seqs(&parsed)?,
        filter,
        is_whole: true,
        total: store.count_runs(&Filter::default())?,
    })
}

/// Counts at the board's side.
pub(super) fn facets(
    store: &Store,
    filter: String,
    me: &str,
    listed: Option<&Listing>,
) -> Result<Answer, StoreError> {
    let counted = match listed.filter(|l| l.filter == filter) {
        Some(listing) => store.facets_of(&listing.seqs, &FACETS)?,
        None => store.facets(&parsed(&filter, me).unwrap_or_default(), &FACETS)?,
    };
    let facets = FACETS.into_iter().zip(counted).collect();
    Ok(Answer::Facets { filter, facets })
}

/// All about one run but its steps.
pub(super) fn run(
    store: &Store,
    cleaner: Option<&Cleaner>,
    run: &RunId,
    reviewer: &str,
) -> Result<Answer, StoreError> {
    let rollout = store.rollout(run)?;
    let task = match &rollout.task {
        Some(id) => store.task(id)?,
        None => None,
    };
    let mut rewards = store.rewards(run)?;
    for reward in &mut rewards {
        mask_inside(cleaner, &mut reward.detail);
    }
    let scores: Vec<Arc<Score>> = store
        .scores_of_run(run)?
        .into_iter()
        .map(Arc::new)
        .collect();
    Ok(Answer::Run(Box::new(RunPage {
        far: far(store, &scores)?,
        row: store.run_row(run)?,
        rollout,
        task,
        calls: store.calls(run)?.into_iter().map(CallHead::of).collect(),
        rewards,
        labels: store.foreign_labels(run)?,
        verdicts: store.live_on("verdict", run.as_str())?,
        notes: store.live_on("note", run.as_str())?,
        scores,
        draft: store.draft(reviewer, &format!("note {run}"))?,
        marks: store
            .draft(reviewer, &RunPage::marks_draft(run))?
            .and_then(|text| serde_json::from_str(&text).ok()),
        steps: store.step_count(run)?,
    })))
}

/// Weights that a drift check found far from the recorded policy.
fn far(store: &Store, scores: &[Arc<Score>]) -> Result<Vec<String>, StoreError> {
    let mut out: Vec<String> = Vec::new();
    for score in scores {
        let is_new = !out.contains(&score.binding.weights);
        if is_new && drift_of(store, &score.binding)? == Some(false) {
            out.push(score.binding.weights.clone());
        }
    }
    Ok(out)
}

/// Turns and failures.
pub(super) fn outline(store: &Store, run: RunId) -> Result<Answer, StoreError> {
    let mut out = Outline {
        failed: store.failed_steps(&run)?,
        run,
        turns: Vec::new(),
        owners: Vec::new(),
    };
    let mut last = None;
    for (index, owner, message) in store.step_owners(&out.run)? {
        let is_model = owner == crate::domain::Owner::Model;
        if is_model && last != Some(message) {
            out.turns.push(index);
        }
        if is_model {
            last = Some(message);
        }
        out.owners.push(owner);
    }
    Ok(Answer::Outline(out))
}

/// Steps for the list at the left.
pub(super) fn heads(
    store: &Store,
    cleaner: Option<&Cleaner>,
    run: RunId,
    range: Range<u32>,
) -> Result<Answer, StoreError> {
    let mut heads = store.step_heads(&run, range.clone(), PREVIEW_BYTES)?;
    for head in &mut heads {
        if let Some(masked) = mask(cleaner, &head.preview) {
            head.preview = masked;
        }
    }
    Ok(Answer::Heads { run, range, heads })
}

/// Steps with the text that is shown.
pub(super) fn bodies(
    store: &Store,
    cleaner: Option<&Cleaner>,
    run: RunId,
    range: Range<u32>,
) -> Result<Answer, StoreError> {
    let steps = store.step_heads(&run, range.clone(), SHOWN_BYTES)?;
    let masked = steps.iter().map(|s| mask(cleaner, &s.preview)).collect();
    Ok(Answer::Bodies(Bodies {
        run,
        range,
        steps,
        masked,
    }))
}

/// A step's whole text.
pub(super) fn whole(
    store: &Store,
    cleaner: Option<&Cleaner>,
    run: RunId,
    step: u32,
) -> Result<Answer, StoreError> {
    let text = store.step_text(&run, step, usize::MAX)?;
    Ok(Answer::Whole {
        masked: mask(cleaner, &text).map(Into::into),
        run,
        step,
        text: text.into(),
    })
}

/// A step as JSON.
pub(super) fn step_json(store: &Store, run: &RunId, step: u32) -> Result<Answer, StoreError> {
    let steps = store.steps_in(run, step..step.saturating_add(1))?;
    let json = steps
        .first()
        .and_then(|s| serde_json::to_string_pretty(s).ok());
    Ok(Answer::StepJson(json.unwrap_or_default()))
}

/// Masks every text inside; what a grader wrote may quote the run.
fn mask_inside(cleaner: Option<&Cleaner>, value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(masked) = mask(cleaner, text) {
                *text = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|v| mask_inside(cleaner, v)),
        Value::Object(fields) => fields.values_mut().for_each(|v| mask_inside(cleaner, v)),
        _ => {}
    }
}

/// The text with secrets masked, where it holds some.
pub(super) fn mask(cleaner: Option<&Cleaner>, text: &str) -> Option<String> {
    match cleaner?.mask(text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(masked) => Some(masked),
    }
}
