//! verifiers (prime-rl): the old results, one rollout a line with `prompt` and `completion`, and the traces of v1, one
//! episode a line with a graph of messages. `ok: true` does not mean that the last call worked.

mod traces;

use super::openai_chat::{by_result, inside};
use super::{Importer, Input};
use crate::domain::{Call, Ending, Owner, Reward, Rollout, SourceSpan, StepKind, TaskId};
use crate::import::chat;
use crate::import::detect::Sniff;
use crate::import::extra::keep;
use crate::import::json::{Kind, Node};
use crate::import::limits::MAX_SIDE_BYTES;
use crate::import::mint::{Twins, mint};
use crate::import::out::{Halt, Out};
use crate::import::rows::{Row, each_row};
use crate::import::run::Run;
use crate::import::source::Source;
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// verifiers.
pub(crate) struct Verifiers;

const KEPT: &[&str] = &[
    "answer",
    "info",
    "error",
    "error_chain",
    "stop_condition",
    "is_truncated",
    "timing",
    "generation_ms",
    "scoring_ms",
    "total_ms",
    "token_usage",
];

impl Importer for Verifiers {
    fn name(&self) -> &'static str {
        "verifiers"
    }

    fn title(&self) -> &'static str {
        "verifiers results (old) and traces (v1)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        if !sniff.is_json() {
            return None;
        }
        let has_nodes = |r: &Value| r.pointer("/traces/0/nodes").is_some();
        if sniff.rows.iter().any(has_nodes) {
            return Some("episodes with traces of nodes".to_owned());
        }
        let has_id = sniff.most_have(&["example_id"]) || sniff.most_have(&["id"]);
        (has_id && sniff.most_have(&["prompt", "completion", "reward"]))
            .then(|| "rows with prompt, completion and reward".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let metadata = metadata(input);
        let mut twins = Twins::default();
        each_row(out, input.source, input.sniff.shape, |out, row| {
            if row.node.get("traces").is_some() {
                return traces::episode(self, input, out, row);
            }
            let id = twins.name(mint(&[row.text]));
            rollout(out, row, input.minted(id, self), &metadata)
        })
    }
}

/// The run's own description, which stands beside the results.
fn metadata(input: &Input<'_>) -> Map<String, Value> {
    let path = &input.unit.path;
    let name = input
        .sniff
        .name
        .replace(".results.jsonl", ".metadata.json")
        .replace("results.jsonl", "metadata.json");
    if name == input.sniff.name {
        return Map::new();
    }
    let path = path.with_file_name(name);
    let text = Source::small(&path, MAX_SIDE_BYTES).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn rollout(
    out: &mut Out<'_>,
    row: &Row<'_>,
    mut head: Rollout,
    metadata: &Map<String, Value>,
) -> Result<(), Halt> {
    let node = row.node;
    let text = |key: &str| metadata.get(key).and_then(Value::as_str).map(str::to_owned);
    head.span = row.span;
    head.harness.name = Some("verifiers".to_owned());
    head.family = text("env_id").or_else(|| text("env"));
    head.model = text("model");
    let id = node.id("example_id").or_else(|| node.id("id"));
    let family = head.family.clone().unwrap_or_else(|| "example".to_owned());
    head.task = id.map(|id| TaskId(format!("{family}-{id}")));
    head.group = head.task.as_ref().map(|t| t.0.clone());
    keep(&mut head.extra, node, KEPT);
    if node.get("error").is_some() {
        head.ending = Ending::Error;
    }
    let reward = reward(node);
    if let Some(value) = reward.result {
        head.outcome = by_result(value);
        head.outcome_source = Some("file:reward".to_owned());
    }
    let sampling = metadata
        .get("sampling_args")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let mut run = Run::begin(out, head)?;
    let mut talk = Talk {
        sampling,
        ..Talk::default()
    };
    for (key, is_sampled) in [("prompt", false), ("completion", true)] {
        talk.said(&mut run, node.get(key), row.span, is_sampled)?;
    }
    run.reward(reward)?;
    run.end()
}

/// The reward, with every other number of the row as its details.
fn reward(node: &Node<'_>) -> Reward {
    let mut reward = node.f64("reward").map_or_else(
        || Reward::missing("verifiers"),
        |v| Reward::result("verifiers", v),
    );
    let is_metric = |key: &str, value: &Node<'_>| {
        matches!(value.kind, Kind::Number(_))
            && !matches!(key, "id" | "example_id" | "reward")
            && !key.ends_with("_ms")
    };
    let metrics = node
        .members()
        .iter()
        .filter(|(key, value)| is_metric(key, value));
    let metrics: Map<String, Value> = metrics
        .map(|(key, value)| (key.clone().into_owned(), value.to_value()))
        .collect();
    reward.detail = Value::Object(metrics);
    reward
}

#[derive(Default)]
struct Talk {
    waiting: VecDeque<String>,
    sampling: Map<String, Value>,
}

impl Talk {
    fn said(
        &mut self,
        run: &mut Run<'_, '_>,
        node: Option<&Node<'_>>,
        row: SourceSpan,
        is_sampled: bool,
    ) -> Result<(), Halt> {
        let Some(node) = node else { return Ok(()) };
        if let Some(text) = node.text() {
            let (owner, role) = if is_sampled {
                (Owner::Model, crate::domain::Role::Assistant)
            } else {
                (Owner::User, crate::domain::Role::User)
            };
            let step = crate::domain::Step::new(owner, StepKind::Text, role, text);
            run.say(vec![step], None)?;
        }
        for message in node.items() {
            self.message(run, message, inside(row, message), is_sampled)?;
        }
        Ok(())
    }

    fn message(
        &mut self,
        run: &mut Run<'_, '_>,
        message: &Node<'_>,
        span: SourceSpan,
        is_sampled: bool,
    ) -> Result<(), Halt> {
        let mut steps = chat::message(run.out, message, span);
        let mut call = None;
        for step in &mut steps {
            match step.owner {
                Owner::Model if !is_sampled => step.owner = Owner::Unknown,
                // What comes as `user` between answers is the environment's.
                Owner::User if is_sampled => step.owner = Owner::Runtime,
                Owner::Tool if step.tool_call_id.is_none() => {
                    step.tool_call_id = self.waiting.pop_front();
                    step.extra.insert("joined".to_owned(), "by position".into());
                }
                _ => {}
            }
            if step.kind == StepKind::ToolCall {
                self.waiting.extend(step.tool_call_id.clone());
            }
        }
        if steps.iter().any(|s| s.owner == Owner::Model) {
            let sampling = self.sampling.clone();
            call = Some(run.call(Call {
                sampling,
                ..super::answered(run, span)
            })?);
        }
        run.say(steps, call)?;
        Ok(())
    }
}
