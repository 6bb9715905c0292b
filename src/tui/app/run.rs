//! One run's state: its steps by windows, where the cursor is, what is folded, the verdict in the making.
//!
//! The text is one long transcript, of which only a place is known: step and line. Nothing needs the heights of
//! steps that are not near, so a run of any length scrolls alike.

use super::body::Body;
use super::pace::Pace;
use crate::domain::{Layer, RunId, Score, ScoreSubject, Verdict};
use crate::jobs::desk::{Bodies, Outline, RunPage};
use crate::store::StepHead;
use crate::text::Wrap;
use crate::triage::{Evidence, Suggestion};
use crate::tui::render::Dress;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// Steps asked for at once for the list.
const HEADS_CHUNK: u32 = 64;
/// Steps asked for at once for the text.
const BODIES_CHUNK: u32 = 8;
/// Bodies kept; past it those far from the cursor go.
const MAX_BODIES: usize = 400;
/// Heads kept.
const MAX_HEADS: usize = 4_000;

/// A line of the transcript: 0 heads the step, its body follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    /// Step.
    pub(crate) step: u32,
    /// Line in it.
    pub(crate) line: usize,
}

/// Which pane has the keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum RunPane {
    /// The list of steps.
    #[default]
    Steps,
    /// The text.
    Text,
    /// Evidence, rewards, calls.
    Inspector,
}

/// A search in the run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Find {
    /// The text of the current match is not here yet.
    pub(crate) is_unseen: bool,
    /// What is searched.
    pub(crate) words: String,
    /// Steps that hold it, with how often; `None` until the answer comes.
    pub(crate) hits: Option<Vec<(u32, u32)>>,
    /// Which match is current, from 0.
    pub(crate) current: usize,
}

impl Find {
    /// How many matches there are.
    pub(crate) fn total(&self) -> usize {
        self.hits.iter().flatten().map(|(_, n)| *n as usize).sum()
    }

    /// Step of the current match, and which of the step's matches it is.
    pub(crate) fn place(&self) -> Option<(u32, usize)> {
        let mut left = self.current;
        for (step, count) in self.hits.iter().flatten() {
            if left < *count as usize {
                return Some((*step, left));
            }
            left -= *count as usize;
        }
        None
    }
}

/// How a run came on screen, which decides what comes after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Somebody picked it: its label counts, but in no interval.
    Picked,
    /// The random queue brought it.
    Queue,
    /// Reviewers differ on it, and somebody is to settle it: who says what.
    Dispute(String),
}

/// Marks before the label: how they stood before each change, and after each that was taken back.
#[derive(Debug, Default)]
pub(crate) struct Unsaved {
    /// Newest last.
    pub(crate) before: Vec<Verdict>,
    /// Newest last.
    pub(crate) after: Vec<Verdict>,
    /// They are kept beside the decisions until the label takes them.
    pub(crate) is_kept: bool,
}

/// A run on screen.
#[derive(Debug)]
pub(crate) struct RunView {
    pub(crate) run: RunId,
    pub(crate) seq: i64,
    pub(crate) origin: Origin,
    /// All about it but its steps.
    pub(crate) page: Option<Box<RunPage>>,
    pub(crate) outline: Option<Outline>,
    /// What became of each required document.
    pub(crate) evidence: Option<Vec<Evidence>>,
    /// The machine's layer; asked for only once the reviewer's own is saved.
    pub(crate) suggestion: Option<Box<Suggestion>>,
    /// Number of steps, as far as known.
    pub(crate) steps: u32,
    /// The cursor.
    pub(crate) at: Spot,
    /// First line of the text that is seen.
    pub(crate) top: Spot,
    /// First step of the list that is seen.
    pub(crate) list_top: usize,
    pub(crate) pane: RunPane,
    /// The inspector is seen.
    pub(crate) inspector: bool,
    pub(crate) inspector_top: usize,
    pub(crate) wrap: Wrap,
    pub(crate) dress: Dress,
    /// Log-probs shade the model's tokens.
    pub(crate) heat: bool,
    folds: HashMap<u32, bool>,
    fold_all: Option<bool>,
    /// Where a selection of lines began.
    pub(crate) select: Option<Spot>,
    pub(crate) find: Option<Find>,
    /// The reviewer's verdict, saved or in the making; its layer counts only once `saved` says so.
    pub(crate) verdict: Verdict,
    /// Layer that is on the disk.
    pub(crate) saved: Option<Layer>,
    /// Marks that were made before there is a label, so that undo and redo reach them.
    pub(crate) unsaved: Unsaved,
    pub(crate) pace: Pace,
    heads: HashMap<u32, StepHead>,
    bodies: HashMap<u32, Body>,
    asked_heads: HashSet<u32>,
    asked_bodies: HashSet<u32>,
}

impl RunView {
    /// The newest score of a decision, while log-probs shade its tokens.
    pub(crate) fn heat_of(&self, step: u32) -> Option<Arc<Score>> {
        if !self.heat {
            return None;
        }
        let is_here = |score: &&Arc<Score>| match &score.subject {
            ScoreSubject::Step(at) => at.step == step,
            ScoreSubject::PairSide { .. } => false,
        };
        let scores = &self.page.as_ref()?.scores;
        scores.iter().rev().find(is_here).cloned()
    }

    /// Opens on a run, at a step.
    pub(crate) fn new(run: RunId, seq: i64, step: u32, mask_secrets: bool) -> Self {
        let at = Spot { step, line: 0 };
        Self {
            verdict: Verdict::new(run.clone(), Layer::Undetermined),
            run,
            seq,
            origin: Origin::Picked,
            page: None,
            outline: None,
            evidence: None,
            suggestion: None,
            steps: step + 1,
            at,
            top: at,
            list_top: 0,
            pane: RunPane::default(),
            inspector: false,
            inspector_top: 0,
            wrap: Wrap::Words,
            dress: Dress {
                raw: false,
                revealed: !mask_secrets,
            },
            heat: false,
            folds: HashMap::new(),
            fold_all: None,
            select: None,
            find: None,
            saved: None,
            unsaved: Unsaved::default(),
            pace: Pace::default(),
            heads: HashMap::new(),
            bodies: HashMap::new(),
            asked_heads: HashSet::new(),
            asked_bodies: HashSet::new(),
        }
    }

    /// A step of the list, once it has been read.
    pub(crate) fn head(&self, step: u32) -> Option<&StepHead> {
        self.heads
            .get(&step)
            .or_else(|| self.bodies.get(&step).map(|b| &b.head))
    }

    /// A step's body, once it has been read.
    pub(crate) fn body(&self, step: u32) -> Option<&Body> {
        self.bodies.get(&step)
    }

    /// A step's body, to change it.
    pub(crate) fn body_mut(&mut self, step: u32) -> Option<&mut Body> {
        self.bodies.get_mut(&step)
    }

    /// Takes heads.
    pub(crate) fn take_heads(&mut self, heads: Vec<StepHead>) {
        if self.heads.len() + heads.len() > MAX_HEADS {
            self.heads.clear();
            self.asked_heads.clear();
        }
        self.heads
            .extend(heads.into_iter().map(|head| (head.index, head)));
    }

    /// Takes bodies; those far from the cursor go when there are too many.
    pub(crate) fn take_bodies(&mut self, bodies: Bodies) {
        if self.bodies.len() + bodies.steps.len() > MAX_BODIES {
            let near = self.at.step.saturating_sub(64)..self.at.step.saturating_add(64);
            self.bodies.retain(|step, _| near.contains(step));
            self.asked_bodies
                .retain(|chunk| near.contains(&(chunk * BODIES_CHUNK)));
        }
        for (head, masked) in bodies.steps.into_iter().zip(bodies.masked) {
            self.bodies.insert(head.index, Body::new(head, masked));
        }
    }

    /// Returns the chunks of heads that the list's window needs and nobody has asked for.
    pub(crate) fn missing_heads(&mut self, height: usize) -> Vec<Range<u32>> {
        let first = u32::try_from(self.list_top).unwrap_or(u32::MAX);
        let rows = u32::try_from(height).unwrap_or(u32::MAX);
        let window = first..first.saturating_add(rows).min(self.steps);
        missing(&mut self.asked_heads, window, HEADS_CHUNK)
    }

    /// Returns the chunks of bodies around the window that nobody has asked for.
    pub(crate) fn missing_bodies(&mut self, height: usize) -> Vec<Range<u32>> {
        // A step takes three lines at the least; one chunk before the window is read ahead.
        let span = u32::try_from(height / 3 + 1).unwrap_or(u32::MAX);
        let first = self.top.step.saturating_sub(BODIES_CHUNK);
        let window = first..self.top.step.saturating_add(span).min(self.steps);
        missing(&mut self.asked_bodies, window, BODIES_CHUNK)
    }

    /// A step is folded.
    pub(crate) fn is_folded(&self, step: u32) -> bool {
        if let Some(folded) = self.folds.get(&step).copied().or(self.fold_all) {
            return folded && self.body(step).is_none_or(|b| b.lines() > 0);
        }
        self.body(step).is_some_and(Body::folds_by_default)
    }

    /// Folds or unfolds a step.
    pub(crate) fn toggle_fold(&mut self, step: u32) {
        let folded = self.is_folded(step);
        self.folds.insert(step, !folded);
        self.at.line = self.at.line.min(self.height(step).saturating_sub(1));
    }

    /// Folds or unfolds all.
    pub(crate) fn fold_all(&mut self, folded: bool) {
        self.folds.clear();
        self.fold_all = Some(folded);
        self.at.line = 0;
        self.top = self.at;
    }

    /// Lines of a step that can bear the cursor: its head, what is seen of its body, a line for what is not.
    pub(crate) fn height(&self, step: u32) -> usize {
        match self.body(step) {
            Some(body) => {
                let folded = self.is_folded(step);
                let hidden = usize::from(self.hidden(body, folded) > 0 || body.rest_bytes() > 0);
                1 + body.seen(folded) + hidden
            }
            None => 2,
        }
    }

    /// Lines of a body that a fold hides.
    pub(crate) fn hidden(&self, body: &Body, folded: bool) -> usize {
        body.lines() - body.seen(folded)
    }

    /// The line below.
    pub(crate) fn below(&self, spot: Spot) -> Option<Spot> {
        if spot.line + 1 < self.height(spot.step) {
            return Some(Spot {
                line: spot.line + 1,
                ..spot
            });
        }
        (spot.step + 1 < self.steps).then(|| Spot {
            step: spot.step + 1,
            line: 0,
        })
    }

    /// The line above.
    pub(crate) fn above(&self, spot: Spot) -> Option<Spot> {
        if spot.line > 0 {
            return Some(Spot {
                line: spot.line - 1,
                ..spot
            });
        }
        let step = spot.step.checked_sub(1)?;
        Some(Spot {
            step,
            line: self.height(step) - 1,
        })
    }

    /// Lines that are selected, in order.
    pub(crate) fn selected(&self) -> (Spot, Spot) {
        let from = self.select.unwrap_or(self.at);
        (from.min(self.at), from.max(self.at))
    }

    /// Steps that the reviewer marked as contributing.
    pub(crate) fn contributing(&self) -> BTreeSet<u32> {
        self.verdict.contributing.iter().copied().collect()
    }
}

/// Returns the chunks of `window` that are not in `asked`, joined where they touch, and puts them in.
fn missing(asked: &mut HashSet<u32>, window: Range<u32>, size: u32) -> Vec<Range<u32>> {
    if window.is_empty() {
        return Vec::new();
    }
    let mut out: Vec<Range<u32>> = Vec::new();
    for chunk in window.start / size..=(window.end - 1) / size {
        if !asked.insert(chunk) {
            continue;
        }
        let range = chunk * size..(chunk + 1).saturating_mul(size);
        match out.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => out.push(range),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_asked_for_once_and_in_one_piece() {
        let mut asked = HashSet::new();
        assert_eq!(missing(&mut asked, 0..20, 8), vec![0..24]);
        assert_eq!(missing(&mut asked, 10..30, 8), vec![24..32]);
        assert!(missing(&mut asked, 0..32, 8).is_empty());
        assert!(missing(&mut asked, 5..5, 8).is_empty());
    }

    #[test]
    fn matches_are_counted_across_steps() {
        let find = Find {
            is_unseen: false,
            words: "x".to_owned(),
            hits: Some(vec![(3, 2), (9, 1)]),
            current: 2,
        };
        assert_eq!(find.total(), 3);
        assert_eq!(find.place(), Some((9, 0)));
    }
}
