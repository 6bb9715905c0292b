//! A page to read, above the screen.

use crate::tui::app::overlay::Page;
use crate::tui::geometry;
use crate::tui::widget::{Pen, text};
use ratatui::layout::Rect;

/// Draws the page.
pub(super) fn draw(pen: &mut Pen<'_>, page: &Page, whole: Rect) {
    let area = geometry::page(whole);
    let inner = pen.frame(area, &page.title);
    let lines = text::window(pen, inner, &page.doc, page.top);
    pen.scrollbar(area, page.top, usize::from(inner.height), lines);
}
