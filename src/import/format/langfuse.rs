//! Langfuse traces: the UI's and the API's JSON of one trace, observation pages, and observations one a line. Inputs
//! and outputs are whatever the traced framework speaks, often as JSON inside a text; its scores are labels.

use super::openai_chat::inside;
use super::{Importer, Input};
use crate::domain::SourceSpan;
use crate::import::detect::{Shape, Sniff, has_all};
use crate::import::document::Document;
use crate::import::json::Node;
use crate::import::out::{Halt, Out};
use crate::import::rows::{each_element, each_row, tell_damage};
use crate::import::run::Run;
use crate::import::scores::{self, Score};
use crate::import::time::time;
use crate::import::trace::{Kind, Mark, Span, ToolRun, Traces, tell};
use crate::import::values::{self, unpacked};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Langfuse.
pub(crate) struct Langfuse;

const LISTS: &[&str] = &["observations", "trace.observations", "data"];
const TYPES: &[&str] = &[
    "SPAN",
    "GENERATION",
    "EVENT",
    "AGENT",
    "TOOL",
    "CHAIN",
    "RETRIEVER",
    "EVALUATOR",
    "EMBEDDING",
    "GUARDRAIL",
];

impl Importer for Langfuse {
    fn name(&self) -> &'static str {
        "langfuse"
    }

    fn title(&self) -> &'static str {
        "Langfuse traces (UI, API, observation exports)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        if !sniff.is_json() {
            return None;
        }
        let first = sniff.first();
        let lists = ["/observations/0", "/trace/observations/0", "/data/0"];
        if lists
            .iter()
            .any(|at| first.pointer(at).is_some_and(is_observation))
        {
            return Some("a trace with observations".to_owned());
        }
        let rows = sniff.rows.iter().filter(|r| is_observation(r)).count();
        (rows > 0 && rows * 2 > sniff.rows.len())
            .then(|| "rows with traceId and type GENERATION or SPAN".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let mut traces = Traces::default();
        let mut heads = HashMap::new();
        if input.sniff.shape == Shape::Object && !is_observation(input.sniff.first()) {
            out.advance(input.source.len())?;
            let document = Document::open(input.source, LISTS)?;
            for list in &document.lists {
                each_element(out, &document, list, &mut |out, row| {
                    collect(out, row.node, row.span, &mut traces)
                })?;
            }
            let top = document.head()?;
            let trace = top.get("trace").unwrap_or(&top);
            if let Some(id) = trace.id("id") {
                heads.insert(id, trace.to_value());
            }
            tell_damage(out, &document)?;
        } else {
            each_row(out, input.source, input.sniff.shape, |out, row| {
                let whole = row.node.get("trace").unwrap_or(row.node);
                let list = row
                    .node
                    .get("observations")
                    .or_else(|| whole.get("observations"));
                match list {
                    Some(list) => {
                        for node in list.items() {
                            collect(out, node, inside(row.span, node), &mut traces)?;
                        }
                        heads.extend(whole.id("id").map(|id| (id, short_head(whole))));
                        Ok(())
                    }
                    None => collect(out, row.node, row.span, &mut traces),
                }
            })?;
        }
        for marks in traces.into_traces() {
            self.trace(input, out, &marks, &heads)?;
        }
        Ok(())
    }
}

fn is_observation(row: &Value) -> bool {
    let kind = row.get("type").and_then(Value::as_str).unwrap_or("");
    has_all(row, &["id", "startTime"]) && TYPES.contains(&kind)
}

fn short_head(trace: &Node<'_>) -> Value {
    let mut map = trace.to_map();
    map.remove("observations");
    Value::Object(map)
}

impl Langfuse {
    fn trace(
        &self,
        input: &Input<'_>,
        out: &mut Out<'_>,
        marks: &[Mark],
        heads: &HashMap<String, Value>,
    ) -> Result<(), Halt> {
        let Some(first) = marks.first() else {
            return Ok(());
        };
        let mut head = input.head(first.trace.clone(), self);
        head.span = first.places.first().copied().unwrap_or_default();
        let about = heads.get(&first.trace).cloned().unwrap_or_default();
        for (key, from) in [
            ("name", "name"),
            ("session", "sessionId"),
            ("user", "userId"),
            ("tags", "tags"),
        ] {
            if let Some(value) = about.get(from).filter(|v| !v.is_null()) {
                head.extra.insert(key.to_owned(), value.clone());
            }
        }
        head.harness.version = about
            .get("release")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let mut run = Run::begin(out, head)?;
        tell(&mut run, input.source, marks, |_, nodes, mark| {
            let tells = |n: &&Node<'_>| n.get("input").is_some() || n.get("output").is_some();
            let whole = nodes.iter().rfind(tells).or(nodes.last());
            whole.map(|n| span(n, mark)).unwrap_or_default()
        })?;
        let list = about
            .get("scores")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        scores::tell(&mut run, list.into_iter().map(score).collect())?;
        run.end()
    }
}

fn score(value: Value) -> Score {
    let text = |key: &str| {
        value
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned()
    };
    Score {
        source: format!("langfuse:{}", text("source")),
        name: text("name"),
        value: value.get("value").cloned().unwrap_or_default(),
        reason: text("comment"),
        detail: value,
    }
}

fn collect(
    out: &mut Out<'_>,
    node: &Node<'_>,
    place: SourceSpan,
    traces: &mut Traces,
) -> Result<(), Halt> {
    let Some(id) = node.id("id") else {
        return out.skip(place.line, "an observation without an id");
    };
    let mark = Mark {
        trace: node.id("traceId").unwrap_or_else(|| "trace".to_owned()),
        id,
        parent: node.id("parentObservationId"),
        start: time(node.get("startTime")).unwrap_or(0),
        kind: kind(node),
        places: vec![place],
    };
    // The UI's file holds every observation twice: bare below the trace, and whole beside it.
    traces.add(out, mark, true);
    Ok(())
}

/// Older writers know only SPAN; then the traced program's own attributes tell tools apart.
fn kind(node: &Node<'_>) -> Kind {
    let operation = node
        .get("metadata")
        .map(Node::to_value)
        .map(|m| unpacked(&m));
    let operation = operation.as_ref().and_then(|m| m.pointer("/attributes"));
    let names = ["gen_ai.operation.name", "openinference.span.kind"];
    let said = operation
        .and_then(|a| names.iter().find_map(|n| a.get(*n)).and_then(Value::as_str))
        .unwrap_or("");
    let output = node.get("output").and_then(Node::text).unwrap_or("");
    match node.str("type").unwrap_or("") {
        "GENERATION" => Kind::Model,
        "TOOL" => Kind::Tool,
        "SPAN" if matches!(said, "execute_tool" | "TOOL") => Kind::Tool,
        // LangChain's tool node answers with a ToolMessage of its own.
        "SPAN" if is_tool_message(output) => Kind::Tool,
        _ => Kind::Other,
    }
}

fn is_tool_message(output: &str) -> bool {
    let start: String = output.chars().take(120).collect();
    start.starts_with("{\"lc\":") && start.contains("\"ToolMessage\"")
}

fn span(node: &Node<'_>, mark: &Mark) -> Span {
    let value = |key: &str| node.get(key).map(|n| unpacked(&n.to_value()));
    let (input, output) = (value("input"), value("output"));
    let is_error = node.str("level") == Some("ERROR");
    let mut span = Span {
        name: node.str("name").unwrap_or("").to_owned(),
        start_us: time(node.get("startTime")),
        end_us: time(node.get("endTime")),
        error: is_error.then(|| {
            node.id("statusMessage")
                .unwrap_or_else(|| "error".to_owned())
        }),
        cost_usd: node.at(&["costDetails", "total"]).and_then(Node::as_f64),
        ..Span::default()
    };
    match mark.kind {
        Kind::Model => model(node, &mut span, input, output),
        Kind::Tool => span.tool = Some(tool(node, input, output)),
        Kind::Other => {
            span.extra.extend(input.map(|v| ("input".to_owned(), v)));
            span.extra.extend(output.map(|v| ("output".to_owned(), v)));
        }
    }
    span
}

fn model(node: &Node<'_>, span: &mut Span, input: Option<Value>, output: Option<Value>) {
    let request = input.as_ref().and_then(values::request);
    if request.is_none() {
        span.extra.extend(input.map(|v| ("input".to_owned(), v)));
    }
    let mut response = output
        .as_ref()
        .and_then(values::response)
        .unwrap_or_else(|| json!({}));
    let instructions = response
        .get("instructions")
        .cloned()
        .filter(Value::is_string);
    let tools = response.get("tools").cloned().filter(Value::is_array);
    if let Value::Object(map) = &mut response {
        map.entry("model")
            .or_insert_with(|| node.get("model").map(Node::to_value).unwrap_or_default());
        map.insert("usage".to_owned(), usage(node));
    }
    let parameters = node.get("modelParameters").map(|n| unpacked(&n.to_value()));
    span.request = Some(whole_request(request, parameters, instructions, tools));
    span.response = Some(response);
}

/// The messages, with the parameters that stand beside them, and what the Responses dialect repeats in its answer.
fn whole_request(
    request: Option<Value>,
    parameters: Option<Value>,
    instructions: Option<Value>,
    tools: Option<Value>,
) -> Value {
    let mut whole = request
        .and_then(|r| r.as_object().cloned())
        .unwrap_or_default();
    let has_prompt = whole.contains_key("messages");
    for (key, value) in parameters
        .as_ref()
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        if !matches!(key.as_str(), "instructions" | "id" | "metadata" | "tools") {
            whole.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    if let Some(instructions) = instructions.filter(|_| has_prompt) {
        whole.entry("instructions").or_insert(instructions);
    }
    if let Some(tools) = tools {
        whole.entry("tools").or_insert(tools);
    }
    Value::Object(whole)
}

fn usage(node: &Node<'_>) -> Value {
    let details = node.get("usageDetails").or_else(|| node.get("usage"));
    let number = |keys: &[&str]| keys.iter().find_map(|k| details?.u64(k));
    json!({
        "prompt_tokens": number(&["input", "promptTokens"]),
        "completion_tokens": number(&["output", "completionTokens"]),
        "prompt_tokens_details": {"cached_tokens": number(&["prompt_details.cache_read", "input_cache_read", "cache_read_input_tokens"])},
        "completion_tokens_details": {"reasoning_tokens": number(&["completion_details.reasoning", "output_reasoning"])},
    })
}

fn tool(node: &Node<'_>, input: Option<Value>, output: Option<Value>) -> ToolRun {
    let arguments = input.map(|v| {
        v.get("input")
            .filter(|i| i.is_object())
            .cloned()
            .unwrap_or(v)
    });
    let message = output.as_ref().and_then(|v| v.get("kwargs"));
    let id = message
        .and_then(|m| m.get("tool_call_id"))
        .and_then(Value::as_str)
        .map(str::to_owned);
    let result = match message {
        Some(message) => message.get("content").cloned(),
        None => output
            .as_ref()
            .map(|v| v.get("content").cloned().unwrap_or_else(|| v.clone())),
    };
    ToolRun {
        id,
        name: node.str("name").unwrap_or("").to_owned(),
        arguments: arguments.map(|v| v.to_string()).unwrap_or_default(),
        result: result.map(text_of),
    }
}

/// Text as it is; a list of text parts as their text; anything else as JSON.
pub(crate) fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Array(parts)
            if parts
                .iter()
                .all(|p| p.get("text").is_some_and(Value::is_string)) =>
        {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|p| p.get("text")?.as_str())
                .collect();
            texts.join("\n")
        }
        other => other.to_string(),
    }
}
