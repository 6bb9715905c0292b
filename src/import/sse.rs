//! Streamed answers that a proxy stored as it saw them: lines `data: {…}`. The pieces are put together into the
//! answer that the client saw; a stream that breaks off gives what had come.

use super::json::Node;
use super::parse::{Flaws, parse};
use serde_json::{Map, Value, json};

/// The text is a stored stream.
pub(crate) fn is_stream(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("data:") || text.starts_with("event:")
}

/// Puts a stream of chat completions together.
pub(crate) fn assemble(text: &str) -> Value {
    let mut whole = Map::new();
    let mut choices: Vec<Map<String, Value>> = Vec::new();
    for line in text.lines() {
        let Some(data) = line.strip_prefix("data:").map(str::trim) else {
            continue;
        };
        let mut flaws = Flaws::default();
        let Ok(chunk) = parse(data, &mut flaws) else {
            continue;
        };
        for key in ["id", "model", "created", "usage", "error"] {
            if let Some(value) = chunk.get(key) {
                whole.insert(key.to_owned(), value.to_value());
            }
        }
        for part in chunk.list("choices") {
            add_choice(&mut choices, part);
        }
    }
    whole.insert(
        "choices".to_owned(),
        choices.into_iter().map(Value::Object).collect(),
    );
    Value::Object(whole)
}

fn add_choice(choices: &mut Vec<Map<String, Value>>, part: &Node<'_>) {
    const MOST: usize = 128;
    let index = usize::try_from(part.u64("index").unwrap_or(0))
        .unwrap_or(0)
        .min(MOST);
    while choices.len() <= index {
        let message = json!({"role": "assistant"});
        choices.push(Map::from_iter([("message".to_owned(), message)]));
    }
    let Some(choice) = choices.get_mut(index) else {
        return;
    };
    if let Some(reason) = part.get("finish_reason") {
        choice.insert("finish_reason".to_owned(), reason.to_value());
    }
    let (Some(delta), Some(Value::Object(message))) =
        (part.get("delta"), choice.get_mut("message"))
    else {
        return;
    };
    for key in ["content", "reasoning_content", "reasoning", "refusal"] {
        if let Some(text) = delta.str(key) {
            append(message.entry(key).or_insert_with(|| "".into()), text);
        }
    }
    for call in delta.list("tool_calls") {
        add_call(message, call);
    }
}

fn add_call(message: &mut Map<String, Value>, part: &Node<'_>) {
    const MOST: usize = 1024;
    let calls = message.entry("tool_calls").or_insert_with(|| json!([]));
    let Value::Array(calls) = calls else { return };
    let index = part.u64("index").and_then(|i| usize::try_from(i).ok());
    let index = index.unwrap_or(calls.len()).min(MOST);
    while calls.len() <= index {
        calls.push(json!({"type": "function", "function": {"name": "", "arguments": ""}}));
    }
    let Some(call) = calls.get_mut(index) else {
        return;
    };
    if let (Some(id), Value::Object(call)) = (part.str("id"), &mut *call) {
        call.insert("id".to_owned(), id.into());
    }
    for key in ["name", "arguments"] {
        if let (Some(text), Some(slot)) = (
            part.at(&["function", key]).and_then(Node::text),
            call.pointer_mut(&format!("/function/{key}")),
        ) {
            append(slot, text);
        }
    }
}

fn append(slot: &mut Value, text: &str) {
    if let Value::String(old) = slot {
        old.push_str(text);
    }
}
