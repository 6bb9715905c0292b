//! One request and its response in whatever dialect the provider speaks (chat completions, Anthropic Messages,
//! Responses), as a prompt, its answers and a call. Request logs and most trace exports come down to this.

use super::answer;
use super::anthropic;
use super::chat;
use super::format::openai_chat::tools;
use super::json::{Kind, Node};
use super::out::Out;
use super::prefix::Said;
use super::responses;
use crate::domain::{Call, Owner, Role, SourceSpan, Step, StepKind};
use serde_json::Value;

/// What a request and its response say.
pub(crate) struct Exchange {
    /// Messages that the model saw; only the new ones if `previous` is set.
    pub(crate) prompt: Vec<Said>,
    /// Answers; several are branches.
    pub(crate) answers: Vec<Said>,
    /// The inference.
    pub(crate) call: Call,
    /// Tool schemas.
    pub(crate) tools: Vec<Value>,
    /// Response that this request goes on from.
    pub(crate) previous: Option<String>,
}

/// Reads both sides; either may be missing.
pub(crate) fn exchange(
    out: &mut Out<'_>,
    request: Option<&Node<'_>>,
    response: Option<&Node<'_>>,
    span: SourceSpan,
) -> Exchange {
    let choice = response.and_then(|r| r.list("choices").first());
    let mut call = answer::call(request, response, choice);
    if let Some(response) = response {
        // Anthropic and Responses name the end of an answer elsewhere.
        let end = response
            .id("stop_reason")
            .or_else(|| response.at(&["incomplete_details", "reason"])?.as_id());
        call.finish_reason = call.finish_reason.or(end).or_else(|| response.id("status"));
    }
    call.source = span;
    Exchange {
        prompt: request.map(|r| prompt(out, r, span)).unwrap_or_default(),
        answers: response.map(|r| answers(out, r, span)).unwrap_or_default(),
        call,
        tools: request.map(tools).unwrap_or_default(),
        previous: request.and_then(|r| r.id("previous_response_id")),
    }
}

/// Messages of a request.
pub(crate) fn prompt(out: &mut Out<'_>, request: &Node<'_>, span: SourceSpan) -> Vec<Said> {
    let mut said = Vec::new();
    for key in ["system", "instructions"] {
        if let Some(system) = request.get(key) {
            said.push(plain(out, system, (Owner::System, Role::System), span));
        }
    }
    if let Some(messages) = request.get("messages").filter(|m| m.is_list()) {
        said.extend(messages.items().iter().map(|m| message(out, m, span)));
    } else if let Some(input) = request.get("input").or_else(|| request.get("prompt")) {
        said.extend(input_items(out, input, span));
    }
    said
}

/// A message in the OpenAI or the Anthropic dialect.
pub(crate) fn message(out: &mut Out<'_>, node: &Node<'_>, span: SourceSpan) -> Said {
    if node.str("role").is_none() && node.str("type").is_some() {
        return Said::of(responses::item(out, node, span).steps);
    }
    Said::of(chat::message_of(out, node, span, ALSO_KNOWN))
}

const ALSO_KNOWN: &[&str] = &[
    "id",
    "type",
    "model",
    "stop_reason",
    "stop_sequence",
    "usage",
    "cache_control",
    "finish_reason",
    "status",
    "phase",
];

/// Input of the Responses dialect: text, or items; items that the model sampled together count as one message.
pub(crate) fn input_items(out: &mut Out<'_>, input: &Node<'_>, span: SourceSpan) -> Vec<Said> {
    if !input.is_list() {
        return vec![plain(out, input, (Owner::User, Role::User), span)];
    }
    let mut said = Vec::new();
    let mut model: Vec<Step> = Vec::new();
    for node in input.items() {
        if node.text().is_some() {
            said.push(plain(out, node, (Owner::User, Role::User), span));
            continue;
        }
        let item = responses::item(out, node, span);
        if item.is_model {
            model.extend(item.steps);
            continue;
        }
        if !model.is_empty() {
            said.push(Said::of(std::mem::take(&mut model)));
        }
        said.push(Said::of(item.steps));
    }
    if !model.is_empty() {
        said.push(Said::of(model));
    }
    said
}

/// Text, or parts, of one voice.
pub(crate) fn plain(
    out: &mut Out<'_>,
    node: &Node<'_>,
    (owner, role): (Owner, Role),
    span: SourceSpan,
) -> Said {
    let found = super::content::pieces(out, Some(node)).into_iter();
    let step = |p: super::content::Piece| {
        let mut step = Step::new(owner, p.kind, role, p.text);
        step.source = span;
        step
    };
    Said::of(found.map(step).collect())
}

/// Answers of a response.
pub(crate) fn answers(out: &mut Out<'_>, response: &Node<'_>, span: SourceSpan) -> Vec<Said> {
    if let Some(choices) = response.get("choices") {
        return choices
            .items()
            .iter()
            .filter_map(|c| choice(out, c, span))
            .collect();
    }
    if let Some(output) = response.get("output").filter(|o| o.is_list()) {
        return input_items(out, output, span);
    }
    match response.get("content").map(|c| &c.kind) {
        Some(Kind::List(_) | Kind::Text(_)) => vec![answer_message(out, response, span)],
        _ => Vec::new(),
    }
}

fn choice(out: &mut Out<'_>, choice: &Node<'_>, span: SourceSpan) -> Option<Said> {
    if let Some(message) = choice.get("message") {
        return Some(answer_message(out, message, span));
    }
    let text = choice.str("text")?;
    let mut step = Step::new(Owner::Model, StepKind::Text, Role::Assistant, text);
    step.source = span;
    Some(Said::of(vec![step]))
}

/// A message that is an answer: whatever its role says, the model sampled it.
fn answer_message(out: &mut Out<'_>, node: &Node<'_>, span: SourceSpan) -> Said {
    if node.str("role").is_some() {
        return message(out, node, span);
    }
    let mut steps = anthropic::message(out, node, span);
    for step in &mut steps {
        if step.owner == Owner::Unknown {
            (step.owner, step.role) = (Owner::Model, Role::Assistant);
        }
    }
    Said::of(steps)
}
