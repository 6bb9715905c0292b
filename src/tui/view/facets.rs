//! Counts at the board's side: what there is, and one key to narrow to it.

use crate::text::{grouped, one_line, pad};
use crate::tui::app::App;
use crate::tui::app::board::{BoardPane, settle_top};
use crate::tui::theme::Ink;
use crate::tui::widget::Pen;
use ratatui::layout::Rect;

/// Draws the facets.
pub(super) fn draw(pen: &mut Pen<'_>, app: &App, area: Rect) {
    let here = app.board.pane == BoardPane::Facets;
    let inner = pen.pane(area, "counts   Tab", here);
    pen.wall(
        area.right().saturating_sub(1),
        inner.y,
        inner.height,
        Ink::Border,
    );
    let lines = app.board.facet_lines();
    if lines.is_empty() {
        pen.row(inner, 1, Ink::Dim, "  nothing to tell apart");
        return;
    }
    let top = settle_top(0, app.board.facet, usize::from(inner.height), lines.len());
    let most = lines
        .iter()
        .filter_map(|(_, c)| c.map(|c| c.count))
        .max()
        .unwrap_or(1);
    for row in 0..inner.height {
        let at = top + usize::from(row);
        let Some((field, count)) = lines.get(at) else {
            break;
        };
        let y = inner.y + row;
        match count {
            None => {
                pen.put(inner.x + 1, y, inner.right(), Ink::Heading, field.word());
            }
            Some(count) => {
                let number = grouped(count.count);
                let room = usize::from(inner.width.saturating_sub(5)).saturating_sub(number.len());
                let value = count.value.as_deref().unwrap_or("none");
                let text = pad(&one_line(value, room), room);
                let x = pen.put(inner.x + 2, y, inner.right(), Ink::Text, &text);
                let ink = if count.count == most {
                    Ink::Strong
                } else {
                    Ink::Dim
                };
                pen.put(x + 1, y, inner.right(), ink, &number);
            }
        }
        if here && at == app.board.facet {
            let width = inner.width.saturating_sub(1);
            pen.over(
                Rect {
                    y,
                    height: 1,
                    width,
                    ..inner
                },
                Ink::Selected,
            );
        }
    }
}
