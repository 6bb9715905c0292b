//! opencode: `opencode export` (one document a session), its database (such documents as lines) and the event stream of
//! `run --format json`. One assistant
//! message holds one or more answers, each from step-start to step-finish. A broken tool call is renamed `invalid` and
//! called completed; a command that failed is completed too; a killed process leaves an answer without an end.

mod part;

use super::openai_chat::inside;
use super::{Importer, Input};
use crate::domain::{Call, Ending, Owner, Role, Rollout, SourceSpan, Step, StepKind, Usage};
use crate::import::answer::sum;
use crate::import::detect::{Shape, Sniff, has_all};
use crate::import::document::Document;
use crate::import::extra::keep;
use crate::import::group::{Groups, replay};
use crate::import::json::Node;
use crate::import::out::{Halt, Out};
use crate::import::rows::{Row, each_element, tell_damage};
use crate::import::run::Run;
use crate::import::time::time;
use crate::import::turn::event;
use part::Part;
use serde_json::Value;

/// opencode.
pub(crate) struct OpenCode;

const STREAM: &[&str] = &[
    "step_start",
    "text",
    "reasoning",
    "tool_use",
    "step_finish",
    "error",
];

impl Importer for OpenCode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn title(&self) -> &'static str {
        "opencode session (export document, opencode.db or JSON event stream)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        let first = sniff.first();
        let is_session = |row: &Value| {
            let id = row.pointer("/info/id").and_then(Value::as_str);
            id.is_some_and(|id| id.starts_with("ses_")) && row.get("messages").is_some()
        };
        if is_session(first) || sniff.shape == Shape::Lines && sniff.rows.iter().any(is_session) {
            return Some("a document with info.id ses_… and messages".to_owned());
        }
        let is_event = |row: &&Value| {
            let kind = row.get("type").and_then(Value::as_str).unwrap_or("");
            STREAM.contains(&kind) && has_all(row, &["sessionID", "timestamp"])
        };
        let events = sniff.rows.iter().filter(is_event).count();
        (sniff.is_json() && events > 0 && events * 2 > sniff.rows.len())
            .then(|| "rows with type step_start, tool_use or step_finish and sessionID".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        match (input.sniff.first().get("info"), input.sniff.shape) {
            (Some(_), Shape::Object) => self.export(input, out),
            (Some(_), _) => self.sessions(input, out),
            (None, _) => self.stream(input, out),
        }
    }
}

impl OpenCode {
    fn export(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        out.advance(input.source.len())?;
        let document = Document::open(input.source, &["messages"])?;
        let top = document.head()?;
        let Some(info) = top.get("info") else {
            return Err(Halt::file("no info about the session"));
        };
        let mut head = self.head(input, info);
        head.span.len = input.source.len();
        let mut run = Run::begin(out, head)?;
        let mut talk = Talk::default();
        for list in &document.lists {
            each_element(&mut run, &document, list, &mut |run, row| {
                talk.message(run, row.node, row.span)
            })?;
        }
        talk.ending(&mut run);
        run.end()?;
        tell_damage(out, &document)
    }

    /// Sessions in lines: one says what the session is, with or without its messages; messages may follow in lines of their own.
    fn sessions(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let groups = Groups::of(out, input.source, input.sniff.shape, |out, row| {
            let info = row.node.get("info");
            let of = if row.node.get("messages").is_some() {
                "id"
            } else {
                "sessionID"
            };
            let session = info
                .and_then(|info| info.id(of))
                .filter(|id| !id.is_empty());
            if session.is_none() {
                out.skip(
                    row.span.line,
                    "a session or a message that does not say which session it is",
                )?;
            }
            Ok(session)
        })?;
        for (session, spans) in groups.iter() {
            let mut head = input.head(session, self);
            head.span = spans.first().copied().unwrap_or_default();
            let mut run = Run::begin(out, head)?;
            let mut talk = Talk::default();
            replay(input.source, spans, |row| {
                self.line(input, &mut run, &mut talk, row)
            })?;
            talk.ending(&mut run);
            run.end()?;
        }
        Ok(())
    }

    fn line(
        &self,
        input: &Input<'_>,
        run: &mut Run<'_, '_>,
        talk: &mut Talk,
        row: &Row<'_>,
    ) -> Result<(), Halt> {
        let Some(info) = row
            .node
            .get("info")
            .filter(|_| row.node.get("messages").is_some())
        else {
            return talk.message(run, row.node, row.span);
        };
        let span = run.head.span;
        run.head = self.head(input, info);
        run.head.span = span;
        for node in row.node.list("messages") {
            talk.message(run, node, row.span)?;
        }
        Ok(())
    }

    fn head(&self, input: &Input<'_>, info: &Node<'_>) -> Rollout {
        let mut head = input.head(info.id("id").unwrap_or_default(), self);
        head.harness.name = Some("opencode".to_owned());
        head.harness.version = info.id("version");
        head.model = info.at(&["model", "id"]).and_then(Node::as_id);
        head.started_us = time(info.at(&["time", "created"]));
        keep(
            &mut head.extra,
            info,
            &["directory", "title", "parentID", "agent", "cost"],
        );
        head
    }

    fn stream(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        out.note(
            "the event stream does not hold what the user asked; hint: `opencode export` does",
        );
        let groups = Groups::of(out, input.source, input.sniff.shape, |out, row| {
            let session = row.node.id("sessionID");
            if session.is_none() {
                out.skip(row.span.line, "an event without a session")?;
            }
            Ok(session)
        })?;
        for (session, spans) in groups.iter() {
            let mut head = input.head(session, self);
            head.span = spans.first().copied().unwrap_or_default();
            head.harness.name = Some("opencode".to_owned());
            let mut run = Run::begin(out, head)?;
            let mut talk = Talk::default();
            replay(input.source, spans, |row| talk.event(&mut run, row))?;
            talk.close(&mut run, false)?;
            talk.ending(&mut run);
            run.end()?;
        }
        Ok(())
    }
}

/// The message under way, and how the last one ended.
#[derive(Default)]
struct Talk {
    /// What its answers share.
    base: Call,
    message: Option<String>,
    answers: u32,
    model: Vec<Step>,
    after: Vec<Step>,
    stop: Option<String>,
    error: Option<String>,
    is_cut: bool,
    /// It sums up the conversation and takes its place.
    sums_up: bool,
}

impl Talk {
    /// A stored message; its places count from the start of `row`.
    fn message(
        &mut self,
        run: &mut Run<'_, '_>,
        node: &Node<'_>,
        row: SourceSpan,
    ) -> Result<(), Halt> {
        let info = node.get("info").unwrap_or(node);
        if info.str("role") != Some("assistant") {
            return asked(run, node, row, info);
        }
        self.begin(info.id("id"), call_of(info, inside(row, info)));
        self.sums_up = info.bool("summary") == Some(true);
        self.stop = info.id("finish");
        self.error = error_of(info.get("error"));
        self.is_cut = info.at(&["time", "completed"]).is_none();
        for part in node.list("parts") {
            self.part(run, part, row)?;
        }
        self.close(run, true)
    }

    /// A row of the stream.
    fn event(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
        let node = row.node;
        let at_us = time(node.get("timestamp"));
        run.see(at_us);
        if let Some(error) = error_of(node.get("error")) {
            self.close(run, false)?;
            let mut step = event("error", error.clone());
            (step.source, step.at_us) = (row.span, at_us);
            self.error = Some(error);
            run.say(vec![step], None)?;
            return Ok(());
        }
        let Some(part) = node.get("part") else {
            let kind = node.str("type").unwrap_or("");
            run.out.not_understood(&format!("row type {kind:?}"));
            return Ok(());
        };
        let message = part.id("messageID");
        if message != self.message {
            self.close(run, false)?;
            let call = Call {
                source: row.span,
                at_us,
                ..Call::default()
            };
            self.begin(message, call);
            (self.stop, self.error, self.is_cut) = (None, None, true);
        }
        self.part(run, part, row.span)
    }

    fn begin(&mut self, message: Option<String>, base: Call) {
        self.message = message;
        self.base = base;
        self.answers = 0;
    }

    fn part(
        &mut self,
        run: &mut Run<'_, '_>,
        node: &Node<'_>,
        row: SourceSpan,
    ) -> Result<(), Halt> {
        let mut part = Part::read(run.out, node, Owner::Model, inside(row, node));
        self.model.append(&mut part.model);
        self.after.append(&mut part.after);
        if node.str("type") != Some("step-finish") {
            return Ok(());
        }
        if let Some(tokens) = node.get("tokens") {
            self.base.usage = usage(tokens);
        }
        self.base.cost_usd = node.f64("cost").or(self.base.cost_usd);
        self.base.finish_reason = node.id("reason");
        self.stop = node.id("reason");
        self.is_cut &= self.stop.is_none();
        self.answer(run)
    }

    /// Ends a message: what no step-finish closed is an answer too, and so is a stored message that holds nothing
    /// else. In a stream such an answer may only have begun.
    fn close(&mut self, run: &mut Run<'_, '_>, is_stored: bool) -> Result<(), Halt> {
        if !self.model.is_empty() || (self.answers == 0 && is_stored) {
            self.answer(run)?;
        }
        self.tail(run)?;
        self.message = None;
        Ok(())
    }

    fn answer(&mut self, run: &mut Run<'_, '_>) -> Result<(), Halt> {
        let mut call = self.base.clone();
        call.event_id = self.message.clone().map(|id| match self.answers {
            0 => id,
            n => format!("{id}#{n}"),
        });
        call.error.clone_from(&self.error);
        self.answers += 1;
        run.head.model = run.head.model.take().or_else(|| call.model.clone());
        let index = run.call(call)?;
        let mut steps = std::mem::take(&mut self.model);
        if steps.is_empty() {
            steps.push(Step::new(Owner::Model, StepKind::Text, Role::Assistant, ""));
        }
        if let Some(first) = steps.first_mut().filter(|_| self.sums_up) {
            first.replaces = run.replace_context();
            run.head.harness.compression = Some("compaction".to_owned());
        }
        self.sums_up = false;
        run.say(steps, Some(index))?;
        // These are this answer's own; the next one may say nothing of them, and tokens must not count twice.
        self.base.usage = Usage::default();
        self.base.cost_usd = None;
        self.base.finish_reason = None;
        self.tail(run)
    }

    fn tail(&mut self, run: &mut Run<'_, '_>) -> Result<(), Halt> {
        for step in std::mem::take(&mut self.after) {
            run.say(vec![step], None)?;
        }
        Ok(())
    }

    /// Errors of a provider are not always stored: then the last answer has no end.
    fn ending(&self, run: &mut Run<'_, '_>) {
        run.head.ending_note = self.error.clone().or_else(|| self.stop.clone());
        run.head.ending = match self.stop.as_deref() {
            _ if self.error.is_some() => Ending::Error,
            _ if self.is_cut => Ending::Abrupt,
            Some("stop") if !run.stops_midway() => Ending::Finished,
            Some("length") => Ending::Limit,
            None if run.calls() > 0 => Ending::Abrupt,
            _ => Ending::Unknown,
        };
    }
}

/// A message of the person; text that the program put in says so.
fn asked(
    run: &mut Run<'_, '_>,
    node: &Node<'_>,
    row: SourceSpan,
    info: &Node<'_>,
) -> Result<(), Halt> {
    let owner = match info.str("role") {
        Some("user") => Owner::User,
        _ => Owner::Unknown,
    };
    let mut steps = Vec::new();
    for part in node.list("parts") {
        let mut part = Part::read(run.out, part, owner, inside(row, part));
        steps.append(&mut part.model);
        steps.append(&mut part.after);
    }
    for step in &mut steps {
        step.at_us = step.at_us.or(time(info.at(&["time", "created"])));
    }
    if !steps.is_empty() {
        run.say(steps, None)?;
    }
    Ok(())
}

fn call_of(info: &Node<'_>, source: SourceSpan) -> Call {
    let (start, end) = (
        time(info.at(&["time", "created"])),
        time(info.at(&["time", "completed"])),
    );
    Call {
        model: info.id("modelID"),
        usage: info.get("tokens").map(usage).unwrap_or_default(),
        cost_usd: info.f64("cost"),
        finish_reason: info.id("finish"),
        at_us: start,
        latency_ms: start.zip(end).map(|(a, b)| millis(b.saturating_sub(a))),
        source,
        ..Call::default()
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "answers last less than 2^53 microseconds"
)]
fn millis(us: i64) -> f64 {
    us as f64 / 1000.0
}

/// Cached and reasoning tokens are counted apart; here they are put back in.
fn usage(tokens: &Node<'_>) -> Usage {
    let count = |path: &[&str]| tokens.at(path).and_then(Node::as_u64);
    let (read, written) = (count(&["cache", "read"]), count(&["cache", "write"]));
    let reasoning = count(&["reasoning"]);
    Usage {
        input: sum(&[count(&["input"]), read, written]),
        output: sum(&[count(&["output"]), reasoning]),
        cached: read,
        reasoning,
    }
}

fn error_of(error: Option<&Node<'_>>) -> Option<String> {
    let error = error?;
    let told = error
        .at(&["data", "message"])
        .or_else(|| error.get("message"));
    told.and_then(Node::as_id)
        .or_else(|| error.id("name"))
        .or_else(|| Some(error.compact()))
}
