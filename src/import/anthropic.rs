//! Messages of the Anthropic dialect as steps: blocks of text, thinking, tool calls, and tools' answers that stand
//! inside user messages, several for parallel calls and mixed with what the user really wrote.

use super::chat::{arguments_text, call_step, voice};
use super::content::{Piece, pieces};
use super::json::Node;
use super::out::Out;
use crate::domain::{Owner, Role, SourceSpan, Step, StepKind, StepStatus};

/// Blocks that only this dialect has.
const OWN_BLOCKS: &[&str] = &[
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "server_tool_use",
    "mcp_tool_use",
    "mcp_tool_result",
    "web_search_tool_result",
    "code_execution_tool_result",
];

/// The message holds a block that only this dialect has.
pub(crate) fn is_anthropic(message: &Node<'_>) -> bool {
    let own = |b: &Node<'_>| b.str("type").is_some_and(|t| OWN_BLOCKS.contains(&t));
    message.list("content").iter().any(own)
}

/// The steps of one message, in the order of its blocks. Never empty.
pub(crate) fn message(out: &mut Out<'_>, node: &Node<'_>, span: SourceSpan) -> Vec<Step> {
    let name = node.str("role").unwrap_or("");
    let (owner, role) = voice(name).unwrap_or((Owner::Unknown, Role::User));
    let mut steps = match node.get("content") {
        Some(content) if content.is_list() => {
            let blocks = content.items().iter();
            blocks
                .flat_map(|block| steps_of(out, block, owner, role))
                .collect()
        }
        content => plain(out, content, owner, role),
    };
    if steps.is_empty() {
        steps.push(Step::new(owner, StepKind::Text, role, ""));
    }
    for step in &mut steps {
        step.source = span;
    }
    steps
}

fn plain(out: &mut Out<'_>, content: Option<&Node<'_>>, owner: Owner, role: Role) -> Vec<Step> {
    let pieces = pieces(out, content).into_iter();
    pieces
        .map(|p| Step::new(owner, p.kind, role, p.text))
        .collect()
}

/// One block.
pub(crate) fn steps_of(out: &mut Out<'_>, block: &Node<'_>, owner: Owner, role: Role) -> Vec<Step> {
    match block.str("type") {
        Some("tool_use" | "server_tool_use" | "mcp_tool_use") => vec![tool_use(block, owner)],
        Some(kind) if kind.ends_with("tool_result") => tool_result(out, block),
        _ => {
            let found = pieces(out, Some(block));
            found
                .into_iter()
                .map(|p| Step::new(owner, p.kind, role, p.text))
                .collect()
        }
    }
}

fn tool_use(block: &Node<'_>, owner: Owner) -> Step {
    let input = block
        .get("input")
        .map_or_else(|| "{}".to_owned(), arguments_text);
    let mut step = call_step(block.str("name").unwrap_or(""), block.id("id"), input);
    step.owner = owner;
    step
}

/// A tool's answer: one step for each piece of it, at least one. No flag means no error, says the dialect.
fn tool_result(out: &mut Out<'_>, block: &Node<'_>) -> Vec<Step> {
    let mut found = pieces(out, block.get("content"));
    if found.is_empty() {
        found.push(Piece::text(""));
    }
    let is_error = block.bool("is_error").unwrap_or(false);
    let status = if is_error {
        StepStatus::Error
    } else {
        StepStatus::Ok
    };
    let id = block.id("tool_use_id");
    let step = |piece: Piece| {
        let kind = if piece.kind == StepKind::Text {
            StepKind::Observation
        } else {
            piece.kind
        };
        let mut step = Step::new(Owner::Tool, kind, Role::Tool, piece.text);
        step.tool_call_id.clone_from(&id);
        step.status = status;
        step
    };
    found.into_iter().map(step).collect()
}
