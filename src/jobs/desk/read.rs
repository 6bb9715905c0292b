//! Questions that read.

use super::question::{Answer, Bodies, CallHead, FoundStep, JumpRow, Listing, Outline, RunPage};
use crate::domain::filter::Field;
use crate::domain::{Filter, RunId};
use crate::fuzzy;
use crate::store::{Facet, Store, StoreError};
use crate::text::fold;
use crate::triage::{FilterError, parse_filter};
use regex::RegexBuilder;
use std::ops::Range;

/// Bytes of a step's text that a list row needs.
const PREVIEW_BYTES: usize = 240;
/// Bytes of a step's text that are shown before somebody asks for the rest.
pub(super) const SHOWN_BYTES: usize = 256 * 1024;
/// Hits of a search over all runs that a list holds.
const MAX_HITS: u32 = 500;
/// Steps read at once while one run is searched.
const SEARCH_CHUNK: u32 = 64;
/// Matches counted in one step.
const MAX_MATCHES: usize = 10_000;
/// Characters shown before and after a hit.
const AROUND: usize = 60;
/// Runs that the jump list offers.
const MAX_JUMPS: usize = 50;
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

/// Runs that pass.
pub(super) fn listing(store: &Store, filter: String, me: &str) -> Result<Answer, StoreError> {
    let parsed = match parsed(&filter, me) {
        Ok(parsed) => parsed,
        Err(error) => return Ok(Answer::BadFilter { filter, error }),
    };
    let seqs = store.run_seqs(&parsed)?;
    let total = store.count_runs(&Filter::default())?;
    Ok(Answer::Listing(Listing {
        filter,
        seqs,
        total,
    }))
}

/// Counts at the board's side.
pub(super) fn facets(store: &Store, filter: String, me: &str) -> Result<Answer, StoreError> {
    let parsed = parsed(&filter, me).unwrap_or_default();
    let facets = FACETS
        .iter()
        .map(|field| Ok((*field, store.facet(&parsed, Facet(*field))?)))
        .collect::<Result<_, StoreError>>()?;
    Ok(Answer::Facets { filter, facets })
}

/// All about one run but its steps.
pub(super) fn run(store: &Store, run: &RunId, reviewer: &str) -> Result<Answer, StoreError> {
    let rollout = store.rollout(run)?;
    let task = match &rollout.task {
        Some(id) => store.task(id)?,
        None => None,
    };
    Ok(Answer::Run(Box::new(RunPage {
        row: store.run_row(run)?,
        rollout,
        task,
        calls: store.calls(run)?.into_iter().map(CallHead::of).collect(),
        rewards: store.rewards(run)?,
        labels: store.foreign_labels(run)?,
        verdicts: store.live_on("verdict", run.as_str())?,
        notes: store.live_on("note", run.as_str())?,
        scores: store.scores_of_run(run)?,
        draft: store.draft(reviewer, &format!("note {run}"))?,
        steps: store.step_count(run)?,
    })))
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
pub(super) fn heads(store: &Store, run: RunId, range: Range<u32>) -> Result<Answer, StoreError> {
    let heads = store.step_heads(&run, range.clone(), PREVIEW_BYTES)?;
    Ok(Answer::Heads { run, range, heads })
}

/// Steps with the text that is shown.
pub(super) fn bodies(store: &Store, run: RunId, range: Range<u32>) -> Result<Answer, StoreError> {
    let steps = store.step_heads(&run, range.clone(), SHOWN_BYTES)?;
    let secrets = steps.iter().map(|s| secrets_in(&s.preview)).collect();
    Ok(Answer::Bodies(Bodies {
        run,
        range,
        steps,
        secrets,
    }))
}

/// A step's whole text.
pub(super) fn whole(store: &Store, run: RunId, step: u32) -> Result<Answer, StoreError> {
    let text = store.step_text(&run, step, usize::MAX)?;
    Ok(Answer::Whole {
        secrets: secrets_in(&text),
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

/// Words in all runs.
pub(super) fn search(store: &Store, words: String) -> Result<Answer, StoreError> {
    let mut hits = store.search(&words, None, MAX_HITS + 1)?;
    let more = hits.len() > MAX_HITS as usize;
    hits.truncate(MAX_HITS as usize);
    let mut steps = Vec::with_capacity(hits.len());
    for hit in hits {
        let range = hit.step..hit.step.saturating_add(1);
        let Some(head) = store.step_heads(&hit.run, range, SHOWN_BYTES)?.pop() else {
            continue;
        };
        steps.push(FoundStep {
            seq: store.run_row(&hit.run)?.seq,
            run: hit.run,
            step: hit.step,
            owner: head.owner,
            around: around(&head.preview, &words),
        });
    }
    let state = store.index_state()?;
    Ok(Answer::Found {
        words,
        steps,
        more,
        behind: state.total - state.done.min(state.total),
    })
}

/// Words in one run: its texts are read through, so that parts of words count and no index is needed.
pub(super) fn search_run(store: &Store, run: RunId, words: String) -> Result<Answer, StoreError> {
    let mut hits = Vec::new();
    // Upper case in the words makes case count.
    let smart = !words.chars().any(char::is_uppercase);
    let pattern = RegexBuilder::new(&regex::escape(&words))
        .case_insensitive(smart)
        .build();
    if let Ok(pattern) = pattern {
        let steps = store.step_count(&run)?;
        for from in (0..steps).step_by(SEARCH_CHUNK as usize) {
            let range = from..from.saturating_add(SEARCH_CHUNK);
            for head in store.step_heads(&run, range, usize::MAX)? {
                let count = pattern.find_iter(&head.preview).take(MAX_MATCHES).count();
                if count > 0 {
                    hits.push((head.index, u32::try_from(count).unwrap_or(u32::MAX)));
                }
            }
        }
    }
    Ok(Answer::FoundInRun { run, words, hits })
}

/// Runs to jump to.
pub(super) fn jump(store: &Store, pattern: String) -> Result<Answer, StoreError> {
    let names = store.run_names()?;
    let shown: Vec<String> = names
        .iter()
        .map(|(_, run, about)| format!("{run} {about}"))
        .collect();
    let rows = fuzzy::rank(&pattern, shown.iter().map(String::as_str), MAX_JUMPS)
        .into_iter()
        .filter_map(|hit| names.get(hit.index))
        .map(|(seq, run, about)| JumpRow {
            seq: *seq,
            run: run.clone(),
            about: about.clone(),
        })
        .collect();
    Ok(Answer::Jump { pattern, rows })
}

fn secrets_in(_text: &str) -> Vec<Range<usize>> {
    Vec::new()
}

/// Returns the words with what stands around them, in one line.
fn around(text: &str, words: &str) -> String {
    let needle = fold(words.trim());
    let line = text
        .lines()
        .find(|l| fold(l).contains(&needle))
        .unwrap_or(text);
    let folded = fold(line);
    let before = folded
        .find(&needle)
        .and_then(|at| folded.get(..at))
        .unwrap_or("");
    let skip = before.chars().count().saturating_sub(AROUND);
    line.chars().skip(skip).take(AROUND * 3).collect()
}
