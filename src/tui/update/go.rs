//! Going from screen to screen, and back.

use super::{say, sheet};
use crate::domain::RunId;
use crate::jobs::desk::Ask;
use crate::tui::action::Action;
use crate::tui::app::board::BoardPane;
use crate::tui::app::run::RunView;
use crate::tui::app::says::Tone;
use crate::tui::app::sheet::SheetKind;
use crate::tui::app::{App, Screen};
use crate::tui::effect::Effect;

/// Goes somewhere.
pub(super) fn act(app: &mut App, action: Action) {
    match action {
        Action::GoBoard => {
            app.screens.truncate(1);
            app.board.pane = BoardPane::Rows;
        }
        Action::GoQueue => next_in_queue(app),
        Action::GoMessages => super::overlay::messages(app),
        Action::GoCompare => super::compare::open(app),
        Action::GoPairs => sheet::open(app, SheetKind::Pairs),
        Action::GoRewards => sheet::open(app, SheetKind::Rewards),
        Action::GoAdvice => sheet::open(app, SheetKind::Advice),
        Action::GoChanges => sheet::open(app, SheetKind::Changes),
        Action::GoAgreement => sheet::open(app, SheetKind::Agreement),
        Action::GoExport => sheet::open(app, SheetKind::Export),
        Action::GoJobs => sheet::open(app, SheetKind::Jobs),
        _ => {}
    }
}

/// Closes the view, or leaves at the root.
pub(super) fn back(app: &mut App) {
    if super::moves::pop(app).is_none() {
        if app.board.pane == BoardPane::Facets {
            app.board.pane = BoardPane::Rows;
        } else {
            app.want(Effect::Quit);
        }
    }
}

/// Opens a run at a step, above the board; a run that is open gives way.
pub(super) fn open_run(app: &mut App, run: RunId, seq: i64, step: u32) {
    if matches!(app.screens.last(), Some(Screen::Run(_))) {
        app.screens.pop();
    }
    let mut view = RunView::new(run.clone(), seq, step, app.set.mask_secrets);
    view.pace.touch(app.now.ms);
    app.screens.push(Screen::Run(Box::new(view)));
    let reviewer = app.set.reviewer.clone();
    app.ask(Ask::Run {
        run: run.clone(),
        reviewer,
    });
    app.ask(Ask::Outline(run.clone()));
    app.ask(Ask::Evidence(run));
    if let Some(at) = app.board.seqs.iter().position(|s| *s == seq) {
        app.board.selected = at;
    }
}

/// Opens the run at place `at` of the board's list; its row may not have been read yet.
pub(super) fn open_at(app: &mut App, at: usize) {
    let Some(seq) = app.board.seqs.get(at).copied() else {
        return;
    };
    app.board.selected = at;
    match app.board.row(seq).map(|row| row.id.clone()) {
        Some(run) => open_run(app, run, seq, 0),
        None => {
            app.board.open_when_read = Some(seq);
            app.ask(Ask::Rows(vec![seq]));
        }
    }
}

/// Opens the next run of the list that the reviewer has not labelled, after the cursor, then from the start.
pub(super) fn next_in_queue(app: &mut App) {
    let len = app.board.seqs.len();
    let seen = app.run().map(|view| view.seq);
    let from = app.board.selected;
    let next = (0..len).map(|i| (from + i) % len).find(|at| {
        let seq = app.board.seqs[*at];
        Some(seq) != seen && !app.mine.contains(&seq)
    });
    match next {
        Some(at) => open_at(app, at),
        None if len == 0 => say(app, Tone::Info, "no run passes the filter; F takes it off"),
        None => {
            app.screens.truncate(1);
            say(
                app,
                Tone::Done,
                "every run of this list has your label; f picks others",
            );
        }
    }
}

/// Opens the run `by` places further in the list.
pub(super) fn neighbour(app: &mut App, by: isize) {
    let at = app.board.selected.checked_add_signed(by);
    match at.filter(|at| *at < app.board.seqs.len()) {
        Some(at) => open_at(app, at),
        None => say(app, Tone::Info, "that was the end of the list"),
    }
}
