//! Reads a side that a reviewer wrote: an assistant message as JSON, or plain words.

use crate::domain::chat::Role;
use crate::domain::{ChatMessage, ToolCall};
use serde_json::{Map, Value};

/// A written side is typed by a person; more than this was pasted by mistake.
const MAX_WRITTEN_BYTES: usize = 1 << 20;

/// Why a written side cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrittenError {
    /// It is too long.
    #[error("{0} bytes are too many for a written side (limit {MAX_WRITTEN_BYTES})")]
    TooLong(usize),
    /// It looks like JSON and is none.
    #[error(
        "not valid JSON: {0}\nhint: write {{\"content\": …, \"tool_calls\": [{{\"name\": …, \"arguments\": {{…}}}}]}}, or plain words"
    )]
    Json(String),
    /// A field is wrong.
    #[error("{0}")]
    Field(String),
    /// It is another role's message.
    #[error("role is `{0}`; only the assistant's side can be written")]
    Role(String),
}

/// Reads an assistant message in OpenAI's shape or ours; anything that is no JSON object is the text itself.
pub fn read_written(text: &str) -> Result<ChatMessage, WrittenError> {
    if text.len() > MAX_WRITTEN_BYTES {
        return Err(WrittenError::TooLong(text.len()));
    }
    let text = text.trim_start_matches('\u{feff}').trim();
    if !text.starts_with('{') {
        return Ok(ChatMessage::text(Role::Assistant, text));
    }
    let fields: Map<String, Value> =
        serde_json::from_str(text).map_err(|e| WrittenError::Json(e.to_string()))?;
    message(&fields)
}

fn message(fields: &Map<String, Value>) -> Result<ChatMessage, WrittenError> {
    if let Some(role) = fields.get("role").and_then(Value::as_str)
        && role != "assistant"
    {
        return Err(WrittenError::Role(role.to_owned()));
    }
    let known = [
        "role",
        "content",
        "reasoning",
        "reasoning_content",
        "tool_calls",
    ];
    if let Some(odd) = fields.keys().find(|k| !known.contains(&k.as_str())) {
        return Err(WrittenError::Field(format!(
            "unknown field `{odd}`; known are {}",
            known.join(", ")
        )));
    }
    let reasoning = fields
        .get("reasoning_content")
        .or_else(|| fields.get("reasoning"));
    Ok(ChatMessage {
        role: Role::Assistant,
        content: words(fields.get("content"), "content")?,
        reasoning: words(reasoning, "reasoning")?,
        tool_calls: calls(fields.get("tool_calls"))?,
        tool_call_id: None,
        name: None,
    })
}

fn words(value: Option<&Value>, field: &str) -> Result<Option<String>, WrittenError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(WrittenError::Field(format!(
            "`{field}` must be text or null"
        ))),
    }
}

fn calls(value: Option<&Value>) -> Result<Vec<ToolCall>, WrittenError> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => list.iter().map(call).collect(),
        Some(_) => Err(WrittenError::Field(
            "`tool_calls` must be a list".to_owned(),
        )),
    }
}

fn call(value: &Value) -> Result<ToolCall, WrittenError> {
    let function = value.get("function").unwrap_or(value);
    let name = function.get("name").and_then(Value::as_str);
    let name = name.ok_or_else(|| WrittenError::Field("a tool call needs a `name`".to_owned()))?;
    let arguments = match function.get("arguments") {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(object) => object.to_string(),
    };
    let call = ToolCall {
        id: value.get("id").and_then(Value::as_str).map(str::to_owned),
        name: name.to_owned(),
        arguments,
    };
    // A person's side is taught as it stands, so broken arguments are refused here and not at the trainer.
    match call.arguments_object() {
        Some(_) => Ok(call),
        None => Err(WrittenError::Field(format!(
            "arguments of `{name}` are not a JSON object"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_are_the_answer() {
        let message = read_written("以2025版为准。\n").unwrap();
        assert_eq!(message.content.as_deref(), Some("以2025版为准。"));
    }

    #[test]
    fn both_shapes_of_a_call_are_read() {
        let openai = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"find","arguments":"{\"q\":1}"}}]}"#;
        let ours = r#"{"tool_calls":[{"name":"find","arguments":{"q":1}}]}"#;
        for text in [openai, ours] {
            let message = read_written(text).unwrap();
            assert_eq!(message.tool_calls[0].name, "find");
            assert_eq!(message.tool_calls[0].arguments, r#"{"q":1}"#);
        }
    }

    #[test]
    fn what_could_not_be_taught_is_refused() {
        let bad = [
            r#"{"content": "#,
            r#"{"role":"user","content":"x"}"#,
            r#"{"tool_calls":[{"arguments":{}}]}"#,
            r#"{"tool_calls":[{"name":"f","arguments":"{"}]}"#,
            r#"{"contents":"x"}"#,
        ];
        for text in bad {
            read_written(text).unwrap_err();
        }
    }
}
