//! One message of a Gemini CLI session as steps: thoughts, text, tool calls with their answers, notes of the program.

use crate::domain::{Call, Owner, Role, SourceSpan, Step, StepKind, StepStatus, Usage};
use crate::import::answer::sum;
use crate::import::chat::{arguments_text, call_step};
use crate::import::content::{describe, pieces};
use crate::import::json::Node;
use crate::import::markers::is_inserted;
use crate::import::out::{Halt, Out};
use crate::import::rows::Row;
use crate::import::run::Run;
use crate::import::time::time;
use crate::import::turn::event;
use std::collections::HashSet;

/// What has been said so far.
#[derive(Default)]
pub(super) struct Talk {
    /// Tool calls whose answers stood beside them.
    answered: HashSet<String>,
}

impl Talk {
    pub(super) fn message(
        &mut self,
        run: &mut Run<'_, '_>,
        row: &Row<'_>,
        is_left: bool,
        rewrites: bool,
    ) -> Result<(), Halt> {
        let node = row.node;
        let mut steps = match node.str("type").unwrap_or("") {
            "gemini" => return self.answer(run, row, is_left),
            "user" => self.user(run.out, node),
            kind @ ("info" | "warning" | "error") => {
                let said = pieces(run.out, node.get("content"));
                let text: Vec<String> = said.into_iter().map(|p| p.text).collect();
                vec![event(kind, text.join("\n"))]
            }
            kind => {
                run.out.not_understood(&format!("row type {kind:?}"));
                return Ok(());
            }
        };
        if rewrites && !steps.is_empty() {
            let replaced = run.replace_context();
            run.head.harness.compression = Some("history rewritten".to_owned());
            if let Some(first) = steps.first_mut() {
                first.replaces = replaced;
            }
        }
        say(run, row, steps, None, is_left)
    }

    fn answer(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>, is_left: bool) -> Result<(), Halt> {
        let node = row.node;
        let call = call_of(node, row.span);
        run.head.model = run.head.model.take().or_else(|| call.model.clone());
        let call = run.call(call)?;
        let mut steps: Vec<Step> = node.list("thoughts").iter().map(thought).collect();
        let said = parts(run.out, node.get("content"), Owner::Model, Role::Assistant);
        steps.extend(said.into_iter().filter(|s| !s.text.is_empty()));
        let mut answers = Vec::new();
        for tool in node.list("toolCalls") {
            let arguments = tool.get("args").map_or_else(String::new, arguments_text);
            let mut step = call_step(tool.str("name").unwrap_or(""), tool.id("id"), arguments);
            step.at_us = time(tool.get("timestamp"));
            steps.push(step);
            answers.extend(self.result(tool));
        }
        if steps.is_empty() {
            steps.push(Step::new(Owner::Model, StepKind::Text, Role::Assistant, ""));
        }
        say(run, row, steps, Some(call), is_left)?;
        for answer in answers {
            say(run, row, vec![answer], None, is_left)?;
        }
        Ok(())
    }

    /// What a tool answered, as the call's own record tells it; `None` = it never did.
    fn result(&mut self, tool: &Node<'_>) -> Option<Step> {
        let response = tool.list("result").first()?;
        let response = response.get("functionResponse").unwrap_or(response);
        let mut step = observation(response);
        step.tool_call_id = tool.id("id").or(step.tool_call_id);
        step.status = match tool.str("status") {
            Some("error") => StepStatus::Error,
            Some("cancelled") => StepStatus::Denied,
            Some("success") if step.status == StepStatus::Unknown => StepStatus::Ok,
            _ => step.status,
        };
        self.answered.extend(step.tool_call_id.clone());
        Some(step)
    }

    /// Text of a person, or answers that no call's record has told yet.
    fn user(&self, out: &mut Out<'_>, node: &Node<'_>) -> Vec<Step> {
        let steps = parts(out, node.get("content"), Owner::User, Role::User);
        let is_told = |s: &Step| {
            let id = s.tool_call_id.as_ref();
            s.owner == Owner::Tool && id.is_some_and(|id| self.answered.contains(id))
        };
        let mut steps: Vec<Step> = steps.into_iter().filter(|s| !is_told(s)).collect();
        for step in &mut steps {
            if step.owner == Owner::User && is_inserted(&step.text) {
                step.owner = Owner::Runtime;
            }
        }
        steps
    }
}

fn say(
    run: &mut Run<'_, '_>,
    row: &Row<'_>,
    mut steps: Vec<Step>,
    call: Option<u32>,
    is_left: bool,
) -> Result<(), Halt> {
    for step in &mut steps {
        step.source = row.span;
        step.at_us = step.at_us.or(time(row.node.get("timestamp")));
        step.off_path = is_left;
    }
    if !steps.is_empty() {
        run.say(steps, call)?;
    }
    Ok(())
}

/// Content is a text, one part, or a list of parts.
fn parts(out: &mut Out<'_>, content: Option<&Node<'_>>, owner: Owner, role: Role) -> Vec<Step> {
    let Some(content) = content else {
        return Vec::new();
    };
    let list = if content.is_list() {
        content.items()
    } else {
        std::slice::from_ref(content)
    };
    let mut steps = Vec::new();
    for part in list {
        if let Some(response) = part.get("functionResponse") {
            steps.push(observation(response));
        } else if part.has("inlineData") || part.has("fileData") {
            let text = describe("image", part);
            steps.push(Step::new(owner, StepKind::Media, role, text));
        } else if !part.has("functionCall") {
            let found = pieces(out, Some(part)).into_iter();
            steps.extend(found.map(|p| Step::new(owner, p.kind, role, p.text)));
        }
    }
    steps
}

fn observation(response: &Node<'_>) -> Step {
    let body = response.get("response");
    let said = body.and_then(|b| b.get("output").or_else(|| b.get("error")));
    let text = said.or(body).map_or_else(String::new, |said| {
        said.text().map_or_else(|| said.compact(), str::to_owned)
    });
    let mut step = Step::new(Owner::Tool, StepKind::Observation, Role::Tool, text);
    step.tool = response.id("name");
    step.tool_call_id = response.id("id");
    let is_error = body.is_some_and(|b| b.has("error")) || exit_code(&step.text) != 0;
    if is_error {
        step.status = StepStatus::Error;
    }
    step
}

/// The shell tool calls itself a success whatever the command did; only its text has the exit code.
fn exit_code(text: &str) -> i64 {
    let line = text.lines().find_map(|l| l.strip_prefix("Exit Code: "));
    line.and_then(|code| code.trim().parse().ok()).unwrap_or(0)
}

fn thought(node: &Node<'_>) -> Step {
    let said: Vec<&str> = ["subject", "description"]
        .iter()
        .filter_map(|key| node.str(key))
        .collect();
    let text = said.join("\n");
    let mut step = Step::new(Owner::Model, StepKind::Reasoning, Role::Assistant, text);
    step.at_us = time(node.get("timestamp"));
    step
}

fn call_of(node: &Node<'_>, source: SourceSpan) -> Call {
    let tokens = node.get("tokens");
    let count = |key: &str| tokens.and_then(|t| t.u64(key));
    Call {
        event_id: node.id("id"),
        model: node.id("model"),
        // Thoughts are counted apart, and are generated tokens all the same.
        usage: Usage {
            input: count("input"),
            output: sum(&[count("output"), count("thoughts")]),
            cached: count("cached"),
            reasoning: count("thoughts"),
        },
        at_us: time(node.get("timestamp")),
        source,
        ..Call::default()
    }
}
