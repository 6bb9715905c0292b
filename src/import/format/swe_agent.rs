//! SWE-agent trajectories (0.x and 1.x) and its demonstration files of history alone. The history is the
//! conversation; `trajectory` repeats it with whole prompts and is read only where a damaged file has no history.
//! A retry agent's other attempts are runs of their own. Reward and times are not in the file.

use super::{Importer, Input};
use crate::domain::{Ending, Owner, Role, Rollout, Step, StepKind, TaskId};
use crate::import::chat;
use crate::import::detect::{Sniff, has_all};
use crate::import::document::{Document, LongList};
use crate::import::extra::keep;
use crate::import::json::Node;
use crate::import::mint::mint;
use crate::import::out::{Halt, Out};
use crate::import::rows::{Row, each_element, opening, tell_damage};
use crate::import::run::Run;
use crate::import::values::unpacked;
use serde_json::Value;
use std::collections::VecDeque;

/// SWE-agent.
pub(crate) struct SweAgent;

const ALSO_KNOWN: &[&str] = &[
    "agent",
    "message_type",
    "is_demo",
    "thought",
    "action",
    "tool_call_ids",
    "tags",
    "cache_control",
];

/// Patterns of lists, by their places.
const LISTS: &[&str] = &[
    "history",
    "trajectory",
    "attempts.*.history",
    "attempts.*.trajectory",
];
const HISTORY: usize = 0;
const TRAJECTORY: usize = 1;
const ATTEMPT: usize = 2;

impl Importer for SweAgent {
    fn name(&self) -> &'static str {
        "swe-agent"
    }

    fn title(&self) -> &'static str {
        "SWE-agent trajectory (.traj)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        let first = sniff.first();
        if has_all(first, &["trajectory", "history", "info"]) {
            return Some("trajectory, history and info".to_owned());
        }
        let step = first.pointer("/trajectory/0");
        if step.is_some_and(|s| has_all(s, &["action", "observation"])) {
            return Some("a trajectory of actions and observations".to_owned());
        }
        let item = first.pointer("/history/0")?;
        (item.get("message_type").is_some() || item.get("agent").is_some())
            .then(|| "history of items with agent and message_type".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        out.note("the reward is not in the file; hint: import the report that stands beside it");
        out.advance(input.source.len())?;
        let document = Document::open(input.source, LISTS)?;
        let of = |pattern: usize| document.lists.iter().filter(move |l| l.pattern == pattern);
        let Some(list) = of(HISTORY).next().or_else(|| of(TRAJECTORY).next()) else {
            tell_damage(out, &document)?;
            return Err(Halt::file("no history"));
        };
        let start = opening(&document, list, 4);
        let start: Vec<&str> = start.iter().map(String::as_str).collect();
        let mut head = input.minted(mint(&start), self);
        head.span.len = input.source.len();
        let top = document.head()?;
        about(&top, &input.sniff.name, &mut head);
        if list.pattern == TRAJECTORY {
            out.note("the history is missing; the steps stand in for it, and the first request is not among them");
        }
        // The attempt that was chosen stands once more at the top.
        let chosen = top.at(&["info", "best_attempt_idx"]).and_then(Node::as_u64);
        for attempt in of(ATTEMPT) {
            let number = attempt.indices.first().copied().unwrap_or(0);
            if chosen == Some(u64::from(number)) {
                continue;
            }
            let mut other = head.clone();
            other.id = format!("{}-attempt-{number}", head.id.0).into();
            other.trial = Some(number.to_string());
            if let Some(inner) = top.list("attempts").get(number as usize) {
                about(inner, &input.sniff.name, &mut other);
            }
            conversation(out, &document, attempt, other)?;
        }
        let calls = conversation(out, &document, list, head)?;
        // Answers that the program refused and asked for again stand only among the steps.
        let steps = of(TRAJECTORY).next().map_or(0, |t| t.count);
        if steps > u64::from(calls) {
            let more = steps - u64::from(calls);
            out.note(format!(
                "only in the trajectory: {}; the program asked again, and the history does not hold them",
                crate::text::plural(more, "more answer")
            ));
        }
        tell_damage(out, &document)
    }
}

fn conversation(
    out: &mut Out<'_>,
    document: &Document<'_>,
    list: &LongList,
    head: Rollout,
) -> Result<u32, Halt> {
    let mut run = Run::begin(out, head)?;
    let mut talk = Talk::default();
    each_element(&mut run, document, list, &mut |run, row| {
        if list.pattern == TRAJECTORY {
            step(run, row)
        } else {
            talk.say(run, row)
        }
    })?;
    let calls = run.calls();
    run.end()?;
    Ok(calls)
}

/// One step of the trajectory: what the model answered, and what its action brought.
fn step(run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
    let text = |key: &str| row.node.str(key).filter(|t| !t.is_empty());
    let said = text("response").or_else(|| text("thought")).unwrap_or("");
    let mut answer = Step::new(Owner::Model, StepKind::Text, Role::Assistant, said);
    answer.source = row.span;
    let call = run.call(super::answered(run, row.span))?;
    run.say(vec![answer], Some(call))?;
    if let Some(seen) = text("observation") {
        let mut seen = Step::new(Owner::Tool, StepKind::Observation, Role::User, seen);
        seen.source = row.span;
        run.say(vec![seen], None)?;
    }
    Ok(())
}

fn about(top: &Node<'_>, file: &str, head: &mut Rollout) {
    head.harness.name = Some("swe-agent".to_owned());
    let stem = file.strip_suffix(".traj").unwrap_or(file);
    // SWE-agent names its files by the instance, whose ids have this shape.
    head.task = stem.contains("__").then(|| TaskId(stem.to_owned()));
    keep(&mut head.extra, top, &["environment"]);
    let replay = top
        .get("replay_config")
        .map(|n| unpacked(&n.to_value()))
        .unwrap_or_default();
    let model = replay.pointer("/agent/model/name").and_then(Value::as_str);
    head.model = model.map(str::to_owned);
    facts(&replay, head);
    let Some(info) = top.get("info") else { return };
    head.harness.version = info.id("swe_agent_version");
    keep(
        &mut head.extra,
        info,
        &[
            "submission",
            "model_stats",
            "edited_files30",
            "swe_agent_hash",
            "review",
        ],
    );
    let status = info.str("exit_status").unwrap_or("");
    head.ending_note = (!status.is_empty()).then(|| status.to_owned());
    head.ending = ending(status);
}

/// What the configuration tells of the harness (S-29): when it stops, what it takes out of the context.
fn facts(replay: &Value, head: &mut Rollout) {
    let mut limits = Vec::new();
    for key in [
        "per_instance_cost_limit",
        "total_cost_limit",
        "per_instance_call_limit",
    ] {
        let limit = replay
            .pointer(&format!("/agent/model/{key}"))
            .and_then(Value::as_f64);
        // 0 is no limit.
        limits.extend(limit.filter(|l| *l > 0.0).map(|l| format!("{key}={l}")));
    }
    head.harness.stop_rule = (!limits.is_empty()).then(|| limits.join(" "));
    let processors = replay
        .pointer("/agent/history_processors")
        .and_then(Value::as_array);
    head.harness.compression = processors.map(|list| {
        let names = list.iter().filter_map(|p| p.get("type")?.as_str());
        let names: Vec<&str> = names.collect();
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(" ")
        }
    });
}

/// `submitted (exit_cost)` says that the program submitted what was there when the limit struck.
fn ending(status: &str) -> Ending {
    let inner = status
        .split_once('(')
        .map_or(status, |(_, rest)| rest.trim_end_matches(')'));
    match inner {
        "submitted" | "exit_forfeit" | "exit_command" => Ending::Finished,
        "exit_cost" | "exit_context" | "exit_total_execution_time" => Ending::Limit,
        "early_exit" => Ending::Abrupt,
        "" => Ending::Unknown,
        _ => Ending::Error,
    }
}

#[derive(Default)]
struct Talk {
    has_request: bool,
    /// Calls whose answers have not come; 0.x has no ids.
    waiting: VecDeque<String>,
}

impl Talk {
    fn say(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
        let node = row.node;
        let is_demo =
            node.bool("is_demo") == Some(true) || node.str("message_type") == Some("demonstration");
        let mut steps = chat::message_of(run.out, node, row.span, ALSO_KNOWN);
        let ids = node.list("tool_call_ids");
        for step in &mut steps {
            step.name = node.id("agent");
            match step.owner {
                _ if is_demo => step.owner = Owner::Runtime,
                Owner::User if self.has_request => {
                    step.owner = Owner::Tool;
                    step.kind = StepKind::Observation;
                }
                Owner::Tool => {
                    let id = ids
                        .first()
                        .and_then(Node::as_id)
                        .or_else(|| self.waiting.pop_front());
                    step.tool_call_id = step.tool_call_id.take().or(id);
                }
                _ => {}
            }
        }
        self.has_request |= !is_demo && node.str("role") == Some("user");
        let is_answer = steps.iter().any(|s| s.owner == Owner::Model);
        let call = if is_answer {
            Some(run.call(super::answered(run, row.span))?)
        } else {
            None
        };
        run.say(steps, call)?;
        Ok(())
    }
}
