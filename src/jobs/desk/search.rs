//! Finding words: in all runs by the index, in one run by reading it through; runs by a few letters.

use super::pages::{FoundStep, JumpRow};
use super::read::{SHOWN_BYTES, mask};
use super::reply::Answer;
use crate::clean::Cleaner;
use crate::domain::{RunId, StepKind};
use crate::fuzzy;
use crate::store::{Store, StoreError};
use crate::text::fold;
use regex::RegexBuilder;

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

/// Words in all runs.
pub(super) fn search(
    store: &Store,
    cleaner: Option<&Cleaner>,
    words: String,
) -> Result<Answer, StoreError> {
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
            around: masked_around(cleaner, &head.preview, &words),
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
                // The screen shows the name of a called tool before its arguments.
                let called = head
                    .tool
                    .as_deref()
                    .filter(|_| head.kind == StepKind::ToolCall);
                let count = pattern.find_iter(&head.preview).take(MAX_MATCHES).count()
                    + called.map_or(0, |tool| pattern.find_iter(tool).count());
                if count > 0 {
                    hits.push((head.index, u32::try_from(count).unwrap_or(u32::MAX)));
                }
            }
        }
    }
    Ok(Answer::FoundInRun { run, words, hits })
}

/// Runs to jump to.
pub(super) fn jump(
    store: &Store,
    names: &mut Names,
    pattern: String,
) -> Result<Answer, StoreError> {
    names.refresh(store)?;
    let shown = names.shown.iter().map(String::as_str);
    let rows = fuzzy::rank(&pattern, shown, MAX_JUMPS)
        .into_iter()
        .filter_map(|hit| names.rows.get(hit.index).cloned())
        .collect();
    Ok(Answer::Jump { pattern, rows })
}

/// The names of all runs, kept between two letters of a pattern.
#[derive(Default)]
pub(super) struct Names {
    mark: (i64, i64),
    rows: Vec<JumpRow>,
    /// What a pattern is held against.
    shown: Vec<String>,
}

impl Names {
    fn refresh(&mut self, store: &Store) -> Result<(), StoreError> {
        let mark = store.runs_mark()?;
        if mark == self.mark {
            return Ok(());
        }
        let rows = store.run_names()?.into_iter();
        self.rows = rows
            .map(|(seq, run, about)| JumpRow { seq, run, about })
            .collect();
        let show = |row: &JumpRow| format!("{} {}", row.run, row.about);
        self.shown = self.rows.iter().map(show).collect();
        self.mark = mark;
        Ok(())
    }
}

/// The line is masked before it is cut: half a secret is not found any more.
fn masked_around(cleaner: Option<&Cleaner>, text: &str, words: &str) -> String {
    let line = line_of(text, words);
    match mask(cleaner, line) {
        Some(masked) => around(&masked, words),
        None => around(line, words),
    }
}

/// Returns the words with what stands around them, in one line.
fn around(text: &str, words: &str) -> String {
    let needle = fold(words.trim());
    let line = line_of(text, words);
    let folded = fold(line);
    let before = folded
        .find(&needle)
        .and_then(|at| folded.get(..at))
        .unwrap_or("");
    let skip = before.chars().count().saturating_sub(AROUND);
    line.chars().skip(skip).take(AROUND * 3).collect()
}

/// The line that holds the words.
fn line_of<'a>(text: &'a str, words: &str) -> &'a str {
    let needle = fold(words.trim());
    let mut lines = text.lines();
    lines.find(|l| fold(l).contains(&needle)).unwrap_or(text)
}
