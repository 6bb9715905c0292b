//! OpenTelemetry spans: OTLP documents and request-per-line files in their three JSON mappings, SDK spans one a line,
//! Phoenix REST pages; with GenAI, Traceloop and OpenInference attributes. Many traces hold no messages at all.

pub(crate) mod attributes;
pub(crate) mod genai;
pub(crate) mod openinference;

use super::{Importer, Input};
use crate::domain::SourceSpan;
use crate::import::detect::{Shape, Sniff, has_all};
use crate::import::document::Document;
use crate::import::json::Node;
use crate::import::out::{Halt, Out};
use crate::import::rows::{each_element, each_row, tell_damage};
use crate::import::run::Run;
use crate::import::scores;
use crate::import::time::time;
use crate::import::trace::{Kind, Mark, Span, ToolRun, Traces, tell};
use attributes::{Attributes, attributes, first, text};
use serde_json::Value;

/// OpenTelemetry spans.
pub(crate) struct Otel;

const LISTS: &[&str] = &[
    "resourceSpans.*.scopeSpans.*.spans",
    "resource_spans.*.scope_spans.*.spans",
    "resourceSpans.*.instrumentationLibrarySpans.*.spans",
    "data",
];

impl Importer for Otel {
    fn name(&self) -> &'static str {
        "otel"
    }

    fn title(&self) -> &'static str {
        "OpenTelemetry spans (OTLP JSON, SDK spans, Phoenix pages; GenAI, Traceloop, OpenInference)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        if !sniff.is_json() {
            return None;
        }
        let is_export =
            |r: &&Value| has_all(r, &["resourceSpans"]) || has_all(r, &["resource_spans"]);
        if sniff.rows.iter().any(|r| is_export(&r)) {
            return Some("OTLP export with resourceSpans".to_owned());
        }
        let page = sniff.first().pointer("/data/0");
        if page.is_some_and(is_span) {
            return Some("a page of spans with trace and span ids".to_owned());
        }
        let spans = sniff.rows.iter().filter(|r| is_span(r)).count();
        (spans > 0 && spans * 2 > sniff.rows.len())
            .then(|| "rows with context.span_id and attributes".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let mut traces = Traces::default();
        // A file of one line looks like a document, and may be one span.
        if input.sniff.shape == Shape::Object && !is_span(input.sniff.first()) {
            out.advance(input.source.len())?;
            let document = Document::open(input.source, LISTS)?;
            for list in &document.lists {
                each_element(out, &document, list, &mut |out, row| {
                    collect(out, row.node, row.span, &mut traces)
                })?;
            }
            tell_damage(out, &document)?;
        } else {
            each_row(out, input.source, input.sniff.shape, |out, row| {
                for span in spans_in(row.node) {
                    collect(
                        out,
                        span,
                        super::openai_chat::inside(row.span, span),
                        &mut traces,
                    )?;
                }
                Ok(())
            })?;
        }
        for marks in traces.into_traces() {
            one(self, input, out, &marks)?;
        }
        Ok(())
    }
}

fn is_span(row: &Value) -> bool {
    let nested = row.pointer("/context/span_id").is_some()
        || row.pointer("/context/spanId").is_some()
        || row.get("context.span_id").is_some();
    let flat = has_all(row, &["trace_id", "span_id"]) || has_all(row, &["traceId", "spanId"]);
    (nested || flat)
        && row.get("rollout_id").is_none()
        && (row.get("attributes").is_some() || row.get("name").is_some())
}

/// Sends one trace.
pub(crate) fn one(
    format: &dyn Importer,
    input: &Input<'_>,
    out: &mut Out<'_>,
    marks: &[Mark],
) -> Result<(), Halt> {
    let Some(first) = marks.first() else {
        return Ok(());
    };
    let mut head = input.head(first.trace.clone(), format);
    head.span = first.places.first().copied().unwrap_or_default();
    let mut run = Run::begin(out, head)?;
    tell(&mut run, input.source, marks, |_, nodes, mark| {
        nodes.first().map(|n| span(n, mark)).unwrap_or_default()
    })?;
    annotated(&mut run, marks)?;
    run.end()
}

/// What people and graders said of the trace's spans, in a file beside it.
fn annotated(run: &mut Run<'_, '_>, marks: &[Mark]) -> Result<(), Halt> {
    let beside = run.out.beside();
    if beside.is_empty() {
        return Ok(());
    }
    let index = beside.index();
    let found = marks.iter().filter_map(|m| index.annotations.get(&m.id));
    let scores = found.flatten().cloned().collect();
    scores::tell(run, scores)
}

/// Spans of a row: of an export request, or the row itself.
fn spans_in<'n, 'a>(row: &'n Node<'a>) -> Vec<&'n Node<'a>> {
    let resources = row
        .list("resourceSpans")
        .iter()
        .chain(row.list("resource_spans"));
    let scopes = resources.flat_map(|r| {
        r.list("scopeSpans")
            .iter()
            .chain(r.list("scope_spans"))
            .chain(r.list("instrumentationLibrarySpans"))
    });
    let spans: Vec<&Node<'a>> = scopes.flat_map(|s| s.list("spans")).collect();
    if spans.is_empty() && !row.has("resourceSpans") && !row.has("resource_spans") {
        vec![row]
    } else {
        spans
    }
}

fn collect(
    out: &mut Out<'_>,
    node: &Node<'_>,
    place: SourceSpan,
    traces: &mut Traces,
) -> Result<(), Halt> {
    match mark(node, place) {
        Some(mark) => {
            traces.add(out, mark, false);
            Ok(())
        }
        None => out.skip(place.line, "a span without trace and span id"),
    }
}

/// An id: hex as it is, `0x` taken off, base64 of the protobuf mapping turned into hex.
fn id(node: &Node<'_>, keys: &[&str]) -> Option<String> {
    let context = node.get("context");
    // Tables write the path of a field into its name.
    let found = keys.iter().find_map(|k| {
        node.id(k)
            .or_else(|| context?.id(k))
            .or_else(|| node.id(&format!("context.{k}")))
    })?;
    let bare = found.strip_prefix("0x").unwrap_or(&found);
    if bare.is_empty() {
        return None;
    }
    let is_hex = bare.bytes().all(|b| b.is_ascii_hexdigit());
    Some(if is_hex {
        bare.to_lowercase()
    } else {
        base64_hex(bare).unwrap_or_else(|| bare.to_owned())
    })
}

fn base64_hex(text: &str) -> Option<String> {
    let text = text.trim_end_matches('=');
    let mut bits = 0_u32;
    let mut count = 0;
    let mut out = String::new();
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push_str(&format!("{:02x}", (bits >> count) & 0xFF));
            bits &= (1 << count) - 1;
        }
    }
    matches!(out.len(), 16 | 32).then_some(out)
}

/// Place and kind of a span.
pub(crate) fn mark(node: &Node<'_>, place: SourceSpan) -> Option<Mark> {
    let map = attributes::of_span(node);
    Some(Mark {
        trace: id(node, &["traceId", "trace_id"])?,
        id: id(node, &["spanId", "span_id"])?,
        parent: id(node, &["parentSpanId", "parent_span_id", "parent_id"]),
        start: start_of(node).unwrap_or(0),
        kind: kind(node, &map),
        places: vec![place],
    })
}

fn start_of(node: &Node<'_>) -> Option<i64> {
    // Nanoseconds sort finer than the microseconds that we keep.
    let nanos = ["startTimeUnixNano", "start_time_unix_nano"]
        .iter()
        .find_map(|k| node.u64(k));
    nanos
        .and_then(|n| i64::try_from(n).ok())
        .or_else(|| time(node.get("start_time")))
}

/// What a span is, by whatever convention it follows.
pub(crate) fn kind(node: &Node<'_>, map: &Attributes) -> Kind {
    let said = node
        .id("span_kind")
        .filter(|k| !k.starts_with("SPAN_KIND"))
        .or_else(|| text(map, "openinference.span.kind"));
    let operation = text(map, "gen_ai.operation.name").unwrap_or_default();
    let trace_loop = text(map, "traceloop.span.kind").unwrap_or_default();
    match (
        said.as_deref().unwrap_or(""),
        operation.as_str(),
        trace_loop.as_str(),
    ) {
        ("LLM", _, _) | (_, "chat" | "text_completion" | "generate_content", _) => Kind::Model,
        ("TOOL", _, _) | (_, "execute_tool", _) | (_, _, "tool") => Kind::Tool,
        ("", "", "")
            if map.contains_key("llm.request.type") || map.contains_key("gen_ai.request.model") =>
        {
            Kind::Model
        }
        _ => Kind::Other,
    }
}

/// Reads a span.
pub(crate) fn span(node: &Node<'_>, mark: &Mark) -> Span {
    let map = attributes::of_span(node);
    let events = events(node);
    let mut span = Span {
        name: node.str("name").unwrap_or("").to_owned(),
        start_us: time(
            node.get("startTimeUnixNano")
                .or_else(|| node.get("start_time_unix_nano")),
        )
        .or_else(|| time(node.get("start_time"))),
        end_us: time(
            node.get("endTimeUnixNano")
                .or_else(|| node.get("end_time_unix_nano")),
        )
        .or_else(|| time(node.get("end_time"))),
        error: error(node, &map, &events),
        session: first(
            &map,
            &["session.id", "gen_ai.conversation.id", "session_id"],
        )
        .and_then(Value::as_str)
        .map(str::to_owned),
        harness: text(&map, "gen_ai.agent.name"),
        ..Span::default()
    };
    match mark.kind {
        Kind::Model => {
            span.request = openinference::request(&map).or_else(|| genai::request(&map, &events));
            span.response =
                openinference::response(&map).or_else(|| genai::response(&map, &events));
        }
        Kind::Tool => span.tool = Some(tool(node, &map)),
        Kind::Other => {
            for key in [
                "input.value",
                "output.value",
                "metadata",
                "user.id",
                "gen_ai.agent.name",
                "metadata.scenario",
            ] {
                if let Some(value) = map.get(key) {
                    span.extra.insert(key.to_owned(), value.clone());
                }
            }
        }
    }
    span
}

fn tool(node: &Node<'_>, map: &Attributes) -> ToolRun {
    let found = |keys: &[&str]| {
        first(map, keys).map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned))
    };
    ToolRun {
        id: found(&["gen_ai.tool.call.id", "tool_call.id", "tool.call.id"]),
        name: found(&["gen_ai.tool.name", "tool.name", "traceloop.entity.name"])
            .unwrap_or_else(|| node.str("name").unwrap_or("").to_owned()),
        arguments: found(&[
            "gen_ai.tool.call.arguments",
            "tool.parameters",
            "input.value",
            "traceloop.entity.input",
        ])
        .unwrap_or_default(),
        result: found(&[
            "gen_ai.tool.call.result",
            "output.value",
            "traceloop.entity.output",
        ]),
    }
}

fn events(node: &Node<'_>) -> Vec<(String, Attributes)> {
    let each = |e: &Node<'_>| {
        (
            e.str("name").unwrap_or("").to_owned(),
            attributes(e.get("attributes")),
        )
    };
    node.list("events").iter().map(each).collect()
}

/// An error status, with its message or the exception's.
fn error(node: &Node<'_>, map: &Attributes, events: &[(String, Attributes)]) -> Option<String> {
    let status = node.get("status");
    let code = status
        .and_then(|s| s.id("code").or_else(|| s.id("status_code")))
        .or_else(|| node.id("status_code"));
    let is_error = matches!(
        code.as_deref(),
        Some("2" | "ERROR" | "STATUS_CODE_ERROR" | "Error")
    ) || map.contains_key("error.type");
    if !is_error {
        return None;
    }
    let told = status
        .and_then(|s| s.id("message").or_else(|| s.id("description")))
        .or_else(|| node.id("status_message"));
    let exception = events.iter().find(|(name, _)| name == "exception");
    let thrown = exception.and_then(|(_, e)| text(e, "exception.message"));
    told.or(thrown)
        .or_else(|| text(map, "error.type"))
        .or_else(|| Some("error".to_owned()))
}
