//! mini-swe-agent trajectories: one document a run, or only its list of messages. The reward stands in a report
//! beside it, never inside. In text mode the observation comes as `user`; it is the tool's all the same.

use super::{Importer, Input};
use crate::domain::chat::Role;
use crate::domain::{Ending, Owner, Rollout, Step, StepKind, StepStatus, TaskId};
use crate::import::detect::{Shape, Sniff};
use crate::import::document::Document;
use crate::import::extra::{keep, leftover};
use crate::import::json::Node;
use crate::import::mint::mint;
use crate::import::out::{Halt, Out};
use crate::import::rows::{Row, each_element, opening, tell_damage};
use crate::import::run::Run;
use crate::import::time::time;
use crate::import::{answer, chat};
use serde_json::{Map, Value};

/// mini-swe-agent.
pub(crate) struct MiniSweAgent;

const KNOWN: &[&str] = &["info", "messages", "trajectory_format", "instance_id"];
const KNOWN_INFO: &[&str] = &[
    "exit_status",
    "submission",
    "model_stats",
    "mini_version",
    "config",
    "exception_str",
    "traceback",
];

impl Importer for MiniSweAgent {
    fn name(&self) -> &'static str {
        "mini-swe-agent"
    }

    fn title(&self) -> &'static str {
        "mini-swe-agent trajectory (.traj.json)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        let first = sniff.first();
        let format = first
            .get("trajectory_format")
            .and_then(Value::as_str)
            .unwrap_or("");
        if format.starts_with("mini-swe-agent") {
            return Some(format!("trajectory_format is {format:?}"));
        }
        if first.pointer("/info/mini_version").is_some() && first.get("messages").is_some() {
            return Some("info.mini_version and messages".to_owned());
        }
        let content = |row: &Value| {
            row.get("content")
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let is_answer =
            |row: &Value| content(row).is_some_and(|text| text.starts_with("<returncode>"));
        (sniff.shape == Shape::List && sniff.rows.iter().any(is_answer))
            .then(|| "a list of messages with <returncode> answers".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        out.note("the reward is not in the file; hint: import the report that stands beside it");
        let document = Document::open(input.source, &["messages", ""])?;
        out.advance(input.source.len())?;
        let Some(list) = document.lists.first() else {
            tell_damage(out, &document)?;
            return Err(Halt::file("no list of messages"));
        };
        let top = document.head()?;
        let start = opening(&document, list, 3);
        let mut parts: Vec<&str> = start.iter().map(String::as_str).collect();
        parts.push(top.str("instance_id").unwrap_or(""));
        let mut head = input.minted(mint(&parts), self);
        head.span.len = input.source.len();
        about(out, &top, &mut head);
        let sampling = top
            .at(&["info", "config", "model", "model_kwargs"])
            .map(answer::sampling);
        let mut run = Run::begin(out, head)?;
        let mut state = State {
            sampling: sampling.unwrap_or_default(),
            ..State::default()
        };
        each_element(&mut run, &document, list, &mut |run, row| {
            state.say(run, row)
        })?;
        run.end()?;
        tell_damage(out, &document)
    }
}

fn about(out: &mut Out<'_>, top: &Node<'_>, head: &mut Rollout) {
    head.task = top.id("instance_id").map(TaskId);
    head.harness.name = Some("mini-swe-agent".to_owned());
    head.harness.compression = Some("none".to_owned());
    head.extra = leftover(out, top, KNOWN, "trajectory");
    keep(&mut head.extra, top, &["trajectory_format"]);
    let Some(info) = top.get("info") else { return };
    head.harness.version = info.id("mini_version");
    head.model = info
        .at(&["config", "model", "model_name"])
        .and_then(Node::as_id);
    let agent = info.at(&["config", "agent"]);
    let limits: Vec<String> = ["step_limit", "cost_limit", "wall_time_limit_seconds"]
        .iter()
        .filter_map(|key| Some(format!("{key}={}", agent?.id(key)?)))
        .collect();
    head.harness.stop_rule = (!limits.is_empty()).then(|| limits.join(" "));
    head.extra.extend(leftover(out, info, KNOWN_INFO, "info"));
    keep(
        &mut head.extra,
        info,
        &[
            "submission",
            "model_stats",
            "config",
            "exception_str",
            "traceback",
        ],
    );
    if let Some(status) = info.str("exit_status") {
        head.ending = ending(status);
        head.ending_note = Some(status.to_owned());
    }
}

/// `Submitted` closes a run; limits have names of their own; every other word is an exception's class.
fn ending(status: &str) -> Ending {
    match status {
        "Submitted" => Ending::Finished,
        "LimitsExceeded" | "TimeExceeded" => Ending::Limit,
        "" => Ending::Unknown,
        _ => Ending::Error,
    }
}

#[derive(Default)]
struct State {
    sampling: Map<String, Value>,
    has_request: bool,
}

impl State {
    fn say(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
        let node = row.node;
        match node.str("role") {
            Some("exit") => self.exit(run, row),
            Some("assistant") => self.answer(run, row),
            Some("user") => self.user(run, row),
            _ => {
                let mut steps = chat::message_of(run.out, node, row.span, &["extra"]);
                for step in &mut steps {
                    observed(node, step);
                }
                run.say(steps, None)?;
                Ok(())
            }
        }
    }

    fn answer(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
        let extra = row.node.get("extra");
        let response = extra.and_then(|e| e.get("response"));
        let choice = response.and_then(|r| r.list("choices").first());
        let mut call = answer::call(None, response, choice);
        call.sampling = self.sampling.clone();
        call.cost_usd = extra.and_then(|e| e.f64("cost"));
        call.at_us = time(extra.and_then(|e| e.get("timestamp"))).or(call.at_us);
        call.model = call.model.or_else(|| run.head.model.clone());
        call.source = row.span;
        let index = run.call(call)?;
        let mut steps = chat::message_of(run.out, row.node, row.span, &["extra"]);
        for step in &mut steps {
            step.at_us = time(extra.and_then(|e| e.get("timestamp")));
        }
        run.say(steps, Some(index))?;
        Ok(())
    }

    /// The first is the request. Later ones hold a command's output, or what the program has to say.
    fn user(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
        let mut steps = chat::message_of(run.out, row.node, row.span, &["extra"]);
        if self.has_request {
            for step in &mut steps {
                step.owner = Owner::Runtime;
                if step.text.trim_start().starts_with("<returncode>")
                    || row.node.at(&["extra", "returncode"]).is_some()
                {
                    step.owner = Owner::Tool;
                    step.kind = StepKind::Observation;
                    observed(row.node, step);
                }
            }
        }
        self.has_request = true;
        run.say(steps, None)?;
        Ok(())
    }

    fn exit(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
        let text = row.node.str("content").unwrap_or("");
        let mut step = Step::new(Owner::Runtime, StepKind::Event, Role::User, text);
        step.source = row.span;
        if let Some(extra) = row.node.get("extra") {
            step.extra = extra.to_map();
            if run.head.ending_note.is_none() {
                let status = extra.str("exit_status").unwrap_or("");
                run.head.ending = ending(status);
                run.head.ending_note = Some(status.to_owned());
            }
        }
        run.say(vec![step], None)?;
        Ok(())
    }
}

/// How a command ended: its own exit code, or what the program says about it.
fn observed(node: &Node<'_>, step: &mut Step) {
    if step.kind != StepKind::Observation {
        return;
    }
    let extra = node.get("extra");
    step.at_us = time(extra.and_then(|e| e.get("timestamp"))).or(step.at_us);
    let exception = extra.and_then(|e| e.str("exception_info")).unwrap_or("");
    let code = extra
        .and_then(|e| e.get("returncode"))
        .and_then(Node::as_id)
        .or_else(|| written_code(&step.text));
    step.status = match code.as_deref() {
        _ if exception.to_lowercase().contains("timed out") => StepStatus::Timeout,
        _ if !exception.is_empty() => StepStatus::Error,
        Some("0") => StepStatus::Ok,
        Some(_) => StepStatus::Error,
        None => StepStatus::Unknown,
    };
    if let Some(code) = code {
        step.extra.insert("returncode".to_owned(), code.into());
    }
}

fn written_code(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("<returncode>")?;
    let (code, _) = rest.split_once("</returncode>")?;
    Some(code.trim().to_owned())
}
