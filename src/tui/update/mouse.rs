//! The mouse, once somebody has given it to us: the wheel moves, a click selects.

use super::act as do_action;
use crate::tui::action::Action;
use crate::tui::app::run::RunPane;
use crate::tui::app::{App, Screen};
use crate::tui::event::Mouse;
use crate::tui::geometry;
use ratatui::layout::{Position, Rect};

/// Lines that one notch of the wheel moves.
const NOTCH: usize = 3;

/// Takes what the mouse did.
pub(super) fn act(app: &mut App, mouse: Mouse) {
    if app.overlay.is_some() {
        return;
    }
    match mouse {
        Mouse::WheelDown(..) => wheel(app, Action::Down),
        Mouse::WheelUp(..) => wheel(app, Action::Up),
        Mouse::Click(x, y) => click(app, Position::new(x, y)),
    }
}

fn wheel(app: &mut App, action: Action) {
    app.count = Some(NOTCH);
    do_action(app, action);
}

fn click(app: &mut App, at: Position) {
    match app.screens.last() {
        Some(Screen::Board) => {
            let rows = geometry::board(app).rows;
            if let Some(row) = row_in(rows, at) {
                let chosen = app.board.top + row;
                if chosen == app.board.selected {
                    return do_action(app, Action::Open);
                }
                app.board.selected = chosen.min(app.board.seqs.len().saturating_sub(1));
            }
        }
        Some(Screen::Run(view)) => {
            let areas = geometry::run(app.size, view);
            if let Some(row) = areas.list.and_then(|area| row_in(area, at)) {
                let rows = super::run::text_rows(app);
                if let Some(view) = app.run_mut() {
                    let step = view.list_top + row.saturating_sub(1);
                    super::run::go_to(view, super::run::index(step), rows);
                    view.pane = RunPane::Steps;
                }
            } else if areas.text.is_some_and(|area| area.contains(at))
                && let Some(view) = app.run_mut()
            {
                view.pane = RunPane::Text;
            }
        }
        _ => {}
    }
}

fn row_in(area: Rect, at: Position) -> Option<usize> {
    area.contains(at).then(|| usize::from(at.y - area.y))
}
