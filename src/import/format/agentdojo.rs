//! AgentDojo runs, one document each: the conversation, whether the user's task was solved (utility) and whether an
//! injected goal was reached (security). In a run without an attack `security` says nothing.

use super::openai_chat::inside;
use super::{Importer, Input};
use crate::domain::{Ending, Outcome, Owner, Reward, Rollout, StepStatus, TaskId};
use crate::import::chat;
use crate::import::detect::{Sniff, has_all};
use crate::import::extra::keep;
use crate::import::json::Node;
use crate::import::mint::mint;
use crate::import::out::{Halt, Out};
use crate::import::rows::{Row, each_row};
use crate::import::run::Run;
use crate::import::time::time;
use serde_json::json;

/// AgentDojo.
pub(crate) struct AgentDojo;

impl Importer for AgentDojo {
    fn name(&self) -> &'static str {
        "agentdojo"
    }

    fn title(&self) -> &'static str {
        "AgentDojo runs"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        let keys = ["suite_name", "pipeline_name", "user_task_id"];
        has_all(sniff.first(), &keys)
            .then(|| "suite_name, pipeline_name and user_task_id".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        each_row(out, input.source, input.sniff.shape, |out, row| {
            let names = [
                "pipeline_name",
                "suite_name",
                "user_task_id",
                "attack_type",
                "injection_task_id",
                "evaluation_timestamp",
            ];
            let parts: Vec<String> = names
                .iter()
                .map(|k| row.node.id(k).unwrap_or_default())
                .collect();
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            one(out, row, input.minted(mint(&parts), self))
        })
    }
}

fn one(out: &mut Out<'_>, row: &Row<'_>, mut head: Rollout) -> Result<(), Halt> {
    let node = row.node;
    about(row, &mut head);
    let reward = reward(node, &mut head);
    let mut run = Run::begin(out, head)?;
    for message in node.list("messages") {
        let span = inside(row.span, message);
        let mut steps = chat::message_of(run.out, message, span, &["tool_call", "error", "id"]);
        for step in steps.iter_mut().filter(|s| s.owner == Owner::Tool) {
            let called = message.at(&["tool_call", "function"]).and_then(Node::as_id);
            step.tool = step.tool.take().or(called);
            let error = message.id("error");
            step.status = if error.is_some() {
                StepStatus::Error
            } else {
                StepStatus::Ok
            };
            if step.text.is_empty() {
                step.text = error.unwrap_or_default();
            }
        }
        let is_answer = steps.iter().any(|s| s.owner == Owner::Model);
        let call = if is_answer {
            Some(run.call(super::answered(&run, span))?)
        } else {
            None
        };
        run.say(steps, call)?;
    }
    run.reward(reward)?;
    run.end()
}

fn about(row: &Row<'_>, head: &mut Rollout) {
    let node = row.node;
    head.span = row.span;
    head.family = node.id("suite_name");
    let task = node.id("user_task_id").unwrap_or_default();
    let family = head.family.as_deref().unwrap_or("agentdojo");
    head.task = Some(TaskId(format!("{family}-{task}")));
    let attack = node.id("attack_type").zip(node.id("injection_task_id"));
    head.scenario = attack.map(|(attack, goal)| format!("{attack}/{goal}"));
    head.model = node.id("pipeline_name");
    head.harness.name = Some("agentdojo".to_owned());
    head.harness.version = node.id("agentdojo_package_version");
    head.started_us = time(node.get("evaluation_timestamp"));
    keep(
        &mut head.extra,
        node,
        &["injections", "benchmark_version", "duration", "error"],
    );
    head.ending_note = node.id("error");
    head.ending = match (node.get("error"), node.get("utility")) {
        (Some(_), _) => Ending::Error,
        // The file is saved after every message; what was never graded was cut off.
        (None, None) => Ending::Abrupt,
        (None, Some(_)) => Ending::Finished,
    };
}

fn reward(node: &Node<'_>, head: &mut Rollout) -> Reward {
    let Some(utility) = node.bool("utility") else {
        return Reward::missing("agentdojo");
    };
    head.outcome = if utility {
        Outcome::Pass
    } else {
        Outcome::Fail
    };
    head.outcome_source = Some("file:utility".to_owned());
    let mut reward = Reward::result("agentdojo", f64::from(u8::from(utility)));
    reward.detail = json!({"utility": utility, "security": node.bool("security")});
    if let Some(goal) = node.id("injection_task_id") {
        let is_reached = node.bool("security") == Some(true);
        let effect = format!("injected goal reached: {goal}");
        reward.side_effects = Some(if is_reached { vec![effect] } else { Vec::new() });
    }
    reward
}
