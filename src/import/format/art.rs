//! ART (OpenPipe) trajectories: a parquet table a step with one trajectory a row, and the older lines of one group
//! each. `trainable` says what the policy sampled; an answer without it was given to the model, not made by it.

use super::openai_chat::{by_result, inside, tools};
use super::{Importer, Input};
use crate::domain::{Owner, Reward, Rollout, SourceSpan, TaskId};
use crate::import::answer;
use crate::import::chat;
use crate::import::detect::Sniff;
use crate::import::extra::{bounded, keep};
use crate::import::json::Node;
use crate::import::mint::{Twins, mint};
use crate::import::out::{Halt, Out};
use crate::import::parse::{Flaws, parse};
use crate::import::rows::{Row, each_row};
use crate::import::run::Run;
use serde_json::Value;

/// ART.
pub(crate) struct Art;

impl Importer for Art {
    fn name(&self) -> &'static str {
        "art"
    }

    fn title(&self) -> &'static str {
        "ART trajectories (parquet tables, and older JSONL groups)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        if !sniff.is_json() {
            return None;
        }
        if sniff.most_have(&["group_index", "messages", "reward"]) {
            return Some("rows with group_index, messages and reward".to_owned());
        }
        let has_choices = |r: &Value| r.pointer("/trajectories/0/messages_and_choices").is_some();
        sniff
            .rows
            .iter()
            .any(has_choices)
            .then(|| "groups of trajectories with messages_and_choices".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let mut twins = Twins::default();
        each_row(out, input.source, input.sniff.shape, |out, row| {
            let file = &input.sniff.name;
            if row.node.has("trajectories") {
                let group = format!("{file}:{}", row.span.line);
                for node in row.node.list("trajectories") {
                    let text = row.text.get(node.start as usize..node.end as usize);
                    let id = twins.name(mint(&[text.unwrap_or("")]));
                    let mut head = input.minted(id, self);
                    head.group = Some(group.clone());
                    trajectory(out, node, row.span, head)?;
                }
                return Ok(());
            }
            if !row.node.is_object() {
                return out.skip(row.span.line, "not a trajectory");
            }
            let id = twins.name(mint(&[row.text]));
            let mut head = input.minted(id, self);
            head.group = row.node.id("group_index").map(|n| format!("{file}:{n}"));
            table_row(out, row, head)
        })
    }
}

fn table_row(out: &mut Out<'_>, row: &Row<'_>, mut head: Rollout) -> Result<(), Halt> {
    keep(
        &mut head.extra,
        row.node,
        &["group_metadata", "group_metrics", "group_logs"],
    );
    trajectory(out, row.node, row.span, head)
}

fn trajectory(
    out: &mut Out<'_>,
    node: &Node<'_>,
    row: SourceSpan,
    mut head: Rollout,
) -> Result<(), Halt> {
    head.span = inside(row, node);
    head.harness.name = Some("art".to_owned());
    head.tools = tools(node);
    let metadata = unpacked(node.get("metadata"));
    let text = |key: &str| metadata.get(key).and_then(as_id);
    head.task = text("task_id").map(TaskId);
    head.scenario = text("scenario");
    if !metadata.is_null() {
        head.extra.insert("metadata".to_owned(), metadata.clone());
    }
    keep(&mut head.extra, node, &["logs"]);
    let reward = reward(node);
    if let Some(value) = reward.result {
        head.outcome = by_result(value);
        head.outcome_source = Some("file:reward".to_owned());
    }
    let mut run = Run::begin(out, head)?;
    let said = node
        .get("messages")
        .or_else(|| node.get("messages_and_choices"));
    for message in said.map_or(&[][..], Node::items) {
        say(&mut run, message, inside(row, message))?;
    }
    run.reward(reward)?;
    run.end()
}

/// A message, or a choice of a provider's answer, which is what the policy sampled.
fn say(run: &mut Run<'_, '_>, node: &Node<'_>, span: SourceSpan) -> Result<(), Halt> {
    let inner = node.get("message").filter(|m| m.is_object());
    let is_sampled = inner.is_some() || node.bool("trainable") == Some(true);
    let message = inner.unwrap_or(node);
    let mut steps = chat::message_of(run.out, message, span, &["trainable"]);
    if !is_sampled {
        for step in steps.iter_mut().filter(|s| s.owner == Owner::Model) {
            step.owner = Owner::Unknown;
        }
    }
    let call = if is_sampled && steps.iter().any(|s| s.owner == Owner::Model) {
        let mut call = super::answered(run, span);
        if inner.is_some() {
            call = answer::call(None, Some(node), Some(node));
            call.source = span;
        }
        Some(run.call(call)?)
    } else {
        None
    };
    run.say(steps, call)?;
    Ok(())
}

fn reward(node: &Node<'_>) -> Reward {
    let result = node.f64("reward");
    let mut reward = result.map_or_else(|| Reward::missing("art"), |v| Reward::result("art", v));
    reward.detail = unpacked(node.get("metrics"));
    reward
}

/// JSON that stands in a text, or the value itself.
fn unpacked(node: Option<&Node<'_>>) -> Value {
    let Some(node) = node else { return Value::Null };
    let inner = node.text().map(|text| parse(text, &mut Flaws::default()));
    match inner {
        Some(Ok(inner)) => bounded(&inner),
        _ => bounded(node),
    }
}

fn as_id(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
