//! Decisions: writing them down, taking them back, marks.

use super::{board, change, finding, pair, say, settle};
use crate::domain::{ChangeState, Decision, DecisionRecord, FindingAction, Layer};
use crate::jobs::desk::Ask;
use crate::text::plural;
use crate::tui::action::Action;
use crate::tui::app::run::Spot;
use crate::tui::app::says::Tone;
use crate::tui::app::{App, Screen};

/// Decides, marks.
pub(super) fn act(app: &mut App, action: Action) {
    let reviewer = app.set.reviewer.clone();
    let now_us = app.now.us;
    match action {
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
            [one] => format!("saved: {}", words(one)),
            _ if matches!(first.decision, Decision::Finding { .. }) => {
                format!("saved {}, first: {}", count("finding"), words(first))
            }
            _ => format!("saved {}: {}", count("label"), words(first)),
        };
        say(app, Tone::Done, format!("{text}   u undoes"));
    }
    pair::ask(app);
    suggest(app);
    finding::refresh(app);
    changed(app);
}

/// Decisions were taken back or made again.
pub(super) fn turned(app: &mut App, records: &[DecisionRecord], verb: &str) {
    match records {
        [] => say(
            app,
            Tone::Info,
            format!("nothing to {}", verb.trim_end_matches("ne")),
        ),
        [one] => say(app, Tone::Done, format!("{verb}: {}", words(one))),
        many => say(
            app,
            Tone::Done,
            format!("{verb}: {}", plural(many.len() as u64, "decision")),
        ),
    }
    let reviewer = app.set.reviewer.clone();
    app.ask(Ask::Mine(reviewer.clone()));
    if let Some(view) = app.run_mut() {
        view.suggestion = None;
        let run = view.run.clone();
        app.ask(Ask::Run { run, reviewer });
    }
    pair::ask(app);
    finding::refresh(app);
    changed(app);
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
