//! A sheet: the list, and the page of the row under the cursor.

use crate::text::{fit_middle, fit_start, one_line, pad, width};
use crate::tui::app::App;
use crate::tui::app::sheet::{Fill, Filling, Sheet};
use crate::tui::geometry::{self, SheetAreas};
use crate::tui::theme::Ink;
use crate::tui::widget::{Pen, text};
use ratatui::layout::Rect;

/// Draws the sheet.
pub(super) fn draw(pen: &mut Pen<'_>, app: &App, sheet: &Sheet) {
    let areas = geometry::sheet(app.size, Some(sheet));
    let note = inset(areas.note, 1);
    pen.paragraph(note, Ink::Dim, &sheet.words());
    pen.row(note, 0, Ink::Strong, sheet.kind.word());
    let Fill::Ready(filling) = &sheet.fill else {
        return;
    };
    if filling.rows.is_empty() {
        return empty(pen, filling, areas.list.union(areas.page));
    }
    let widths = widths(filling, areas.list.width.saturating_sub(3));
    heading(pen, filling, areas.head, &widths, !sheet.in_page);
    list(pen, sheet, filling, areas.list, &widths);
    page(pen, sheet, &areas);
}

/// Each column has its share; what one does not need goes to those that are cut.
fn widths(filling: &Filling, room: u16) -> Vec<u16> {
    let shares: u16 = filling.heads.iter().map(|(_, share)| *share).sum();
    let gaps = u16::try_from(filling.heads.len()).unwrap_or(0) * 2;
    let room = room.saturating_sub(gaps);
    let needs: Vec<u16> = (0..filling.heads.len())
        .map(|at| needed(filling, at))
        .collect();
    let mut widths: Vec<u16> = filling
        .heads
        .iter()
        .zip(&needs)
        .map(|((head, share), need)| {
            let least = u16::try_from(head.len()).unwrap_or(0);
            (room * share / shares.max(1)).min(*need).max(least)
        })
        .collect();
    let mut spare = room.saturating_sub(widths.iter().sum());
    for (width, need) in widths.iter_mut().zip(&needs) {
        let more = need.saturating_sub(*width).min(spare);
        *width += more;
        spare -= more;
    }
    widths
}

/// Rows that a column is measured by: more would be measured anew in every frame.
const MEASURED: usize = 500;

/// Columns that the widest cell of a column takes.
fn needed(filling: &Filling, at: usize) -> u16 {
    let rows = filling.rows.iter().take(MEASURED);
    let cells = rows.filter_map(|row| row.cells.get(at));
    let widest = cells.map(|(_, text)| width(text)).max().unwrap_or(0);
    u16::try_from(widest).unwrap_or(u16::MAX)
}

fn heading(pen: &mut Pen<'_>, filling: &Filling, area: Rect, widths: &[u16], here: bool) {
    let line = if here { Ink::BorderHere } else { Ink::Border };
    pen.rule(area.x, area.y, area.right(), line);
    let mut x = area.x + 1;
    for ((head, _), width) in filling.heads.iter().zip(widths) {
        pen.put(
            x,
            area.y,
            (x + width).min(area.right()),
            Ink::Dim,
            &format!("{head} "),
        );
        x += width + 2;
    }
}

fn list(pen: &mut Pen<'_>, sheet: &Sheet, filling: &Filling, area: Rect, widths: &[u16]) {
    for row in 0..area.height {
        let at = sheet.top + usize::from(row);
        let Some(found) = filling.rows.get(at) else {
            break;
        };
        let y = area.y + row;
        let mut x = area.x + 1;
        let cells = found.cells.iter().zip(widths).zip(&filling.heads);
        for (((ink, cell), width), (head, _)) in cells {
            let columns = usize::from(*width);
            let end = area.right().saturating_sub(1);
            // Names of one log often differ only in their ends.
            let text = match *head {
                "run" => fit_start(cell, columns),
                "cohort" => fit_middle(cell, columns),
                _ => one_line(cell, columns),
            };
            pen.put(x, y, end, *ink, &pad(&text, columns));
            x += width + 2;
        }
        if at == sheet.selected {
            let ink = if sheet.in_page {
                Ink::SelectedDim
            } else {
                Ink::Selected
            };
            let width = area.width.saturating_sub(1);
            pen.over(
                Rect {
                    y,
                    height: 1,
                    width,
                    ..area
                },
                ink,
            );
        }
    }
    pen.scrollbar(
        area,
        sheet.top,
        usize::from(area.height),
        filling.rows.len(),
    );
}

fn page(pen: &mut Pen<'_>, sheet: &Sheet, areas: &SheetAreas) {
    let inner = pen.pane(areas.page, "Tab", sheet.in_page);
    let (Some(row), Some((_, _, layout))) = (sheet.row(), &sheet.layout) else {
        return;
    };
    let lines = layout.lines();
    let top = sheet
        .page_top
        .min(lines.saturating_sub(usize::from(inner.height)));
    for line in 0..inner.height {
        let n = top + usize::from(line);
        if n >= lines {
            break;
        }
        let at = (inner.x + 1, inner.y + line, inner.right().saturating_sub(1));
        text::line(pen, at, &row.page, layout.line(&row.page, n), &[], None);
    }
    pen.scrollbar(inner, top, usize::from(inner.height), lines);
}

fn empty(pen: &mut Pen<'_>, filling: &Filling, area: Rect) {
    let (_, below) = geometry::top(inset(area, 4), area.height / 4);
    let rows = pen.paragraph(below, Ink::Strong, &filling.empty.0);
    let (_, below) = geometry::top(below, rows + 1);
    pen.paragraph(below, Ink::Text, &filling.empty.1);
}

/// Without columns at both ends.
fn inset(area: Rect, columns: u16) -> Rect {
    Rect {
        x: area.x + columns.min(area.width),
        width: area.width.saturating_sub(columns * 2),
        ..area
    }
}
