//! Model calls in the OpenInference conventions (Phoenix and others): flattened messages, and the request and the
//! response as JSON beside them, which hold more (token ids, log-probs) and are taken first.

use super::attributes::{Attributes, first, indexed, text};
use crate::import::values::unpacked;
use serde_json::{Map, Value, json};

/// The request, if its messages were captured.
pub(crate) fn request(map: &Attributes) -> Option<Value> {
    let raw = map
        .get("input.value")
        .map(unpacked)
        .filter(|v| v.get("messages").is_some_and(Value::is_array));
    if raw.is_some() {
        return raw;
    }
    let messages = messages(&indexed(map, "llm.input_messages"));
    let mut out = match map.get("llm.invocation_parameters").map(unpacked) {
        Some(Value::Object(parameters)) => parameters,
        _ => Map::new(),
    };
    if let Some(model) = map.get("llm.model_name") {
        out.insert("model".to_owned(), model.clone());
    }
    let tools: Vec<Value> = indexed(map, "llm.tools")
        .iter()
        .filter_map(|t| first(t, &["tool.json_schema"]).map(unpacked))
        .collect();
    if !tools.is_empty() {
        out.insert("tools".to_owned(), tools.into());
    }
    if messages.is_empty() && out.is_empty() {
        return None;
    }
    out.insert("messages".to_owned(), messages.into());
    Some(Value::Object(out))
}

/// The response.
pub(crate) fn response(map: &Attributes) -> Option<Value> {
    let raw = map.get("output.value").map(unpacked);
    let is_whole = |v: &Value| {
        v.get("choices").is_some_and(Value::is_array)
            || v.get("output").is_some_and(Value::is_array)
    };
    if let Some(raw) = raw.filter(is_whole) {
        return Some(raw);
    }
    let reason = text(map, "llm.finish_reason");
    let choices: Vec<Value> = messages(&indexed(map, "llm.output_messages"))
        .into_iter()
        .map(|message| json!({"message": message, "finish_reason": reason}))
        .collect();
    let usage = json!({
        "prompt_tokens": map.get("llm.token_count.prompt"),
        "completion_tokens": map.get("llm.token_count.completion"),
        "prompt_tokens_details": {"cached_tokens": map.get("llm.token_count.prompt_details.cache_read")},
        "completion_tokens_details": {"reasoning_tokens": map.get("llm.token_count.completion_details.reasoning")},
    });
    let has_usage = first(
        map,
        &["llm.token_count.prompt", "llm.token_count.completion"],
    )
    .is_some();
    (has_usage || !choices.is_empty())
        .then(|| json!({"model": map.get("llm.model_name"), "choices": choices, "usage": usage}))
}

fn messages(items: &[Attributes]) -> Vec<Value> {
    items.iter().map(message).collect()
}

fn message(item: &Attributes) -> Value {
    let mut out = Map::new();
    for (to, from) in [
        ("role", "message.role"),
        ("content", "message.content"),
        ("name", "message.name"),
        ("tool_call_id", "message.tool_call_id"),
    ] {
        if let Some(value) = item.get(from).filter(|v| !v.is_null()) {
            out.insert(to.to_owned(), value.clone());
        }
    }
    let parts: Vec<Value> = indexed(item, "message.contents").iter().map(part).collect();
    if !parts.is_empty() {
        out.insert("content".to_owned(), parts.into());
    }
    let calls: Vec<Value> = indexed(item, "message.tool_calls")
        .iter()
        .map(call)
        .collect();
    if !calls.is_empty() {
        out.insert("tool_calls".to_owned(), calls.into());
    }
    Value::Object(out)
}

fn part(item: &Attributes) -> Value {
    let kind = text(item, "message_content.type").unwrap_or_else(|| "text".to_owned());
    if kind == "image" {
        let url = first(item, &["message_content.image.image.url"]);
        return json!({"type": "image_url", "image_url": {"url": url}});
    }
    json!({"type": kind, "text": item.get("message_content.text")})
}

fn call(item: &Attributes) -> Value {
    json!({
        "id": item.get("tool_call.id"),
        "type": "function",
        "function": {"name": item.get("tool_call.function.name"), "arguments": item.get("tool_call.function.arguments")},
    })
}
