//! An episode of verifiers v1: nodes with parent links (the last node's ancestors are the path), calls that point to
//! the node they sampled, and calls that failed and left no node.

use super::super::openai_chat::{by_result, inside, tools};
use super::super::{Importer, Input};
use crate::domain::{Call, Ending, Outcome, Owner, Reward, Rollout, SourceSpan, TaskId};
use crate::import::answer::{logprobs, token_ids, usage};
use crate::import::chat;
use crate::import::extra::{bounded, keep};
use crate::import::json::Node;
use crate::import::out::{Halt, Out};
use crate::import::rows::Row;
use crate::import::run::Run;
use crate::import::time::time;
use std::collections::HashSet;

/// Sends every trace of an episode.
pub(super) fn episode(
    format: &dyn Importer,
    input: &Input<'_>,
    out: &mut Out<'_>,
    row: &Row<'_>,
) -> Result<(), Halt> {
    for trace in row.node.list("traces") {
        let id = trace
            .id("id")
            .or_else(|| row.node.id("id"))
            .unwrap_or_default();
        let mut head = input.head(id, format);
        head.span = inside(row.span, trace);
        about(row.node, trace, &mut head);
        let reward = reward(trace);
        if let Some(value) = reward.result {
            head.outcome = by_result(value);
            head.outcome_source =
                (head.outcome != Outcome::Unknown).then(|| "file:reward".to_owned());
        }
        let mut run = Run::begin(out, head)?;
        graph(&mut run, trace, row.span)?;
        run.reward(reward)?;
        run.end()?;
    }
    Ok(())
}

fn about(episode: &Node<'_>, trace: &Node<'_>, head: &mut Rollout) {
    let task = trace.get("task").or_else(|| episode.get("task"));
    let config = trace.at(&["agent", "config"]);
    head.task = task
        .and_then(|t| t.id("key").or_else(|| t.id("hash")))
        .map(TaskId);
    head.family = episode.at(&["env", "id"]).and_then(Node::as_id);
    head.group = episode
        .id("group")
        .or_else(|| head.task.as_ref().map(|t| t.0.clone()));
    head.model = config.and_then(|c| c.id("model"));
    head.harness.name = config
        .and_then(|c| c.at(&["harness", "id"])?.as_id())
        .map(|h| format!("verifiers:{h}"));
    head.harness.version = trace.at(&["verifiers", "version"]).and_then(Node::as_id);
    head.tools = tools(trace);
    head.extra.extend(
        task.and_then(|t| t.get("data"))
            .map(|d| ("task".to_owned(), bounded(d))),
    );
    keep(
        &mut head.extra,
        trace,
        &["metrics", "info", "stop_condition", "errors", "ok"],
    );
    keep(&mut head.extra, episode, &["run"]);
    head.ending_note = trace.id("stop_condition");
    let failed = trace.list("calls").last().and_then(|c| c.get("error"));
    head.ending = match (failed, trace.bool("is_timeout"), trace.bool("ok")) {
        (Some(error), _, _) => {
            head.ending_note = error.id("message");
            Ending::Error
        }
        (None, Some(true), _) => Ending::Limit,
        (None, _, Some(false)) => Ending::Error,
        _ if trace.bool("is_completed") == Some(true) => Ending::Finished,
        _ => Ending::Unknown,
    };
}

/// The sum of score times weight; the parts are its details.
fn reward(trace: &Node<'_>) -> Reward {
    let parts = trace.get("rewards").map_or(&[][..], Node::members);
    let told: Vec<f64> = parts
        .iter()
        .filter_map(|(_, r)| Some(r.f64("score")? * r.f64("weight").unwrap_or(1.0)))
        .collect();
    let mut reward = Reward::missing("verifiers");
    if !told.is_empty() {
        reward = Reward::result("verifiers", told.iter().sum());
    }
    reward.detail = trace.get("rewards").map(bounded).unwrap_or_default();
    reward
}

fn graph(run: &mut Run<'_, '_>, trace: &Node<'_>, row: SourceSpan) -> Result<(), Halt> {
    let nodes = trace.list("nodes");
    let path = path(nodes);
    let mut calls = trace.list("calls").iter().peekable();
    for (at, node) in (0_u64..).zip(nodes) {
        let mut call = None;
        // A call that failed stands before the node of the next one.
        while let Some(next) = calls.next_if(|c| c.u64("node").is_none_or(|n| n <= at)) {
            let index = run.call(call_of(next, next.u64("node").and(Some(node)), row))?;
            call = next
                .u64("node")
                .filter(|&n| n == at)
                .map(|_| index)
                .or(call);
        }
        let Some(message) = node.get("message") else {
            continue;
        };
        let mut steps = chat::message(run.out, message, inside(row, message));
        for step in &mut steps {
            step.off_path = !path.contains(&at);
            step.at_us = time(node.get("timestamp"));
            if step.owner == Owner::Model && node.bool("sampled") == Some(false) {
                step.owner = Owner::Unknown;
            }
        }
        run.say(steps, call)?;
    }
    for rest in calls {
        run.call(call_of(rest, None, row))?;
    }
    Ok(())
}

/// The last node and its ancestors.
fn path(nodes: &[Node<'_>]) -> HashSet<u64> {
    let mut path = HashSet::new();
    let mut at = (nodes.len() as u64).checked_sub(1);
    while let Some(node) = at.filter(|node| path.insert(*node)) {
        let place = usize::try_from(node).ok();
        at = place
            .and_then(|p| nodes.get(p))
            .and_then(|n| n.u64("parent"));
    }
    path
}

fn call_of(call: &Node<'_>, node: Option<&Node<'_>>, row: SourceSpan) -> Call {
    let start = call.at(&["time", "start"]);
    let seconds = call
        .at(&["time", "end"])
        .and_then(Node::as_f64)
        .zip(start.and_then(Node::as_f64));
    let mut made = Call {
        model: call.id("model"),
        finish_reason: call.id("finish_reason"),
        error: call
            .get("error")
            .map(|e| e.id("message").unwrap_or_else(|| e.compact())),
        usage: call.get("usage").map(usage).unwrap_or_default(),
        sampling: call.get("sampling").map(Node::to_map).unwrap_or_default(),
        latency_ms: seconds.map(|(end, start)| (end - start) * 1000.0),
        completion_token_ids: node
            .and_then(|n| n.get("token_ids"))
            .and_then(token_ids)
            .filter(|t| !t.is_empty()),
        logprobs: node
            .and_then(|n| n.get("logprobs"))
            .and_then(logprobs)
            .filter(|l| !l.is_empty()),
        at_us: time(start),
        source: inside(row, call),
        ..Call::default()
    };
    // Cached tokens stand beside the prompt's here, not in it.
    let cached = call
        .at(&["usage", "cached_input_tokens"])
        .and_then(Node::as_u64);
    made.usage.cached = cached;
    made.usage.input = crate::import::answer::sum(&[made.usage.input, cached]);
    made.usage.reasoning = call
        .at(&["usage", "reasoning_tokens"])
        .and_then(Node::as_u64);
    made
}
