//! MLflow traces, one document or one a line. Attribute values are each JSON inside a text; assessments are labels.
//! The trace's state OK says that the program ran, not that the answer is right.

use super::langfuse::text_of;
use super::openai_chat::inside;
use super::{Importer, Input};
use crate::domain::SourceSpan;
use crate::import::detect::{Shape, Sniff};
use crate::import::document::Document;
use crate::import::json::Node;
use crate::import::out::{Halt, Out};
use crate::import::rows::{each_element, each_row, tell_damage};
use crate::import::run::Run;
use crate::import::scores::{self, Score};
use crate::import::time::time;
use crate::import::trace::{Kind, Mark, Span, ToolRun, Traces, tell};
use crate::import::values::{self, unpacked};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// MLflow.
pub(crate) struct MlFlow;

impl Importer for MlFlow {
    fn name(&self) -> &'static str {
        "mlflow"
    }

    fn title(&self) -> &'static str {
        "MLflow traces"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        let is_trace = |r: &Value| {
            let has_id = r
                .pointer("/info/trace_id")
                .or(r.pointer("/info/request_id"))
                .is_some();
            has_id && r.pointer("/data/spans").is_some()
        };
        (sniff.is_json() && is_trace(sniff.first()))
            .then(|| "info.trace_id and data.spans".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let mut traces = Traces::default();
        let mut infos = HashMap::new();
        if input.sniff.shape == Shape::Object {
            out.advance(input.source.len())?;
            let document = Document::open(input.source, &["data.spans"])?;
            let top = document.head()?;
            let trace = trace_id(&top);
            infos.extend(top.get("info").map(|i| (trace.clone(), i.to_value())));
            for list in &document.lists {
                each_element(out, &document, list, &mut |out, row| {
                    collect(out, row.node, row.span, &trace, &mut traces)
                })?;
            }
            tell_damage(out, &document)?;
        } else {
            each_row(out, input.source, input.sniff.shape, |out, row| {
                let trace = trace_id(row.node);
                infos.extend(row.node.get("info").map(|i| (trace.clone(), i.to_value())));
                for node in row.node.at(&["data", "spans"]).map_or(&[][..], Node::items) {
                    collect(out, node, inside(row.span, node), &trace, &mut traces)?;
                }
                Ok(())
            })?;
        }
        for marks in traces.into_traces() {
            self.trace(input, out, &marks, &infos)?;
        }
        Ok(())
    }
}

fn trace_id(top: &Node<'_>) -> String {
    let id = top
        .at(&["info", "trace_id"])
        .or_else(|| top.at(&["info", "request_id"]));
    id.and_then(Node::as_id)
        .unwrap_or_else(|| "trace".to_owned())
}

fn collect(
    out: &mut Out<'_>,
    node: &Node<'_>,
    place: SourceSpan,
    trace: &str,
    traces: &mut Traces,
) -> Result<(), Halt> {
    let id = node
        .id("span_id")
        .or_else(|| node.at(&["context", "span_id"])?.as_id());
    let Some(id) = id else {
        return out.skip(place.line, "a span without an id");
    };
    let nanos = node
        .u64("start_time_unix_nano")
        .or_else(|| node.u64("start_time"));
    let mark = Mark {
        trace: trace.to_owned(),
        id,
        parent: node.id("parent_span_id").or_else(|| node.id("parent_id")),
        start: nanos.and_then(|n| i64::try_from(n).ok()).unwrap_or(0),
        kind: kind(&attributes(node)),
        places: vec![place],
    };
    traces.add(out, mark, false);
    Ok(())
}

fn attributes(node: &Node<'_>) -> Map<String, Value> {
    let map = node.get("attributes").map(Node::to_map).unwrap_or_default();
    map.into_iter()
        .map(|(key, value)| (key, unpacked(&value)))
        .collect()
}

fn kind(map: &Map<String, Value>) -> Kind {
    match map.get("mlflow.spanType").and_then(Value::as_str) {
        Some("CHAT_MODEL" | "LLM") => Kind::Model,
        Some("TOOL") => Kind::Tool,
        _ => Kind::Other,
    }
}

impl MlFlow {
    fn trace(
        &self,
        input: &Input<'_>,
        out: &mut Out<'_>,
        marks: &[Mark],
        infos: &HashMap<String, Value>,
    ) -> Result<(), Halt> {
        let Some(first) = marks.first() else {
            return Ok(());
        };
        let mut head = input.head(first.trace.clone(), self);
        head.span = first.places.first().copied().unwrap_or_default();
        let info = infos.get(&first.trace).cloned().unwrap_or_default();
        if let Some(session) = info.pointer("/trace_metadata/mlflow.trace.session") {
            head.extra.insert("session".to_owned(), session.clone());
        }
        for key in ["state", "status", "tags"] {
            head.extra
                .extend(info.get(key).map(|v| (key.to_owned(), v.clone())));
        }
        let mut run = Run::begin(out, head)?;
        tell(&mut run, input.source, marks, |_, nodes, mark| {
            nodes.first().map(|n| span(n, mark)).unwrap_or_default()
        })?;
        let list = info
            .get("assessments")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let is_valid =
            |a: &Value| a.get("valid") != Some(&Value::Bool(false)) && a.get("feedback").is_some();
        scores::tell(
            &mut run,
            list.into_iter().filter(is_valid).map(assessment).collect(),
        )?;
        run.end()
    }
}

fn assessment(value: Value) -> Score {
    let text = |at: &str| {
        value
            .pointer(at)
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned()
    };
    let name = text("/assessment_name");
    Score {
        source: format!("mlflow:{}", text("/source/source_type")),
        name: if name.is_empty() { text("/name") } else { name },
        value: value
            .pointer("/feedback/value")
            .cloned()
            .unwrap_or_default(),
        reason: text("/rationale"),
        detail: value,
    }
}

fn span(node: &Node<'_>, mark: &Mark) -> Span {
    let map = attributes(node);
    let status = node.get("status");
    let code = status
        .and_then(|s| s.id("code"))
        .or_else(|| node.id("status_code"))
        .unwrap_or_default();
    let is_error = matches!(code.as_str(), "STATUS_CODE_ERROR" | "ERROR");
    let told = status
        .and_then(|s| s.id("message"))
        .or_else(|| node.id("status_message"));
    let (input, output) = (map.get("mlflow.spanInputs"), map.get("mlflow.spanOutputs"));
    let mut span = Span {
        name: node.str("name").unwrap_or("").to_owned(),
        start_us: time(
            node.get("start_time_unix_nano")
                .or_else(|| node.get("start_time")),
        ),
        end_us: time(
            node.get("end_time_unix_nano")
                .or_else(|| node.get("end_time")),
        ),
        error: is_error.then(|| told.unwrap_or_else(|| "error".to_owned())),
        ..Span::default()
    };
    match mark.kind {
        Kind::Model => {
            let mut request = input.and_then(values::request);
            if let (Some(Value::Object(request)), Some(tools)) =
                (&mut request, map.get("mlflow.chat.tools"))
            {
                request.entry("tools").or_insert_with(|| tools.clone());
            }
            span.request = request;
            let mut response = output.and_then(values::response);
            if let (Some(Value::Object(response)), Some(usage)) =
                (&mut response, map.get("mlflow.chat.tokenUsage"))
            {
                response.entry("usage").or_insert_with(|| usage.clone());
            }
            span.response =
                response.or_else(|| Some(json!({"model": map.get("mlflow.llm.model")})));
        }
        Kind::Tool => {
            let input = input.cloned().unwrap_or_default();
            span.tool = Some(ToolRun {
                id: input.get("id").and_then(Value::as_str).map(str::to_owned),
                name: span.name.clone(),
                arguments: text_of(input.get("arguments").cloned().unwrap_or(input)),
                result: output.cloned().map(text_of),
            });
        }
        Kind::Other => {
            span.extra
                .extend(input.map(|v| ("input".to_owned(), v.clone())));
            span.extra
                .extend(output.map(|v| ("output".to_owned(), v.clone())));
        }
    }
    span
}
