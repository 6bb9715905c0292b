//! OpenHands V1: a conversation folder with one file an event, a dump of events one a line, and the benchmarks'
//! `output.jsonl` with a history of events a line. Actions of one answer share its response id.

mod event;

use super::openai_chat::inside;
use super::{Importer, Input};
use crate::domain::{
    Ending, Outcome, Owner, Reward, Role, Rollout, SourceSpan, Step, StepKind, TaskId, Usage,
};
use crate::import::detect::{Shape, Sniff};
use crate::import::extra::{bounded, keep};
use crate::import::json::Node;
use crate::import::mint::{Twins, mint};
use crate::import::out::{Halt, Out};
use crate::import::parse::{Flaws, decode, parse};
use crate::import::raw::event_number;
use crate::import::rows::{Row, each_row};
use crate::import::run::Run;
use crate::import::source::Source;
use event::{Cost, Talk};
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;

/// OpenHands.
pub(crate) struct OpenHands;

impl Importer for OpenHands {
    fn name(&self) -> &'static str {
        "openhands"
    }

    fn title(&self) -> &'static str {
        "OpenHands V1 (conversation folder, event dump, output.jsonl)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        if sniff.shape == Shape::Folder {
            let has_events = sniff.members.iter().any(|m| m.starts_with("events/event-"));
            return has_events.then(|| "a folder with events/event-….json".to_owned());
        }
        if !sniff.is_json() {
            return None;
        }
        if sniff.most_have(&["instance_id", "history", "metadata"]) {
            return Some("rows with instance_id, history and metadata".to_owned());
        }
        let kind = |r: &Value| {
            r.get("kind")
                .and_then(Value::as_str)
                .map(str::to_owned)
                .unwrap_or_default()
        };
        let is_event = |r: &&Value| {
            let kind = kind(r);
            r.get("source").is_some()
                && (kind.ends_with("Event")
                    || kind.ends_with("Observation")
                    || kind.starts_with("Condensation"))
        };
        let events = sniff.rows.iter().filter(is_event).count();
        (events > 0 && events * 2 > sniff.rows.len())
            .then(|| "rows with kind …Event and source".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        if input.sniff.shape == Shape::Folder {
            return self.folder(input, out);
        }
        if input.sniff.most_have(&["history"]) {
            let mut twins = Twins::default();
            return each_row(out, input.source, input.sniff.shape, |out, row| {
                let id = twins.name(mint(&[row.text]));
                instance(out, row, input.minted(id, self))
            });
        }
        let name = input
            .sniff
            .first()
            .get("id")
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned();
        let mut head = input.minted(mint(&[&name, &input.sniff.first().to_string()]), self);
        head.harness.name = Some("openhands".to_owned());
        let mut run = Run::begin(out, head)?;
        let mut talk = Talk::default();
        each_row(&mut run, input.source, input.sniff.shape, |run, row| {
            talk.event(run, row.node, row.span)
        })?;
        talk.close(&mut run)?;
        run.end()
    }
}

impl OpenHands {
    /// One file an event; files may be missing in the middle.
    fn folder(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let folder = input.unit.path.join("events");
        let entries = std::fs::read_dir(&folder).map_err(|e| Halt::file(e.to_string()))?;
        let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
        files.retain(|p| p.extension().is_some_and(|e| e == "json"));
        files.sort();
        let state = read_text(&input.unit.path.join("base_state.json"));
        let state = state
            .as_deref()
            .and_then(|t| parse(t, &mut Flaws::default()).ok());
        let mut head = match state.as_ref().and_then(|s| s.id("id")) {
            Some(id) => input.head(id, self),
            None => input.minted(mint(&[&input.sniff.name]), self),
        };
        head.harness.name = Some("openhands".to_owned());
        head.model = state
            .as_ref()
            .and_then(|s| s.at(&["agent", "llm", "model"])?.as_id());
        let mut talk = Talk::default();
        if let Some(state) = &state {
            about(state, &mut head);
            talk.costs = costs(state);
        }
        let mut run = Run::begin(out, head)?;
        for file in files {
            let Some(text) = read_text(&file) else {
                run.out
                    .skip(0, format!("{}: cannot be read", file.display()))?;
                continue;
            };
            run.out.advance(text.len() as u64)?;
            match parse(&text, &mut Flaws::default()) {
                Ok(node) => talk.event(&mut run, &node, place_of(&file, &text))?,
                Err(bad) => run
                    .out
                    .skip(0, format!("{}: not JSON: {}", file.display(), bad.what))?,
            }
        }
        talk.close(&mut run)?;
        run.end()
    }
}

/// What the conversation's state tells of the harness (S-29).
fn about(state: &Node<'_>, head: &mut Rollout) {
    let limit = state.get("max_iterations").and_then(Node::as_id);
    head.harness.stop_rule = limit.map(|n| format!("max_iterations={n}"));
    let condenser = state.at(&["agent", "condenser"]);
    head.harness.compression = condenser.and_then(|c| c.id("kind"));
    head.ending_note = state.id("execution_status");
}

/// What each answer cost. The state lists tokens and times of every response beside the sums.
fn costs(state: &Node<'_>) -> HashMap<String, Cost> {
    let mut costs: HashMap<String, Cost> = HashMap::new();
    let all = state.at(&["stats", "usage_to_metrics"]);
    for (_, metrics) in all.map_or(&[][..], Node::members) {
        for tokens in metrics.list("token_usages") {
            if let Some(id) = tokens.id("response_id") {
                costs.entry(id).or_default().usage = Some(Usage {
                    input: tokens.u64("prompt_tokens"),
                    output: tokens.u64("completion_tokens"),
                    cached: tokens.u64("cache_read_tokens"),
                    reasoning: tokens.u64("reasoning_tokens"),
                });
            }
        }
        for took in metrics.list("response_latencies") {
            if let Some(id) = took.id("response_id") {
                costs.entry(id).or_default().latency_ms = took.f64("latency").map(|s| s * 1000.0);
            }
        }
    }
    costs
}

/// A whole file of a folder; the line is its number, from 1.
fn place_of(file: &std::path::Path, text: &str) -> SourceSpan {
    SourceSpan {
        offset: 0,
        len: text.len() as u64,
        line: event_number(file).map_or(0, |n| n.saturating_add(1)),
    }
}

fn read_text(path: &std::path::Path) -> Option<String> {
    let source = Source::open(path).ok()?;
    let bytes = source
        .read_at(0, crate::import::limits::MAX_VALUE_BYTES)
        .ok()?;
    Some(decode(&bytes, &mut Flaws::default()).into_owned())
}

/// A line of a benchmark's output.
fn instance(out: &mut Out<'_>, row: &Row<'_>, mut head: Rollout) -> Result<(), Halt> {
    let node = row.node;
    head.span = row.span;
    head.harness.name = Some("openhands".to_owned());
    head.task = node.id("instance_id").map(TaskId);
    head.model = node.at(&["metadata", "llm", "model"]).and_then(Node::as_id);
    head.family = node.at(&["metadata", "dataset"]).and_then(Node::as_id);
    let limit = node
        .at(&["metadata", "max_iterations"])
        .and_then(Node::as_id);
    head.harness.stop_rule = limit.map(|n| format!("max_iterations={n}"));
    keep(
        &mut head.extra,
        node,
        &["test_result", "instruction", "metrics", "error"],
    );
    if let Some(error) = node.id("error") {
        (head.ending, head.ending_note) = (Ending::Error, Some(error));
    }
    let reward = reward(node, &mut head);
    let mut run = Run::begin(out, head)?;
    let mut talk = Talk::default();
    let has_request = node
        .list("history")
        .iter()
        .any(|e| e.str("kind") == Some("MessageEvent"));
    // The request is not always among the events; it stands beside them.
    if let Some(text) = node.str("instruction").filter(|_| !has_request) {
        let mut step = Step::new(Owner::User, StepKind::Text, Role::User, text);
        step.source = row.span;
        run.say(vec![step], None)?;
    }
    for event in node.list("history") {
        talk.event(&mut run, event, inside(row.span, event))?;
    }
    talk.close(&mut run)?;
    run.reward(reward)?;
    run.end()
}

/// The benchmark's own numbers: points reached of points to reach. No points at all say nothing.
fn reward(node: &Node<'_>, head: &mut Rollout) -> Reward {
    let mut reward = Reward::missing("openhands-benchmark");
    let test = node.get("test_result");
    let score = test.and_then(|t| t.get("final_score"));
    let points = score.and_then(|s| Some((s.f64("result")?, s.f64("total").filter(|t| *t > 0.0)?)));
    if let Some((reached, total)) = points {
        reward = Reward::result("openhands-benchmark", reached / total);
        head.outcome = super::openai_chat::by_result(reached / total);
    } else if let Some(resolved) = test.and_then(|t| t.bool("resolved")) {
        reward = Reward::result("openhands-benchmark", f64::from(u8::from(resolved)));
        head.outcome = if resolved {
            Outcome::Pass
        } else {
            Outcome::Fail
        };
    }
    head.outcome_source = (head.outcome != Outcome::Unknown).then(|| "file:test_result".to_owned());
    reward.detail = test.map(bounded).unwrap_or_default();
    reward
}
