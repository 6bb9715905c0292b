//! A run beside another: which layers differ, their steps aligned, and the steps under the cursor in full.

use super::{glyph, halves};
use crate::domain::Step;
use crate::text::{fit_start, one_line};
use crate::triage::{LayerState, RowKind, RunDiff};
use crate::tui::app::App;
use crate::tui::app::compare::CompareView;
use crate::tui::geometry::{self, CompareAreas};
use crate::tui::theme::Ink;
use crate::tui::widget::Pen;
use ratatui::layout::Rect;
use std::fmt::Write as _;

/// Draws the comparison.
pub(super) fn draw(pen: &mut Pen<'_>, app: &App, view: &CompareView) {
    let areas = geometry::compare(app.size, Some(view));
    let mut title = format!("{} and {}", view.a, view.b());
    if let (place, all @ 2..) = view.place() {
        let _ = write!(title, "  ({place} of {all}; > and < turn)");
    }
    pen.put(
        areas.title.x + 1,
        areas.title.y,
        areas.title.right(),
        Ink::Strong,
        &title,
    );
    let Some(compared) = &view.compared else {
        pen.row(areas.rows, 1, Ink::Dim, "  comparing…   Esc stops it");
        return;
    };
    layers(pen, view, &compared.diff, areas.layers);
    rows(pen, view, &areas);
    if let Some((_, duo)) = &view.duo {
        // Names of one log often differ only in their ends.
        let room = usize::from(areas.left.width.saturating_sub(4));
        let titles = (
            fit_start(view.a.as_str(), room),
            fit_start(view.b().as_str(), room),
        );
        let here = (view.in_text, view.in_text);
        let titles = (titles.0.as_str(), titles.1.as_str());
        halves::draw(pen, duo, (areas.left, areas.right), titles, here);
    }
}

/// Which layers differ, what that means, and where the runs part.
fn layers(pen: &mut Pen<'_>, view: &CompareView, diff: &RunDiff, area: Rect) {
    let end = area.right().saturating_sub(1);
    let mut x = area.x + 1;
    for layer in &diff.layers {
        let (sign, ink) = match layer.state {
            LayerState::Same => ("=", Ink::Dim),
            LayerState::Differs => ("≠", Ink::Fail),
            LayerState::Unknown => ("?", Ink::Unsure),
        };
        x = pen.put(
            x,
            area.y,
            end,
            ink,
            &format!("{sign} {}", layer.layer.word()),
        ) + 2;
    }
    let (_, below) = geometry::top(area, 1);
    let below = Rect {
        x: area.x + 1,
        width: end.saturating_sub(area.x + 1),
        ..below
    };
    let mut below = below;
    for (said, ink) in view.says().iter().zip([Ink::Warn, Ink::Text]) {
        let rows = pen.paragraph(below, ink, said);
        (_, below) = geometry::top(below, rows);
    }
}

fn rows(pen: &mut Pen<'_>, view: &CompareView, areas: &CompareAreas) {
    let area = areas.rows;
    let half = area.width / 2;
    let all = view.rows();
    for row in 0..area.height {
        let at = view.top + usize::from(row);
        let Some(found) = all.get(at) else { break };
        let y = area.y + row;
        let (sign, ink) = match found.kind {
            RowKind::Same => ("=", Ink::Dim),
            RowKind::Changed => ("≠", Ink::Fail),
            RowKind::OnlyA => ("‹", Ink::Removed),
            RowKind::OnlyB => ("›", Ink::Added),
        };
        let (a, b) = view.steps(at);
        one(pen, (area.x + 1, y, area.x + half - 1), a, found.kind);
        pen.put(area.x + half, y, area.x + half + 1, ink, sign);
        one(
            pen,
            (area.x + half + 2, y, area.right().saturating_sub(1)),
            b,
            found.kind,
        );
        if at == view.selected {
            let line = Rect {
                y,
                height: 1,
                ..area
            };
            pen.over(
                line,
                if view.in_text {
                    Ink::SelectedDim
                } else {
                    Ink::Selected
                },
            );
        }
    }
    pen.scrollbar(area, view.top, usize::from(area.height), all.len());
}

fn one(pen: &mut Pen<'_>, at: (u16, u16, u16), step: Option<&Step>, kind: RowKind) {
    let (x, y, end) = at;
    let Some(step) = step else { return };
    let ink = if kind == RowKind::Same {
        Ink::Dim
    } else {
        glyph::owner(step.owner)
    };
    let sign = glyph::step(step.owner, step.kind);
    let tool = step
        .tool
        .as_ref()
        .map_or_else(String::new, |t| format!("{t} "));
    let head = format!("{} {sign} {tool}", step.index);
    let x = pen.put(x, y, end, ink, &head);
    let room = usize::from(end.saturating_sub(x));
    pen.put(x, y, end, ink, &one_line(&step.text, room));
}
