//! A run: list of steps, text, inspector, and the labels that one key gives.

use super::{glyph, inspector, steps};
use crate::domain::Layer;
use crate::store::StepHead;
use crate::text::{Wrap, bytes, fit, grouped, plural, width};
use crate::tui::app::App;
use crate::tui::app::body::Body;
use crate::tui::app::run::{Find, Origin, RunPane, RunView, Spot};
use crate::tui::geometry;
use crate::tui::theme::Ink;
use crate::tui::widget::{Pen, text};
use ratatui::layout::Rect;

/// Draws the run.
pub(super) fn draw(pen: &mut Pen<'_>, app: &App, view: &RunView) {
    let areas = geometry::run(app.size, view);
    title(pen, app, view, areas.title);
    if let Some(area) = areas.list {
        steps::draw(pen, view, area);
    }
    if let Some(area) = areas.text {
        transcript(pen, view, area);
    }
    if let Some(area) = areas.inspector {
        inspector::draw(pen, app, view, area);
    }
    labels(pen, app, view, areas.labels);
}

fn title(pen: &mut Pen<'_>, app: &App, view: &RunView, area: Rect) {
    if area.height == 0 {
        return;
    }
    let place = match &view.origin {
        Origin::Queue => "from the queue".to_owned(),
        Origin::Dispute(said) => format!("J settles it: {said}"),
        Origin::Picked => {
            let at = grouped(app.board.selected as u64 + 1);
            format!("{at} of {}", grouped(app.board.seqs.len() as u64))
        }
    };
    let end = pen.put_right(
        area.x,
        area.y,
        area.right().saturating_sub(1),
        Ink::Dim,
        &place,
    );
    let mut x = pen.put(area.x + 1, area.y, end, Ink::Strong, &view.run.0);
    let Some(page) = &view.page else { return };
    let row = &page.row;
    let (sign, ink) = glyph::outcome(row.outcome);
    x = pen.put(x + 2, area.y, end, ink, &format!("{sign} {}", row.outcome));
    let mut words: Vec<String> = Vec::new();
    words.extend(row.task.as_ref().map(|t| format!("task {t}")));
    words.extend(row.reward_result.map(|r| format!("reward {r}")));
    words.extend(glyph::ending(row.ending).map(str::to_owned));
    if row.has_retry {
        words.push("retried".to_owned());
    }
    if row.has_rewrite {
        words.push("context rewritten".to_owned());
    }
    words.extend(row.model.clone());
    let text = words.join(" · ");
    pen.put(
        x + 2,
        area.y,
        end,
        Ink::Dim,
        &fit(&text, usize::from(end.saturating_sub(x + 3))),
    );
}

fn transcript(pen: &mut Pen<'_>, view: &RunView, area: Rect) {
    let here = view.pane == RunPane::Text;
    let inner = pen.pane(area, &pane_title(view), here);
    let current = view.find.as_ref().and_then(Find::place);
    let mut spot = Some(view.top);
    let mut row = 0;
    while row < inner.height {
        let Some(at) = spot else { break };
        let line = Rect {
            y: inner.y + row,
            height: 1,
            ..inner
        };
        one_line(pen, view, line, at, current);
        let (from, until) = view.selected();
        let selected = view.select.is_some() && (from..=until).contains(&at);
        if here && (selected || (at == view.at && view.select.is_none())) {
            pen.over(line, Ink::Selected);
        }
        spot = view.below(at);
        row += match spot {
            Some(next) if next.step != at.step => 2,
            _ => 1,
        };
    }
}

fn pane_title(view: &RunView) -> String {
    let mut title = String::from("text");
    if view.dress.raw {
        title.push_str(" · raw");
    }
    if view.wrap == Wrap::Off {
        title.push_str(" · not wrapped");
    }
    if let Some(find) = &view.find {
        let count = match &find.hits {
            None => "…".to_owned(),
            Some(_) if find.total() == 0 => "0".to_owned(),
            Some(_) => format!("{}/{}", find.current + 1, find.total()),
        };
        title.push_str(&format!(" · \u{201c}{}\u{201d} {count}", find.words));
    }
    title
}

/// Step and place of the current match.
type Current = Option<(u32, usize)>;

fn one_line(pen: &mut Pen<'_>, view: &RunView, line: Rect, at: Spot, current: Current) {
    if at.line == 0 {
        return step_head(pen, view, line, at.step);
    }
    let Some(body) = view.body(at.step) else {
        pen.put(line.x + 3, line.y, line.right(), Ink::Dim, "…");
        return;
    };
    let folded = view.is_folded(at.step);
    if at.line > body.seen(folded) {
        return more(pen, line, view.hidden(body, folded), body);
    }
    let ink = glyph::owner(body.head.owner);
    pen.put(line.x + 1, line.y, line.right(), ink, "▏");
    let here = current
        .filter(|(step, _)| *step == at.step)
        .map(|(_, nth)| nth);
    let place = (line.x + 3, line.y, line.right().saturating_sub(1));
    text::line(
        pen,
        place,
        body.doc(),
        body.line(at.line - 1),
        body.found(),
        here,
    );
}

fn more(pen: &mut Pen<'_>, line: Rect, hidden: usize, body: &Body) {
    let text = match (hidden, body.rest_bytes()) {
        (0, rest) => format!("… {} more   o opens them", bytes(rest)),
        (hidden, 0) => format!("… {}   ⏎ unfolds", plural(hidden as u64, "more line")),
        (hidden, rest) => format!(
            "… {} and {}   ⏎ unfolds",
            plural(hidden as u64, "more line"),
            bytes(rest)
        ),
    };
    pen.put(line.x + 3, line.y, line.right(), Ink::Dim, &text);
}

fn step_head(pen: &mut Pen<'_>, view: &RunView, line: Rect, step: u32) {
    let end = line.right().saturating_sub(1);
    let Some(head) = view.head(step) else {
        pen.put(line.x, line.y, end, Ink::Dim, &format!(" {step} …"));
        return;
    };
    let ink = glyph::owner(head.owner);
    let sign = glyph::step(head.owner, head.kind);
    let mut x = pen.put(line.x + 1, line.y, end, ink, &format!("{sign} {step} "));
    // Before the name of a tool, which may take the rest of the line.
    if view.verdict.decisive_step == Some(step) {
        x = pen.put(x, line.y, end, Ink::Fail, "▶ ");
    } else if view.verdict.contributing.contains(&step) {
        x = pen.put(x, line.y, end, Ink::Warn, "▷ ");
    }
    x = pen.put(
        x,
        line.y,
        end,
        ink,
        &format!("{} {}", head.owner, glyph::kind(head.kind)),
    );
    if let Some(tool) = &head.tool {
        x = pen.put(x + 1, line.y, end, Ink::Strong, tool);
    }
    if let Some((text, ink)) = glyph::status(head.status) {
        x = pen.put(x + 2, line.y, end, ink, text);
    }
    let about = about(view, head);
    pen.put(x + 2, line.y, end, Ink::Dim, &about);
}

fn about(view: &RunView, head: &StepHead) -> String {
    let mut words: Vec<&str> = Vec::new();
    if view.verdict.decisive_step == Some(head.index) {
        words.push("first wrong decision");
    } else if view.verdict.contributing.contains(&head.index) {
        words.push("contributed");
    }
    let rewrites = |index| {
        let calls = view.page.as_ref().map_or(&[][..], |page| &page.calls);
        calls
            .iter()
            .any(|c| c.call.index == index && c.call.context_rewrite)
    };
    let begins = view
        .outline
        .as_ref()
        .is_some_and(|o| o.turns.binary_search(&head.index).is_ok());
    if begins && head.call.is_some_and(rewrites) {
        words.push("context rewritten before this");
    }
    if head.off_path {
        words.push("off the path: not adopted, or a branch that was left");
    }
    if head.copied {
        words.push("copied context");
    }
    let masked = view.body(head.index).is_some_and(Body::has_secrets) && !view.dress.revealed;
    if masked {
        words.push("secrets masked");
    }
    let mut words = words.join(" · ");
    if let Some(whose) = whose_heat(view, head.index) {
        let gap = if words.is_empty() { "" } else { " · " };
        words = format!("{words}{gap}{whose}");
    }
    words
}

/// Whose log-probs shade this decision, and whether that model may stand for the policy that made the log.
fn whose_heat(view: &RunView, step: u32) -> Option<String> {
    let score = view.heat_of(step)?;
    let page = view.page.as_ref()?;
    let caution = if page.far.contains(&score.binding.weights) {
        " ✗ far from the recorded policy"
    } else if score.binding.is_proxy {
        " (a proxy)"
    } else {
        ""
    };
    Some(format!("log-probs of {}{caution}", score.binding.model))
}

/// How much of the labels' words there is room for.
#[derive(Clone, Copy)]
enum Words {
    Whole,
    Short,
    /// Only the label that was given keeps its word.
    Digits,
}

/// The labels with their digits; the one given is marked. What the verdict says beside them has to fit too.
fn labels(pen: &mut Pen<'_>, app: &App, view: &RunView, area: Rect) {
    if area.height == 0 {
        return;
    }
    let said = verdict_words(view);
    let room = usize::from(area.width).saturating_sub(2 + width(&said));
    let fits = |words: &Words| {
        let chips = app.book.layers.iter();
        let widths = chips.map(|e| width(&chip(view, e.layer, *words)) + 1);
        widths.sum::<usize>() < room
    };
    let some = [Words::Whole, Words::Short];
    let words = some
        .into_iter()
        .find(fits)
        .unwrap_or(if view.saved.is_some() {
            Words::Digits
        } else {
            Words::Short
        });
    let mut x = area.x + 1;
    for entry in &app.book.layers {
        let chosen = view.saved == Some(entry.layer);
        x = pen.put(x, area.y, area.right(), Ink::Keycap, &entry.key.to_string());
        let ink = if chosen { Ink::Selected } else { Ink::Text };
        x = pen.put(
            x,
            area.y,
            area.right(),
            ink,
            &chip(view, entry.layer, words),
        );
        if chosen {
            x += 1;
        }
    }
    if !said.is_empty() {
        pen.put(x, area.y, area.right(), Ink::Dim, &said);
    }
}

fn chip(view: &RunView, layer: Layer, words: Words) -> String {
    let chosen = view.saved == Some(layer);
    let word = match (words, layer) {
        (Words::Digits, _) if !chosen => return " ".to_owned(),
        (Words::Short, Layer::Environment) => "environ",
        (Words::Short, Layer::Undetermined) => "unclear",
        _ => layer.word(),
    };
    if chosen {
        format!(" ✓ {word} ")
    } else {
        format!(" {word}  ")
    }
}

fn verdict_words(view: &RunView) -> String {
    let verdict = &view.verdict;
    let mut words: Vec<String> = Vec::new();
    if let (Some(saved), Some(machine)) = (view.saved, &view.suggestion) {
        words.push(if saved == machine.layer {
            "the machine agrees".to_owned()
        } else {
            format!("the machine says {}", machine.layer)
        });
    }
    if view.saved.is_some() {
        words.extend(verdict.cause.clone());
        if !verdict.is_proven() {
            words.push("unproven: t".to_owned());
        }
    }
    if !verdict.pins.is_empty() {
        words.push(crate::text::plural(verdict.pins.len() as u64, "quote"));
    }
    if !verdict.note.is_empty() {
        words.push("note".to_owned());
    }
    words.join(" · ")
}
