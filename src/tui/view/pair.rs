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
    if let Some(standard) = view.standard() {
        let line = Rect {
            x: areas.standard.x + 1,
            width: areas.standard.width.saturating_sub(2),
            ..areas.standard
        };
        pen.paragraph(line, Ink::Dim, &standard);
    }
    request(pen, view, page, areas.request);
    if view.is_decided() {
        about_sides(pen, view, areas.about);
    }
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
    let x = pen.put(
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
    let state = match &page.masked {
        Some(_) if !view.revealed => format!("{state} · secrets masked"),
        _ => state,
    };
    pen.put(x + 2, area.y, end, ink, &state);
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
    let mut doc = Doc::default();
    let context = view.context(page);
    if view.request_open {
        let skip = context.len().saturating_sub(MAX_MESSAGES);
        for message in context.iter().skip(skip) {
            one_message(&mut doc, message, ALL);
        }
    } else {
        in_short(&mut doc, context, usize::from(inner.width));
    }
    if context.is_empty() {
        doc.line(Ink::Dim, "nothing stood before these decisions");
    }
    // Of an open request the end is seen first: that is what the two answer.
    let top = if view.request_open { usize::MAX } else { 0 };
    text::window(pen, inner, &doc, top);
}

/// What was asked for last, and what came last: a tool's long answer must not hide the question.
fn in_short(doc: &mut Doc, context: &[ChatMessage], columns: usize) {
    let asked = context.iter().rposition(|m| m.role == Role::User);
    let last = context.len().checked_sub(1);
    match (asked, last) {
        (Some(asked), Some(last)) if asked < last => {
            let (first, rest) = (columns.saturating_mul(2), columns.saturating_sub(9));
            one_message(doc, &context[asked], first.saturating_sub(9));
            if last - asked > 1 {
                let between = crate::text::plural((last - asked - 1) as u64, "message");
                doc.line(Ink::Dim, &format!("… {between} …"));
            }
            one_message(doc, &context[last], rest);
        }
        _ => {
            // The question came last: what stood before it must not push it out of sight.
            let skip = context.len().saturating_sub(2);
            let shown = context.get(skip..).unwrap_or_default();
            for (n, message) in shown.iter().enumerate() {
                let is_last = n + 1 == shown.len();
                let room = if is_last {
                    IN_SHORT
                } else {
                    columns.saturating_sub(11)
                };
                one_message(doc, message, room);
            }
        }
    }
}

/// Columns of a message that is not cut.
const ALL: usize = usize::MAX;
/// Columns of a message of a closed request.
const IN_SHORT: usize = 400;

fn one_message(doc: &mut Doc, message: &ChatMessage, columns: usize) {
    let (sign, ink) = match message.role {
        Role::System | Role::Developer => ("§", Ink::System),
        Role::User => ("»", Ink::User),
        Role::Assistant => ("◆", Ink::Model),
        Role::Tool => ("←", Ink::Tool),
    };
    doc.push(ink, &format!("{sign} {} ", message.role));
    let content = message.content.as_deref().unwrap_or_default();
    if columns == ALL {
        doc.line(Ink::Text, content);
    } else {
        doc.line(Ink::Text, &one_line(content, columns));
    }
    for call in &message.tool_calls {
        doc.push(Ink::Model, "→ ").push(Ink::Strong, &call.name);
        let arguments = if columns == ALL {
            call.arguments.clone()
        } else {
            one_line(&call.arguments, columns)
        };
        doc.line(Ink::Text, &format!(" {arguments}"));
    }
}

/// Before the decision a column has no name; after it, everything about its side.
fn heading(view: &PairView, column: Column) -> String {
    let word = match column {
        Column::Left => "left",
        Column::Right => "right",
    };
    if is_preferred(view, column) {
        format!("✓ {word}, better")
    } else {
        word.to_owned()
    }
}

/// Over each text whose it is: run and step, outcome, reward, length, score. Hidden until the decision.
fn about_sides(pen: &mut Pen<'_>, view: &PairView, areas: (Rect, Rect)) {
    for (area, column) in [(areas.0, Column::Left), (areas.1, Column::Right)] {
        let Some(side) = view.side(column) else {
            continue;
        };
        pen.rule(area.x, area.y, area.right(), Ink::Border);
        let (_, below) = geometry::top(area, 1);
        let line = Rect {
            x: below.x + 1,
            width: below.width.saturating_sub(2),
            ..below
        };
        let better = is_preferred(view, column);
        let ink = if better { Ink::Strong } else { Ink::Text };
        let rows = pen.paragraph(line, ink, &whose(side, line.width));
        let (_, below) = geometry::top(line, rows);
        pen.paragraph(below, Ink::Dim, &about(side));
    }
}

/// The name of a side; of a long one its end, for names of one log often differ only there.
fn whose(side: &PairSide, columns: u16) -> String {
    match &side.candidate {
        Candidate::Recorded { at } => crate::text::fit_start(&at.to_string(), usize::from(columns)),
        Candidate::Human { author, .. } => format!("written by {author}"),
    }
}

fn about(side: &PairSide) -> String {
    let mut words = Vec::new();
    match &side.candidate {
        Candidate::Recorded { .. } => {
            let (sign, _) = glyph::outcome(side.row.outcome);
            words.push(format!("{sign} {}", side.row.outcome));
            words.extend(side.row.reward_result.map(|r| format!("reward {r}")));
        }
        Candidate::Human { .. } => {}
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
    // What is about to be decided is marked too, while criteria and reason are asked for.
    let pending = view.choice.filter(|_| app.overlay.is_some());
    let choice = pending.or_else(|| decided(view));
    let prefers = |column| choice.is_some() && choice == view.preferring(column);
    let chosen = |action: Action| match action {
        Action::PreferLeft => prefers(Column::Left),
        Action::PreferRight => prefers(Column::Right),
        Action::Tie => choice == Some(Choice::Tie),
        Action::BothBad => choice == Some(Choice::BothBad),
        _ => choice == Some(Choice::NotComparable),
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
