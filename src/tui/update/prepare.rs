//! Before a frame: asks for what the window lacks, and draws and breaks the bodies that it shows.

use crate::jobs::desk::Ask;
use crate::text::Wrap;
use crate::tui::app::board::settle_top;
use crate::tui::app::body::Body;
use crate::tui::app::run::{Find, RunView};
use crate::tui::app::sheet::SheetKind;
use crate::tui::app::{App, Screen};
use crate::tui::{geometry, sheets};

/// Prepares the screen that is seen.
pub(super) fn prepare(app: &mut App) {
    match app.screens.last() {
        Some(Screen::Board) => board(app),
        Some(Screen::Run(_)) => run(app),
        Some(Screen::Pair(_)) => pair(app),
        Some(Screen::Compare(_)) => compare(app),
        Some(Screen::Sheet(_)) => sheet(app),
        Some(Screen::Welcome) | None => {}
    }
}

fn pair(app: &mut App) {
    let areas = geometry::pair(app.size, app.pair());
    if let Some(duo) = app.pair_mut().and_then(|view| view.duo.as_mut()) {
        duo.lay(areas.columns(), Wrap::Words);
        duo.settle(areas.rows());
    }
}

fn compare(app: &mut App) {
    let areas = geometry::compare(app.size, app.compare());
    let Some(view) = app.compare_mut() else {
        return;
    };
    let rows = usize::from(areas.rows.height);
    view.top = settle_top(view.top, view.selected, rows, view.rows().len());
    view.draw_row();
    let wrap = view.wrap;
    if let Some((_, duo)) = view.duo.as_mut() {
        duo.lay(areas.columns(), wrap);
        duo.settle(areas.text_rows());
    }
}

fn sheet(app: &mut App) {
    if app.sheet_mut().is_some_and(|s| s.kind == SheetKind::Jobs) {
        let filling = sheets::jobs(&app.work, app.now.ms);
        super::sheet::take(app, &SheetKind::Jobs, filling);
    }
    let areas = geometry::sheet(app.size, app.sheet());
    let Some(sheet) = app.sheet_mut() else { return };
    let rows = usize::from(areas.list.height);
    sheet.top = settle_top(sheet.top, sheet.selected, rows, sheet.rows().len());
    sheet.lay(usize::from(areas.page.width.saturating_sub(3)));
}

fn board(app: &mut App) {
    let height = usize::from(geometry::board(app).rows.height);
    app.board.settle(height);
    let missing = app.board.missing(height);
    if !missing.is_empty() {
        app.ask(Ask::Rows(missing));
    }
}

fn run(app: &mut App) {
    let size = app.size;
    let Some(view) = app.run_mut() else { return };
    let areas = geometry::run(size, view);
    let run = view.run.clone();
    let list_rows = areas.list.map_or(0, geometry::pane_rows);
    let steps = view.steps as usize;
    view.list_top = settle_top(view.list_top, view.at.step as usize, list_rows, steps);
    let mut asks: Vec<Ask> = view
        .missing_heads(list_rows)
        .into_iter()
        .map(|range| Ask::Heads {
            run: run.clone(),
            range,
        })
        .collect();
    let text = areas.text.or(areas.inspector);
    let rows = text.map_or(0, geometry::pane_rows);
    asks.extend(
        view.missing_bodies(rows)
            .into_iter()
            .map(|range| Ask::Bodies {
                run: run.clone(),
                range,
            }),
    );
    if let Some(area) = text {
        let columns = geometry::text_columns(area);
        lay(view, columns, rows);
        // A match whose text has only now been drawn is shown now.
        if is_shown_late(view) {
            super::find::show_match(app);
            if let Some(view) = app.run_mut() {
                lay(view, columns, rows);
            }
        }
    }
    for ask in asks {
        app.ask(ask);
    }
}

fn is_shown_late(view: &RunView) -> bool {
    let unseen = view.find.as_ref().filter(|find| find.is_unseen);
    let place = unseen.and_then(Find::place);
    place.is_some_and(|(step, _)| view.body(step).is_some_and(Body::is_laid))
}

/// Draws and breaks what the window shows, and as much before it, for scrolling up.
fn lay(view: &mut RunView, columns: usize, rows: usize) {
    let (wrap, dress) = (view.wrap, view.dress);
    let words = view
        .find
        .as_ref()
        .map(|f| f.words.clone())
        .unwrap_or_default();
    let mut used = 0;
    let first = view.top.step;
    let mut step = first;
    while step < view.steps && used < rows + view.top.line {
        let score = view.heat_of(step);
        if let Some(body) = view.body_mut(step) {
            body.lay(columns, wrap, dress, score.as_deref());
            body.search(&words);
        }
        used += view.height(step) + 1;
        step += 1;
    }
    // The cursor may be elsewhere when a match was jumped to, and the step before the window is scrolled to next.
    for step in [view.at.step, first.saturating_sub(1)] {
        let score = view.heat_of(step);
        if let Some(body) = view.body_mut(step) {
            body.lay(columns, wrap, dress, score.as_deref());
            body.search(&words);
        }
    }
    view.at.line = view
        .at
        .line
        .min(view.height(view.at.step).saturating_sub(1));
    view.top.line = view
        .top
        .line
        .min(view.height(view.top.step).saturating_sub(1));
}
