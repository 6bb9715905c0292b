//! The board: moving in rows and facets, marks, opening a run.

use super::go;
use super::moves::landed;
use crate::domain::filter::Field;
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::app::board::BoardPane;
use crate::tui::geometry;

/// Moves on the board.
pub(super) fn moved(app: &mut App, action: Action, count: usize) {
    match action {
        Action::NextPane | Action::PreviousPane => switch(app),
        Action::Left if app.board.pane == BoardPane::Rows => switch(app),
        Action::Right if app.board.pane == BoardPane::Facets => switch(app),
        Action::Open if app.board.pane == BoardPane::Facets => choose_facet(app),
        Action::Open | Action::Right => open(app),
        _ if app.board.pane == BoardPane::Facets => {
            let len = app.board.facet_lines().len();
            let page = usize::from(geometry::board(app).rows.height);
            app.board.facet = landed(app.board.facet, len, page, action, count);
        }
        _ => {
            let page = usize::from(geometry::board(app).rows.height);
            let board = &mut app.board;
            board.to_end = board.is_partial && action == Action::Last;
            board.selected = landed(board.selected, board.seqs.len(), page, action, count);
        }
    }
}

fn switch(app: &mut App) {
    app.board.pane = match app.board.pane {
        BoardPane::Rows => BoardPane::Facets,
        BoardPane::Facets => BoardPane::Rows,
    };
}

fn open(app: &mut App) {
    let selected = app.board.selected;
    go::open_at(app, selected);
}

/// Narrows the filter to the value under the cursor, or widens it again.
fn choose_facet(app: &mut App) {
    let lines = app.board.facet_lines();
    let Some((field, Some(count))) = lines.get(app.board.facet) else {
        return;
    };
    let value = count.value.clone().unwrap_or_else(|| "none".to_owned());
    let term = term(*field, &value);
    let filter = &app.board.filter;
    let words: Vec<&str> = filter.split(' ').filter(|w| !w.is_empty()).collect();
    let new = if words.contains(&term.as_str()) {
        words
            .into_iter()
            .filter(|w| *w != term)
            .collect::<Vec<_>>()
            .join(" ")
    } else if filter.is_empty() {
        term
    } else {
        format!("{filter} {term}")
    };
    super::find::set_filter(app, &new);
}

fn term(field: Field, value: &str) -> String {
    let plain = value
        .chars()
        .all(|c| c.is_alphanumeric() || "-_./".contains(c));
    if plain {
        format!("{}:{value}", field.word())
    } else {
        format!("{}:\"{}\"", field.word(), value.replace('"', "\\\""))
    }
}

/// Marks or unmarks the run under the cursor and moves on.
pub(super) fn mark(app: &mut App) {
    if let Some(seq) = app.board.selected_seq() {
        if !app.board.marks.remove(&seq) {
            app.board.marks.insert(seq);
        }
        moved(app, Action::Down, 1);
    }
}

/// Begins a range, or marks all from where it began.
pub(super) fn range(app: &mut App) {
    let board = &mut app.board;
    match board.anchor.take() {
        None => board.anchor = Some(board.selected),
        Some(anchor) => {
            let (from, until) = (anchor.min(board.selected), anchor.max(board.selected));
            let seqs = board.seqs.get(from..=until).unwrap_or_default();
            board.marks.extend(seqs.iter().copied());
        }
    }
}

/// Marks all runs of the list, or none.
pub(super) fn mark_all(app: &mut App) {
    let board = &mut app.board;
    if board.marks.is_empty() {
        board.marks.extend(board.seqs.iter().copied());
    } else {
        board.marks.clear();
    }
    board.anchor = None;
}
