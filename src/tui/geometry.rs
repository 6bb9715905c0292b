//! Where things are on the screen. Shared by `update`, which must know heights, and `view`, which draws.

use super::app::App;
use super::app::board::BoardPane;
use super::app::compare::CompareView;
use super::app::pair::PairView;
use super::app::run::{RunPane, RunView};
use super::app::sheet::Sheet;
use super::widget::broken;
use ratatui::layout::Rect;

/// Rows of a terminal too low for anything but the body.
const LOW: u16 = 8;
/// From this width on the board always shows its facets.
const FACETS_FROM: u16 = 112;
/// Width of the facets.
const FACETS: u16 = 30;
/// From this width on the inspector stands beside the text.
const INSPECTOR_FROM: u16 = 120;
/// Width of the inspector.
const INSPECTOR: u16 = 46;
/// From this width on a sheet's page stands beside its list.
const SIDE_BY_SIDE_FROM: u16 = 130;
/// Rows that say what a comparison means.
const SAID_ROWS: usize = 5;
/// Rows that the task standard takes at the most.
const STANDARD_ROWS: usize = 2;
/// Rows that say whose a side of a decided pair is.
const ABOUT_ROWS: u16 = 3;
/// Under this width a run shows one pane at a time.
const NARROW: u16 = 60;

/// The parts of every screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Tabs and who is here.
    pub(crate) bar: Rect,
    /// The screen itself.
    pub(crate) body: Rect,
    /// Toasts, errors, keys typed so far.
    pub(crate) status: Rect,
    /// Keys of this place.
    pub(crate) footer: Rect,
}

/// The parts of the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BoardAreas {
    pub(crate) filter: Rect,
    pub(crate) head: Rect,
    pub(crate) rows: Rect,
    pub(crate) facets: Option<Rect>,
}

/// The parts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunAreas {
    pub(crate) title: Rect,
    pub(crate) list: Option<Rect>,
    pub(crate) text: Option<Rect>,
    pub(crate) inspector: Option<Rect>,
    pub(crate) labels: Rect,
}

/// Cuts rows off the top of `area`.
pub(crate) fn top(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let head = Rect {
        height: rows,
        ..area
    };
    let rest = Rect {
        y: area.y + rows,
        height: area.height - rows,
        ..area
    };
    (head, rest)
}

/// Cuts rows off the bottom of `area`: the rest, then the cut.
pub(crate) fn bottom(area: Rect, rows: u16) -> (Rect, Rect) {
    let (rest, cut) = top(area, area.height.saturating_sub(rows));
    (rest, cut)
}

/// Cuts columns off the left of `area`.
pub(crate) fn left(area: Rect, columns: u16) -> (Rect, Rect) {
    let columns = columns.min(area.width);
    let head = Rect {
        width: columns,
        ..area
    };
    let rest = Rect {
        x: area.x + columns,
        width: area.width - columns,
        ..area
    };
    (head, rest)
}

/// The parts of every screen.
pub(crate) fn frame(size: (u16, u16)) -> Frame {
    let whole = Rect::new(0, 0, size.0, size.1);
    let low = size.1 < LOW;
    let (bar, rest) = top(whole, u16::from(!low));
    let (rest, footer) = bottom(rest, u16::from(!low));
    let (body, status) = bottom(rest, u16::from(size.1 > 2));
    Frame {
        bar,
        body,
        status,
        footer,
    }
}

/// The parts of the board.
pub(crate) fn board(app: &App) -> BoardAreas {
    let body = frame(app.size).body;
    let (filter, rest) = top(body, 1);
    let wide = body.width >= FACETS_FROM || app.board.pane == BoardPane::Facets;
    let (facets, rest) = if wide {
        let (facets, rest) = left(rest, FACETS);
        (Some(facets), rest)
    } else {
        (None, rest)
    };
    let (head, rows) = top(rest, 1);
    BoardAreas {
        filter,
        head,
        rows,
        facets,
    }
}

/// The parts of a run.
pub(crate) fn run(size: (u16, u16), view: &RunView) -> RunAreas {
    let body = frame(size).body;
    let (title, rest) = top(body, 1);
    let (rest, labels) = bottom(rest, u16::from(rest.height > 4));
    let (list, text, inspector) = if rest.width < NARROW {
        narrow(rest, view)
    } else {
        panes(rest, view)
    };
    RunAreas {
        title,
        list,
        text,
        inspector,
        labels,
    }
}

type Panes = (Option<Rect>, Option<Rect>, Option<Rect>);

fn narrow(area: Rect, view: &RunView) -> Panes {
    match view.pane {
        RunPane::Steps => (Some(area), None, None),
        RunPane::Text => (None, Some(area), None),
        RunPane::Inspector => (None, None, Some(area)),
    }
}

fn panes(area: Rect, view: &RunView) -> Panes {
    let (list, rest) = left(area, (area.width * 3 / 10).clamp(24, 40));
    if !view.inspector {
        return (Some(list), Some(rest), None);
    }
    if area.width < INSPECTOR_FROM {
        return (Some(list), None, Some(rest));
    }
    let (text, inspector) = left(rest, rest.width - INSPECTOR);
    (Some(list), Some(text), Some(inspector))
}

/// The parts of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PairAreas {
    pub(crate) title: Rect,
    /// What the task standard asks for, in its order.
    pub(crate) standard: Rect,
    pub(crate) request: Rect,
    /// Whose the sides are, once that may be told: one over each text.
    pub(crate) about: (Rect, Rect),
    pub(crate) left: Rect,
    pub(crate) right: Rect,
    pub(crate) labels: Rect,
}

impl PairAreas {
    /// Rows of the two texts.
    pub(crate) fn rows(self) -> usize {
        pane_rows(self.left)
    }

    /// Columns of one text.
    pub(crate) fn columns(self) -> usize {
        text_columns(self.right)
    }
}

/// The parts of a pair.
pub(crate) fn pair(size: (u16, u16), view: Option<&PairView>) -> PairAreas {
    let body = frame(size).body;
    let (title, rest) = top(body, 1);
    let columns = usize::from(body.width.saturating_sub(2));
    let standard = view.and_then(PairView::standard);
    let rows = standard.map_or(0, |text| broken(&text, columns).len().min(STANDARD_ROWS));
    let (standard, rest) = top(rest, u16::try_from(rows).unwrap_or(0));
    let (rest, labels) = bottom(rest, u16::from(rest.height > 4));
    let open = view.is_some_and(|view| view.request_open);
    let height = if open {
        rest.height * 2 / 3
    } else {
        (rest.height / 3).clamp(3, 8)
    };
    let (request, rest) = top(rest, height);
    let decided = view.is_some_and(PairView::is_decided);
    let (about, rest) = top(rest, if decided { ABOUT_ROWS } else { 0 });
    let about = left(about, about.width / 2);
    let (left, right) = left(rest, rest.width / 2);
    PairAreas {
        title,
        standard,
        request,
        about,
        left,
        right,
        labels,
    }
}

/// The parts of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CompareAreas {
    pub(crate) title: Rect,
    pub(crate) layers: Rect,
    pub(crate) rows: Rect,
    pub(crate) left: Rect,
    pub(crate) right: Rect,
}

impl CompareAreas {
    /// Rows of the two texts.
    pub(crate) fn text_rows(self) -> usize {
        pane_rows(self.left)
    }

    /// Columns of one text.
    pub(crate) fn columns(self) -> usize {
        text_columns(self.right)
    }
}

/// The parts of a comparison.
pub(crate) fn compare(size: (u16, u16), view: Option<&CompareView>) -> CompareAreas {
    let body = frame(size).body;
    let (title, rest) = top(body, 1);
    let columns = usize::from(body.width.saturating_sub(2));
    // What a difference means is a sentence; where it does not fit on one row it gets another.
    let said = view.map_or_else(Vec::new, CompareView::says);
    let rows: usize = said.iter().map(|text| broken(text, columns).len()).sum();
    let (layers, rest) = top(rest, 1 + u16::try_from(rows.min(SAID_ROWS)).unwrap_or(0));
    let (rows, text) = top(rest, rest.height * 2 / 5);
    let (left, right) = left(text, text.width / 2);
    CompareAreas {
        title,
        layers,
        rows,
        left,
        right,
    }
}

/// The parts of a sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SheetAreas {
    pub(crate) note: Rect,
    pub(crate) head: Rect,
    pub(crate) list: Rect,
    pub(crate) page: Rect,
}

/// Rows that a sheet's note takes at the most.
const NOTE_ROWS: usize = 3;

/// The parts of a sheet: the page beside the list where there is room, else below it.
pub(crate) fn sheet(size: (u16, u16), sheet: Option<&Sheet>) -> SheetAreas {
    let body = frame(size).body;
    let columns = usize::from(body.width.saturating_sub(2));
    let rows = sheet.map_or(1, |sheet| {
        broken(&sheet.words(), columns).len().clamp(1, NOTE_ROWS)
    });
    let (note, rest) = top(body, u16::try_from(rows).unwrap_or(1));
    let (list, page) = if rest.width >= SIDE_BY_SIDE_FROM {
        left(rest, rest.width / 2)
    } else {
        let fifths = if sheet.is_some_and(Sheet::is_of_rows) {
            3
        } else {
            2
        };
        top(rest, (rest.height * fifths / 5).max(4))
    };
    let (head, list) = top(list, 1);
    SheetAreas {
        note,
        head,
        list,
        page,
    }
}

/// Widest that prose is set: longer lines are hard to read.
const PROSE: u16 = 100;

/// Where a page to read lies, above the screen; its text has two columns and one row less on every side.
pub(crate) fn page(whole: Rect) -> Rect {
    let width = whole.width.min(PROSE + 4);
    Rect {
        x: whole.x + (whole.width - width) / 2,
        width,
        height: whole.height.saturating_sub(1),
        ..whole
    }
}

/// Columns that a line of text has in its pane: a gutter before it, a bar for scrolling after it.
pub(crate) fn text_columns(area: Rect) -> usize {
    usize::from(area.width.saturating_sub(4)).max(crate::text::MIN_COLUMNS)
}

/// Rows of a pane under its title.
pub(crate) fn pane_rows(area: Rect) -> usize {
    usize::from(area.height.saturating_sub(1))
}
