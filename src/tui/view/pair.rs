//! A pair: the request once on top, the two candidates side by side; whose they are is hidden until the decision.

use super::{glyph, halves};
use crate::domain::{Candidate, ChatMessage, Choice, Decision, Role};
use crate::jobs::desk::{PairPage, PairSide};
use crate::text::{bytes, one_line};
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::app::pair::{Column, PairView};
use crate::tui::doc::Doc;
use crate::tui::geometry;
use crate::tui::theme::Ink;
use crate::tui::widget::{Pen, text};
use ratatui::layout::Rect;

/// Messages of the request that are drawn at the most, counted from its end.
const MAX_MESSAGES: usize = 40;

/// Draws the pair.
pub(super) fn draw(pen: &mut Pen<'_>, app: &App, view: &PairView) {
    let areas = geometry::pair(app.size, Some(view));
    title(pen, view, areas.title);
    let Some(page) = &view.page else {
        pen.row(areas.left, 1, Ink::Dim, "  reading…");
        return;
    };
    request(pen, view, page, areas.request);
    if let Some(duo) = &view.duo {
        let titles = (heading(view, Column::Left), heading(view, Column::Right));
        let here = (view.column == Column::Left, view.column == Column::Right);
        halves::draw(
            pen,
            duo,
            (areas.left, areas.right),
            (&titles.0, &titles.1),
            here,
        );
    }
    choices(pen, app, view, areas.labels);
}

fn title(pen: &mut Pen<'_>, view: &PairView, area: Rect) {
    if area.height == 0 {
        return;
    }
    let place = format!("{} of {}", view.place + 1, view.list.len());
    let end = pen.put_right(
        area.x,
        area.y,
        area.right().saturating_sub(1),
        Ink::Dim,
        &place,
    );
    let Some(page) = &view.page else { return };
    let at = page.sides[0].candidate.at();
    let task = page.sides[0]
        .row
        .task
        .clone()
        .unwrap_or_else(|| at.run.0.clone());
    let mut x = pen.put(
        area.x + 1,
        area.y,
        end,
        Ink::Strong,
        &format!("pair on {task}"),
    );
    let (ink, state) = match (view.is_decided(), page.is_comparable) {
        (true, _) => (Ink::Pass, "✓ decided".to_owned()),
        (false, true) => (Ink::Dim, "same request".to_owned()),
        (false, false) => (Ink::Fail, "✗ different requests".to_owned()),
    };
    x = pen.put(x + 2, area.y, end, ink, &state);
    if let Some(standard) = &page.standard {
        let order: Vec<&str> = standard.criteria.iter().map(String::as_str).collect();
        let text = format!("standard {}: {}", standard.version, order.join(" › "));
        let room = usize::from(end.saturating_sub(x + 3));
        pen.put(x + 2, area.y, end, Ink::Dim, &crate::text::fit(&text, room));
    }
}

fn request(pen: &mut Pen<'_>, view: &PairView, page: &PairPage, area: Rect) {
    let title = if view.request_open {
        "request   ⏎ closes"
    } else {
        "request   ⏎ opens all of it"
    };
    let inner = pen.pane(area, title, false);
    let inner = Rect {
        x: inner.x + 1,
        width: inner.width.saturating_sub(2),
        ..inner
    };
    let shown = if view.request_open { MAX_MESSAGES } else { 2 };
    let mut doc = Doc::default();
    let skip = page.context.len().saturating_sub(shown);
    for message in page.context.iter().skip(skip) {
        one_message(&mut doc, message, view.request_open);
    }
    if page.context.is_empty() {
        doc.line(Ink::Dim, "nothing stood before these decisions");
    }
    // The end of a request is what the two answer, so that is what is seen of a long one.
    text::window(pen, inner, &doc, usize::MAX);
}

fn one_message(doc: &mut Doc, message: &ChatMessage, whole: bool) {
    let (sign, ink) = match message.role {
        Role::System | Role::Developer => ("§", Ink::System),
        Role::User => ("»", Ink::User),
        Role::Assistant => ("◆", Ink::Model),
        Role::Tool => ("←", Ink::Tool),
    };
    doc.push(ink, &format!("{sign} {} ", message.role));
    let content = message.content.as_deref().unwrap_or_default();
    if whole {
        doc.line(Ink::Text, content);
    } else {
        doc.line(Ink::Text, &one_line(content, 400));
    }
    for call in &message.tool_calls {
        doc.push(Ink::Model, "→ ").push(Ink::Strong, &call.name);
        doc.line(Ink::Text, &format!(" {}", call.arguments));
    }
}

/// Before the decision a column has no name; after it, everything about its side.
fn heading(view: &PairView, column: Column) -> String {
    let word = match column {
        Column::Left => "left",
        Column::Right => "right",
    };
    let Some(side) = view.side(column).filter(|_| view.is_decided()) else {
        return word.to_owned();
    };
    let better = if is_preferred(view, column) {
        "✓ better · "
    } else {
        ""
    };
    format!("{better}{word} · {}", about(side))
}

fn about(side: &PairSide) -> String {
    let mut words = Vec::new();
    match &side.candidate {
        Candidate::Recorded { at } => {
            words.push(at.to_string());
            let (sign, _) = glyph::outcome(side.row.outcome);
            words.push(format!("{sign} {}", side.row.outcome));
            words.extend(side.row.reward_result.map(|r| format!("reward {r}")));
        }
        Candidate::Human { author, .. } => words.push(format!("written by {author}")),
    }
    let length = side.message.content.as_ref().map_or(0, String::len)
        + side
            .message
            .tool_calls
            .iter()
            .map(|c| c.arguments.len())
            .sum::<usize>();
    words.push(bytes(length as u64));
    words.extend(
        side.scores
            .first()
            .map(|s| format!("logp {:.1}", s.logp_sum)),
    );
    words.join(" · ")
}

fn decided(view: &PairView) -> Option<Choice> {
    let record = view.page.as_ref()?.decided.as_ref()?;
    match &record.decision {
        Decision::Pair(pair) => Some(pair.choice),
        _ => None,
    }
}

fn is_preferred(view: &PairView, column: Column) -> bool {
    decided(view).is_some_and(|choice| Some(choice) == view.preferring(column))
}

/// The choices with their keys; the one made is marked.
fn choices(pen: &mut Pen<'_>, app: &App, view: &PairView, area: Rect) {
    if area.height == 0 {
        return;
    }
    let chosen = |action: Action| match action {
        Action::PreferLeft => is_preferred(view, Column::Left),
        Action::PreferRight => is_preferred(view, Column::Right),
        Action::Tie => decided(view) == Some(Choice::Tie),
        Action::BothBad => decided(view) == Some(Choice::BothBad),
        _ => decided(view) == Some(Choice::NotComparable),
    };
    let actions = [
        Action::PreferLeft,
        Action::PreferRight,
        Action::Tie,
        Action::BothBad,
        Action::NotComparable,
    ];
    let mut x = area.x + 1;
    for action in actions {
        let key = app.keymap.first_key(action).unwrap_or_default();
        x = pen.put(x, area.y, area.right(), Ink::Keycap, &key);
        let word = action.info().short;
        let (ink, text) = if chosen(action) {
            (Ink::Selected, format!(" ✓ {word} "))
        } else {
            (Ink::Text, format!(" {word} "))
        };
        x = pen.put(x, area.y, area.right(), ink, &text) + 2;
    }
}
