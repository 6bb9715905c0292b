//! A run's steps as a list: number, who wrote it, what it is, how it ended.

use super::glyph;
use crate::store::StepHead;
use crate::text::one_line;
use crate::text::plural;
use crate::tui::app::body::is_failed;
use crate::tui::app::run::{RunPane, RunView};
use crate::tui::theme::Ink;
use crate::tui::widget::Pen;
use ratatui::layout::Rect;

/// Draws the list.
pub(super) fn draw(pen: &mut Pen<'_>, view: &RunView, area: Rect) {
    let here = view.pane == RunPane::Steps;
    let title = match &view.outline {
        Some(outline) if !outline.failed.is_empty() => {
            format!(
                "{} · {} failed",
                plural(view.steps.into(), "step"),
                outline.failed.len()
            )
        }
        _ => plural(view.steps.into(), "step"),
    };
    let inner = pen.pane(area, &title, here);
    let right = inner.right().saturating_sub(1);
    pen.wall(right, inner.y, inner.height, Ink::Border);
    let digits = view.steps.to_string().len();
    for row in 0..inner.height {
        let step = u32::try_from(view.list_top).unwrap_or(0) + u32::from(row);
        if step >= view.steps {
            break;
        }
        let line = Rect::new(inner.x, inner.y + row, inner.width.saturating_sub(1), 1);
        one(pen, view, line, step, digits);
        if step == view.at.step {
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
    failures(
        pen,
        view,
        Rect {
            width: inner.width,
            ..inner
        },
    );
}

fn one(pen: &mut Pen<'_>, view: &RunView, line: Rect, step: u32, digits: usize) {
    let end = line.right();
    let number = crate::text::pad_left(&step.to_string(), digits);
    let x = pen.put(
        line.x,
        line.y,
        end,
        Ink::Dim,
        &format!("{}{number} ", mark(view, step)),
    );
    let Some(head) = view.head(step) else {
        pen.put(x, line.y, end, Ink::Dim, "…");
        return;
    };
    let owner = if head.off_path || head.copied {
        Ink::Dim
    } else {
        glyph::owner(head.owner)
    };
    let x = pen.put(x, line.y, end, owner, glyph::step(head.owner, head.kind));
    let x = if is_failed(head) {
        pen.put(x + 1, line.y, end, Ink::Fail, "✗")
    } else {
        x
    };
    let room = usize::from(end.saturating_sub(x + 1));
    pen.put(x + 1, line.y, end, owner, &label(head, room));
}

/// What the reviewer said about the step.
fn mark(view: &RunView, step: u32) -> &'static str {
    if view.verdict.decisive_step == Some(step) {
        "▶"
    } else if view.verdict.contributing.contains(&step) {
        "▷"
    } else {
        " "
    }
}

fn label(head: &StepHead, room: usize) -> String {
    let text = match &head.tool {
        Some(tool) => format!("{tool} {}", head.preview),
        None => head.preview.clone(),
    };
    one_line(&text, room)
}

/// Where failures are, on the wall at the right: the whole run at a glance.
fn failures(pen: &mut Pen<'_>, view: &RunView, area: Rect) {
    let Some(outline) = &view.outline else { return };
    let steps = view.steps.max(1) as usize;
    let rows = usize::from(area.height);
    if rows == 0 || steps <= rows {
        return;
    }
    pen.scrollbar(area, view.list_top, rows, steps);
    let x = area.right() - 1;
    for failed in &outline.failed {
        let row = (*failed as usize) * rows / steps;
        let y = area.y + u16::try_from(row.min(rows - 1)).unwrap_or(0);
        pen.put(x, y, x + 1, Ink::Fail, "✗");
    }
}
