//! Traces: one span for each call and each tool, every model span with the whole prompt. A first walk notes which
//! spans there are; a second reads them one by one in the order of the tree and rebuilds the conversation.

mod order;

use super::exchange::exchange;
use super::group::replay;
use super::json::Node;
use super::out::{Halt, Out};
use super::parse::{Flaws, parse};
use super::prefix::Thread;
use super::run::Run;
use super::source::Source;
use crate::domain::{Call, Ending, Owner, Role, SourceSpan, Step, StepKind, StepStatus};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// What a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A request to a model.
    Model,
    /// A tool that ran.
    Tool,
    /// Anything around them.
    Other,
}

/// Where a span is, and its place in the tree.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) trace: String,
    pub(crate) id: String,
    pub(crate) parent: Option<String>,
    /// What sorts it among its siblings.
    pub(crate) start: i64,
    pub(crate) kind: Kind,
    /// Several where the export writes a span in parts.
    pub(crate) places: Vec<SourceSpan>,
}

/// A span that was read.
#[derive(Debug, Default)]
pub(crate) struct Span {
    pub(crate) name: String,
    pub(crate) start_us: Option<i64>,
    pub(crate) end_us: Option<i64>,
    /// What went wrong.
    pub(crate) error: Option<String>,
    /// Model spans: the request in a provider's dialect; `None` = not captured.
    pub(crate) request: Option<Value>,
    /// Model spans: the response.
    pub(crate) response: Option<Value>,
    /// Tool spans.
    pub(crate) tool: Option<ToolRun>,
    /// What stands beside the call or, for the root, beside the run.
    pub(crate) extra: Map<String, Value>,
    /// The session or conversation that the trace belongs to.
    pub(crate) session: Option<String>,
    pub(crate) cost_usd: Option<f64>,
    /// Which attempt of the run it belongs to.
    pub(crate) attempt: Option<String>,
    /// Name of the program or agent.
    pub(crate) harness: Option<String>,
}

/// What a tool span says.
#[derive(Debug, Default, Clone)]
pub(crate) struct ToolRun {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) arguments: String,
    pub(crate) result: Option<String>,
}

/// All spans of a file by trace, in the order of their first span.
#[derive(Default)]
pub(crate) struct Traces {
    order: Vec<Vec<Mark>>,
    index: HashMap<String, usize>,
    spans: HashMap<(usize, String), usize>,
}

impl Traces {
    /// Notes a span. One that comes again is a second export; where exports write spans in parts, a further part.
    pub(crate) fn add(&mut self, out: &mut Out<'_>, mark: Mark, comes_in_parts: bool) {
        let trace = *self.index.entry(mark.trace.clone()).or_insert_with(|| {
            self.order.push(Vec::new());
            self.order.len() - 1
        });
        let Some(marks) = self.order.get_mut(trace) else {
            return;
        };
        let known = self.spans.get(&(trace, mark.id.clone())).copied();
        match known.and_then(|at| marks.get_mut(at)) {
            Some(known) if comes_in_parts => {
                known.parent = known.parent.take().or(mark.parent);
                if known.kind == Kind::Other {
                    known.kind = mark.kind;
                }
                known.places.extend(mark.places);
            }
            Some(_) => out.repeated(),
            None => {
                self.spans.insert((trace, mark.id.clone()), marks.len());
                marks.push(mark);
            }
        }
    }

    /// Traces with their spans.
    pub(crate) fn into_traces(self) -> impl Iterator<Item = Vec<Mark>> {
        self.order.into_iter()
    }
}

/// Sends one trace into a run that has begun.
pub(crate) fn tell(
    run: &mut Run<'_, '_>,
    source: &Source,
    marks: &[Mark],
    mut read: impl FnMut(&mut Out<'_>, &[Node<'_>], &Mark) -> Span,
) -> Result<(), Halt> {
    let mut talk = Talk::default();
    for mark in order::ordered(marks) {
        let mut texts = Vec::new();
        replay(source, &mark.places, |row| {
            texts.push(row.text.to_owned());
            Ok(())
        })?;
        let mut flaws = Flaws::default();
        let nodes: Vec<Node<'_>> = texts
            .iter()
            .filter_map(|t| parse(t, &mut flaws).ok())
            .collect();
        if !nodes.is_empty() {
            let span = read(run.out, &nodes, mark);
            talk.span(run, mark, span)?;
        }
    }
    talk.finish(run)
}

#[derive(Default)]
struct Talk {
    thread: Thread,
    /// Tools that ran and whose answers no prompt has shown yet.
    waiting: Vec<(ToolRun, Span, SourceSpan)>,
    without_messages: u64,
    last: (Option<String>, Option<String>),
    root_error: Option<String>,
}

impl Talk {
    fn span(&mut self, run: &mut Run<'_, '_>, mark: &Mark, mut span: Span) -> Result<(), Halt> {
        let place = mark.places.first().copied().unwrap_or_default();
        run.see(span.start_us);
        run.see(span.end_us);
        if mark.parent.is_none() || run.head.extra.is_empty() {
            about_run(run, &mut span);
        }
        match mark.kind {
            Kind::Model => self.model(run, mark, span, place),
            Kind::Tool => {
                let mut tool = span.tool.take().unwrap_or_default();
                if tool.id.is_none() {
                    tool.id = self.thread.claim(&tool.name, &tool.arguments);
                }
                self.waiting.push((tool, span, place));
                Ok(())
            }
            Kind::Other => {
                if mark.parent.is_none() {
                    self.root_error = span.error.or(self.root_error.take());
                }
                Ok(())
            }
        }
    }

    fn model(
        &mut self,
        run: &mut Run<'_, '_>,
        mark: &Mark,
        span: Span,
        place: SourceSpan,
    ) -> Result<(), Halt> {
        let texts = (
            span.request.as_ref().map(Value::to_string),
            span.response.as_ref().map(Value::to_string),
        );
        let mut flaws = Flaws::default();
        let request = texts.0.as_ref().and_then(|t| parse(t, &mut flaws).ok());
        let response = texts.1.as_ref().and_then(|t| parse(t, &mut flaws).ok());
        let mut read = exchange(run.out, request.as_ref(), response.as_ref(), place);
        about_call(&mut read.call, &span, mark);
        if run.head.tools.is_empty() {
            run.head.tools = std::mem::take(&mut read.tools);
        }
        run.head.model = run.head.model.take().or_else(|| read.call.model.clone());
        self.last = (read.call.finish_reason.clone(), read.call.error.clone());
        self.without_messages += u64::from(read.prompt.is_empty() && read.answers.is_empty());
        if !read.prompt.is_empty() {
            self.thread.hint(self.results());
            self.thread
                .call(run, read.prompt, read.answers, read.call)?;
            self.forget_shown();
            return Ok(());
        }
        // The prompt was not captured: what the tools answered stands only in their spans.
        self.thread.finish(run)?;
        self.show_waiting(run)?;
        self.thread
            .continued(run, Vec::new(), read.answers, read.call)
    }

    /// How tools ended, by call id, for the prompt that shows their answers.
    fn results(&self) -> HashMap<String, (StepStatus, Option<String>)> {
        let known = self.waiting.iter().filter_map(|(tool, span, _)| {
            let id = tool.id.clone()?;
            Some((id, (status(span), span.error.clone())))
        });
        known.collect()
    }

    fn forget_shown(&mut self) {
        let shown = self.thread.take_shown();
        self.waiting.retain(|(tool, _, _)| {
            let text = tool.result.as_deref().map(str::trim);
            !shown.iter().any(|(id, seen)| match &tool.id {
                Some(own) if id.is_some() => id.as_ref() == Some(own),
                _ => text == Some(seen.trim()),
            })
        });
    }

    /// Sends on what tools did that no prompt has shown.
    fn show_waiting(&mut self, run: &mut Run<'_, '_>) -> Result<(), Halt> {
        for (mut tool, span, place) in std::mem::take(&mut self.waiting) {
            let known = run.claim(tool.id.as_deref(), &tool.name, &tool.arguments);
            if let Some(id) = &known {
                tool.id = Some(id.clone());
            } else if !run.was_asked(tool.id.as_deref()) {
                let mut step = Step::new(
                    asker(&tool),
                    StepKind::ToolCall,
                    Role::Assistant,
                    tool.arguments.clone(),
                );
                step.tool = Some(tool.name.clone());
                step.tool_call_id.clone_from(&tool.id);
                (step.source, step.at_us) = (place, span.start_us);
                run.say(vec![step], None)?;
            }
            run.say(vec![answer(&tool, &span, place)], None)?;
        }
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_, '_>) -> Result<(), Halt> {
        self.thread.finish(run)?;
        self.show_waiting(run)?;
        if self.without_messages > 0 {
            run.out.note(format!(
                "content capture was off: {} model calls have neither prompt nor answer",
                self.without_messages
            ));
        }
        let (reason, error) = std::mem::take(&mut self.last);
        let error = self.root_error.take().or(error);
        run.head.ending_note = error.clone().or_else(|| reason.clone());
        run.head.ending = match reason.as_deref() {
            _ if error.is_some() => Ending::Error,
            Some("length" | "max_tokens" | "max_output_tokens" | "incomplete") => Ending::Limit,
            Some("stop" | "end_turn" | "completed") if !run.stops_midway() => Ending::Finished,
            _ => Ending::Unknown,
        };
        Ok(())
    }
}

fn status(span: &Span) -> StepStatus {
    match &span.error {
        Some(error) if error.to_lowercase().contains("timeout") => StepStatus::Timeout,
        Some(_) => StepStatus::Error,
        None => StepStatus::Ok,
    }
}

/// A call id says that a model asked; without one the log does not tell who did.
fn asker(tool: &ToolRun) -> Owner {
    if tool.id.is_some() {
        Owner::Model
    } else {
        Owner::Unknown
    }
}

fn answer(tool: &ToolRun, span: &Span, place: SourceSpan) -> Step {
    let text = tool
        .result
        .clone()
        .or_else(|| span.error.clone())
        .unwrap_or_default();
    let mut step = Step::new(Owner::Tool, StepKind::Observation, Role::Tool, text);
    step.tool = Some(tool.name.clone());
    step.tool_call_id.clone_from(&tool.id);
    step.status = status(span);
    (step.source, step.at_us) = (place, span.end_us);
    step.extra
        .insert("from".to_owned(), "the tool's own span".into());
    step
}

fn about_run(run: &mut Run<'_, '_>, span: &mut Span) {
    let head = &mut run.head;
    head.extra
        .insert("root".to_owned(), span.name.clone().into());
    if let Some(session) = span.session.take() {
        head.extra.insert("session".to_owned(), session.into());
    }
    head.harness.name = span.harness.take().or(head.harness.name.take());
    if span.tool.is_none() && span.request.is_none() {
        head.extra.append(&mut span.extra);
    }
}

fn about_call(call: &mut Call, span: &Span, mark: &Mark) {
    // The span is the report of the inference; a second export of it is the same report.
    call.event_id = Some(mark.id.clone());
    call.at_us = span.start_us.or(call.at_us);
    if let (Some(start), Some(end)) = (span.start_us, span.end_us) {
        #[expect(
            clippy::cast_precision_loss,
            reason = "spans last less than 2^53 microseconds"
        )]
        let ms = end.saturating_sub(start) as f64 / 1000.0;
        call.latency_ms = Some(ms);
    }
    call.cost_usd = span.cost_usd;
    call.attempt.clone_from(&span.attempt);
    call.error = call.error.take().or_else(|| span.error.clone());
    call.extra.extend(span.extra.clone());
}
