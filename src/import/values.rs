//! Requests and answers as trace exporters store them: any JSON, JSON inside a text, LangChain's constructor
//! objects, a bare list, a bare string. All of it becomes the shape of a chat completion.

use super::parse::{Flaws, parse};
use serde_json::{Map, Value, json};

/// JSON inside a text, taken out; anything else as it is.
pub(crate) fn unpacked(value: &Value) -> Value {
    let Value::String(text) = value else {
        return value.clone();
    };
    let is_json = text.trim_start().starts_with(['{', '[', '"']);
    let inner = is_json
        .then(|| parse(text, &mut Flaws::default()).ok())
        .flatten();
    inner.map_or_else(|| value.clone(), |node| node.to_value())
}

/// A request, if the value holds messages; its other fields (tools, temperature) stay.
pub(crate) fn request(value: &Value) -> Option<Value> {
    match unpacked(value) {
        Value::Object(mut map) => {
            let key = ["messages", "input", "prompt", "prompts"]
                .into_iter()
                .find(|k| map.contains_key(*k));
            match key {
                Some(key) => {
                    let said = map.remove(key).unwrap_or_default();
                    map.insert("messages".to_owned(), messages(&said, "user")?);
                    Some(Value::Object(map))
                }
                None if map.contains_key("role") || map.contains_key("lc") => {
                    Some(json!({"messages": messages(&Value::Object(map), "user")?}))
                }
                None => None,
            }
        }
        Value::Null => None,
        other => Some(json!({"messages": messages(&other, "user")?})),
    }
}

/// A response: a completion or an Anthropic or Responses answer as it is, else whatever holds a message.
pub(crate) fn response(value: &Value) -> Option<Value> {
    let value = unpacked(value);
    let Value::Object(map) = &value else {
        return match &value {
            Value::Null => None,
            other => choices(&messages(other, "assistant")?),
        };
    };
    let has = |key: &str| map.get(key).is_some_and(|v| !v.is_null());
    if map.get("choices").is_some_and(Value::is_array)
        || (map.get("output").is_some_and(Value::is_array) && has("object"))
    {
        return Some(value);
    }
    if let Some(generations) = map.get("generations") {
        return choices(&messages(first_of(first_of(generations)), "assistant")?);
    }
    if has("stop_reason") && has("content") {
        return Some(value);
    }
    for key in ["messages", "message", "output", "completion", "result"] {
        if has(key) {
            return choices(&messages(map.get(key)?, "assistant")?);
        }
    }
    if has("role") || has("lc") || has("content") {
        return choices(&messages(&value, "assistant")?);
    }
    None
}

fn first_of(value: &Value) -> &Value {
    value.get(0).unwrap_or(value)
}

/// The last message as the one choice: what stands before it in an output is the prompt once more.
fn choices(messages: &Value) -> Option<Value> {
    let last = messages.as_array()?.last()?;
    let end = last.get("finish_reason").cloned().unwrap_or_default();
    Some(json!({"choices": [{"message": last, "finish_reason": end}]}))
}

/// A list of messages out of anything that holds some. Plain text is said in `voice`.
pub(crate) fn messages(value: &Value, voice: &str) -> Option<Value> {
    let list = match unpacked(value) {
        Value::Array(items) => match items.as_slice() {
            // LangSmith keeps a list of prompts.
            [Value::Array(inner)] => inner.clone(),
            _ => items,
        },
        Value::Object(map) => match map.get("messages") {
            Some(inner) => return messages(inner, voice),
            None => vec![Value::Object(map)],
        },
        Value::String(text) => vec![json!({"role": voice, "content": text})],
        _ => return None,
    };
    let mut list: Vec<Value> = list.iter().map(|m| message(m, voice)).collect();
    name_tools(&mut list);
    Some(list.into())
}

/// Langfuse writes a tool's answer with the tool's name as its role: that of a tool called just before.
fn name_tools(list: &mut [Value]) {
    let mut called: Vec<(String, Option<Value>)> = Vec::new();
    for message in list {
        for call in message
            .get("tool_calls")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let name = call.pointer("/function/name").or(call.get("name"));
            let name = name.and_then(Value::as_str).map(str::to_owned);
            called.extend(name.map(|name| (name, call.get("id").cloned())));
        }
        let Value::Object(map) = message else {
            continue;
        };
        map.remove("additional_kwargs");
        let role = map
            .get("role")
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned();
        if let Some(at) = called.iter().position(|(name, _)| *name == role) {
            let (name, id) = called.remove(at);
            map.insert("role".to_owned(), "tool".into());
            map.entry("name").or_insert_with(|| name.into());
            if let Some(id) = id {
                map.entry("tool_call_id").or_insert(id);
            }
        }
    }
}

fn message(value: &Value, voice: &str) -> Value {
    match value {
        Value::String(text) => json!({"role": voice, "content": text}),
        Value::Object(map) => object(map, voice),
        other => json!({"role": voice, "content": other.to_string()}),
    }
}

fn object(map: &Map<String, Value>, voice: &str) -> Value {
    let is_constructor = map.get("lc").is_some() || map.get("kwargs").is_some_and(Value::is_object);
    if let Some(Value::Object(kwargs)) = map.get("kwargs").filter(|_| is_constructor) {
        let class = map
            .get("id")
            .and_then(|id| id.as_array()?.last()?.as_str())
            .unwrap_or("");
        return lang_chain(kwargs, role_of(class), voice);
    }
    if let Some(inner) = map.get("message").filter(|m| m.is_object()) {
        return message(inner, voice);
    }
    let kind = map.get("type").and_then(Value::as_str).unwrap_or("");
    if let Some(role) = role_of(kind).filter(|_| !map.contains_key("role")) {
        let inner = map.get("data").and_then(Value::as_object).unwrap_or(map);
        return lang_chain(inner, Some(role), voice);
    }
    let mut map = map.clone();
    // Items of the Responses dialect have a type and no role of their own.
    if !map.contains_key("role") && (kind.is_empty() || kind == "text") {
        map.insert("role".to_owned(), voice.into());
    }
    Value::Object(map)
}

fn role_of(class: &str) -> Option<&'static str> {
    Some(match class.trim_end_matches("Chunk") {
        "HumanMessage" | "human" => "user",
        "AIMessage" | "ai" => "assistant",
        "SystemMessage" => "system",
        "ToolMessage" | "FunctionMessage" => "tool",
        _ => return None,
    })
}

/// A LangChain message: calls as `{name, args, id}`, or in the provider's own shape beside them.
fn lang_chain(kwargs: &Map<String, Value>, role: Option<&str>, voice: &str) -> Value {
    let mut out = Map::new();
    let own = kwargs.get("role").and_then(Value::as_str);
    out.insert("role".to_owned(), role.or(own).unwrap_or(voice).into());
    for key in ["content", "name", "tool_call_id"] {
        if let Some(value) = kwargs.get(key).filter(|v| !v.is_null()) {
            out.insert(key.to_owned(), value.clone());
        }
    }
    // The name of an answer is the graph's node, not a speaker.
    if role == Some("assistant") {
        out.remove("name");
    }
    let lists = [
        kwargs.get("tool_calls"),
        kwargs
            .get("additional_kwargs")
            .and_then(|a| a.get("tool_calls")),
    ];
    let calls = lists
        .into_iter()
        .flatten()
        .find(|list| list.as_array().is_some_and(|l| !l.is_empty()));
    if let Some(calls) = calls {
        out.insert("tool_calls".to_owned(), calls.clone());
    }
    let thought = kwargs
        .get("additional_kwargs")
        .and_then(|a| a.get("reasoning_content"));
    if let Some(thought) = thought.filter(|t| t.is_string()) {
        out.insert("reasoning_content".to_owned(), thought.clone());
    }
    Value::Object(out)
}
