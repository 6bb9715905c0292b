//! Items of the OpenAI Responses dialect as steps: messages, reasoning, calls of every kind and their outputs.
//! Codex and NeMo Gym write them too. Items are joined by `call_id`, never by `id`.

use super::chat::{arguments_text, call_step, voice};
use super::content::{Piece, pieces};
use super::json::Node;
use super::out::Out;
use crate::domain::{Owner, Role, SourceSpan, Step, StepKind, StepStatus};

/// What an item is: the model's, or something else.
pub(crate) struct Item {
    /// Its steps; empty where it holds nothing readable.
    pub(crate) steps: Vec<Step>,
    /// The model sampled it.
    pub(crate) is_model: bool,
}

/// Takes one item apart.
pub(crate) fn item(out: &mut Out<'_>, node: &Node<'_>, span: SourceSpan) -> Item {
    let kind = node.str("type").unwrap_or("message");
    let mut steps = match kind {
        "message" | "agent_message" => message(out, node),
        "reasoning" => vec![reasoning(node)],
        "function_call" => vec![call(
            node,
            node.str("name").unwrap_or(""),
            node.get("arguments"),
        )],
        "custom_tool_call" => vec![call(
            node,
            node.str("name").unwrap_or(""),
            node.get("input"),
        )],
        "function_call_output"
        | "custom_tool_call_output"
        | "local_shell_call_output"
        | "computer_call_output"
        | "tool_search_output" => output(out, node, node.get("output")),
        "mcp_call" => with_answer(
            out,
            node,
            node.str("name").unwrap_or("mcp"),
            node.get("arguments"),
        ),
        "code_interpreter_call" => with_answer(out, node, "code_interpreter", node.get("code")),
        "file_search_call" => with_answer(out, node, "file_search", node.get("queries")),
        "local_shell_call" => vec![call(node, "local_shell", node.get("action"))],
        "web_search_call" => vec![call(node, "web_search", node.get("action"))],
        "computer_call" => vec![call(node, "computer", node.get("action"))],
        "image_generation_call" => vec![call(node, "image_generation", None)],
        "compaction" | "compaction_summary" | "item_reference" => {
            vec![super::turn::event(kind, node.id("id").unwrap_or_default())]
        }
        other => {
            out.not_understood(&format!("item {other:?}"));
            vec![unknown(node)]
        }
    };
    for step in &mut steps {
        step.source = span;
    }
    let is_model = steps.first().is_some_and(|s| s.owner == Owner::Model);
    Item { steps, is_model }
}

fn unknown(node: &Node<'_>) -> Step {
    Step::new(Owner::Unknown, StepKind::Text, Role::User, node.compact())
}

fn message(out: &mut Out<'_>, node: &Node<'_>) -> Vec<Step> {
    let (owner, role) =
        voice(node.str("role").unwrap_or("")).unwrap_or((Owner::Unknown, Role::User));
    let found = pieces(out, node.get("content"));
    let mut steps: Vec<Step> = found
        .into_iter()
        .map(|p| Step::new(owner, p.kind, role, p.text))
        .collect();
    if steps.is_empty() {
        steps.push(Step::new(owner, StepKind::Text, role, ""));
    }
    steps
}

/// What the model thought, or its summary, or a note that the provider keeps it to itself.
fn reasoning(node: &Node<'_>) -> Step {
    let texts = |key: &str| -> Vec<String> {
        let texts = node.list(key).iter().filter_map(|part| part.str("text"));
        texts.map(str::to_owned).collect()
    };
    let full = texts("content");
    let told = if full.is_empty() {
        texts("summary")
    } else {
        full
    };
    let is_hidden = told.is_empty();
    let mut step = Step::new(
        Owner::Model,
        StepKind::Reasoning,
        Role::Assistant,
        told.join("\n"),
    );
    if is_hidden && node.has("encrypted_content") {
        step.extra.insert("encrypted".to_owned(), true.into());
    }
    step
}

fn call(node: &Node<'_>, name: &str, arguments: Option<&Node<'_>>) -> Step {
    let id = node.id("call_id").or_else(|| node.id("id"));
    call_step(name, id, arguments.map(arguments_text).unwrap_or_default())
}

/// Calls that the provider itself carried out hold their own answer.
fn with_answer(
    out: &mut Out<'_>,
    node: &Node<'_>,
    name: &str,
    arguments: Option<&Node<'_>>,
) -> Vec<Step> {
    let mut steps = vec![call(node, name, arguments)];
    let answer = ["output", "outputs", "results", "error"]
        .iter()
        .find_map(|k| node.get(k));
    if answer.is_some() {
        let mut answers = output(out, node, answer);
        for step in &mut answers {
            if node.get("error").is_some() {
                step.status = StepStatus::Error;
            }
        }
        steps.extend(answers);
    }
    steps
}

/// A tool's answer: one step for each piece, at least one.
pub(crate) fn output(out: &mut Out<'_>, node: &Node<'_>, content: Option<&Node<'_>>) -> Vec<Step> {
    let mut found = match content {
        Some(content) if content.is_object() && !content.has("type") => {
            vec![Piece::text(
                content
                    .str("content")
                    .map_or_else(|| content.compact(), str::to_owned),
            )]
        }
        content => pieces(out, content),
    };
    if found.is_empty() {
        found.push(Piece::text(""));
    }
    let id = node.id("call_id").or_else(|| node.id("id"));
    let step = |piece: Piece| {
        let kind = if piece.kind == StepKind::Text {
            StepKind::Observation
        } else {
            piece.kind
        };
        let mut step = Step::new(Owner::Tool, kind, Role::Tool, piece.text);
        step.tool_call_id.clone_from(&id);
        step
    };
    found.into_iter().map(step).collect()
}
