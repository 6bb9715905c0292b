//! Model calls in OpenTelemetry's GenAI conventions: messages as attributes of today, as events of yesterday, or
//! flattened into numbered attributes (Traceloop). All become a chat request and its completion.

use super::attributes::{Attributes, first, indexed, text};
use crate::import::values::unpacked;
use serde_json::{Map, Value, json};

/// The request, if its messages were captured.
pub(crate) fn request(map: &Attributes, events: &[(String, Attributes)]) -> Option<Value> {
    let mut messages = Vec::new();
    if let Some(system) = map.get("gen_ai.system_instructions") {
        messages.extend(message("system", &json!({"parts": unpacked(system)})));
    }
    if let Some(input) = map.get("gen_ai.input.messages") {
        messages.extend(parts_messages(input));
    }
    if messages.is_empty() {
        messages = flattened(&indexed(map, "gen_ai.prompt"));
    }
    if messages.is_empty() {
        messages = by_events(events);
    }
    let mut request = sampling(map);
    if let Some(tools) = tools(map) {
        request.insert("tools".to_owned(), tools);
    }
    if messages.is_empty() && request.is_empty() {
        return None;
    }
    request.insert("messages".to_owned(), messages.into());
    Some(Value::Object(request))
}

/// The completion with its usage; without messages, what is known of it.
pub(crate) fn response(map: &Attributes, events: &[(String, Attributes)]) -> Option<Value> {
    let mut choices = Vec::new();
    if let Some(output) = map.get("gen_ai.output.messages") {
        choices = parts_messages(output);
    }
    if choices.is_empty() {
        choices = flattened(&indexed(map, "gen_ai.completion"));
    }
    if choices.is_empty() {
        choices = events
            .iter()
            .filter(|(name, _)| name == "gen_ai.choice")
            .filter_map(|(_, e)| choice_event(e))
            .collect();
    }
    let reasons = first(map, &["gen_ai.response.finish_reasons"]).map(unpacked);
    let reason = reasons
        .as_ref()
        .and_then(|r| r.get(0).or(Some(r)).cloned())
        .unwrap_or_default();
    let choices: Vec<Value> = choices
        .into_iter()
        .map(|message| {
            let own = message
                .get("finish_reason")
                .cloned()
                .filter(|r| !r.is_null());
            json!({"finish_reason": own.unwrap_or_else(|| reason.clone()), "message": message})
        })
        .collect();
    let mut out = Map::new();
    for (key, from) in [
        ("id", "gen_ai.response.id"),
        ("model", "gen_ai.response.model"),
    ] {
        if let Some(value) = map.get(from) {
            out.insert(key.to_owned(), value.clone());
        }
    }
    let usage = usage(map);
    let has_usage = usage
        .as_object()
        .is_some_and(|u| u.values().any(Value::is_number));
    let is_told = has_usage || !choices.is_empty() || !out.is_empty();
    out.insert("usage".to_owned(), usage);
    out.insert("choices".to_owned(), choices.into());
    is_told.then_some(Value::Object(out))
}

fn usage(map: &Attributes) -> Value {
    let number = |keys: &[&str]| first(map, keys).cloned().unwrap_or_default();
    json!({
        "prompt_tokens": number(&["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens"]),
        "completion_tokens": number(&["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens"]),
        "prompt_tokens_details": {"cached_tokens": number(&["gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"])},
        "completion_tokens_details": {"reasoning_tokens": number(&["gen_ai.usage.reasoning_tokens", "gen_ai.usage.reasoning.output_tokens"])},
    })
}

fn sampling(map: &Attributes) -> Map<String, Value> {
    const NAMES: &[(&str, &str)] = &[
        ("model", "model"),
        ("temperature", "temperature"),
        ("top_p", "top_p"),
        ("top_k", "top_k"),
        ("max_tokens", "max_tokens"),
        ("seed", "seed"),
        ("stop_sequences", "stop"),
        ("frequency_penalty", "frequency_penalty"),
        ("presence_penalty", "presence_penalty"),
        ("choice.count", "n"),
    ];
    let known = NAMES.iter().filter_map(|(from, to)| {
        let value = map.get(&format!("gen_ai.request.{from}"))?;
        Some(((*to).to_owned(), value.clone()))
    });
    known.collect()
}

fn tools(map: &Attributes) -> Option<Value> {
    if let Some(tools) = map.get("gen_ai.tool.definitions") {
        return Some(unpacked(tools));
    }
    let lists =
        ["llm.request.functions", "gen_ai.request.functions"].map(|prefix| indexed(map, prefix));
    let tools: Vec<Value> = lists
        .into_iter()
        .flatten()
        .map(|f| {
            let parameters = f.get("parameters").map(unpacked);
            json!({"name": f.get("name"), "description": f.get("description"), "parameters": parameters})
        })
        .collect();
    (!tools.is_empty()).then(|| tools.into())
}

/// Messages with parts, as a structure or as JSON in a text.
fn parts_messages(value: &Value) -> Vec<Value> {
    let value = unpacked(value);
    let items = value.as_array().cloned().unwrap_or_default();
    let each = |m: &Value| message(m.get("role").and_then(Value::as_str).unwrap_or("user"), m);
    items.iter().flat_map(each).collect()
}

/// One message; each tool's answer in it becomes a message of its own.
fn message(role: &str, value: &Value) -> Vec<Value> {
    let parts = value
        .get("parts")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    if parts.is_empty() {
        return vec![
            json!({"role": role, "content": value.get("content"), "finish_reason": value.get("finish_reason")}),
        ];
    }
    let (mut content, mut calls, mut answers, mut thoughts) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for part in &parts {
        match part.get("type").and_then(Value::as_str).unwrap_or("text") {
            "tool_call" => calls.push(json!({
                "id": part.get("id"), "type": "function",
                "function": {"name": part.get("name"), "arguments": part.get("arguments")},
            })),
            "tool_call_response" => answers.push(answer(part)),
            "reasoning" | "thinking" => thoughts.extend(
                part.get("content")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            ),
            _ => content.push(part.clone()),
        }
    }
    if content.is_empty() && calls.is_empty() && thoughts.is_empty() {
        return answers;
    }
    let mut out = json!({"role": role, "content": content});
    if let Value::Object(map) = &mut out {
        if !calls.is_empty() {
            map.insert("tool_calls".to_owned(), calls.into());
        }
        if !thoughts.is_empty() {
            map.insert("reasoning_content".to_owned(), thoughts.join("\n").into());
        }
        if let Some(reason) = value.get("finish_reason") {
            map.insert("finish_reason".to_owned(), reason.clone());
        }
    }
    answers.push(out);
    answers
}

fn answer(part: &Value) -> Value {
    let found = ["response", "result", "content"]
        .iter()
        .find_map(|k| part.get(*k))
        .cloned()
        .unwrap_or_default();
    let content = match found {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    };
    json!({"role": "tool", "tool_call_id": part.get("id"), "name": part.get("name"), "content": content})
}

/// Traceloop: `role`, `content`, `tool_calls.0.name` in numbered attributes.
pub(crate) fn flattened(items: &[Attributes]) -> Vec<Value> {
    let each = |item: &Attributes| {
        let mut out = Map::new();
        for key in ["role", "content", "tool_call_id", "finish_reason", "name"] {
            if let Some(value) = item.get(key) {
                out.insert(key.to_owned(), content_of(key, value));
            }
        }
        if let Some(thought) = item.get("reasoning").or(item.get("reasoning_content")) {
            out.insert("reasoning_content".to_owned(), thought.clone());
        }
        let calls: Vec<Value> = indexed(item, "tool_calls")
            .iter()
            .map(|c| json!({"id": c.get("id"), "type": "function", "function": {"name": c.get("name"), "arguments": c.get("arguments")}}))
            .collect();
        if !calls.is_empty() {
            out.insert("tool_calls".to_owned(), calls.into());
        }
        Value::Object(out)
    };
    items.iter().map(each).collect()
}

/// Content that is a list of parts as JSON in a text.
fn content_of(key: &str, value: &Value) -> Value {
    let parts = unpacked(value);
    let is_parts = key == "content"
        && parts
            .as_array()
            .is_some_and(|p| p.iter().all(|x| x.get("type").is_some()));
    if is_parts { parts } else { value.clone() }
}

/// Yesterday's conventions: one event for each message.
fn by_events(events: &[(String, Attributes)]) -> Vec<Value> {
    let each = |(name, map): &(String, Attributes)| {
        let role = name.strip_prefix("gen_ai.")?.strip_suffix(".message")?;
        let content = first(map, &["content", "gen_ai.event.content"])
            .cloned()
            .unwrap_or_default();
        let mut out = json!({"role": role, "content": content});
        if let Value::Object(out) = &mut out {
            if let Some(calls) = map.get("tool_calls") {
                out.insert("tool_calls".to_owned(), unpacked(calls));
            }
            if let Some(id) = text(map, "id") {
                out.insert("tool_call_id".to_owned(), id.into());
            }
        }
        Some(out)
    };
    events.iter().filter_map(each).collect()
}

fn choice_event(map: &Attributes) -> Option<Value> {
    let inner = map
        .get("message")
        .map(unpacked)
        .unwrap_or_else(|| Value::Object(map.clone()));
    let mut out = inner.as_object()?.clone();
    out.entry("role").or_insert_with(|| "assistant".into());
    if let Some(reason) = map.get("finish_reason") {
        out.insert("finish_reason".to_owned(), reason.clone());
    }
    if let Some(calls) = out.get("tool_calls").map(unpacked) {
        out.insert("tool_calls".to_owned(), calls);
    }
    Some(Value::Object(out))
}
