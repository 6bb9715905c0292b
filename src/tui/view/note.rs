//! The editor of a note.

use crate::tui::app::overlay::{Note, NoteKind};
use crate::tui::geometry;
use crate::tui::theme::Ink;
use crate::tui::widget::Pen;
use ratatui::layout::Rect;

/// Rows of the editor.
const ROWS: u16 = 10;

/// Draws the editor; returns where its cursor stands.
pub(super) fn draw(pen: &mut Pen<'_>, note: &Note, whole: Rect) -> Option<(u16, u16)> {
    // The status row stays in view: it says that a half-written note is back.
    let (area, _) = geometry::bottom(whole, 2);
    let (_, area) = geometry::bottom(area, ROWS.min(area.height));
    let inner = pen.frame(area, &note.title);
    pen.widget(&note.area, inner);
    if note.area.is_empty() {
        let asks = match note.kind {
            NoteKind::Verdict => "What happened, and what would prove it?",
            NoteKind::Side(_) => "What should have been said here? Plain words, or a call as JSON.",
        };
        pen.row(inner, 0, Ink::Dim, asks);
    }
    None
}
