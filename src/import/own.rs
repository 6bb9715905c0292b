//! What we and our exports write beside other people's fields (`extra.triagent`, DESIGN §6): read into heads,
//! steps, calls and rewards. Fields that it does not know stay in `extra`.

use super::extra::bounded;
use super::json::Node;
use crate::domain::document::DocRef;
use crate::domain::{
    Adopted, Call, Outcome, Owner, Reward, RewardStatus, Rollout, Step, StepStatus, TaskId,
};

/// Reads the trajectory's part into the head. Returns the rewards.
pub(crate) fn head(node: &Node<'_>, head: &mut Rollout) -> Vec<Reward> {
    if let Some(id) = node.id("rollout_id") {
        head.id = id.into();
        head.id_minted = node.bool("id_minted").unwrap_or(false);
    }
    let texts = [
        ("family", &mut head.family),
        ("scenario", &mut head.scenario),
        ("group", &mut head.group),
        ("trial", &mut head.trial),
        ("index_version", &mut head.index_version),
        ("prompt_version", &mut head.prompt_version),
        ("toolset_version", &mut head.toolset_version),
        ("checkpoint", &mut head.checkpoint),
        ("tokenizer", &mut head.tokenizer),
    ];
    for (key, slot) in texts {
        *slot = node.id(key).or(slot.take());
    }
    head.task = node.id("task_id").map(TaskId).or(head.task.take());
    if let Some(harness) = node.get("harness") {
        let slots = [
            ("name", &mut head.harness.name),
            ("version", &mut head.harness.version),
            ("stop_rule", &mut head.harness.stop_rule),
            ("compression", &mut head.harness.compression),
        ];
        for (key, slot) in slots {
            *slot = harness.id(key).or(slot.take());
        }
    }
    if let Some(outcome) = node.str("outcome").and_then(Outcome::from_word) {
        head.outcome = outcome;
        head.outcome_source = Some("file:outcome".to_owned());
    }
    node.list("rewards").iter().map(reward).collect()
}

/// A reward in our own shape: four fields, each only if it is there.
pub(crate) fn reward(node: &Node<'_>) -> Reward {
    let mut reward = Reward::missing(node.str("grader").unwrap_or("reward"));
    reward.version = node.id("version");
    reward.isolated = node.bool("isolated");
    reward.result = node.f64("result");
    reward.evidence = node.f64("evidence");
    reward.cost = node.f64("cost");
    let effects = node.get("side_effects").filter(|n| n.is_list());
    reward.side_effects = effects.map(|n| n.items().iter().filter_map(Node::as_id).collect());
    let said = reward.result.is_some() || reward.evidence.is_some();
    let inferred = if said {
        RewardStatus::Ok
    } else {
        RewardStatus::Missing
    };
    reward.status = node
        .str("status")
        .and_then(RewardStatus::from_word)
        .unwrap_or(inferred);
    reward.detail = node.get("detail").map(bounded).unwrap_or_default();
    reward
}

/// Identity of an inference (S-20).
pub(crate) fn call(node: &Node<'_>, call: &mut Call) {
    let slots = [
        ("logical_request_id", &mut call.logical_request_id),
        ("request_id", &mut call.request_id),
        ("attempt", &mut call.attempt),
        ("event_id", &mut call.event_id),
        ("model_version", &mut call.model_version),
    ];
    for (key, slot) in slots {
        *slot = node.id(key).or(slot.take());
    }
    if let Some(adopted) = node.get("adopted").and_then(adopted) {
        call.adopted = adopted;
    }
}

/// `yes`, `no`, `unknown`, or a bool.
fn adopted(node: &Node<'_>) -> Option<Adopted> {
    match node.as_bool() {
        Some(true) => Some(Adopted::Yes),
        Some(false) => Some(Adopted::No),
        None => node.text().and_then(Adopted::from_word),
    }
}

/// Owner, documents and status of a step.
pub(crate) fn step(node: &Node<'_>, step: &mut Step) {
    if let Some(owner) = node.str("owner").and_then(Owner::from_word) {
        step.owner = owner;
    }
    observation(node, step);
}

/// What an observation brought and how its tool ended.
pub(crate) fn observation(node: &Node<'_>, step: &mut Step) {
    if let Some(status) = node.str("status").and_then(StepStatus::from_word) {
        step.status = status;
    }
    let document = |n: &Node<'_>| {
        Some(DocRef {
            doc_id: n.id("doc_id")?,
            version: n.id("version"),
        })
    };
    step.documents
        .extend(node.list("documents").iter().filter_map(document));
}
