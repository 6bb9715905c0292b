//! A page to read, above the screen.

use crate::tui::app::overlay::Page;
use crate::tui::widget::{Pen, text};
use ratatui::layout::Rect;

/// Widest that prose is set: longer lines are hard to read.
const PROSE: u16 = 100;

/// Draws the page.
pub(super) fn draw(pen: &mut Pen<'_>, page: &Page, whole: Rect) {
    let width = whole.width.min(PROSE + 4);
    let area = Rect {
        x: whole.x + (whole.width - width) / 2,
        width,
        height: whole.height.saturating_sub(1),
        ..whole
    };
    let inner = pen.frame(area, &page.title);
    let lines = text::window(pen, inner, &page.doc, page.top);
    pen.scrollbar(area, page.top, usize::from(inner.height), lines);
}
