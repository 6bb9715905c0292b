//! Agent Lightning's legacy branch (0.x): spans of its store, one a line, with the rollout objects beside them. Not the
//! events of 1.0: those are `agent_lightning.rs`, and one dataset never mixes the two (S-31).

use super::otel::attributes::{Attributes, attributes, indexed, text};
use super::otel::genai;
use super::{Importer, Input};
use crate::domain::{Ending, Reward, Rollout, TaskId};
use crate::import::detect::Sniff;
use crate::import::json::Node;
use crate::import::limits::MAX_VALUE_BYTES;
use crate::import::out::{Halt, Out};
use crate::import::rows::each_row;
use crate::import::run::Run;
use crate::import::source::Source;
use crate::import::time::time;
use crate::import::trace::{Kind, Mark, Span, ToolRun, Traces, tell};
use crate::import::values::unpacked;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Agent Lightning 0.x.
pub(crate) struct AgentLightningLegacy;

impl Importer for AgentLightningLegacy {
    fn name(&self) -> &'static str {
        "agent-lightning-0"
    }

    fn title(&self) -> &'static str {
        "Agent Lightning 0.x spans (legacy branch)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        if !sniff.is_json() {
            return None;
        }
        if sniff.most_have(&["rollout_id", "attempt_id", "sequence_id", "span_id"]) {
            return Some("spans with rollout_id, attempt_id and sequence_id".to_owned());
        }
        let record = sniff
            .first()
            .pointer("/rollout/rollout_id")
            .and_then(Value::as_str);
        if record.is_some_and(|id| id.starts_with("ro-")) {
            return Some("rollout objects of the 0.x store".to_owned());
        }
        (sniff.most_have(&["prompt", "response", "reward"])
            && sniff.first().pointer("/prompt/token_ids").is_some())
        .then(|| "triplets of the 0.x adapter".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        if !input.sniff.most_have(&["span_id", "sequence_id"]) {
            out.note("derived from spans: import the spans, which hold every call");
            return out.advance(input.source.len());
        }
        let records = Records::beside(input, out);
        let mut traces = Traces::default();
        each_row(out, input.source, input.sniff.shape, |out, row| {
            let node = row.node;
            let (Some(id), Some(rollout)) = (node.id("span_id"), node.id("rollout_id")) else {
                return out.skip(row.span.line, "a span without span_id and rollout_id");
            };
            let mark = Mark {
                trace: rollout,
                id,
                parent: node.id("parent_id"),
                start: time(node.get("start_time")).unwrap_or(0),
                kind: kind(node),
                places: vec![row.span],
            };
            traces.add(out, mark, false);
            Ok(())
        })?;
        for marks in traces.into_traces() {
            self.rollout(input, out, &marks, &records)?;
        }
        Ok(())
    }
}

fn kind(node: &Node<'_>) -> Kind {
    let name = node.str("name").unwrap_or("");
    let map = node.get("attributes");
    let has = |key: &str| map.is_some_and(|m| m.has(key));
    if name.starts_with("tool_call.") {
        // What the model asked for, under the span of its answer; not a tool that ran.
        Kind::Other
    } else if has("gen_ai.request.model") || has("gen_ai.request.type") {
        Kind::Model
    } else {
        Kind::Other
    }
}

impl AgentLightningLegacy {
    fn rollout(
        &self,
        input: &Input<'_>,
        out: &mut Out<'_>,
        marks: &[Mark],
        records: &Records,
    ) -> Result<(), Halt> {
        let Some(first) = marks.first() else {
            return Ok(());
        };
        let mut head = input.head(first.trace.clone(), self);
        head.span = first.places.first().copied().unwrap_or_default();
        head.harness.name = Some("agent-lightning".to_owned());
        head.extra.insert("stage".to_owned(), "legacy".into());
        let mut run = Run::begin(out, head)?;
        let asked = asked(input, marks);
        let mut rewards = Vec::new();
        tell(&mut run, input.source, marks, |_, nodes, mark| {
            let Some(node) = nodes.first() else {
                return Span::default();
            };
            rewards.extend(reward(node));
            span(
                node,
                mark,
                asked.get(&mark.id).map_or(&[][..], Vec::as_slice),
            )
        })?;
        run.head.extra.remove("root");
        records.tell(&first.trace, &mut run.head);
        if let Some(reward) = rewards.pop() {
            run.head.outcome = reward
                .result
                .map_or(run.head.outcome, super::openai_chat::by_result);
            run.head.outcome_source = Some("file:reward".to_owned());
            run.reward(reward)?;
        }
        run.end()
    }
}

/// Tool calls that stand in spans of their own below the answer that holds them.
fn asked(input: &Input<'_>, marks: &[Mark]) -> HashMap<String, Vec<ToolRun>> {
    let mut asked: HashMap<String, Vec<ToolRun>> = HashMap::new();
    for mark in marks.iter().filter(|m| m.kind == Kind::Other) {
        let Some(parent) = mark.parent.clone() else {
            continue;
        };
        // A span that cannot be read again is told of by the walk that sends it on.
        let _ = crate::import::group::replay(input.source, &mark.places, |row| {
            if row
                .node
                .str("name")
                .is_some_and(|n| n.starts_with("tool_call."))
            {
                let map = attributes(row.node.get("attributes"));
                asked.entry(parent.clone()).or_default().push(ToolRun {
                    id: text(&map, "tool.call.id"),
                    name: text(&map, "tool.name").unwrap_or_default(),
                    arguments: text(&map, "tool.parameters").unwrap_or_default(),
                    result: None,
                });
            }
            Ok(())
        });
    }
    asked
}

fn span(node: &Node<'_>, mark: &Mark, asked: &[ToolRun]) -> Span {
    let map = attributes(node.get("attributes"));
    let status = node.get("status");
    let is_error = status.and_then(|s| s.str("status_code")) == Some("ERROR");
    let mut span = Span {
        name: node.str("name").unwrap_or("").to_owned(),
        start_us: time(node.get("start_time")),
        end_us: time(node.get("end_time")),
        error: is_error.then(|| {
            status
                .and_then(|s| s.id("description"))
                .unwrap_or_else(|| "error".to_owned())
        }),
        ..Span::default()
    };
    if mark.kind == Kind::Model {
        span.request = genai::request(&map, &[]);
        span.response = genai::response(&map, &[]).map(|r| whole_response(r, &map, asked));
        span.attempt = node.id("attempt_id");
    }
    span
}

/// The response with its tokens and with the tool calls that stand apart.
fn whole_response(mut response: Value, map: &Attributes, asked: &[ToolRun]) -> Value {
    let calls: Vec<Value> = asked
        .iter()
        .map(|c| json!({"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}))
        .collect();
    if let Some(ids) = map.get("prompt_token_ids")
        && let Value::Object(response) = &mut response
    {
        response.insert("prompt_token_ids".to_owned(), unpacked(ids));
    }
    let Some(Value::Object(choice)) = response.pointer_mut("/choices/0") else {
        return response;
    };
    for (key, from) in [
        ("token_ids", "response_token_ids"),
        ("logprobs", "logprobs.content"),
    ] {
        if let Some(value) = map.get(from) {
            choice.insert(key.to_owned(), unpacked(value));
        }
    }
    if let Some(Value::Object(message)) = choice.get_mut("message")
        && !calls.is_empty()
    {
        message.entry("tool_calls").or_insert_with(|| calls.into());
    }
    response
}

/// A reward is an annotation span; the first of its dimensions is the reward, all of them are its details.
fn reward(node: &Node<'_>) -> Option<Reward> {
    let map = attributes(node.get("attributes"));
    let all = indexed(&map, "agentlightning.reward");
    let first = all.first()?;
    let name = text(first, "name").unwrap_or_else(|| "reward".to_owned());
    let value: Option<f64> = text(first, "value").and_then(|v| v.parse().ok());
    let mut reward = value.map_or_else(|| Reward::missing(&name), |v| Reward::result(&name, v));
    reward.detail = json!({"dimensions": all});
    Some(reward)
}

/// Rollout objects that stand beside the spans.
#[derive(Default)]
struct Records(HashMap<String, Value>);

impl Records {
    fn beside(input: &Input<'_>, out: &mut Out<'_>) -> Self {
        let path = input.unit.path.with_file_name("rollouts.json");
        let Some(text) = Source::small(&path, MAX_VALUE_BYTES as u64) else {
            if path.exists() {
                out.note("rollouts.json beside the spans is too large, or no file: not read");
            }
            return Self::default();
        };
        let rows: Vec<Value> = serde_json::from_slice(&text).unwrap_or_default();
        let each = |row: Value| {
            let rollout = row.get("rollout").cloned().unwrap_or(row);
            let id = rollout.get("rollout_id")?.as_str()?.to_owned();
            Some((id, rollout))
        };
        Self(rows.into_iter().filter_map(each).collect())
    }

    fn tell(&self, id: &str, head: &mut Rollout) {
        let Some(record) = self.0.get(id) else { return };
        let status = record.get("status").and_then(Value::as_str).unwrap_or("");
        head.ending_note = Some(status.to_owned());
        head.ending = match status {
            "succeeded" => Ending::Finished,
            "failed" => Ending::Error,
            "cancelled" => Ending::Abrupt,
            _ => head.ending,
        };
        let task = record
            .pointer("/input/data_id")
            .or(record.pointer("/input/task_id"));
        head.task = task.and_then(Value::as_str).map(|t| TaskId(t.to_owned()));
        head.extra.insert("rollout".to_owned(), record.clone());
    }
}
