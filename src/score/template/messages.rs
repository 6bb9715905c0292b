//! Messages as the dicts that a chat template sees; the exporters write the same ones.

use crate::domain::ChatMessage;
use serde_json::{Map, Value, json};

/// Returns a message as TRL's conversational rows hold it: `content` always there (null where the
/// message had none), arguments as an object where they are one.
pub fn message_dict(message: &ChatMessage) -> Value {
    let mut dict = Map::new();
    dict.insert("role".to_owned(), json!(message.role.word()));
    if let Some(name) = &message.name {
        dict.insert("name".to_owned(), json!(name));
    }
    dict.insert("content".to_owned(), json!(message.content));
    if let Some(reasoning) = &message.reasoning {
        dict.insert("reasoning_content".to_owned(), json!(reasoning));
    }
    if !message.tool_calls.is_empty() {
        let calls = message.tool_calls.iter().map(|call| {
            let arguments = call.arguments_object();
            // A model's broken JSON stays what it was: a string.
            let arguments = arguments.unwrap_or_else(|| json!(call.arguments));
            let mut dict = Map::new();
            if let Some(id) = &call.id {
                dict.insert("id".to_owned(), json!(id));
            }
            dict.insert("type".to_owned(), json!("function"));
            dict.insert(
                "function".to_owned(),
                json!({"name": call.name, "arguments": arguments}),
            );
            Value::Object(dict)
        });
        dict.insert("tool_calls".to_owned(), calls.collect());
    }
    if let Some(id) = &message.tool_call_id {
        dict.insert("tool_call_id".to_owned(), json!(id));
    }
    Value::Object(dict)
}

/// Names under which reasoning travels; transformers copies it to all that templates read.
const REASONING: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

/// Returns the dict as transformers 5 hands it on: without null fields, reasoning under both names.
pub(super) fn normalised(message: &Value) -> Value {
    let Value::Object(fields) = message else {
        return message.clone();
    };
    let mut known: Map<String, Value> = fields.clone();
    known.retain(|_, value| !value.is_null());
    let Some(reasoning) = REASONING.iter().find_map(|name| known.get(*name)).cloned() else {
        return Value::Object(known);
    };
    let mut aliased = Map::new();
    aliased.insert("thinking".to_owned(), reasoning.clone());
    aliased.extend(known);
    aliased.insert("reasoning_content".to_owned(), reasoning);
    Value::Object(aliased)
}
