//! Requests with their responses, as proxies, caches and batch jobs log them: chat completions, Anthropic Messages
//! or Responses. Every request repeats the conversation; requests that continue one another become one run, by the
//! session that the row names or else by their content.

use super::{Importer, Input};
use crate::domain::{Ending, Owner, Role, SourceSpan, Step, StepKind, TaskId};
use crate::import::detect::Sniff;
use crate::import::exchange::{Exchange, exchange};
use crate::import::extra::leftover;
use crate::import::group::{Groups, opening, replay};
use crate::import::json::Node;
use crate::import::out::{Halt, Out};
use crate::import::parse::{Flaws, parse};
use crate::import::prefix::{Families, Said, Thread};
use crate::import::rows::Row;
use crate::import::run::Run;
use crate::import::sse;
use crate::import::time::time;
use std::collections::HashMap;

/// Request/response logs.
pub(crate) struct RequestLog;

const KNOWN: &[&str] = &[
    "request",
    "response",
    "body",
    "raw_request",
    "raw_response",
    "kwargs",
    "messages",
    "choices",
    "input",
    "output",
    "custom_id",
    "method",
    "url",
    "id",
    "error",
    "model",
    "tools",
    "system",
    "usage",
    "created",
    "timestamp",
    "latency",
    "latency_ms",
    "latency_sec",
    "cost",
    "session_id",
    "conversation_id",
    "trace_id",
    "thread_id",
    "rollout_id",
    "run_id",
    "metadata",
    "temperature",
    "max_tokens",
    "top_p",
    "stream",
    "object",
    "context_window",
    "fncall_messages",
    "fncall_response",
];
const SESSIONS: &[&str] = &[
    "rollout_id",
    "run_id",
    "session_id",
    "conversation_id",
    "trace_id",
    "thread_id",
];

impl Importer for RequestLog {
    fn name(&self) -> &'static str {
        "request-log"
    }

    fn title(&self) -> &'static str {
        "requests with their responses (proxy, cache and batch logs; OpenAI, Anthropic, Responses)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        if !sniff.is_json() {
            return None;
        }
        if sniff.most_have(&["custom_id"])
            && sniff
                .rows
                .iter()
                .any(|r| r.get("body").or(r.get("response")).is_some())
        {
            return Some("batch rows with custom_id".to_owned());
        }
        let marks: [(&[&str], &str); 6] = [
            (&["request", "response"], "rows with request and response"),
            (
                &["raw_request", "raw_response"],
                "rows with raw_request and raw_response",
            ),
            (&["messages", "response"], "rows with messages and response"),
            (&["kwargs", "response"], "rows with kwargs and response"),
            (&["messages", "choices"], "rows with messages and choices"),
            (
                &["input", "output", "model", "object"],
                "responses with their input",
            ),
        ];
        let found = marks.iter().find(|(keys, _)| sniff.most_have(keys))?;
        Some(found.1.to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let mut families = Families::default();
        let mut by_response: HashMap<String, String> = HashMap::new();
        let groups = Groups::of(out, input.source, input.sniff.shape, |out, row| {
            let read = read_row(out, row);
            let Some(read) = read else {
                out.skip(
                    row.span.line,
                    "neither a request nor a response in this row",
                )?;
                return Ok(None);
            };
            let said = session(row.node);
            let previous = read
                .previous
                .as_ref()
                .and_then(|id| by_response.get(id).cloned());
            let key = said
                .or(previous)
                .unwrap_or_else(|| format!("#{}", families.of(&read.prompt, &read.answers)));
            if let Some(id) = read.call.request_id {
                by_response.insert(id, key.clone());
            }
            Ok(Some(key))
        })?;
        for (key, spans) in groups.iter() {
            self.conversation(input, out, key, spans)?;
        }
        Ok(())
    }
}

impl RequestLog {
    fn conversation(
        &self,
        input: &Input<'_>,
        out: &mut Out<'_>,
        key: &str,
        spans: &[SourceSpan],
    ) -> Result<(), Halt> {
        let first = spans.first().copied().unwrap_or_default();
        let mut head = if key.starts_with('#') {
            input.minted(opening(input.source, spans, 1), self)
        } else {
            input.head(key, self)
        };
        head.span = first;
        let mut run = Run::begin(out, head)?;
        let mut thread = Thread::default();
        let mut last = (None, None);
        replay(input.source, spans, |row| {
            let Some(mut read) = quiet(&mut run, row) else {
                return Ok(());
            };
            if run.head.tools.is_empty() {
                run.head.tools = std::mem::take(&mut read.tools);
            }
            run.head.model = run.head.model.take().or_else(|| read.call.model.clone());
            last = (read.call.finish_reason.clone(), read.call.error.clone());
            match read.previous {
                Some(_) if run.calls() > 0 => {
                    thread.continued(&mut run, read.prompt, read.answers, read.call)
                }
                _ => thread.call(&mut run, read.prompt, read.answers, read.call),
            }
        })?;
        thread.finish(&mut run)?;
        finish(&mut run, last);
        run.end()
    }
}

/// How the last request ended is how the log ends, as far as one can tell.
fn finish(run: &mut Run<'_, '_>, (reason, error): (Option<String>, Option<String>)) {
    run.head.ending_note = error.clone().or_else(|| reason.clone());
    run.head.ending = match reason.as_deref() {
        _ if error.is_some() => Ending::Error,
        Some("stop" | "end_turn" | "completed" | "stop_sequence") => Ending::Finished,
        Some("length" | "max_tokens" | "max_output_tokens" | "model_context_window_exceeded") => {
            Ending::Limit
        }
        _ => Ending::Unknown,
    };
}

/// The conversation that the row says it belongs to.
fn session(node: &Node<'_>) -> Option<String> {
    let places = [
        Some(node),
        node.get("metadata"),
        node.at(&["request", "metadata"]),
    ];
    places
        .into_iter()
        .flatten()
        .find_map(|place| SESSIONS.iter().find_map(|key| place.id(key)))
}

/// Reads a row a second time: what is odd in it was told the first time, so nothing is counted twice.
fn quiet(run: &mut Run<'_, '_>, row: &Row<'_>) -> Option<Exchange> {
    let muted = run.out.mute();
    let mut read = read_row(run.out, row);
    run.out.unmute(muted);
    if let Some(read) = &mut read {
        read.call
            .extra
            .extend(leftover(run.out, row.node, KNOWN, "row"));
        let batch = row.node.id("custom_id");
        run.head.task = run.head.task.take().or_else(|| batch.map(TaskId));
    }
    read
}

fn read_row(out: &mut Out<'_>, row: &Row<'_>) -> Option<Exchange> {
    let node = row.node;
    let request = request_of(node);
    let stored = ["response", "raw_response"]
        .iter()
        .find_map(|k| node.get(k));
    let own = node.has("choices") || (node.has("output") && node.has("object"));
    let response = stored.or_else(|| own.then_some(node));
    if request.is_none() && response.is_none() {
        return None;
    }
    let mut read = match response.and_then(Node::text) {
        Some(text) => from_text(out, request, text, row.span),
        None => {
            let body = response.map(|r| r.get("body").unwrap_or(r));
            exchange(out, request, body, row.span)
        }
    };
    about_call(node, &mut read);
    Some(read)
}

/// A response that is stored as text: JSON, or the stream as it came.
fn from_text(
    out: &mut Out<'_>,
    request: Option<&Node<'_>>,
    text: &str,
    span: SourceSpan,
) -> Exchange {
    let text = if sse::is_stream(text) {
        sse::assemble(text).to_string()
    } else {
        text.to_owned()
    };
    match parse(&text, &mut Flaws::default()) {
        Ok(node) => exchange(out, request, Some(&node), span),
        // Neither: it is the answer's own text.
        Err(_) => {
            let mut read = exchange(out, request, None, span);
            let mut step = Step::new(Owner::Model, StepKind::Text, Role::Assistant, text);
            step.source = span;
            read.answers.push(Said::of(vec![step]));
            read
        }
    }
}

fn request_of<'n, 'a>(node: &'n Node<'a>) -> Option<&'n Node<'a>> {
    let named = ["request", "raw_request", "kwargs"]
        .iter()
        .find_map(|k| node.get(k));
    let named = named.filter(|r| {
        ["messages", "input", "prompt", "body"]
            .iter()
            .any(|k| r.has(k))
    });
    let batch = node.get("body").filter(|b| b.is_object());
    let inner = named
        .map(|r| r.get("body").filter(|b| b.is_object()).unwrap_or(r))
        .or(batch);
    let own = ["messages", "input", "prompt"].iter().any(|k| node.has(k));
    inner.or_else(|| own.then_some(node))
}

fn about_call(node: &Node<'_>, read: &mut Exchange) {
    let call = &mut read.call;
    call.at_us = time(node.get("timestamp")).or(call.at_us);
    let seconds = node.f64("latency").or_else(|| node.f64("latency_sec"));
    let seconds = seconds.map(|s| s * 1000.0);
    call.latency_ms = node.f64("latency_ms").or(seconds);
    call.cost_usd = node.f64("cost");
    let status = node
        .at(&["response", "status_code"])
        .and_then(Node::as_u64)
        .filter(|&s| s >= 400);
    let error = node
        .get("error")
        .map(|e| e.id("message").unwrap_or_else(|| e.compact()));
    call.error = call
        .error
        .take()
        .or(error)
        .or_else(|| status.map(|s| format!("HTTP {s}")));
}
