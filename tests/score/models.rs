//! The small models of `tests/score/models`, put together as a user would have them on disk.

use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use triagent::domain::{ChatMessage, Role, ToolCall};
use triagent::score::{ModelSource, Options, Scorer};

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/score/models")
}

/// Reference values of `make_fixtures.py`: torch and transformers in F32.
pub(crate) fn reference() -> Value {
    let text = std::fs::read_to_string(fixtures().join("reference.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Config of `name`, weights of `weights`, and the one tokenizer.
pub(crate) fn folder(name: &str, weights: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let copy = |from: PathBuf| {
        let to = dir.path().join(from.file_name().unwrap());
        std::fs::copy(from, to).unwrap();
    };
    copy(fixtures().join(name).join("config.json"));
    copy(fixtures().join(weights).join("model.safetensors"));
    for file in [
        "tokenizer.json",
        "tokenizer_config.json",
        "chat_template.jinja",
    ] {
        copy(fixtures().join("tokenizer").join(file));
    }
    dir
}

pub(crate) fn open(dir: &Path, options: &Options) -> Scorer {
    Scorer::open(&ModelSource::Folder(dir.to_owned()), options).unwrap()
}

/// Messages of a JSON conversation.
pub(crate) fn messages(list: &Value) -> Vec<ChatMessage> {
    list.as_array().unwrap().iter().map(message).collect()
}

pub(crate) fn message(m: &Value) -> ChatMessage {
    let text = |key: &str| m[key].as_str().map(str::to_owned);
    let calls = m["tool_calls"].as_array().cloned().unwrap_or_default();
    let call = |c: &Value| ToolCall {
        id: c["id"].as_str().map(str::to_owned),
        name: c["function"]["name"].as_str().unwrap().to_owned(),
        arguments: match &c["function"]["arguments"] {
            Value::String(raw) => raw.clone(),
            object => object.to_string(),
        },
    };
    ChatMessage {
        role: Role::from_word(m["role"].as_str().unwrap()).unwrap(),
        content: text("content"),
        reasoning: text("reasoning_content"),
        tool_calls: calls.iter().map(call).collect(),
        tool_call_id: text("tool_call_id"),
        name: text("name"),
    }
}
