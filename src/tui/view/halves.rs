//! Two texts side by side, with what differs marked.

use crate::tui::app::duo::{Duo, Half};
use crate::tui::theme::Ink;
use crate::tui::widget::{Pen, text};
use ratatui::layout::Rect;

/// Draws both halves under their titles.
pub(super) fn draw(
    pen: &mut Pen<'_>,
    duo: &Duo,
    areas: (Rect, Rect),
    titles: (&str, &str),
    here: (bool, bool),
) {
    let left = pen.pane(areas.0, titles.0, here.0);
    let right = pen.pane(areas.1, titles.1, here.1);
    half(pen, &duo.left, left, duo.top);
    pen.wall(right.x, right.y, right.height, Ink::Border);
    let inner = Rect {
        x: right.x + 1,
        width: right.width.saturating_sub(1),
        ..right
    };
    half(pen, &duo.right, inner, duo.top);
    pen.scrollbar(right, duo.top, usize::from(right.height), duo.lines());
}

fn half(pen: &mut Pen<'_>, half: &Half, area: Rect, top: usize) {
    for row in 0..area.height {
        let n = top + usize::from(row);
        if n >= half.lines() {
            break;
        }
        let at = (area.x + 1, area.y + row, area.right().saturating_sub(1));
        text::line(pen, at, &half.doc, half.line(n), &half.marks, None);
    }
    if half.doc.is_empty() {
        pen.row(area, 0, Ink::Dim, " nothing here");
    }
}
