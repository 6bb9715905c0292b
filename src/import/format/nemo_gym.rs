//! NeMo Gym rollouts, one a line: the request in the Responses dialect, the output items of all its calls, a reward
//! and any number of columns of the environment. Failed attempts stand in a file of their own beside it.

use super::openai_chat::{by_result, inside, tools};
use super::{Importer, Input};
use crate::domain::{ForeignLabel, Reward, RewardStatus, Rollout, TaskId};
use crate::import::answer::{logprobs, sampling, token_ids, usage};
use crate::import::detect::Sniff;
use crate::import::exchange;
use crate::import::extra::bounded;
use crate::import::json::Node;
use crate::import::mint::{Twins, mint};
use crate::import::out::{Halt, Out};
use crate::import::responses;
use crate::import::rows::{Row, each_row};
use crate::import::run::Run;
use crate::import::turn::{Context, Turns};
use serde_json::{Map, Value};

/// NeMo Gym.
pub(crate) struct NemoGym;

impl Importer for NemoGym {
    fn name(&self) -> &'static str {
        "nemo-gym"
    }

    fn title(&self) -> &'static str {
        "NeMo Gym rollouts"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        (sniff.is_json() && sniff.most_have(&["responses_create_params", "response"]))
            .then(|| "rows with responses_create_params and response".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let mut twins = Twins::default();
        each_row(out, input.source, input.sniff.shape, |out, row| {
            let id = twins.name(mint(&[row.text]));
            rollout(out, row, input.minted(id, self))
        })
    }
}

fn rollout(out: &mut Out<'_>, row: &Row<'_>, mut head: Rollout) -> Result<(), Halt> {
    let request = row.node.get("responses_create_params");
    let response = row.node.get("response");
    about(row, request, response, &mut head);
    let reward = reward(row.node);
    if let Some(value) = reward.result {
        head.outcome = by_result(value);
        head.outcome_source = Some("file:reward".to_owned());
    }
    let sampled = request.map(sampling).unwrap_or_default();
    let output = response.map_or(&[][..], |r| r.list("output"));
    // Aviary keeps one cumulative list per transition; the last one holds everything.
    let is_nested = output.first().is_some_and(Node::is_list);
    let items = if is_nested {
        output.last().map_or(&[][..], Node::items)
    } else {
        output
    };
    let mut run = Run::begin(out, head)?;
    for said in request
        .map(|r| exchange::prompt(run.out, r, row.span))
        .unwrap_or_default()
    {
        run.say(said.into_steps(), None)?;
    }
    let mut turns = Turns::default();
    for item in items {
        say(&mut run, &mut turns, item, row, &sampled)?;
    }
    if turns.count == 1
        && let (Some(call), Some(node)) = (turns.call(), response.and_then(|r| r.get("usage")))
    {
        call.usage = usage(node);
    }
    turns.close(&mut run)?;
    run.reward(reward)?;
    for label in row
        .node
        .list("failure_labels")
        .iter()
        .chain(row.node.list("trajectory_invalid_reasons"))
    {
        run.label(ForeignLabel {
            source: "nemo-gym".to_owned(),
            step: None,
            category: label
                .as_id()
                .or_else(|| label.id("label"))
                .unwrap_or_else(|| label.compact()),
            reason: label.id("reason").unwrap_or_default(),
            detail: bounded(label),
        })?;
    }
    run.end()
}

fn about(
    row: &Row<'_>,
    request: Option<&Node<'_>>,
    response: Option<&Node<'_>>,
    head: &mut Rollout,
) {
    let node = row.node;
    head.span = row.span;
    head.harness.name = node.at(&["agent_ref", "name"]).and_then(Node::as_id);
    head.family = node.id("domain_name").or_else(|| head.harness.name.clone());
    head.model = response
        .and_then(|r| r.id("model"))
        .or_else(|| request?.id("model"));
    let named = node
        .id("id")
        .or_else(|| request?.at(&["metadata", "instance_id"])?.as_id());
    let task = named
        .or_else(|| node.id("_ng_task_index"))
        .or_else(|| node.id("task_idx"));
    head.task = task.map(TaskId);
    head.group = head.task.as_ref().map(|t| t.0.clone());
    head.trial = node.id("_ng_rollout_index");
    head.tools = response
        .map(tools)
        .filter(|t| !t.is_empty())
        .or_else(|| request.map(tools))
        .unwrap_or_default();
    head.ending_note = node.id("terminal_state");
    for (key, value) in node.members() {
        // The environment's own columns; what is read elsewhere does not stand here twice.
        if !matches!(
            key.as_ref(),
            "responses_create_params" | "response" | "tools" | "policy"
        ) && !value.is_null()
        {
            head.extra.insert(key.clone().into_owned(), bounded(value));
        }
    }
}

/// `mask_sample` says not to train on it.
fn reward(node: &Node<'_>) -> Reward {
    let mut reward = node.f64("reward").map_or_else(
        || Reward::missing("nemo-gym"),
        |v| Reward::result("nemo-gym", v),
    );
    let is_masked = node
        .bool("mask_sample")
        .or_else(|| node.at(&["instance_config", "mask_sample"])?.as_bool());
    if is_masked == Some(true) {
        reward.status = RewardStatus::Contaminated;
        reward.detail = serde_json::json!({"why": "mask_sample is set: do not train on it"});
    }
    reward
}

fn say(
    run: &mut Run<'_, '_>,
    turns: &mut Turns,
    node: &Node<'_>,
    row: &Row<'_>,
    sampled: &Map<String, Value>,
) -> Result<(), Halt> {
    let item = responses::item(run.out, node, inside(row.span, node));
    if !item.is_model {
        return turns.other(run, item.steps, Context::GoesOn);
    }
    let model = run.head.model.clone();
    let call = turns.model(run, None, item.steps)?;
    call.model = model;
    call.source = inside(row.span, node);
    call.sampling.clone_from(sampled);
    call.prompt_token_ids = node
        .get("prompt_token_ids")
        .and_then(token_ids)
        .or(call.prompt_token_ids.take());
    call.completion_token_ids = node
        .get("generation_token_ids")
        .and_then(token_ids)
        .or(call.completion_token_ids.take());
    call.logprobs = node
        .get("generation_log_probs")
        .and_then(logprobs)
        .or(call.logprobs.take());
    Ok(())
}
