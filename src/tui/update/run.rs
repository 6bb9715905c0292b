//! Moving in a run: by step, by line, by turn and failure; the text follows.

use super::moves::landed;
use super::say;
use crate::jobs::desk::Ask;
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::app::run::{RunPane, RunView, Spot};
use crate::tui::app::says::Tone;
use crate::tui::geometry;
use crate::tui::view::inspector_lines;

/// Moves in a run.
pub(super) fn moved(app: &mut App, action: Action, count: usize) {
    let page = text_rows(app);
    let inspector = inspector_end(app);
    let Some(view) = app.run_mut() else { return };
    match action {
        Action::NextPane | Action::Right => turn_pane(view, 1),
        Action::PreviousPane | Action::Left => turn_pane(view, -1),
        Action::Open => {
            let step = view.at.step;
            view.toggle_fold(step);
        }
        _ if view.pane == RunPane::Inspector => {
            view.inspector_top = landed(view.inspector_top, inspector, page, action, count);
        }
        Action::Down | Action::Up if view.pane == RunPane::Steps => {
            let len = view.steps as usize;
            let step = landed(view.at.step as usize, len, page, action, count);
            go_to(view, index(step), page);
        }
        Action::First => go_to(view, 0, page),
        Action::Last => go_to(view, view.steps.saturating_sub(1), page),
        Action::Down | Action::Up => walk(view, action, count, page),
        Action::HalfDown | Action::HalfUp => walk(view, action, (page / 2).max(1) * count, page),
        Action::PageDown | Action::PageUp => walk(view, action, page.max(2) - 1, page),
        _ => {}
    }
}

/// Asks again for what is known and decided of the run that is seen.
pub(super) fn ask(app: &mut App) {
    let reviewer = app.set.reviewer.clone();
    if let Some(run) = app.run().map(|view| view.run.clone()) {
        app.ask(Ask::Run { run, reviewer });
    }
}

/// Places to which the inspector can be scrolled.
fn inspector_end(app: &App) -> usize {
    let Some(view) = app.run().filter(|v| v.pane == RunPane::Inspector) else {
        return 0;
    };
    let Some(area) = geometry::run(app.size, view).inspector else {
        return 0;
    };
    let lines = inspector_lines(app, view, area);
    lines.saturating_sub(geometry::pane_rows(area)) + 1
}

/// Steps are counted in `u32`.
pub(super) fn index(step: usize) -> u32 {
    u32::try_from(step).unwrap_or(u32::MAX)
}

fn turn_pane(view: &mut RunView, by: i8) {
    let panes: &[RunPane] = if view.inspector {
        &[RunPane::Steps, RunPane::Text, RunPane::Inspector]
    } else {
        &[RunPane::Steps, RunPane::Text]
    };
    let at = panes.iter().position(|p| *p == view.pane).unwrap_or(0);
    let next = if by > 0 { at + 1 } else { at + panes.len() - 1 };
    view.pane = panes[next % panes.len()];
}

/// Rows of the text.
pub(super) fn text_rows(app: &App) -> usize {
    app.run().map_or(1, |view| {
        let areas = geometry::run(app.size, view);
        let area = areas.text.or(areas.inspector).or(areas.list);
        area.map_or(1, geometry::pane_rows).max(1)
    })
}

/// Puts the cursor on a step; the text moves only if the step is not wholly seen.
pub(super) fn go_to(view: &mut RunView, step: u32, rows: usize) {
    let last = view.steps.saturating_sub(1);
    view.at = Spot {
        step: step.min(last),
        line: 0,
    };
    let below = row_of(view, view.at, rows);
    let fits = below.is_some_and(|row| row + view.height(view.at.step) <= rows);
    if !fits {
        view.top = view.at;
    }
}

/// Moves the cursor by lines; the text follows it.
fn walk(view: &mut RunView, action: Action, lines: usize, rows: usize) {
    let down = matches!(action, Action::Down | Action::HalfDown | Action::PageDown);
    for _ in 0..lines {
        let next = if down {
            view.below(view.at)
        } else {
            view.above(view.at)
        };
        let Some(next) = next else { break };
        view.at = next;
    }
    follow(view, rows);
}

/// Moves the text as little as possible so that the cursor is seen.
pub(super) fn follow(view: &mut RunView, rows: usize) {
    if view.at < view.top {
        view.top = view.at;
        return;
    }
    if row_of(view, view.at, rows).is_some() {
        return;
    }
    // From the cursor upwards as far as the window reaches.
    let mut top = view.at;
    let mut used = 1;
    while let Some(above) = view.above(top) {
        used += if above.step == top.step { 1 } else { 2 };
        if used > rows {
            break;
        }
        top = above;
    }
    view.top = top;
}

/// The row of the window on which a line is, if it is seen. A blank row stands between steps.
pub(super) fn row_of(view: &RunView, spot: Spot, rows: usize) -> Option<usize> {
    let mut at = view.top;
    let mut row = 0;
    if spot < at {
        return None;
    }
    while at != spot {
        let next = view.below(at)?;
        row += if next.step == at.step { 1 } else { 2 };
        if row >= rows {
            return None;
        }
        at = next;
    }
    Some(row)
}

/// Jumps to the next or previous step of a list; says so at its end.
pub(super) fn jump(app: &mut App, steps: Option<Vec<u32>>, forward: bool, what: &str) {
    let rows = text_rows(app);
    let Some(view) = app.run_mut() else { return };
    let Some(steps) = steps else {
        return say(app, Tone::Info, "still reading the run's outline");
    };
    let here = view.at.step;
    let found = if forward {
        steps.iter().find(|s| **s > here)
    } else {
        steps.iter().rev().find(|s| **s < here)
    };
    match found {
        Some(step) => go_to(view, *step, rows),
        None if steps.is_empty() => say(app, Tone::Info, format!("this run has no {what}")),
        None => {
            let way = if forward { "further" } else { "earlier" };
            say(app, Tone::Info, format!("no {way} {what}"));
        }
    }
}
