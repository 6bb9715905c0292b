//! Failure-attribution sets: Who&When (one document a run, with the step and agent that people blame) and the bare
//! lists of Magentic-One, whose role packs the speaker and whom he addresses. Several agents share a log.

use super::{Importer, Input};
use crate::domain::{
    ForeignLabel, Outcome, Owner, Reward, Role, Step, StepKind, StepStatus, TaskId,
};
use crate::import::detect::{Shape, Sniff, has_all};
use crate::import::document::Document;
use crate::import::extra::keep;
use crate::import::json::Node;
use crate::import::mint::mint;
use crate::import::out::{Halt, Out};
use crate::import::rows::{Row, each_element, opening, tell_damage};
use crate::import::run::Run;
use serde_json::{Value, json};

/// Who&When and Magentic-One.
pub(crate) struct WhoAndWhen;

impl Importer for WhoAndWhen {
    fn name(&self) -> &'static str {
        "who-and-when"
    }

    fn title(&self) -> &'static str {
        "Who&When and Magentic-One runs"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        let first = sniff.first();
        if has_all(first, &["history"])
            && (has_all(first, &["mistake_agent"]) || has_all(first, &["mistake_step"]))
        {
            return Some("history with mistake_agent and mistake_step".to_owned());
        }
        let is_orchestrated = |row: &Value| {
            row.get("role")
                .and_then(Value::as_str)
                .is_some_and(|r| r.starts_with("Orchestrator"))
        };
        (sniff.shape == Shape::List && sniff.rows.iter().any(is_orchestrated))
            .then(|| "a list of messages by an Orchestrator and its agents".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        out.advance(input.source.len())?;
        let document = Document::open(input.source, &["history", ""])?;
        let Some(list) = document.lists.first() else {
            return Err(Halt::file("no history"));
        };
        let top = document.head()?;
        let start = opening(&document, list, 3);
        let start: Vec<&str> = start.iter().map(String::as_str).collect();
        let mut head = input.minted(mint(&start), self);
        head.span.len = input.source.len();
        head.task = top.id("question_ID").map(TaskId);
        keep(
            &mut head.extra,
            &top,
            &[
                "question",
                "ground_truth",
                "level",
                "system_prompt",
                "labels",
            ],
        );
        let correct = ["is_correct", "is_corrected"]
            .iter()
            .find_map(|k| top.bool(k));
        if let Some(correct) = correct {
            head.outcome = if correct {
                Outcome::Pass
            } else {
                Outcome::Fail
            };
            head.outcome_source = Some("file:is_correct".to_owned());
        }
        let mut run = Run::begin(out, head)?;
        let mut speakers = Vec::new();
        each_element(&mut run, &document, list, &mut |run, row| {
            say(run, row, &mut speakers)
        })?;
        if let Some(correct) = correct {
            run.reward(Reward::result("who-and-when", f64::from(u8::from(correct))))?;
        }
        if let Some(label) = label(&top, &speakers) {
            run.label(label)?;
        }
        run.end()?;
        tell_damage(out, &document)
    }
}

fn say(run: &mut Run<'_, '_>, row: &Row<'_>, speakers: &mut Vec<String>) -> Result<(), Halt> {
    let role = row.node.str("role").unwrap_or("");
    let speaker = row
        .node
        .id("name")
        .unwrap_or_else(|| role.split(" (").next().unwrap_or("").to_owned());
    let text = row
        .node
        .get("content")
        .map(|c| c.text().map_or_else(|| c.compact(), str::to_owned));
    let text = text.unwrap_or_default();
    let (owner, kind, chat) = voice(role, &speaker);
    let mut step = Step::new(owner, kind, chat, text);
    if kind == StepKind::Observation {
        step.status = exit_code(&step.text);
    }
    step.name = Some(speaker.clone());
    step.source = row.span;
    if role.contains("(->") {
        step.extra.insert(
            "to".to_owned(),
            role.split("(->")
                .nth(1)
                .unwrap_or("")
                .trim_end_matches(')')
                .trim()
                .into(),
        );
    }
    speakers.push(speaker);
    run.say(vec![step], None)?;
    Ok(())
}

/// Every agent is a model; the terminal that runs their code is a tool; `human` asked.
fn voice(role: &str, speaker: &str) -> (Owner, StepKind, Role) {
    match speaker {
        "human" | "user" => (Owner::User, StepKind::Text, Role::User),
        "Computer_terminal" | "ComputerTerminal" => {
            (Owner::Tool, StepKind::Observation, Role::User)
        }
        _ if role.ends_with("(thought)") => (Owner::Model, StepKind::Reasoning, Role::Assistant),
        _ => (Owner::Model, StepKind::Text, Role::Assistant),
    }
}

fn exit_code(text: &str) -> StepStatus {
    match text
        .strip_prefix("exitcode: ")
        .and_then(|rest| rest.split_whitespace().next())
    {
        Some("0") => StepStatus::Ok,
        Some(_) => StepStatus::Error,
        None => StepStatus::Unknown,
    }
}

/// The label as people gave it, and whether the blamed agent wrote the blamed step.
fn label(top: &Node<'_>, speakers: &[String]) -> Option<ForeignLabel> {
    let agent = top.id("mistake_agent")?;
    let step = top.u64("mistake_step").and_then(|n| u32::try_from(n).ok());
    let step = step.filter(|&n| (n as usize) < speakers.len());
    let author = step.and_then(|n| speakers.get(n as usize));
    Some(ForeignLabel {
        source: "who-and-when".to_owned(),
        step,
        category: top.id("labels").unwrap_or_else(|| agent.clone()),
        reason: top.id("mistake_reason").unwrap_or_default(),
        detail: json!({
            "mistake_agent": agent,
            "mistake_step": top.id("mistake_step"),
            "author_of_step": author,
            "author_is_agent": author.map(|a| *a == agent),
        }),
    })
}
