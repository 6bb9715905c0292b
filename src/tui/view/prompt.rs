//! A line to type, with completions above it and what is wrong with it.

use crate::text::{fit, pad, width};
use crate::tui::app::overlay::Prompt;
use crate::tui::geometry;
use crate::tui::theme::Ink;
use crate::tui::widget::{Pen, broken};
use ratatui::layout::Rect;

/// Draws the line; returns where its cursor stands.
pub(super) fn draw(pen: &mut Pen<'_>, prompt: &Prompt, whole: Rect) -> Option<(u16, u16)> {
    // A path that does not exist may be long; its end says what is wrong with it.
    let room = usize::from(whole.width.saturating_sub(4));
    let lines = prompt.error.iter().flat_map(|e| e.lines());
    let errors: Vec<&str> = lines.flat_map(|line| broken(line, room)).collect();
    let rows = prompt.offers.len() + errors.len() + 1;
    let (above, _) = geometry::bottom(whole, 1);
    let height = u16::try_from(rows).unwrap_or(1).saturating_add(2);
    let (_, area) = geometry::bottom(above, height.min(above.height));
    let inner = pen.frame(area, prompt.kind.label());
    offers(pen, prompt, inner);
    let y = inner.bottom().saturating_sub(1);
    for (i, error) in errors.iter().rev().enumerate() {
        let row = y.saturating_sub(1 + u16::try_from(i).unwrap_or(0));
        let ink = if error.starts_with("hint") {
            Ink::Text
        } else {
            Ink::Error
        };
        pen.put(inner.x, row, inner.right(), ink, error);
    }
    let x = pen.put(inner.x, y, inner.right(), Ink::Keycap, "› ");
    let room = usize::from(inner.right().saturating_sub(x + 1));
    let scroll = prompt.input.visual_scroll(room);
    let shown: String = cut(prompt.input.value(), scroll);
    pen.put(x, y, inner.right(), Ink::Text, &shown);
    let cursor = prompt.input.visual_cursor().saturating_sub(scroll);
    Some((x + u16::try_from(cursor).unwrap_or(0), y))
}

/// Leaves off the first columns.
fn cut(text: &str, columns: usize) -> String {
    let mut used = 0;
    crate::text::graphemes(text)
        .skip_while(|(_, wide)| {
            let skip = used < columns;
            used += wide;
            skip
        })
        .map(|(g, _)| g)
        .collect()
}

fn offers(pen: &mut Pen<'_>, prompt: &Prompt, inner: Rect) {
    let names = prompt
        .offers
        .iter()
        .map(|o| width(&o.shown))
        .max()
        .unwrap_or(0);
    for (i, offer) in prompt.offers.iter().enumerate() {
        let row = u16::try_from(i).unwrap_or(u16::MAX);
        if row >= inner.height.saturating_sub(1) {
            break;
        }
        let y = inner.y + row;
        let x = pen.put(
            inner.x + 2,
            y,
            inner.right(),
            Ink::Text,
            &pad(&offer.shown, names),
        );
        let room = usize::from(inner.right().saturating_sub(x + 2));
        pen.put(x + 2, y, inner.right(), Ink::Dim, &fit(&offer.about, room));
        if i == prompt.offer {
            pen.over(
                Rect {
                    y,
                    height: 1,
                    ..inner
                },
                Ink::Selected,
            );
        }
    }
}
