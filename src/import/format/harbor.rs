//! A Harbor trial folder: the trajectory (ATIF) with the verifier's reward, the exception and the configuration beside
//! it. Reward 0, an exception and a trial that was killed (no `result.json`) are three different failures.

use super::atif;
use super::{Importer, Input};
use crate::domain::{Ending, Outcome, Reward, Rollout, SourceSpan, TaskId};
use crate::import::detect::{Shape, Sniff};
use crate::import::extra::keep;
use crate::import::json::Node;
use crate::import::mint::mint;
use crate::import::out::{Halt, Out};
use crate::import::parse::{Flaws, decode, parse};
use crate::import::rows::tell_damage;
use crate::import::run::Run;
use crate::import::source::Source;
use crate::import::time::time;

/// Harbor trial.
pub(crate) struct Harbor;

impl Importer for Harbor {
    fn name(&self) -> &'static str {
        "harbor"
    }

    fn title(&self) -> &'static str {
        "Harbor trial folder (Terminal-Bench 2)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        let has = |name: &str| sniff.members.iter().any(|m| m == name);
        let is_trial =
            has("config.json") && (has("result.json") || has("trial.log")) && has("agent");
        (sniff.shape == Shape::Folder && is_trial)
            .then(|| "a folder with config.json, agent and trial.log".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let text = |name: &str| read_text(input, name);
        let (config, result) = (text("config.json"), text("result.json"));
        let mut flaws = Flaws::default();
        let config = config.as_deref().and_then(|t| parse(t, &mut flaws).ok());
        let result = result.as_deref().and_then(|t| parse(t, &mut flaws).ok());
        let name = config
            .as_ref()
            .and_then(|c| c.id("trial_name"))
            .unwrap_or_else(|| input.sniff.name.clone());
        let fill = |mut head: Rollout| {
            about(config.as_ref(), result.as_ref(), &mut head);
            head
        };
        let reward = reward(result.as_ref());
        let path = input.unit.path.join("agent").join("trajectory.json");
        let Ok(source) = Source::open(&path) else {
            out.note("the trial has no trajectory (the oracle writes none)");
            let id = result.as_ref().and_then(|r| r.id("id"));
            let head = fill(id.map_or_else(
                || input.minted(mint(&[&name]), self),
                |id| input.head(id, self),
            ));
            let mut run = Run::begin(out, head)?;
            judge(&mut run, reward)?;
            return run.end();
        };
        out.advance(source.len())?;
        let document = atif::read_document(&source)?;
        let head = |id: String| match result.as_ref().and_then(|r| r.id("id")) {
            Some(id) => input.head(id, self),
            None => input.minted(id, self),
        };
        atif::tell(out, &document, head, |run| {
            run.head = fill(run.head.clone());
            let member = "agent/trajectory.json";
            run.head.extra.insert("member".to_owned(), member.into());
            run.head.span = SourceSpan {
                offset: 0,
                len: source.len(),
                line: 1,
            };
            judge(run, reward)
        })?;
        tell_damage(out, &document)
    }
}

fn read_text(input: &Input<'_>, name: &str) -> Option<String> {
    const MOST: usize = 32 << 20;
    let source = Source::open(&input.unit.path.join(name)).ok()?;
    let bytes = source.read_at(0, MOST).ok()?;
    Some(decode(&bytes, &mut Flaws::default()).into_owned())
}

fn about(config: Option<&Node<'_>>, result: Option<&Node<'_>>, head: &mut Rollout) {
    let task = result
        .and_then(|r| r.id("task_name"))
        .or_else(|| config?.at(&["task", "path"])?.as_id());
    head.task = task.or_else(|| head.task.take().map(|t| t.0)).map(TaskId);
    head.group
        .clone_from(&head.task.as_ref().map(|t| t.0.clone()));
    let agent = result.and_then(|r| r.get("agent_info"));
    head.harness.name = agent
        .and_then(|a| a.id("name"))
        .or(head.harness.name.take());
    head.harness.version = agent
        .and_then(|a| a.id("version"))
        .or(head.harness.version.take());
    let model = agent.and_then(|a| a.at(&["model_info", "name"])?.as_id());
    head.model = model
        .or(head.model.take())
        .or_else(|| config?.at(&["agent", "model_name"])?.as_id());
    let Some(result) = result else {
        head.ending = Ending::Abrupt;
        head.ending_note = Some("the trial was killed: it has no result.json".to_owned());
        return;
    };
    keep(
        &mut head.extra,
        result,
        &[
            "trial_name",
            "task_checksum",
            "exception_info",
            "reward_valid",
            "source",
        ],
    );
    head.started_us = time(result.get("started_at"));
    head.finished_us = time(result.get("finished_at"));
    match result.get("exception_info") {
        Some(exception) => {
            let kind = exception.id("exception_type").unwrap_or_default();
            head.ending = if kind.contains("Timeout") {
                Ending::Limit
            } else {
                Ending::Error
            };
            head.ending_note = Some(kind);
        }
        None => head.ending = Ending::Finished,
    }
}

/// The verifier's numbers; `reward` if it is among them, and all of them as details.
fn reward(result: Option<&Node<'_>>) -> Reward {
    let rewards = result.and_then(|r| r.at(&["verifier_result", "rewards"]));
    let members = rewards.map_or(&[][..], Node::members);
    let named = members
        .iter()
        .find(|(k, _)| k == "reward")
        .or(members.first());
    let value = named.and_then(|(_, v)| v.as_f64());
    let mut reward = value.map_or_else(
        || Reward::missing("harbor-verifier"),
        |v| Reward::result("harbor-verifier", v),
    );
    reward.detail = rewards.map(Node::to_value).unwrap_or_default();
    reward
}

fn judge(run: &mut Run<'_, '_>, reward: Reward) -> Result<(), Halt> {
    if let Some(value) = reward.result {
        run.head.outcome = super::openai_chat::by_result(value);
        run.head.outcome_source =
            (run.head.outcome != Outcome::Unknown).then(|| "file:reward".to_owned());
    }
    run.reward(reward)
}
