//! The inspector: evidence, rewards, the call behind the step, where the run comes from.

use super::{detail, glyph};
use crate::domain::{Adopted, Reward};
use crate::jobs::desk::{CallHead, RunPage};
use crate::text::{Wrap, grouped, plural};
use crate::tui::app::App;
use crate::tui::app::run::{RunPane, RunView};
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;
use crate::tui::widget::{Pen, text};
use ratatui::layout::Rect;

/// Draws the inspector.
pub(super) fn draw(pen: &mut Pen<'_>, app: &App, view: &RunView, area: Rect) {
    let here = view.pane == RunPane::Inspector;
    let inner = pen.pane(area, "inspector   i closes", here);
    pen.wall(inner.x, inner.y, inner.height, Ink::Border);
    let room = room(inner);
    let Some(page) = &view.page else {
        pen.row(room, 1, Ink::Dim, "reading…");
        return;
    };
    let doc = page_doc(app, view, page);
    text::window(pen, room, &doc, view.inspector_top);
}

fn room(inner: Rect) -> Rect {
    Rect {
        x: inner.x + 2,
        width: inner.width.saturating_sub(3),
        ..inner
    }
}

/// Lines that the inspector has, for whoever scrolls it.
pub(crate) fn lines(app: &App, view: &RunView, area: Rect) -> usize {
    let Some(page) = &view.page else { return 0 };
    let columns = usize::from(room(area).width);
    page_doc(app, view, page)
        .layout(columns, Wrap::Words)
        .lines()
}

fn page_doc(app: &App, view: &RunView, page: &RunPage) -> Doc {
    let mut doc = Doc::default();
    verdict(&mut doc, app, view);
    machine(&mut doc, view);
    evidence(&mut doc, view);
    rewards(&mut doc, &page.rewards);
    call(&mut doc, view, page);
    right(&mut doc, page);
    source(&mut doc, page);
    others(&mut doc, view, page);
    doc
}

fn verdict(doc: &mut Doc, app: &App, view: &RunView) {
    doc.heading("your label");
    let verdict = &view.verdict;
    match view.saved {
        Some(layer) => doc.field("layer", Ink::Strong, layer.word()),
        None => doc.line(Ink::Dim, "none yet: a digit gives it, K explains"),
    };
    if let Some(cause) = &verdict.cause {
        doc.field("cause", Ink::Text, cause);
    }
    if let Some(step) = verdict.decisive_step {
        doc.field("decisive", Ink::Text, &format!("step {step}"));
    }
    for pin in &verdict.pins {
        let quote = crate::text::one_line(&pin.quote, 60);
        doc.field(&format!("quote {}", pin.step), Ink::Quote, &quote);
    }
    if !verdict.note.is_empty() {
        doc.field("note", Ink::Text, &verdict.note);
    }
    if view.saved == Some(crate::domain::Layer::Model) {
        for check in &app.book.checks {
            let sign = if is_ticked(view, &check.name) {
                "☑"
            } else {
                "☐"
            };
            doc.line(Ink::Text, &format!("{sign} {}", check.ask));
        }
    }
}

/// The machine's layer stands beside the reviewer's, and only once that is saved.
fn machine(doc: &mut Doc, view: &RunView) {
    let Some(suggestion) = view.suggestion.as_ref().filter(|_| view.saved.is_some()) else {
        return;
    };
    doc.heading("the machine says");
    let same = view.saved == Some(suggestion.layer);
    let (ink, beside) = if same {
        (Ink::Pass, "as you say")
    } else {
        (Ink::Warn, "you say otherwise")
    };
    doc.push(ink, suggestion.layer.word())
        .line(Ink::Dim, &format!(", {beside}"));
    doc.line(Ink::Text, &suggestion.reason);
}

/// What the task list and the graders say of a right answer.
fn right(doc: &mut Doc, page: &RunPage) {
    if let Some(task) = page.task.as_ref().filter(|t| !t.expected.is_null()) {
        doc.heading("a right answer, by the task list");
        if let Some(date) = &task.date {
            doc.field("asked on", Ink::Text, date);
        }
        detail::lay(doc, &task.expected);
    }
    for reward in page.rewards.iter().filter(|r| !r.detail.is_null()) {
        doc.heading(&format!("what {} says itself", reward.grader));
        detail::lay(doc, &reward.detail);
    }
}

/// What became of each required document.
fn evidence(doc: &mut Doc, view: &RunView) {
    doc.heading("required documents");
    let Some(evidence) = &view.evidence else {
        doc.line(Ink::Dim, "working it out…");
        return;
    };
    if evidence.is_empty() {
        doc.line(
            Ink::Dim,
            "unknown: no task list names any. `triagent tasks import` and `triagent docs import` supply what this needs",
        );
    }
    for one in evidence {
        let (sign, ink) = glyph::evidence(one.status);
        let version = one.version.as_deref().unwrap_or("any valid version");
        doc.push(Ink::Strong, &one.doc_id)
            .push(Ink::Dim, &format!(" {version} "));
        doc.line(ink, &format!("{sign} {}", one.status));
        let valid = match one.valid {
            Some(true) => "valid on the task's date",
            Some(false) => "NOT valid on the task's date",
            None => "validity unknown",
        };
        doc.line(Ink::Text, &format!("  {valid}; {}", one.reason));
        for span in &one.spans {
            let (sign, ink) = if span.in_view {
                ("✓", Ink::Pass)
            } else {
                ("✗", Ink::Fail)
            };
            let words = crate::text::one_line(&span.text, 60);
            doc.push(ink, &format!("  {sign} {} ", span.part))
                .line(Ink::Quote, &words);
        }
    }
}

fn is_ticked(view: &RunView, name: &str) -> bool {
    let list = view.verdict.checklist;
    match name {
        "document_visible" => list.document_visible,
        "version_valid" => list.version_valid,
        "date_in_context" => list.date_in_context,
        "tool_text_clear" => list.tool_text_clear,
        _ => false,
    }
}

/// Four fields, never one score; the reward belongs to the whole run.
fn rewards(doc: &mut Doc, rewards: &[Reward]) {
    doc.heading("rewards of the whole run");
    if rewards.is_empty() {
        doc.line(Ink::Dim, "the log has none; missing is not 0");
    }
    for reward in rewards {
        let (sign, ink) = glyph::reward(reward.status);
        let version = reward.version.as_deref().unwrap_or("version unknown");
        doc.push(Ink::Strong, &reward.grader)
            .push(Ink::Dim, &format!(" {version} "));
        doc.line(ink, &format!("{sign} {}", reward.status));
        doc.field("  result", Ink::Text, &number(reward.result));
        doc.field("  evidence", Ink::Text, &number(reward.evidence));
        let effects = match &reward.side_effects {
            None => "not checked".to_owned(),
            Some(list) if list.is_empty() => "none".to_owned(),
            Some(list) => list.join(", "),
        };
        doc.field("  side effects", Ink::Text, &effects);
        doc.field("  cost", Ink::Text, &number(reward.cost));
        let isolated = match reward.isolated {
            Some(true) => "yes",
            Some(false) => "no",
            None => "unknown",
        };
        doc.field("  isolated", Ink::Text, isolated);
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "missing".to_owned(), |v| v.to_string())
}

fn call(doc: &mut Doc, view: &RunView, page: &RunPage) {
    doc.heading("the call behind this step");
    let index = view.head(view.at.step).and_then(|head| head.call);
    let Some(head) = index.and_then(|i| page.calls.iter().find(|c| c.call.index == i)) else {
        doc.line(
            Ink::Dim,
            "none: the model did not write it, or the log does not say",
        );
        return;
    };
    one_call(doc, head);
    attempts(doc, head, page);
}

fn one_call(doc: &mut Doc, head: &CallHead) {
    let call = &head.call;
    let id = |name: &str, value: &Option<String>, doc: &mut Doc| {
        if let Some(value) = value {
            doc.field(name, Ink::Text, value);
        }
    };
    id("model", &call.model, doc);
    id("weights", &call.model_version, doc);
    id("logical", &call.logical_request_id, doc);
    id("request", &call.request_id, doc);
    id("attempt", &call.attempt, doc);
    let minted = if call.event_id_minted {
        " (made by us)"
    } else {
        ""
    };
    let event = call.event_id.as_ref().map(|e| format!("{e}{minted}"));
    id("event", &event, doc);
    doc.field("adopted", adopted_ink(call.adopted), call.adopted.word());
    if call.reports > 1 {
        doc.field(
            "reported",
            Ink::Text,
            &format!("{} times, counted once", call.reports),
        );
    }
    let tokens = |n: Option<u64>| n.map_or_else(|| "?".to_owned(), grouped);
    let usage = format!(
        "{} in, {} out",
        tokens(call.usage.input),
        tokens(call.usage.output)
    );
    doc.field("tokens", Ink::Text, &usage);
    if !call.sampling.is_empty() {
        let json = serde_json::Value::Object(call.sampling.clone()).to_string();
        doc.field("sampling", Ink::Text, &json);
    }
    id("stopped", &call.finish_reason, doc);
    id("error", &call.error, doc);
    if call.context_rewrite {
        doc.line(Ink::Warn, "its prompt does not continue the one before");
    }
    let logged = match (head.completion_tokens, head.has_logprobs) {
        (Some(n), true) => format!("{} with log-probs", plural(n as u64, "token")),
        (Some(n), false) => format!("{}, no log-probs", plural(n as u64, "token")),
        (None, _) => "only text: the original generation cannot be recovered".to_owned(),
    };
    doc.field("logged", Ink::Text, &logged);
}

fn adopted_ink(adopted: Adopted) -> Ink {
    match adopted {
        Adopted::Yes => Ink::Pass,
        Adopted::No => Ink::Fail,
        Adopted::Unknown => Ink::Unsure,
    }
}

fn attempts(doc: &mut Doc, head: &CallHead, page: &RunPage) {
    let Some(logical) = &head.call.logical_request_id else {
        return;
    };
    let same: Vec<&CallHead> = page
        .calls
        .iter()
        .filter(|c| c.call.logical_request_id.as_ref() == Some(logical))
        .collect();
    if same.len() < 2 {
        return;
    }
    doc.line(
        Ink::Strong,
        &format!("{} attempts at this request", same.len()),
    );
    for other in same {
        let here = if other.call.index == head.call.index {
            "▶"
        } else {
            " "
        };
        let sign = if other.is_adopted() {
            "✓ adopted"
        } else {
            other.call.adopted.word()
        };
        let attempt = other.call.attempt.as_deref().unwrap_or("?");
        doc.line(Ink::Text, &format!("{here} attempt {attempt}: {sign}"));
    }
}

fn source(doc: &mut Doc, page: &RunPage) {
    let run = &page.rollout;
    doc.heading("where it comes from");
    doc.field("format", Ink::Text, &run.format);
    doc.field("file", Ink::Text, &run.source);
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let harness = match (&run.harness.name, &run.harness.version) {
        (Some(name), Some(version)) => format!("{name} {version}"),
        (name, _) => known(name),
    };
    doc.field("harness", Ink::Text, &harness);
    doc.field("index", Ink::Text, &known(&run.index_version));
    doc.field("prompt", Ink::Text, &known(&run.prompt_version));
    doc.field("tool set", Ink::Text, &known(&run.toolset_version));
    doc.field("weights", Ink::Text, &known(&run.checkpoint));
    if run.id_minted {
        doc.line(
            Ink::Dim,
            "the log names no run; the name is a hash of its content",
        );
    }
    if run.outcome_only {
        doc.line(Ink::Warn, "only the final answer was kept");
    }
}

/// Labels that came with the log, like the machine's layer, would lead the reviewer before the own label stands.
fn others(doc: &mut Doc, view: &RunView, page: &RunPage) {
    if page.labels.is_empty() {
        return;
    }
    doc.heading("labels in the log");
    if view.saved.is_none() {
        let count = page.labels.len();
        doc.line(Ink::Dim, &format!("{count}, shown once yours is saved"));
        return;
    }
    for label in &page.labels {
        let step = label
            .step
            .map_or_else(String::new, |s| format!(" at step {s}"));
        doc.field(
            &label.source,
            Ink::Text,
            &format!("{}{step}", label.category),
        );
    }
}
