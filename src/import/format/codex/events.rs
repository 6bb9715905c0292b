//! What Codex's event rows add to its items: how tools and turns ended, what a call cost, reasoning that only an
//! event holds. Everything else in them repeats an item and is passed over.

use super::{Talk, noted, written_exit};
use crate::domain::{Ending, Step, StepStatus, Usage};
use crate::import::json::Node;
use crate::import::out::Halt;
use crate::import::rows::Row;
use crate::import::run::Run;
use crate::import::turn::Context;
use std::collections::HashMap;

/// Events that repeat an item, or concern the program's own affairs.
const MIRRORS: &[&str] = &[
    "user_message",
    "agent_message",
    "agent_message_delta",
    "task_started",
    "turn_started",
    "exec_command_begin",
    "exec_command_output_delta",
    "patch_apply_begin",
    "thread_settings_applied",
    "thread_name_updated",
    "mcp_tool_call_begin",
    "web_search_begin",
    "web_search_end",
    "item_started",
    "turn_diff",
    "agent_reasoning_section_break",
    "view_image_tool_call",
    "plan_update",
    "session_configured",
    "collab_agent_spawn_begin",
    "collab_waiting_begin",
    "collab_waiting_end",
    "undo_completed",
];
/// Events that are worth a step of their own.
const NOTES: &[&str] = &[
    "error",
    "stream_error",
    "warning",
    "turn_aborted",
    "context_compacted",
    "collab_agent_spawn_end",
    "thread_rolled_back",
    "entered_review_mode",
    "exited_review_mode",
    "guardian_warning",
    "background_event",
];

/// How tools and the last turn ended.
#[derive(Default)]
pub(super) struct Ends {
    tools: HashMap<String, StepStatus>,
    turn: Option<(Ending, Option<String>)>,
}

impl Ends {
    /// By an event of its own, else by what the answer's text says.
    pub(super) fn of_tool(&self, step: &Step) -> StepStatus {
        let id = step.tool_call_id.as_deref().unwrap_or("");
        let told = self.tools.get(id).copied();
        told.or_else(|| written_exit(&step.text))
            .unwrap_or(StepStatus::Unknown)
    }

    /// Hands the last turn's end to the head.
    pub(super) fn finish(&mut self, run: &mut Run<'_, '_>) {
        if let Some((ending, note)) = self.turn.take() {
            run.head.ending = ending;
            run.head.ending_note = note;
        }
    }
}

/// Takes an event.
pub(super) fn message(
    talk: &mut Talk,
    run: &mut Run<'_, '_>,
    row: &Row<'_>,
    payload: &Node<'_>,
) -> Result<(), Halt> {
    let kind = payload.str("type").unwrap_or("");
    match kind {
        "token_count" => count(talk, payload),
        "task_complete" | "turn_complete" => return complete(talk, run, row, payload),
        "item_completed" => {
            if let Some(item) = payload.get("item") {
                tool_ended(talk, item.id("id"), item);
            }
        }
        "exec_command_end" | "patch_apply_end" | "mcp_tool_call_end" => {
            tool_ended(talk, payload.id("call_id"), payload);
        }
        "agent_reasoning" | "agent_reasoning_raw_content" => reasoning(talk, payload),
        kind if NOTES.contains(&kind) => return note(talk, run, row, payload, kind),
        kind if MIRRORS.contains(&kind) => {}
        kind => run.out.not_understood(&format!("event_msg {kind:?}")),
    }
    Ok(())
}

fn note(
    talk: &mut Talk,
    run: &mut Run<'_, '_>,
    row: &Row<'_>,
    payload: &Node<'_>,
    kind: &str,
) -> Result<(), Halt> {
    let text = payload
        .str("message")
        .map_or_else(|| payload.compact(), str::to_owned);
    if kind == "turn_aborted" {
        talk.ends.turn = Some((Ending::Abrupt, payload.id("reason")));
    }
    talk.turns
        .other(run, noted(row, kind, text), Context::GoesOn)
}

/// The turn is over: closed by the agent, or by an error that left no other row.
fn complete(
    talk: &mut Talk,
    run: &mut Run<'_, '_>,
    row: &Row<'_>,
    payload: &Node<'_>,
) -> Result<(), Halt> {
    let Some(error) = payload.get("error") else {
        talk.ends.turn = Some((Ending::Finished, None));
        return Ok(());
    };
    let text = error.id("message").unwrap_or_else(|| error.compact());
    talk.ends.turn = Some((
        Ending::Error,
        error.id("codex_error_info").or(Some(text.clone())),
    ));
    talk.turns
        .other(run, noted(row, "error", text), Context::GoesOn)
}

/// An exit code, a success flag or a status of a tool that has run.
fn tool_ended(talk: &mut Talk, id: Option<String>, node: &Node<'_>) {
    let Some(id) = id else { return };
    let by_code = node
        .get("exit_code")
        .and_then(Node::as_id)
        .map(|code| code == "0");
    let by_flag = node.bool("success");
    let by_word = node.str("status").map(|word| word == "completed");
    let status = match (by_code.or(by_flag).or(by_word), node.str("status")) {
        (_, Some("declined")) => StepStatus::Denied,
        (Some(true), _) => StepStatus::Ok,
        (Some(false), _) => StepStatus::Error,
        (None, _) => return,
    };
    talk.turns.ended(&id, status);
    talk.ends.tools.insert(id, status);
}

/// Reasoning whose item was empty.
fn reasoning(talk: &mut Talk, payload: &Node<'_>) {
    let Some(text) = payload.str("text") else {
        return;
    };
    let said = talk.turns.said();
    let is_empty =
        |s: &&mut Step| s.kind == crate::domain::StepKind::Reasoning && s.text.is_empty();
    if let Some(step) = said.iter_mut().rev().find(is_empty) {
        text.clone_into(&mut step.text);
    }
}

/// Counts repeat without a new call, so only a call that has none takes them.
fn count(talk: &mut Talk, payload: &Node<'_>) {
    let usage = payload.at(&["info", "last_token_usage"]).map(usage);
    if let (Some(call), Some(usage)) = (talk.turns.call(), usage)
        && call.usage == Usage::default()
    {
        call.usage = usage;
    }
}

/// The newest layout closes each call with its own record.
pub(super) fn usage_record(talk: &mut Talk, payload: &Node<'_>) {
    if let Some(call) = talk.turns.call() {
        call.request_id = payload.id("response_id");
        call.usage = payload.get("usage").map(usage).unwrap_or_default();
    }
}

fn usage(node: &Node<'_>) -> Usage {
    Usage {
        input: node.u64("input_tokens"),
        output: node.u64("output_tokens"),
        cached: node.u64("cached_input_tokens"),
        reasoning: node.u64("reasoning_output_tokens"),
    }
}
