//! Going from screen to screen, and back.

use super::{say, sheet};
use crate::domain::RunId;
use crate::jobs::desk::{Ask, Queue};
use crate::tui::action::Action;
use crate::tui::app::board::BoardPane;
use crate::tui::app::run::{Origin, RunView};
use crate::tui::app::says::Tone;
use crate::tui::app::sheet::SheetKind;
use crate::tui::app::{App, Screen};
use crate::tui::effect::Effect;
use crate::tui::work::Order;

/// Goes somewhere.
pub(super) fn act(app: &mut App, action: Action) {
    match action {
        Action::GoBoard => {
            app.screens.truncate(1);
            app.board.pane = BoardPane::Rows;
        }
        Action::GoQueue => go_queue(app),
        Action::GoMessages => super::overlay::messages(app),
        Action::GoCompare => super::compare::open(app),
        Action::GoPairs => sheet::open(app, SheetKind::Pairs),
        Action::Probe => probe(app),
        Action::GoRewards => sheet::open(app, SheetKind::Rewards),
        Action::GoAdvice => sheet::open(app, SheetKind::Advice),
        Action::GoChanges => sheet::open(app, SheetKind::Changes),
        Action::GoAgreement => sheet::open(app, SheetKind::Agreement),
        Action::GoExport => sheet::open(app, SheetKind::Export),
        Action::GoFindings => sheet::open(app, SheetKind::Findings),
        Action::GoJobs => sheet::open(app, SheetKind::Jobs),
        _ => {}
    }
}

/// A run's probes; there, probes it. Like the machine's layer, a probe speaks after the reviewer.
fn probe(app: &mut App) {
    if let Some(SheetKind::Probe(run)) = app.sheet_mut().map(|sheet| sheet.kind.clone()) {
        return super::work::start(app, Order::Probe(run));
    }
    let seen = app
        .run()
        .map(|view| (view.run.clone(), view.saved.is_some()));
    match seen {
        Some((run, true)) => sheet::open(app, SheetKind::Probe(run)),
        _ => say(
            app,
            Tone::Info,
            "a probe speaks after you: label the run first",
        ),
    }
}

/// Closes the view, or leaves at the root.
pub(super) fn back(app: &mut App) {
    if super::moves::pop(app).is_none() {
        if app.board.pane == BoardPane::Facets {
            app.board.pane = BoardPane::Rows;
        } else {
            leave(app);
        }
    }
}

/// Leaves at the root; where that throws something away, only when asked twice.
fn leave(app: &mut App) {
    match lost(app).filter(|_| !app.leave_asked) {
        Some(what) => {
            app.leave_asked = true;
            let text = format!("q again ends the demo, and {what}");
            say(app, Tone::Warn, text);
        }
        None => app.want(Effect::Quit),
    }
}

/// What ends with a demo.
fn lost(app: &App) -> Option<String> {
    let running = app.work.iter().filter(|line| line.is_running()).count();
    let counts = [(app.decided, "decision"), (running, "running job")];
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| crate::text::plural(count as u64, word))
        .collect();
    let verb = if app.decided + running == 1 {
        "goes"
    } else {
        "go"
    };
    (app.set.demo && !parts.is_empty()).then(|| format!("{} {verb} with it", parts.join(" and ")))
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

/// Goes on in the queue; draws it first where that has not been done.
fn go_queue(app: &mut App) {
    if app.queue.is_some() {
        return next_of_queue(app);
    }
    app.queue_wanted = true;
    let (reviewer, now_us) = (app.set.reviewer.clone(), app.now.us);
    app.ask(Ask::Queue { reviewer, now_us });
}

/// The queue is drawn.
pub(super) fn take_queue(app: &mut App, queue: Queue) {
    app.queue = Some(queue);
    if std::mem::take(&mut app.queue_wanted) {
        next_of_queue(app);
    }
}

fn next_of_queue(app: &mut App) {
    let seen = app.run().map(|view| view.seq);
    let mine = &app.mine;
    let next = app.queue.as_ref().and_then(|queue| {
        let open = queue.items.iter().filter(|(seq, _)| !mine.contains(seq));
        let mut others = open.filter(|(seq, _)| Some(*seq) != seen);
        others.next().cloned()
    });
    match next {
        Some((seq, run)) => {
            // The run that the queue brought before gives way, also from under other screens.
            let is_of_queue = |screen: &Screen| matches!(screen, Screen::Run(view) if view.origin == Origin::Queue);
            app.screens.retain(|screen| !is_of_queue(screen));
            open_run(app, run, seq, 0);
            if let Some(view) = app.run_mut() {
                view.origin = Origin::Queue;
                view.verdict.from_random_queue = true;
            }
        }
        None => {
            app.screens.truncate(1);
            let filter = app
                .queue
                .as_ref()
                .map(|q| q.filter.clone())
                .unwrap_or_default();
            let is_empty = app.queue.as_ref().is_some_and(|q| q.total == 0);
            if is_empty {
                // What the list shows may have been decided since the queue was drawn.
                app.queue = None;
                let text = match app.board.has_no_runs() {
                    true => "no runs yet, so nothing to label: I reads logs".to_owned(),
                    false => {
                        let key = app
                            .keymap
                            .first_key(Action::OutcomeFail)
                            .unwrap_or_default();
                        format!(
                            "no run passes the queue's filter, {filter}; {key} on a run says that it failed"
                        )
                    }
                };
                return say(app, Tone::Info, text);
            }
            let text =
                format!("your queue is done: {filter}; `triagent queue --filter` draws another");
            say(app, Tone::Done, text);
        }
    }
}

/// Goes on after a label: in the queue if the run came from there, else down the list.
pub(super) fn onward(app: &mut App) {
    match app.run().map(|view| &view.origin) {
        Some(Origin::Queue) => next_of_queue(app),
        _ => next_of_list(app),
    }
}

/// Opens the next run of the list that the reviewer has not labelled, after the cursor, then from the start.
fn next_of_list(app: &mut App) {
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
