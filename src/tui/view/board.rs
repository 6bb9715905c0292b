//! The board: runs as rows, of which only the window is drawn.

use super::{facets, glyph, welcome};
use crate::domain::Outcome;
use crate::store::RunRow;
use crate::text::{fit_middle, grouped, one_line, pad, pad_left};
use crate::tui::app::App;
use crate::tui::app::board::BoardPane;
use crate::tui::geometry;
use crate::tui::theme::Ink;
use crate::tui::widget::Pen;
use ratatui::layout::Rect;

/// A column: heading, least width, share of what is left over.
struct Column {
    head: &'static str,
    least: u16,
    share: u16,
    /// Shown from this width of the list on.
    from: u16,
}

const COLUMNS: [Column; 8] = [
    Column {
        head: "run",
        least: 13,
        share: 3,
        from: 0,
    },
    Column {
        head: "task",
        least: 10,
        share: 2,
        from: 60,
    },
    Column {
        head: "family",
        least: 9,
        share: 1,
        from: 100,
    },
    Column {
        head: "outcome",
        least: 9,
        share: 0,
        from: 0,
    },
    Column {
        head: "steps",
        least: 5,
        share: 0,
        from: 0,
    },
    Column {
        head: "failed",
        least: 6,
        share: 0,
        from: 60,
    },
    Column {
        head: "label",
        least: 14,
        share: 2,
        from: 0,
    },
    Column {
        head: "marks",
        least: 12,
        share: 1,
        from: 110,
    },
];

/// Draws the board.
pub(super) fn draw(pen: &mut Pen<'_>, app: &App) {
    if app.board.has_no_runs() {
        return welcome::draw(pen, app, geometry::frame(app.size).body);
    }
    let areas = geometry::board(app);
    filter_line(pen, app, areas.filter);
    if let Some(area) = areas.facets {
        facets::draw(pen, app, area);
    }
    if app.board.seqs.is_empty() {
        return empty(pen, app, areas.head.union(areas.rows));
    }
    let widths = widths(areas.rows.width.saturating_sub(4));
    heading(pen, areas.head, &widths);
    for row in 0..areas.rows.height {
        let at = app.board.top + usize::from(row);
        let Some(seq) = app.board.seqs.get(at) else {
            break;
        };
        let line = Rect {
            y: areas.rows.y + row,
            height: 1,
            ..areas.rows
        };
        run(pen, app, line, (at, *seq), &widths);
        if at == app.board.selected {
            let here = app.board.pane == BoardPane::Rows;
            pen.over(
                line,
                if here {
                    Ink::Selected
                } else {
                    Ink::SelectedDim
                },
            );
        }
    }
    pen.scrollbar(
        areas.rows,
        app.board.top,
        usize::from(areas.rows.height),
        app.board.seqs.len(),
    );
}

fn filter_line(pen: &mut Pen<'_>, app: &App, area: Rect) {
    if area.height == 0 {
        return;
    }
    let board = &app.board;
    let count = match (board.loaded, board.seqs.len() as u64 == board.total) {
        _ if board.is_partial && board.filter.is_empty() => crate::text::plural(board.total, "run"),
        _ if board.is_partial => {
            format!("counting… of {}", crate::text::plural(board.total, "run"))
        }
        (false, _) => "reading…".to_owned(),
        (true, true) => crate::text::plural(board.total, "run"),
        (true, false) => format!(
            "{} of {}",
            grouped(board.seqs.len() as u64),
            crate::text::plural(board.total, "run")
        ),
    };
    let marks = match board.marks.len() as u64 {
        0 => String::new(),
        n => format!("{} marked · ", grouped(n)),
    };
    let right = area.right().saturating_sub(1);
    let end = pen.put_right(area.x, area.y, right, Ink::Dim, &format!("{marks}{count}"));
    let x = pen.put(area.x + 1, area.y, end, Ink::Dim, "filter ");
    if board.filter.is_empty() {
        pen.put(x, area.y, end, Ink::Dim, "none");
    } else {
        pen.put(x, area.y, end.saturating_sub(1), Ink::Accent, &board.filter);
    }
}

fn widths(room: u16) -> Vec<u16> {
    let shown = |c: &&Column| room >= c.from;
    let least: u16 = COLUMNS.iter().filter(shown).map(|c| c.least + 1).sum();
    let shares: u16 = COLUMNS.iter().filter(shown).map(|c| c.share).sum();
    let spare = room.saturating_sub(least);
    COLUMNS
        .iter()
        .map(|c| {
            if room < c.from {
                return 0;
            }
            c.least + (spare * c.share).checked_div(shares).unwrap_or(0)
        })
        .collect()
}

fn heading(pen: &mut Pen<'_>, area: Rect, widths: &[u16]) {
    if area.height == 0 {
        return;
    }
    pen.rule(area.x, area.y, area.right(), Ink::Border);
    let mut x = area.x + 3;
    for (column, width) in COLUMNS.iter().zip(widths) {
        if *width == 0 {
            continue;
        }
        let text = if is_number(column.head) {
            pad_left(column.head, usize::from(*width))
        } else {
            column.head.to_owned()
        };
        pen.put(
            x,
            area.y,
            (x + width).min(area.right()),
            Ink::Dim,
            &format!("{text} "),
        );
        x += width + 1;
    }
}

fn is_number(head: &str) -> bool {
    matches!(head, "steps" | "failed")
}

fn run(pen: &mut Pen<'_>, app: &App, line: Rect, (at, seq): (usize, i64), widths: &[u16]) {
    let marked = app.board.marks.contains(&seq) || in_range(app, at);
    let (sign, ink) = if marked {
        ("●", Ink::Accent)
    } else {
        (" ", Ink::Text)
    };
    pen.put(line.x + 1, line.y, line.right(), ink, sign);
    let Some(row) = app.board.row(seq) else {
        pen.put(line.x + 3, line.y, line.right(), Ink::Dim, "…");
        return;
    };
    let cells = cells(app, row);
    let mut x = line.x + 3;
    for ((width, (ink, text)), column) in widths.iter().zip(cells).zip(&COLUMNS) {
        if *width == 0 {
            continue;
        }
        let columns = usize::from(*width);
        let text = if is_number(column.head) {
            pad_left(&text, columns)
        } else {
            let is_name = matches!(column.head, "run" | "task");
            let shown = if is_name {
                fit_middle(&text, columns)
            } else {
                one_line(&text, columns)
            };
            pad(&shown, columns)
        };
        pen.put(x, line.y, line.right().saturating_sub(1), ink, &text);
        x += width + 1;
    }
}

/// A range that was begun reaches to the cursor.
fn in_range(app: &App, at: usize) -> bool {
    let Some(anchor) = app.board.anchor else {
        return false;
    };
    (anchor.min(app.board.selected)..=anchor.max(app.board.selected)).contains(&at)
}

fn cells(app: &App, row: &RunRow) -> [(Ink, String); 8] {
    let (sign, outcome) = glyph::outcome(row.outcome);
    let failed = if row.errors == 0 {
        String::new()
    } else {
        row.errors.to_string()
    };
    let (label_ink, label) = label(app, row);
    let strong = if row.outcome == Outcome::Fail {
        Ink::Text
    } else {
        Ink::Dim
    };
    [
        (strong, row.id.0.clone()),
        (Ink::Text, row.task.clone().unwrap_or_default()),
        (Ink::Dim, row.family.clone().unwrap_or_default()),
        (outcome, format!("{sign} {}", row.outcome)),
        (Ink::Dim, row.steps.to_string()),
        (Ink::Fail, failed),
        (label_ink, label),
        (Ink::Dim, marks(row)),
    ]
}

/// Others' labels stay hidden from an annotator until the own one is saved: they would lead the eye.
fn label(app: &App, row: &RunRow) -> (Ink, String) {
    let is_mine = app.mine.contains(&row.seq);
    let blind = app.set.role == crate::tui::app::Role::Annotator && !is_mine;
    match row.layer {
        Some(layer) if !blind => {
            let cause = row
                .cause
                .as_ref()
                .map_or_else(String::new, |c| format!(" · {c}"));
            let unproven = if row.proven { "" } else { " (unproven)" };
            (Ink::Strong, format!("{layer}{unproven}{cause}"))
        }
        _ => (Ink::Dim, "·".to_owned()),
    }
}

fn marks(row: &RunRow) -> String {
    let mut out: Vec<&str> = Vec::new();
    out.extend(glyph::ending(row.ending));
    if row.has_retry {
        out.push("retry");
    }
    if row.has_rewrite {
        out.push("rewrite");
    }
    if row.has_unknown {
        out.push("owner?");
    }
    out.join(", ")
}

fn empty(pen: &mut Pen<'_>, app: &App, area: Rect) {
    let lines: &[(Ink, String)] = &match app.board.loaded {
        _ if app.board.is_partial => [
            (Ink::Dim, "looking through all runs…".to_owned()),
            (
                Ink::Text,
                "f  changes the filter      F  takes it off".to_owned(),
            ),
        ],
        false => [
            (Ink::Dim, "reading the workspace…".to_owned()),
            (Ink::Text, String::new()),
        ],
        true => [
            (Ink::Strong, "No run passes this filter.".to_owned()),
            (Ink::Text, "F  takes it off      f  changes it".to_owned()),
        ],
    };
    let y = area.y + area.height / 3;
    for (i, (ink, text)) in lines.iter().enumerate() {
        let y = y + u16::try_from(i).unwrap_or(0) * 2;
        let line = Rect {
            x: area.x + 6,
            y,
            width: area.width.saturating_sub(8),
            height: area.bottom().saturating_sub(y),
        };
        pen.paragraph(line, *ink, text);
    }
}
