//! Tasks for reinforcement learning: where each one starts, and what its reward needs. Recorded groups lie beside
//! them as evidence and never pose as a training batch; an advantage is exported nowhere (S-65).

use super::desk::Desk;
use super::error::Error;
use super::gate::RunView;
use super::input::RunInput;
use super::redact::Redactor;
use super::split::Part;
use super::why::Why;
use crate::domain::chat::{context_before, decisions};
use crate::domain::pair::context_hash;
use crate::domain::{ChatMessage, RewardStatus, Role, Task, TaskId};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Where a task starts.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    pub(crate) part: Part,
    pub(crate) task: Option<TaskId>,
    pub(crate) context: String,
    pub(crate) prompt: Vec<ChatMessage>,
    pub(crate) tools: Vec<Value>,
    pub(crate) family: String,
    pub(crate) scenario: String,
    pub(crate) answer: String,
    pub(crate) grader: String,
    /// What a resettable environment needs to start over, as JSON text.
    pub(crate) reset: String,
    pub(crate) runs: Vec<String>,
    pub(crate) agent: String,
}

/// Collects starts, one for each task and context.
#[derive(Default)]
pub(crate) struct Starts {
    found: BTreeMap<(String, String), Start>,
}

impl Starts {
    /// Takes a run: its start, and its rewards as evidence.
    pub(crate) fn run(&mut self, run: &RunInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        match start(run, desk) {
            Ok(start) => {
                desk.versions(run);
                let task = start
                    .task
                    .as_ref()
                    .map_or(String::new(), ToString::to_string);
                let known = self
                    .found
                    .entry((task, start.context.clone()))
                    .or_insert(start);
                known.runs.push(run.head.id.to_string());
                evidence(run, desk)
            }
            Err(why) => {
                desk.leave_out(&run.head.id, &why);
                Ok(())
            }
        }
    }

    /// Starts by task, then by context.
    pub(crate) fn into_sorted(self, desk: &mut Desk<'_>) -> Vec<Start> {
        let mut starts: Vec<Start> = self.found.into_values().collect();
        let redactor = desk.redactor();
        for start in &mut starts {
            redactor.text(&mut start.answer);
            redactor.text(&mut start.grader);
        }
        let without = starts.iter().filter(|s| s.answer.is_empty()).count();
        if without > 0 {
            desk.warnings.insert(format!("{without} tasks have no expected answer in the task list; their reward must come from an environment"));
        }
        desk.units.rows = "one task at its start";
        desk.units.advantage =
            "a rollout inside its group; the trainer computes it anew, none is exported";
        starts
    }
}

fn start(run: &RunInput, desk: &Desk<'_>) -> Result<Start, Why> {
    let first = decisions(&run.steps).first().copied();
    let before = first.unwrap_or_else(|| run.steps.last().map_or(0, |s| s.index + 1));
    RunView::new(run, desk.options.undecided).context(before)?;
    let mut prompt = context_before(&run.steps, before);
    let context = context_hash(run.head.task.as_ref(), &prompt, &run.head.tools);
    let redactor = Redactor::of(run, desk.options.undecided);
    prompt.iter_mut().try_for_each(|m| redactor.message(m))?;
    if !prompt.iter().any(|m| m.role == Role::User) {
        return Err(Why::NoPrompt);
    }
    let task = desk.select.task(run.head.task.as_ref());
    let text = |t: &Option<String>| t.clone().unwrap_or_default();
    let scenario = run
        .head
        .scenario
        .clone()
        .or_else(|| task.and_then(|t| t.scenario.clone()));
    Ok(Start {
        part: desk.part(run),
        task: run.head.task.clone(),
        context,
        prompt,
        tools: run.head.tools.clone(),
        family: run
            .head
            .family
            .clone()
            .or_else(|| task.and_then(|t| t.family.clone()))
            .unwrap_or_default(),
        answer: task.map_or(String::new(), |t| plain(&t.expected)),
        grader: task.map_or(String::new(), |t| plain(&t.grader)),
        reset: reset(run, task, scenario.as_deref()),
        scenario: text(&scenario),
        runs: Vec::new(),
        agent: run.head.harness.name.clone().unwrap_or_default(),
    })
}

/// A text as it is; anything else as JSON; nothing for null.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

fn reset(run: &RunInput, task: Option<&Task>, scenario: Option<&str>) -> String {
    json!({
        "task_id": run.head.task, "scenario": scenario, "date": task.and_then(|t| t.date.clone()),
        "requires": task.map(|t| &t.requires), "index_version": run.head.index_version,
        "toolset_version": run.head.toolset_version,
    })
    .to_string()
}

#[derive(Serialize)]
struct Recorded<'a> {
    note: &'static str,
    task_id: &'a str,
    group: &'a str,
    run: &'a str,
    grader: &'a str,
    grader_version: &'a str,
    isolated: Option<bool>,
    status: &'a str,
    counted: bool,
    result: Option<f64>,
    evidence: Option<f64>,
    side_effects: &'a Option<Vec<String>>,
    cost: Option<f64>,
}

/// Writes what graders said of a run; a reward that cannot be used is listed too (S-52).
fn evidence(run: &RunInput, desk: &mut Desk<'_>) -> Result<(), Error> {
    let task = run.head.task.as_ref().map_or("", TaskId::as_str);
    if run.rewards.is_empty() {
        desk.leave_out(
            format!("{} (evidence)", run.head.id),
            &Why::NoReward {
                status: RewardStatus::Missing.word().to_owned(),
            },
        );
    }
    for reward in &run.rewards {
        let counted = reward.status == RewardStatus::Ok;
        if !counted {
            let why = Why::NoReward {
                status: reward.status.word().to_owned(),
            };
            desk.leave_out(format!("{} (evidence)", run.head.id), &why);
        }
        let row = Recorded {
            note: "recorded evidence, not a training batch: it has no gradient part",
            task_id: task,
            group: run.head.group.as_deref().unwrap_or(task),
            run: run.head.id.as_str(),
            grader: &reward.grader,
            grader_version: reward.version.as_deref().unwrap_or(""),
            isolated: reward.isolated,
            status: reward.status.word(),
            counted,
            result: reward.result,
            evidence: reward.evidence,
            side_effects: &reward.side_effects,
            cost: reward.cost,
        };
        desk.folder.line("evidence/groups.jsonl", &row)?;
    }
    Ok(())
}
