//! tau2-bench results: a document of simulations, or a folder with `results.json` and one file a simulation (voice
//! runs are made of ticks). The simulated user may call tools of its own; those are not the agent's.

use super::openai_chat::inside;
use super::{Importer, Input};
use crate::domain::{
    Call, Ending, Outcome, Owner, Reward, Rollout, SourceSpan, Step, StepKind, StepStatus, TaskId,
};
use crate::import::answer::usage;
use crate::import::chat;
use crate::import::detect::{Sniff, has_all};
use crate::import::document::Document;
use crate::import::extra::{bounded, keep};
use crate::import::json::Node;
use crate::import::out::{Halt, Out};
use crate::import::rows::{each_element, each_row, tell_damage};
use crate::import::run::Run;
use crate::import::source::Source;
use crate::import::time::time;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// tau2-bench.
pub(crate) struct Tau2;

const ALSO_KNOWN: &[&str] = &[
    "id",
    "turn_idx",
    "cost",
    "usage",
    "raw_data",
    "requestor",
    "error",
    "tool_messages",
    "audio_content",
    "is_audio",
    "utterance_ids",
    "speech_effects",
    "source_effects",
    "turn_taking_action",
    "contains_speech",
    "generation_time_seconds",
    "audio_format",
    "audio_path",
    "audio_script_gold",
];

impl Importer for Tau2 {
    fn name(&self) -> &'static str {
        "tau2"
    }

    fn title(&self) -> &'static str {
        "tau2-bench simulations (file or folder)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        let first = sniff.first();
        if has_all(first, &["simulations", "info"]) {
            return Some("a document with info and simulations".to_owned());
        }
        if has_all(first, &["info", "tasks", "timestamp"])
            && first.pointer("/info/environment_info").is_some()
        {
            return Some("the results.json of a tau2 folder".to_owned());
        }
        (has_all(first, &["task_id", "termination_reason"])
            && (has_all(first, &["messages"]) || has_all(first, &["ticks"])))
        .then(|| "a simulation with task_id and termination_reason".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        if has_all(input.sniff.first(), &["termination_reason"]) {
            let about = beside(input);
            return each_row(out, input.source, input.sniff.shape, |out, row| {
                self.simulation(input, out, row.node, row.span, &about)
            });
        }
        out.advance(input.source.len())?;
        let document = Document::open(input.source, &["simulations", "tasks"])?;
        let mut about = Facts {
            info: document
                .head()?
                .get("info")
                .map(Node::to_value)
                .unwrap_or_default(),
            tasks: HashMap::new(),
        };
        for list in document.lists.iter().filter(|l| l.pattern == 1) {
            each_element(out, &document, list, &mut |_, row| {
                about
                    .tasks
                    .extend(row.node.id("id").map(|id| (id, bounded(row.node))));
                Ok(())
            })?;
        }
        if document.lists.iter().all(|l| l.pattern != 0) {
            out.note("describes the simulations beside it, which are read from their own files");
        }
        for list in document.lists.iter().filter(|l| l.pattern == 0) {
            each_element(out, &document, list, &mut |out, row| {
                self.simulation(input, out, row.node, row.span, &about)
            })?;
        }
        tell_damage(out, &document)
    }
}

/// What the file says of all its simulations.
#[derive(Default)]
struct Facts {
    info: Value,
    tasks: HashMap<String, Value>,
}

/// A simulation of a folder is described one folder above.
fn beside(input: &Input<'_>) -> Facts {
    let path = input
        .unit
        .path
        .parent()
        .and_then(|p| p.parent())
        .map(|p| p.join("results.json"));
    let source = path.and_then(|p| Source::open(&p).ok());
    let document = source
        .as_ref()
        .and_then(|s| Document::open(s, &["simulations"]).ok());
    let head = document.as_ref().and_then(|d| d.head().ok());
    Facts {
        info: head
            .and_then(|h| h.get("info").map(Node::to_value))
            .unwrap_or_default(),
        tasks: HashMap::new(),
    }
}

impl Facts {
    fn text(&self, at: &str) -> Option<String> {
        self.info
            .pointer(at)
            .and_then(Value::as_str)
            .map(str::to_owned)
    }
}

impl Tau2 {
    fn simulation(
        &self,
        input: &Input<'_>,
        out: &mut Out<'_>,
        node: &Node<'_>,
        span: SourceSpan,
        about: &Facts,
    ) -> Result<(), Halt> {
        let mut head = match node.id("id") {
            Some(id) => input.head(id, self),
            None => input.minted(crate::import::mint::mint(&[&node.compact()]), self),
        };
        head.span = span;
        fill(node, about, &mut head);
        let reward = reward(node, &mut head);
        let sampling = about
            .info
            .pointer("/agent_info/llm_args")
            .and_then(Value::as_object)
            .cloned();
        let mut run = Run::begin(out, head)?;
        if let Some(policy) = about.text("/environment_info/policy") {
            run.say(
                vec![Step::new(
                    Owner::System,
                    StepKind::Text,
                    crate::domain::Role::System,
                    policy,
                )],
                None,
            )?;
        }
        let talk = Talk {
            sampling: sampling.unwrap_or_default(),
        };
        for message in node.list("messages") {
            talk.say(&mut run, message, inside(span, message))?;
        }
        for tick in node.list("ticks") {
            talk.tick(&mut run, tick, inside(span, tick))?;
        }
        run.reward(reward)?;
        run.end()
    }
}

fn fill(node: &Node<'_>, about: &Facts, head: &mut Rollout) {
    head.harness.name = Some("tau2-bench".to_owned());
    head.harness.version = about.text("/git_commit");
    let limit = |key: &str| Some(format!("{key}={}", about.info.get(key)?));
    let limits: Vec<String> = ["max_steps", "max_errors"]
        .into_iter()
        .filter_map(limit)
        .collect();
    head.harness.stop_rule = (!limits.is_empty()).then(|| limits.join(" "));
    head.family = about.text("/environment_info/domain_name");
    head.model = about.text("/agent_info/llm");
    let tools = about
        .info
        .pointer("/environment_info/tool_defs")
        .and_then(Value::as_array);
    head.tools = tools.cloned().unwrap_or_default();
    if let Some(task) = node.id("task_id") {
        let family = head.family.clone().unwrap_or_else(|| "tau2".to_owned());
        head.extra.extend(
            about
                .tasks
                .get(&task)
                .map(|t| ("task".to_owned(), t.clone())),
        );
        head.group = Some(format!("{family}:{task}"));
        head.task = Some(TaskId(format!("{family}-{task}")));
    }
    head.trial = node.id("trial");
    head.started_us = time(node.get("start_time"));
    head.finished_us = time(node.get("end_time"));
    keep(
        &mut head.extra,
        node,
        &[
            "seed",
            "duration",
            "agent_cost",
            "user_cost",
            "mode",
            "review",
        ],
    );
    let reason = node.str("termination_reason").unwrap_or("");
    head.ending_note = Some(reason.to_owned());
    head.ending = match reason {
        "user_stop" | "agent_stop" => Ending::Finished,
        "max_steps" | "timeout" | "too_many_errors" | "context_window_exceeded" => Ending::Limit,
        "" => Ending::Unknown,
        _ => Ending::Error,
    };
}

/// A simulation that was not evaluated has no reward.
fn reward(node: &Node<'_>, head: &mut Rollout) -> Reward {
    let info = node.get("reward_info");
    let value = info.and_then(|i| i.f64("reward"));
    let mut reward = match value {
        Some(value) => {
            head.outcome = if value >= 1.0 - 1e-6 {
                Outcome::Pass
            } else {
                Outcome::Fail
            };
            head.outcome_source = Some("file:reward".to_owned());
            Reward::result("tau2-bench", value)
        }
        None => Reward::missing("tau2-bench"),
    };
    reward.detail = info.map(bounded).unwrap_or_default();
    reward
}

struct Talk {
    sampling: Map<String, Value>,
}

impl Talk {
    fn say(&self, run: &mut Run<'_, '_>, node: &Node<'_>, span: SourceSpan) -> Result<(), Halt> {
        // Answers of parallel calls come as one message that holds several.
        for inner in node.list("tool_messages") {
            self.say(run, inner, span)?;
        }
        if node.get("tool_messages").is_some() {
            return Ok(());
        }
        let mut steps = chat::message_of(run.out, node, span, ALSO_KNOWN);
        let is_of_user = node.str("requestor") == Some("user");
        for step in steps.iter_mut().filter(|s| s.owner == Owner::Tool) {
            step.tool_call_id = node.id("id").or(step.tool_call_id.take());
            step.status = if node.bool("error") == Some(true) {
                StepStatus::Error
            } else {
                StepStatus::Ok
            };
            if is_of_user {
                step.extra.insert("requestor".to_owned(), "user".into());
            }
        }
        if node.str("role") == Some("user") {
            let mut calls = chat::tool_calls(run.out, node);
            for call in &mut calls {
                (call.owner, call.role, call.source) =
                    (Owner::User, crate::domain::Role::User, span);
            }
            if !calls.is_empty() {
                steps.retain(|s| !s.text.is_empty());
            }
            steps.extend(calls);
        }
        let is_answer = steps.iter().any(|s| s.owner == Owner::Model);
        let call = if is_answer {
            Some(run.call(self.call(run, node, span))?)
        } else {
            None
        };
        run.say(steps, call)?;
        Ok(())
    }

    fn call(&self, run: &Run<'_, '_>, node: &Node<'_>, span: SourceSpan) -> Call {
        Call {
            sampling: self.sampling.clone(),
            usage: node.get("usage").map(usage).unwrap_or_default(),
            cost_usd: node.f64("cost"),
            finish_reason: node.get("raw_data").and_then(|r| r.id("finish_reason")),
            at_us: time(node.get("timestamp")),
            ..super::answered(run, span)
        }
    }

    /// Both sides speak at once; only chunks that say or do something are steps.
    fn tick(&self, run: &mut Run<'_, '_>, tick: &Node<'_>, span: SourceSpan) -> Result<(), Halt> {
        for key in [
            "agent_chunk",
            "agent_tool_calls",
            "agent_tool_results",
            "user_chunk",
            "user_tool_calls",
            "user_tool_results",
        ] {
            let Some(chunk) = tick.get(key) else { continue };
            let one = std::slice::from_ref(chunk);
            for message in if chunk.is_list() { chunk.items() } else { one } {
                let says = message.str("content").is_some_and(|t| !t.is_empty())
                    || !message.list("tool_calls").is_empty();
                if message.get("role").is_some() && (says || message.str("role") == Some("tool")) {
                    self.say(run, message, span)?;
                }
            }
        }
        Ok(())
    }
}
