//! A sample's conversation: model events as calls, their messages as steps, tools' errors as statuses.

use super::sample::Sample;
use crate::domain::{Call, Owner, SourceSpan, Step, StepKind, StepStatus};
use crate::import::answer::usage;
use crate::import::chat;
use crate::import::extra::keep;
use crate::import::format::openai_chat::tools;
use crate::import::json::Node;
use crate::import::out::{Halt, Out};
use crate::import::parse::{Flaws, parse};
use crate::import::prefix::{Said, Thread};
use crate::import::run::Run;
use crate::import::time::time;
use crate::import::turn::event;
use serde_json::Value;

/// Events that tell of the program's own affairs, or repeat what messages say.
const SILENT: &[&str] = &[
    "sample_init",
    "state",
    "store",
    "sandbox",
    "logger",
    "info",
    "span_begin",
    "span_end",
    "step",
    "subtask",
    "score",
    "score_edit",
    "checkpoint",
    "anchor",
    "branch",
    "tool",
    "input",
    "approval",
];
/// Events worth a step.
const NOTES: &[&str] = &["sample_limit", "error", "interrupt", "compaction"];

/// A conversation under way.
pub(super) struct Talk<'s, 'd, 'n> {
    sample: &'s Sample<'d, 'n>,
    pool: &'s [Value],
    thread: Thread,
    /// Hash of each message of the pool, once it was asked for.
    hashes: Vec<Option<u64>>,
}

impl<'s, 'd, 'n> Talk<'s, 'd, 'n> {
    /// A conversation that has not begun.
    pub(super) fn new(sample: &'s Sample<'d, 'n>, pool: &'s [Value]) -> Self {
        Self {
            sample,
            pool,
            thread: Thread::default(),
            hashes: Vec::new(),
        }
    }

    /// The log ends with the last answer.
    pub(super) fn finish(&mut self, run: &mut Run<'_, '_>) -> Result<(), Halt> {
        self.thread.finish(run)
    }

    /// Takes an event.
    pub(super) fn event(
        &mut self,
        run: &mut Run<'_, '_>,
        node: &Node<'_>,
        span: SourceSpan,
    ) -> Result<(), Halt> {
        match node.str("event").unwrap_or("") {
            "model" if node.bool("pending") == Some(true) => Ok(()),
            "model" => self.model(run, node, span),
            kind if NOTES.contains(&kind) => {
                let text = ["message", "content"]
                    .iter()
                    .find_map(|k| node.str(k))
                    .map(str::to_owned);
                let mut step = event(kind, text.unwrap_or_else(|| node.compact()));
                (step.at_us, step.source) = (time(node.get("timestamp")), span);
                run.say(vec![step], None)?;
                Ok(())
            }
            kind if SILENT.contains(&kind) => Ok(()),
            kind => {
                run.out.not_understood(&format!("event {kind:?}"));
                Ok(())
            }
        }
    }

    fn model(
        &mut self,
        run: &mut Run<'_, '_>,
        node: &Node<'_>,
        span: SourceSpan,
    ) -> Result<(), Halt> {
        let prompt = self.prompt(run.out, node, span);
        let error = node.id("error");
        let choices = node.at(&["output", "choices"]).map_or(&[][..], Node::items);
        let mut answers = Vec::new();
        for choice in choices.iter().filter(|_| error.is_none()) {
            if let Some(message) = choice.get("message") {
                answers.push(self.said(run.out, message, span, true));
            }
        }
        if run.head.tools.is_empty() {
            run.head.tools = tools(node);
        }
        let call = call_of(node, error, choices.first(), span);
        self.thread.call(run, prompt, answers, call)
    }

    /// The input as it stands there, or as ranges of the pool; what the thread knows is not built anew.
    fn prompt(&mut self, out: &mut Out<'_>, node: &Node<'_>, span: SourceSpan) -> Vec<Said> {
        let inline = node.list("input");
        let mut said: Vec<Said> = inline
            .iter()
            .map(|m| self.said(out, m, span, false))
            .collect();
        let places = self.places(node);
        let hashes: Vec<u64> = places.iter().map(|&at| self.hash(out, at, span)).collect();
        let shared = if said.is_empty() {
            self.thread.shared(&hashes)
        } else {
            0
        };
        for (number, (&at, &hash)) in places.iter().zip(&hashes).enumerate() {
            let known = number < shared;
            said.push(if known {
                Said::known(hash)
            } else {
                self.pooled(out, at, span)
            });
        }
        said
    }

    /// Places in the pool that an event points to.
    fn places(&self, node: &Node<'_>) -> Vec<usize> {
        let ranges = node.list("input_refs").iter();
        let range = |range: &Node<'_>| {
            let ends = range
                .items()
                .iter()
                .map(|n| usize::try_from(n.as_u64()?).ok());
            let ends: Vec<usize> = ends.collect::<Option<_>>()?;
            let [from, to] = ends[..] else { return None };
            Some(from..to.min(self.pool.len()))
        };
        ranges.filter_map(range).flatten().collect()
    }

    fn hash(&mut self, out: &mut Out<'_>, at: usize, span: SourceSpan) -> u64 {
        self.hashes.resize(self.pool.len(), None);
        if let Some(hash) = self.hashes.get(at).copied().flatten() {
            return hash;
        }
        let hash = self.pooled(out, at, span).hash();
        if let Some(slot) = self.hashes.get_mut(at) {
            *slot = Some(hash);
        }
        hash
    }

    fn pooled(&self, out: &mut Out<'_>, at: usize, span: SourceSpan) -> Said {
        let text = self.pool.get(at).map(Value::to_string).unwrap_or_default();
        match parse(&text, &mut Flaws::default()) {
            Ok(message) => self.said(out, &message, span, false),
            Err(_) => Said::of(Vec::new()),
        }
    }

    fn said(&self, out: &mut Out<'_>, node: &Node<'_>, span: SourceSpan, is_answer: bool) -> Said {
        let whole = self.sample.resolved(node);
        let inner = whole
            .as_ref()
            .and_then(|text| parse(text, &mut Flaws::default()).ok());
        Said::of(message(
            out,
            inner.as_ref().unwrap_or(node),
            span,
            is_answer,
        ))
    }

    /// What the sample's messages hold beyond the last model event, or all of them where there is none.
    pub(super) fn close(&mut self, run: &mut Run<'_, '_>) -> Result<(), Halt> {
        let mut whole = Vec::new();
        self.sample.each("messages", |node, span| {
            whole.push(self.said(run.out, node, span, node.str("source") == Some("generate")));
            Ok(())
        })?;
        if run.calls() > 0 {
            return self.thread.close_with(run, whole);
        }
        whole
            .into_iter()
            .try_for_each(|said| run.say(said.into_steps(), None).map(|_| ()))
    }
}

fn call_of(
    node: &Node<'_>,
    error: Option<String>,
    choice: Option<&Node<'_>>,
    span: SourceSpan,
) -> Call {
    let output = node.get("output");
    let mut call = Call {
        model: node.id("model"),
        event_id: node.id("uuid"),
        request_id: node.at(&["call", "response", "id"]).and_then(Node::as_id),
        finish_reason: choice.and_then(|c| c.id("stop_reason")),
        usage: output
            .and_then(|o| o.get("usage"))
            .map(usage)
            .unwrap_or_default(),
        retry_count: node.u64("retries").and_then(|n| u32::try_from(n).ok()),
        latency_ms: node.f64("working_time").map(|s| s * 1000.0),
        logprobs: choice
            .and_then(|c| c.get("logprobs"))
            .and_then(crate::import::answer::logprobs),
        at_us: time(node.get("timestamp")),
        source: span,
        error,
        ..Call::default()
    };
    let usage = output.and_then(|o| o.get("usage"));
    call.usage.cached = usage.and_then(|u| u.u64("input_tokens_cache_read"));
    call.usage.reasoning = usage.and_then(|u| u.u64("reasoning_tokens"));
    if let Some(config) = node.get("config") {
        call.sampling = config.to_map();
        call.sampling.retain(|_, v| !v.is_null());
        call.sampling.remove("max_connections");
    }
    keep(&mut call.extra, node, &["cache", "role"]);
    call
}

/// A message. The file says of each who made it: the data set, the model, an operator, or (nobody named) a solver.
fn message(out: &mut Out<'_>, node: &Node<'_>, span: SourceSpan, is_answer: bool) -> Vec<Step> {
    const ALSO_KNOWN: &[&str] = &[
        "id",
        "source",
        "model",
        "function",
        "error",
        "internal",
        "metadata",
        "tool_call_ids",
    ];
    let mut steps = chat::message_of(out, node, span, ALSO_KNOWN);
    let source = node.str("source");
    for step in &mut steps {
        match step.owner {
            Owner::User if source != Some("input") => step.owner = Owner::Runtime,
            Owner::Model if !is_answer && source == Some("input") => step.owner = Owner::Unknown,
            Owner::Tool => tool_end(node, step),
            _ => {}
        }
    }
    for (step, call) in steps
        .iter_mut()
        .filter(|s| s.kind == StepKind::ToolCall)
        .zip(node.list("tool_calls"))
    {
        keep(&mut step.extra, call, &["parse_error"]);
    }
    steps
}

/// A tool's error stands beside its text, and the text is then often empty.
fn tool_end(node: &Node<'_>, step: &mut Step) {
    step.tool = node.id("function").or(step.tool.take());
    let Some(error) = node.get("error") else {
        step.status = StepStatus::Ok;
        return;
    };
    let kind = error.str("type").unwrap_or("unknown");
    step.status = match kind {
        "timeout" => StepStatus::Timeout,
        "permission" | "approval" => StepStatus::Denied,
        _ => StepStatus::Error,
    };
    step.extra.insert("error_type".to_owned(), kind.into());
    let text = error.str("message").or(error.text()).unwrap_or("");
    if step.text.is_empty() {
        text.clone_into(&mut step.text);
    } else if !text.is_empty() {
        step.extra.insert("error".to_owned(), text.into());
    }
}
