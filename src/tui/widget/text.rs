//! One screen line of a document, with what is highlighted on it.

use super::Pen;
use crate::tui::doc::{Doc, Span};
use crate::tui::theme::Ink;
use ratatui::layout::Rect;

/// Draws `span` of `doc` at (`x`, `y`), not beyond `end`. `marks` are highlighted, the `here`th of them more.
pub(crate) fn line(
    pen: &mut Pen<'_>,
    at: (u16, u16, u16),
    doc: &Doc,
    span: Span,
    marks: &[Span],
    here: Option<usize>,
) {
    let (mut x, y, end) = at;
    let cut = span.end;
    let mut from = span.start;
    let first = marks.partition_point(|m| m.end <= span.start);
    for (i, mark) in marks.iter().enumerate().skip(first) {
        if mark.start >= cut {
            break;
        }
        x = pieces(pen, (x, y, end), doc, from..mark.start.max(from), None);
        let ink = if here == Some(i) {
            Ink::MatchHere
        } else {
            Ink::Match
        };
        let until = mark.end.min(cut);
        x = pieces(
            pen,
            (x, y, end),
            doc,
            mark.start.max(from)..until,
            Some(ink),
        );
        from = until;
    }
    pieces(pen, (x, y, end), doc, from..cut, None);
}

fn pieces(pen: &mut Pen<'_>, at: (u16, u16, u16), doc: &Doc, span: Span, over: Option<Ink>) -> u16 {
    let (mut x, y, end) = at;
    for (ink, text) in doc.pieces(span) {
        let mut style = pen.theme().of(ink);
        if let Some(over) = over {
            style = style.patch(pen.theme().of(over));
        }
        x = pen.put_styled(x, y, end, style, text);
    }
    x
}

/// Draws a window of a document that fits `area`, from line `top` on; returns how many lines it has.
pub(crate) fn window(pen: &mut Pen<'_>, area: Rect, doc: &Doc, top: usize) -> usize {
    let layout = doc.layout(usize::from(area.width), crate::text::Wrap::Words);
    let lines = layout.lines();
    let top = top.min(lines.saturating_sub(usize::from(area.height)));
    for row in 0..area.height {
        let n = top + usize::from(row);
        if n >= lines {
            break;
        }
        let at = (area.x, area.y + row, area.right());
        line(pen, at, doc, layout.line(doc, n), &[], None);
    }
    lines
}
