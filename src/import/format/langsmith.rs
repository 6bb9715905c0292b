//! LangSmith runs, one a line. A run may come in parts (created, then patched): later parts that say something win.
//! `dotted_order` sorts and nests everything and is trusted over times.

use super::langfuse::text_of;
use super::{Importer, Input};
use crate::import::detect::Sniff;
use crate::import::json::Node;
use crate::import::out::{Halt, Out};
use crate::import::rows::each_row;
use crate::import::run::Run;
use crate::import::scores::{self, Score};
use crate::import::time::time;
use crate::import::trace::{Kind, Mark, Span, ToolRun, Traces, tell};
use crate::import::values::{self, unpacked};
use serde_json::{Map, Value, json};

/// LangSmith.
pub(crate) struct LangSmith;

impl Importer for LangSmith {
    fn name(&self) -> &'static str {
        "langsmith"
    }

    fn title(&self) -> &'static str {
        "LangSmith runs (JSONL or a list)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        (sniff.is_json() && sniff.most_have(&["run_type", "trace_id"]))
            .then(|| "rows with run_type and trace_id".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let mut traces = Traces::default();
        // A dotted order is text; its rank among all orders of the file sorts like it.
        let mut orders: Vec<(String, String)> = Vec::new();
        each_row(out, input.source, input.sniff.shape, |out, row| {
            let (Some(id), Some(trace)) = (row.node.id("id"), row.node.id("trace_id")) else {
                return out.skip(row.span.line, "a run without id and trace_id");
            };
            orders.push((row.node.id("dotted_order").unwrap_or_default(), id.clone()));
            let mark = Mark {
                trace,
                id,
                parent: row.node.id("parent_run_id"),
                start: time(row.node.get("start_time")).unwrap_or(0),
                kind: kind(row.node),
                places: vec![row.span],
            };
            traces.add(out, mark, true);
            Ok(())
        })?;
        orders.sort();
        let ranks = orders
            .into_iter()
            .zip(0_i64..)
            .map(|((_, id), rank)| (id, rank))
            .collect();
        for mut marks in traces.into_traces() {
            rank(&mut marks, &ranks);
            self.trace(input, out, &marks)?;
        }
        Ok(())
    }
}

fn rank(marks: &mut [Mark], ranks: &std::collections::HashMap<String, i64>) {
    for mark in marks {
        if let Some(rank) = ranks.get(&mark.id) {
            mark.start = *rank;
        }
    }
}

fn kind(node: &Node<'_>) -> Kind {
    match node.str("run_type") {
        Some("llm") => Kind::Model,
        Some("tool") => Kind::Tool,
        _ => Kind::Other,
    }
}

impl LangSmith {
    fn trace(&self, input: &Input<'_>, out: &mut Out<'_>, marks: &[Mark]) -> Result<(), Halt> {
        let Some(first) = marks.first() else {
            return Ok(());
        };
        let mut head = input.head(first.trace.clone(), self);
        head.span = first.places.first().copied().unwrap_or_default();
        let mut run = Run::begin(out, head)?;
        let mut feedback = Vec::new();
        tell(&mut run, input.source, marks, |_, nodes, mark| {
            let whole = merged(nodes);
            if mark.parent.is_none() {
                feedback = feedback_of(&whole);
            }
            span(&whole, mark)
        })?;
        scores::tell(&mut run, feedback)?;
        run.end()
    }
}

/// Parts of one run laid over each other; what is empty says nothing.
fn merged(nodes: &[Node<'_>]) -> Map<String, Value> {
    let mut whole = Map::new();
    let is_empty = |v: &Value| match v {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    };
    for (key, value) in nodes.iter().flat_map(Node::to_map) {
        if !is_empty(&value) {
            whole.insert(key, value);
        }
    }
    whole
}

fn feedback_of(whole: &Map<String, Value>) -> Vec<Score> {
    let stats = whole.get("feedback_stats").and_then(Value::as_object);
    let each = |(name, value): (&String, &Value)| Score {
        source: "langsmith:feedback".to_owned(),
        name: name.clone(),
        value: value.get("avg").cloned().unwrap_or_default(),
        reason: String::new(),
        detail: value.clone(),
    };
    stats.into_iter().flatten().map(each).collect()
}

fn span(whole: &Map<String, Value>, mark: &Mark) -> Span {
    let text = |key: &str| whole.get(key).and_then(Value::as_str).map(str::to_owned);
    let at = |key: &str| text(key).and_then(|t| crate::import::time::text_time(&t));
    let metadata = whole.get("extra").and_then(|e| e.get("metadata"));
    let named = |key: &str| metadata.and_then(|m| m.get(key)).cloned();
    let mut span = Span {
        name: text("name").unwrap_or_default(),
        start_us: at("start_time"),
        end_us: at("end_time"),
        error: text("error"),
        session: named("session_id")
            .or(named("thread_id"))
            .and_then(|v| v.as_str().map(str::to_owned)),
        cost_usd: text("total_cost").and_then(|t| t.parse().ok()),
        ..Span::default()
    };
    match mark.kind {
        Kind::Model => model(whole, &mut span, metadata),
        Kind::Tool => span.tool = Some(tool(whole, &span.name)),
        Kind::Other => {
            for key in [
                "inputs",
                "outputs",
                "tags",
                "session_name",
                "reference_example_id",
            ] {
                span.extra
                    .extend(whole.get(key).map(|v| (key.to_owned(), v.clone())));
            }
        }
    }
    span
}

fn model(whole: &Map<String, Value>, span: &mut Span, metadata: Option<&Value>) {
    let mut request = whole
        .get("inputs")
        .and_then(values::request)
        .and_then(|r| r.as_object().cloned())
        .unwrap_or_default();
    let parameters = whole
        .get("extra")
        .and_then(|e| e.get("invocation_params"))
        .and_then(Value::as_object);
    for (key, value) in parameters.into_iter().flatten() {
        request.entry(key.clone()).or_insert_with(|| value.clone());
    }
    for (key, from) in [
        ("model", "ls_model_name"),
        ("temperature", "ls_temperature"),
        ("max_tokens", "ls_max_tokens"),
    ] {
        if let Some(value) = metadata.and_then(|m| m.get(from)) {
            request.entry(key).or_insert_with(|| value.clone());
        }
    }
    span.request = Some(Value::Object(request));
    let mut response = whole.get("outputs").and_then(values::response);
    if let Some(Value::Object(map)) = &mut response {
        let counts = json!({"prompt_tokens": whole.get("prompt_tokens"), "completion_tokens": whole.get("completion_tokens")});
        map.entry("usage").or_insert(counts);
    }
    span.response = response;
}

fn tool(whole: &Map<String, Value>, name: &str) -> ToolRun {
    let inputs = whole.get("inputs").cloned().unwrap_or_default();
    let arguments = inputs
        .get("arguments")
        .or(inputs.get("input"))
        .cloned()
        .unwrap_or(inputs);
    let output = whole
        .get("outputs")
        .map(|o| o.get("output").cloned().unwrap_or_else(|| o.clone()));
    let output = output
        .filter(|o| !o.is_null())
        .map(|o| unpacked_message(&o));
    let (id, result) = output.unwrap_or_default();
    ToolRun {
        id,
        name: name.to_owned(),
        arguments: text_of(arguments),
        result,
    }
}

/// A tool message holds the id of the call that it answers.
fn unpacked_message(value: &Value) -> (Option<String>, Option<String>) {
    let inner = unpacked(value);
    let inner = inner.get("kwargs").cloned().unwrap_or(inner);
    let id = inner
        .get("tool_call_id")
        .and_then(Value::as_str)
        .map(str::to_owned);
    let content = if id.is_some() {
        inner.get("content").cloned()
    } else {
        Some(value.clone())
    };
    (id, content.map(text_of))
}
