//! A chat message of the OpenAI dialect, with what vendors add, as steps. Whoever imports a format adjusts owners
//! and statuses by what that format tells; here the role alone decides.

use super::anthropic;
use super::content::{Piece, pieces};
use super::extra::leftover;
use super::json::{Kind, Node};
use super::out::Out;
use super::parse::{Flaws, parse};
use super::time::time;
use crate::domain::chat::Role;
use crate::domain::{Owner, SourceSpan, Step, StepKind};

/// Fields of a message that a step holds, or that repeat what another field says.
pub(crate) const KNOWN: &[&str] = &[
    "role",
    "content",
    "name",
    "tool_calls",
    "tool_call_id",
    "function_call",
    "reasoning_content",
    "reasoning",
    "thinking_blocks",
    "timestamp",
    "refusal",
    // Repeats the reasoning, or says nothing.
    "provider_specific_fields",
    "annotations",
    "audio",
    "index",
    "reasoning_details",
];

/// Owner and chat role of a role's name.
pub(crate) fn voice(name: &str) -> Option<(Owner, Role)> {
    Some(match name {
        "system" => (Owner::System, Role::System),
        "developer" => (Owner::System, Role::Developer),
        "user" | "human" => (Owner::User, Role::User),
        "assistant" | "model" | "gpt" | "ai" => (Owner::Model, Role::Assistant),
        "tool" | "function" | "observation" | "ipython" => (Owner::Tool, Role::Tool),
        _ => return None,
    })
}

/// The steps of one message: reasoning, text, tool calls. Never empty, so that an empty message is still seen.
pub(crate) fn message(out: &mut Out<'_>, node: &Node<'_>, span: SourceSpan) -> Vec<Step> {
    message_of(out, node, span, &[])
}

/// The same, where the format adds fields that its importer reads itself.
pub(crate) fn message_of(
    out: &mut Out<'_>,
    node: &Node<'_>,
    span: SourceSpan,
    also_known: &[&str],
) -> Vec<Step> {
    let name = node.str("role").unwrap_or("");
    let (owner, role) = voice(name).unwrap_or((Owner::Unknown, Role::User));
    let mut steps = Vec::new();
    if owner == Owner::Model {
        steps.extend(reasoning(node).map(|text| Step::new(owner, StepKind::Reasoning, role, text)));
    }
    if anthropic::is_anthropic(node) {
        let blocks = node.list("content").iter();
        steps.extend(blocks.flat_map(|b| anthropic::steps_of(out, b, owner, role)));
    } else {
        content_steps(out, node, owner, role, &mut steps);
    }
    if owner == Owner::Model {
        steps.extend(tool_calls(out, node));
    }
    if steps.is_empty() {
        let kind = if owner == Owner::Tool {
            StepKind::Observation
        } else {
            StepKind::Text
        };
        steps.push(Step::new(owner, kind, role, ""));
    }
    let known: Vec<&str> = KNOWN.iter().chain(also_known).copied().collect();
    finish(
        out,
        node,
        span,
        &mut steps,
        &known,
        voice(name).is_none().then_some(name),
    );
    steps
}

fn content_steps(
    out: &mut Out<'_>,
    node: &Node<'_>,
    owner: Owner,
    role: Role,
    steps: &mut Vec<Step>,
) {
    let content = node.get("content").or_else(|| node.get("refusal"));
    let is_call = |part: &Node<'_>| matches!(part.str("type"), Some("tool_call" | "function_call"));
    for part in content.filter(|c| c.is_list()).map_or(&[][..], Node::items) {
        if is_call(part) {
            steps.extend(part_call(out, part));
        } else {
            pieces(out, Some(part))
                .into_iter()
                .for_each(|p| push_piece(steps, owner, role, p));
        }
    }
    if let Some(content) = content.filter(|c| !c.is_list()) {
        pieces(out, Some(content))
            .into_iter()
            .for_each(|p| push_piece(steps, owner, role, p));
    }
}

/// A call that stands among the parts of the content, as an object or as JSON in `value`.
fn part_call(out: &mut Out<'_>, part: &Node<'_>) -> Vec<Step> {
    let Some(inner) = part.str("value") else {
        return vec![tool_call(part)];
    };
    match parse(inner, &mut Flaws::default()) {
        Ok(node) if node.is_list() => node.items().iter().map(tool_call).collect(),
        Ok(node) => vec![tool_call(&node)],
        Err(_) => {
            out.not_understood("tool call that is no JSON");
            vec![call_step("", None, inner.to_owned())]
        }
    }
}

fn push_piece(steps: &mut Vec<Step>, owner: Owner, role: Role, piece: Piece) {
    let has_calls_or_more = !steps.is_empty();
    // An empty text beside something else says nothing.
    if piece.text.is_empty() && (has_calls_or_more || owner == Owner::Model) {
        return;
    }
    let kind = match (owner, piece.kind) {
        (Owner::Tool, StepKind::Text) => StepKind::Observation,
        (_, kind) => kind,
    };
    steps.push(Step::new(owner, kind, role, piece.text));
}

fn finish(
    out: &mut Out<'_>,
    node: &Node<'_>,
    span: SourceSpan,
    steps: &mut [Step],
    known: &[&str],
    strange_role: Option<&str>,
) {
    let at_us = time(node.get("timestamp"));
    let id = node.id("tool_call_id");
    let speaker = node.str("name").map(str::to_owned);
    for step in steps.iter_mut() {
        step.source = span;
        step.at_us = at_us;
        if step.owner == Owner::Tool {
            step.tool_call_id = step.tool_call_id.take().or_else(|| id.clone());
            step.tool = step.tool.take().or_else(|| speaker.clone());
        } else {
            step.name.clone_from(&speaker);
        }
    }
    let mut extra = leftover(out, node, known, "message");
    if let Some(role) = strange_role {
        out.not_understood(&format!("role {role:?}"));
        extra.insert("role".to_owned(), role.into());
    }
    if let Some(first) = steps.first_mut() {
        first.extra.extend(extra);
    }
}

/// Text that the model wrote before it answered, wherever the vendor put it.
pub(crate) fn reasoning(node: &Node<'_>) -> Option<String> {
    let plain = ["reasoning_content", "reasoning"]
        .iter()
        .find_map(|key| node.str(key));
    if let Some(text) = plain.filter(|t| !t.is_empty()) {
        return Some(text.to_owned());
    }
    let blocks = node
        .list("thinking_blocks")
        .iter()
        .chain(node.list("reasoning_details"));
    let texts: Vec<&str> = blocks
        .filter_map(|b| b.str("thinking").or_else(|| b.str("text")))
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// All tool calls of a message, the old `function_call` included.
pub(crate) fn tool_calls(out: &mut Out<'_>, node: &Node<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    // ART stores the whole list as JSON inside a text.
    let packed = node
        .str("tool_calls")
        .filter(|text| !text.trim().is_empty());
    let unpacked = packed.and_then(|text| parse(text, &mut Flaws::default()).ok());
    match (packed, &unpacked) {
        (None, _) => {}
        (_, Some(inner)) if inner.is_list() || matches!(inner.kind, Kind::Null) => {}
        (_, Some(call)) if call.is_object() => steps.push(tool_call(call)),
        (Some(text), _) => {
            out.not_understood("tool calls that are text");
            steps.push(call_step("", None, text.to_owned()));
        }
    }
    let inner = unpacked.as_ref().map_or(&[][..], Node::items);
    let alone = node.get("tool_calls").filter(|calls| calls.is_object());
    for call in node.list("tool_calls").iter().chain(inner).chain(alone) {
        steps.push(one_call(out, call));
    }
    if let Some(call) = node.get("function_call") {
        steps.push(tool_call(call));
    }
    steps
}

/// A call of a list; some writers store each as JSON inside a text.
fn one_call(out: &mut Out<'_>, call: &Node<'_>) -> Step {
    let Some(text) = call.text() else {
        return tool_call(call);
    };
    match parse(text, &mut Flaws::default()) {
        Ok(call) if call.is_object() => tool_call(&call),
        _ => {
            out.not_understood("tool call that is text");
            call_step("", None, text.to_owned())
        }
    }
}

/// One call: `{id, function{name, arguments}}` or flat, arguments as text or as an object.
pub(crate) fn tool_call(call: &Node<'_>) -> Step {
    let inner = call
        .get("function")
        .filter(|f| f.is_object())
        .unwrap_or(call);
    let name = ["name", "function", "tool_name"]
        .iter()
        .find_map(|k| inner.str(k))
        .unwrap_or("");
    let arguments = ["arguments", "args", "input", "kwargs"]
        .iter()
        .find_map(|k| inner.get(k));
    let text = arguments.map_or_else(String::new, arguments_text);
    let id = call
        .id("id")
        .or_else(|| call.id("call_id"))
        .or_else(|| call.id("tool_call_id"));
    call_step(name, id, text)
}

/// Arguments exactly as logged: text stays text, an object becomes compact JSON.
pub(crate) fn arguments_text(arguments: &Node<'_>) -> String {
    match &arguments.kind {
        Kind::Text(text) => text.clone().into_owned(),
        Kind::Null => String::new(),
        _ => arguments.compact(),
    }
}

/// A model's tool call.
pub(crate) fn call_step(name: &str, id: Option<String>, arguments: String) -> Step {
    let mut step = Step::new(Owner::Model, StepKind::ToolCall, Role::Assistant, arguments);
    step.tool = Some(name.to_owned());
    step.tool_call_id = id;
    step
}
