//! The small models of `tests/score/models`, put together as a user would have them on disk.

use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use triagent::domain::{ChatMessage, Progress, Role, ToolCall};
use triagent::score::{ActionScore, ModelSource, Options, Request, Scorer};

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

/// Agreement with transformers that the product promises, in nats per token.
const NATS: f64 = 1e-4;

/// Scores recorded requests and compares every token.
pub(crate) fn agree(name: &str, scorer: &mut Scorer, requests: &Value, expected: &Value) {
    let requests = requests.as_array().unwrap();
    for (request, expected) in requests.iter().zip(expected.as_array().unwrap()) {
        let (context, actions) = (messages(&request["context"]), messages(&request["actions"]));
        let tools = request["tools"].as_array().unwrap();
        let request = Request {
            context: &context,
            tools,
            actions: &actions,
            now_us: None,
        };
        let scores = scorer.score(&request, &Progress::default());
        assert_eq!(scores.len(), expected.as_array().unwrap().len());
        for (score, expected) in scores.into_iter().zip(expected.as_array().unwrap()) {
            agree_on_action(name, &score.unwrap(), expected);
        }
    }
}

fn agree_on_action(name: &str, score: &ActionScore, expected: &Value) {
    let numbers = |key: &str| -> Vec<f64> {
        let list = expected[key].as_array().unwrap();
        list.iter().map(|v| v.as_f64().unwrap()).collect()
    };
    let ids: Vec<f64> = score.per_token.iter().map(|t| f64::from(t.id)).collect();
    assert_eq!(ids, numbers("ids"), "{name}: tokens");
    assert_eq!(
        f64::from(score.prompt_tokens),
        expected["prompt_tokens"].as_f64().unwrap()
    );
    for (i, (token, want)) in score.per_token.iter().zip(numbers("logps")).enumerate() {
        let off = (f64::from(token.logp) - want).abs();
        assert!(
            off < NATS,
            "{name}: token {i} {:?}: {} instead of {want}",
            token.text,
            token.logp
        );
    }
    let trl: f64 = numbers("logps").iter().sum();
    assert!((score.logp_sum_trl - trl).abs() < 1e-3, "{name}: TRL's sum");
    if expected.get("entropies").is_none() {
        return;
    }
    for (token, want) in score.per_token.iter().zip(numbers("entropies")) {
        let off = (f64::from(token.entropy.unwrap()) - want).abs();
        assert!(off < NATS, "{name}: entropy of {:?}", token.text);
    }
    let ranks: Vec<f64> = score
        .per_token
        .iter()
        .map(|t| f64::from(t.rank.unwrap()))
        .collect();
    assert_eq!(ranks, numbers("ranks"), "{name}: ranks");
}
