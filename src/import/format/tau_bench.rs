//! tau-bench results: a list of trials with their reward, the task's gold actions and the conversation. The file
//! names neither model nor tools; the policy is the first message. Its successor is `tau2.rs`.

use super::openai_chat::inside;
use super::{Importer, Input};
use crate::domain::{
    Call, Ending, Outcome, Owner, Reward, RewardStatus, Rollout, StepKind, StepStatus, TaskId,
};
use crate::import::chat;
use crate::import::detect::Sniff;
use crate::import::extra::{bounded, leftover};
use crate::import::json::Node;
use crate::import::mint::{Twins, mint};
use crate::import::out::{Halt, Out};
use crate::import::rows::{Row, each_row};
use crate::import::run::Run;

/// tau-bench.
pub(crate) struct TauBench;

const KNOWN: &[&str] = &["task_id", "reward", "info", "traj", "trial"];
/// Bookkeeping of one published file of failed trials, not of tau-bench itself.
const KNOWN_COPIES: &[&str] = &["index", "records"];
const GRADER: &str = "tau-bench";

impl Importer for TauBench {
    fn name(&self) -> &'static str {
        "tau-bench"
    }

    fn title(&self) -> &'static str {
        "tau-bench results (retail, airline)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        (sniff.is_json() && sniff.most_have(&["task_id", "traj", "info"]))
            .then(|| "trials with task_id, traj and info".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        out.note("the tool set is not in the file; hint: `tasks import` can supply it");
        let mut twins = Twins::default();
        each_row(out, input.source, input.sniff.shape, |out, row| {
            if !row.node.is_object() {
                return out.skip(row.span.line, "not a trial");
            }
            let id = twins.name(mint(&[row.text]));
            trial(out, row, input.minted(id, self), &input.sniff.name)
        })
    }
}

fn trial(out: &mut Out<'_>, row: &Row<'_>, mut head: Rollout, file: &str) -> Result<(), Halt> {
    let node = row.node;
    head.span = row.span;
    head.trial = node.id("trial");
    head.harness.name = Some("tau-bench".to_owned());
    head.family = family(file, node);
    if let Some(task) = node.id("task_id") {
        let family = head.family.as_deref().unwrap_or("tau-bench");
        head.group = Some(format!("{file}:{task}"));
        head.task = Some(TaskId(format!("{family}-{task}")));
    }
    head.extra = leftover(out, node, &[KNOWN, KNOWN_COPIES].concat(), "trial");
    about(node, &mut head);
    let reward = reward(node, &mut head);
    let mut run = Run::begin(out, head)?;
    for message in node.list("traj") {
        say(&mut run, message, row)?;
    }
    run.reward(reward)?;
    run.end()
}

/// From the policy text, because people rename files; else from the file's name.
fn family(file: &str, node: &Node<'_>) -> Option<String> {
    let policy = node.list("traj").first().and_then(|m| m.str("content"));
    let opening: String = policy.unwrap_or("").chars().take(400).collect();
    let (opening, file) = (opening.to_lowercase(), file.to_lowercase());
    let known = ["retail", "airline", "telecom"];
    let in_policy = known
        .iter()
        .find(|name| opening.contains(&format!("{name} agent")));
    let named = in_policy.or_else(|| known.iter().find(|name| file.contains(*name)));
    named.map(|name| (*name).to_owned())
}

/// Task, gold actions and grader's details stay reachable in `extra`.
fn about(node: &Node<'_>, head: &mut Rollout) {
    let Some(info) = node.get("info") else { return };
    for (key, value) in info.members() {
        if !value.is_null() {
            head.extra.insert(key.clone().into_owned(), bounded(value));
        }
    }
    if let Some(error) = info.str("error") {
        head.ending = Ending::Error;
        head.ending_note = Some(error.to_owned());
    }
}

/// A crashed trial writes reward 0 although nothing was graded: that is missing, not 0.
fn reward(node: &Node<'_>, head: &mut Rollout) -> Reward {
    let value = node.f64("reward");
    let is_crashed = node.at(&["info", "error"]).is_some();
    let mut reward = match value {
        Some(value) if !is_crashed => {
            head.outcome = if value >= 1.0 - 1e-6 {
                Outcome::Pass
            } else {
                Outcome::Fail
            };
            head.outcome_source = Some("file:reward".to_owned());
            Reward::result(GRADER, value)
        }
        _ => Reward::missing(GRADER),
    };
    if is_crashed {
        reward.status = RewardStatus::Missing;
        reward.detail = serde_json::json!({
            "why": "the trial crashed before it was graded",
            "written": node.get("reward").map(Node::to_value),
        });
    } else if let Some(details) = node.at(&["info", "reward_info"]) {
        reward.detail = bounded(details);
    }
    reward
}

fn say(run: &mut Run<'_, '_>, message: &Node<'_>, row: &Row<'_>) -> Result<(), Halt> {
    let mut steps = chat::message(run.out, message, inside(row.span, message));
    for step in &mut steps {
        // tau-bench's environments answer "Error: …" when a tool raised.
        if step.kind == StepKind::Observation {
            let is_error = step.text.starts_with("Error:");
            step.status = if is_error {
                StepStatus::Error
            } else {
                StepStatus::Ok
            };
        }
    }
    // Every assistant message of tau-bench is one completion.
    let is_answer = steps.iter().any(|s| s.owner == Owner::Model);
    let call = if is_answer {
        let source = inside(row.span, message);
        Some(run.call(Call {
            source,
            ..Call::default()
        })?)
    } else {
        None
    };
    run.say(steps, call)?;
    Ok(())
}
