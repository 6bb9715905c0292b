//! Decisions: writing them down, taking them back, marks.

use super::{board, change, finding, marks, pair, say, settle};
use crate::domain::{ChangeState, Decision, DecisionRecord, FindingAction, Layer, Verdict};
use crate::jobs::desk::Ask;
use crate::text::plural;
use crate::tui::action::Action;
use crate::tui::app::run::{RunView, Spot};
use crate::tui::app::says::Tone;
use crate::tui::app::{App, Screen};

/// Decides, marks.
pub(super) fn act(app: &mut App, action: Action) {
    let reviewer = app.set.reviewer.clone();
    let now_us = app.now.us;
    match action {
        // A mark without a label is the newest thing that was done here.
        Action::Undo if marks::undo(app) => {}
        Action::Redo if marks::redo(app) => {}
        Action::Undo => app.ask(Ask::Undo { reviewer, now_us }),
        Action::Redo => app.ask(Ask::Redo { reviewer, now_us }),
        Action::Mark => board::mark(app),
        Action::MarkAll => board::mark_all(app),
        Action::FindingKeep => finding::decide(app, FindingAction::Keep),
        Action::FindingRedact => finding::decide(app, FindingAction::Redact),
        Action::FindingDrop => finding::decide(app, FindingAction::Drop),
        Action::Adjudicate => settle::ask(app),
        Action::FindingAlike => finding::alike(app),
        Action::ChangeAccept => change::ask(app, ChangeState::Accepted),
        Action::ChangeRollBack => change::ask(app, ChangeState::RolledBack),
        Action::MarkRange => match app.screens.last() {
            Some(Screen::Run(_)) => select(app),
            _ => board::range(app),
        },
        _ => {}
    }
}

/// Begins or ends a selection of lines.
fn select(app: &mut App) {
    let Some(view) = app.run_mut() else { return };
    view.select = match view.select {
        Some(_) => None,
        None => Some(Spot {
            line: view.at.line.max(1),
            ..view.at
        }),
    };
}

/// Writes decisions down; the answer says when they are on the disk.
pub(super) fn decide(app: &mut App, decisions: Vec<Decision>) {
    // From now on undo means this decision, not a mark made before it.
    if let Some(view) = app.run_mut() {
        view.unsaved.before.clear();
    }
    let ask = Ask::Decide {
        reviewer: app.set.reviewer.clone(),
        now_us: app.now.us,
        codebook: app.book.version.clone(),
        decisions,
    };
    app.ask(ask);
}

/// Decisions are on the disk: says so, and reads again what they change.
pub(super) fn decided(app: &mut App, records: &[DecisionRecord]) {
    if let Some(first) = records.first() {
        let count = |word| plural(records.len() as u64, word);
        let text = match records {
            [one] => format!("saved: {}{}", words(one), step_of(one)),
            _ if matches!(first.decision, Decision::Finding { .. }) => {
                format!("saved {}, first: {}", count("finding"), words(first))
            }
            _ => format!("saved {}: {}", count("label"), words(first)),
        };
        match app.run().and_then(|view| marked_in_doubt(view, first)) {
            Some(doubt) => say(app, Tone::Warn, format!("{text}, but {doubt}")),
            None => say(app, Tone::Done, format!("{text}   u undoes")),
        }
        app.decided += records.len();
    }
    pair::ask(app);
    suggest(app);
    finding::refresh(app);
    changed(app);
}

/// The first wrong decision that a label names.
fn step_of(record: &DecisionRecord) -> String {
    match &record.decision {
        Decision::Verdict(verdict) => verdict
            .decisive_step
            .map_or_else(String::new, |step| format!(", first wrong at step {step}")),
        _ => String::new(),
    }
}

/// A label just saved names a step that is seen and that the model did not write.
fn marked_in_doubt(view: &RunView, record: &DecisionRecord) -> Option<String> {
    let is_here = matches!(&record.decision, Decision::Verdict(v) if v.run == view.run);
    marks::doubt(view).filter(|_| is_here)
}

/// Decisions were taken back: what still stands of them is said too.
pub(super) fn undone(app: &mut App, records: &[DecisionRecord], stands: Option<&Verdict>) {
    app.decided = app.decided.saturating_sub(records.len());
    let before = records.first().zip(stands);
    let what = before.and_then(|(record, stands)| match &record.decision {
        Decision::Verdict(was) if was.layer == stands.layer => Some(format!(
            "{} on {}; layer {} stays",
            marks::difference(was, stands),
            was.run,
            stands.layer
        )),
        Decision::Verdict(was) => Some(format!(
            "{} is {}; it is {} again",
            was.run, was.layer, stands.layer
        )),
        _ => None,
    });
    turned(app, records, "undone", what);
}

/// Decisions were made again.
pub(super) fn redone(app: &mut App, records: &[DecisionRecord]) {
    app.decided += records.len();
    turned(app, records, "redone", None);
}

/// Says what was taken back or made again, and reads again what that changes.
fn turned(app: &mut App, records: &[DecisionRecord], verb: &str, what: Option<String>) {
    let elsewhere = match records {
        [one] if !is_seen(app, one) => " on another page",
        _ => "",
    };
    let said = match records {
        [] => None,
        [one] => Some(what.unwrap_or_else(|| words(one))),
        many => Some(plural(many.len() as u64, "decision")),
    };
    match said {
        Some(what) => say(app, Tone::Done, format!("{verb}{elsewhere}: {what}")),
        None => {
            let verb = verb.trim_end_matches("ne");
            say(app, Tone::Info, format!("nothing to {verb}"));
        }
    }
    app.ask(Ask::Mine(app.set.reviewer.clone()));
    if let Some(view) = app.run_mut() {
        view.suggestion = None;
    }
    super::run::ask(app);
    pair::ask(app);
    finding::refresh(app);
    changed(app);
}

/// The decision is about the run or pair on screen; lists name what they hold.
fn is_seen(app: &App, record: &DecisionRecord) -> bool {
    let subject = record.decision.subject();
    match app.screens.last() {
        Some(Screen::Run(view)) => subject == view.run.as_str(),
        Some(Screen::Pair(view)) => view.subject().is_none_or(|seen| seen == subject),
        _ => true,
    }
}

/// The machine's layer is asked for only now that the reviewer's own is on the disk.
fn suggest(app: &mut App) {
    let Some(view) = app.run() else { return };
    if view.saved.is_some() && view.suggestion.is_none() {
        let run = view.run.clone();
        app.ask(Ask::Suggest(run));
    }
}

/// Rows and counts may be different now; the list itself stays as it is.
fn changed(app: &mut App) {
    app.board.forget_rows();
    app.count_board();
}

/// What a decision says, in a few words.
pub(super) fn words(record: &DecisionRecord) -> String {
    match &record.decision {
        Decision::Adjudication(v) => format!("{} is settled as {}", v.run, v.layer),
        Decision::Verdict(v) => {
            let cause = v
                .cause
                .as_ref()
                .map_or_else(String::new, |c| format!(" · {c}"));
            let unproven = if v.layer == Layer::Model && !v.is_proven() {
                " (unproven)"
            } else {
                ""
            };
            format!("{} is {}{cause}{unproven}", v.run, v.layer)
        }
        Decision::Outcome { run, outcome } => format!("{run} is a {outcome}"),
        Decision::Note { run, .. } => format!("note on {run}"),
        Decision::Pair(pair) => match pair.choice.preferred() {
            Some(_) => "pair, one side better".to_owned(),
            None => format!("pair, {}", pair.choice),
        },
        Decision::Finding {
            finding, action, ..
        } => format!("{action} finding {finding}"),
        Decision::ChangeState { change, state, .. } => format!("{change} is {state}"),
        other => format!("{} on {}", other.kind(), other.subject()),
    }
}
