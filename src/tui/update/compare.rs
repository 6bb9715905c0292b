//! Runs side by side: moving from difference to difference, and from run to run.

use super::moves::landed;
use super::say;
use crate::domain::RunId;
use crate::jobs::desk::Ask;
use crate::tui::action::Action;
use crate::tui::app::compare::CompareView;
use crate::tui::app::says::Tone;
use crate::tui::app::{App, Screen};
use crate::tui::geometry;

/// Opens the marked runs, or this run and the marked one.
pub(super) fn open(app: &mut App) {
    let mut runs: Vec<RunId> = app.run().map(|view| view.run.clone()).into_iter().collect();
    let marked = app.board.marks.iter().filter_map(|seq| app.board.row(*seq));
    for row in marked {
        if !runs.contains(&row.id) {
            runs.push(row.id.clone());
        }
    }
    let mut runs = runs.into_iter();
    let view = runs
        .next()
        .and_then(|a| CompareView::new(a, runs.collect()));
    match view {
        Some(view) => {
            app.ask(Ask::Compare(view.a.clone(), view.b().clone()));
            app.screens.push(Screen::Compare(Box::new(view)));
        }
        None => say(
            app,
            Tone::Info,
            "mark two or more runs on the board with x, then =",
        ),
    }
}

/// Lays the next or previous of the marked runs beside the first.
pub(super) fn turn(app: &mut App, by: isize) {
    let Some(view) = app.compare_mut() else {
        return;
    };
    let wanted = view.turn(by).map(|()| (view.a.clone(), view.b().clone()));
    match wanted {
        Some((a, b)) => app.ask(Ask::Compare(a, b)),
        None => say(
            app,
            Tone::Info,
            "no further run; mark more on the board with x",
        ),
    }
}

/// Moves.
pub(super) fn moved(app: &mut App, action: Action, count: usize) {
    let areas = geometry::compare(app.size, app.compare());
    let Some(view) = app.compare_mut() else {
        return;
    };
    match action {
        Action::NextPane | Action::PreviousPane | Action::Open => view.in_text = !view.in_text,
        Action::Right => view.in_text = true,
        Action::Left => view.in_text = false,
        _ if view.in_text => {
            if let Some((_, duo)) = view.duo.as_mut() {
                duo.top = landed(duo.top, duo.lines(), areas.text_rows(), action, count);
            }
        }
        _ => {
            let rows = usize::from(areas.rows.height);
            view.selected = landed(view.selected, view.rows().len(), rows, action, count);
        }
    }
}

/// Jumps to the next row that differs.
pub(super) fn jump(app: &mut App, forward: bool) {
    let Some(view) = app.compare_mut() else {
        return;
    };
    match view.next_difference(forward) {
        Some(row) => view.selected = row,
        None => say(app, Tone::Info, "no further difference"),
    }
}
