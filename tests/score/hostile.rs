//! Model folders that lie, break or never end: a clear error each, nothing hangs, nothing is guessed.

use crate::score::models::{fixtures, folder};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;
use triagent::domain::{ChatMessage, Progress, Role};
use triagent::score::{ModelSource, Options, Request, ScoreError, Scorer};

fn open(dir: &Path) -> Result<Scorer, ScoreError> {
    Scorer::open(&ModelSource::Folder(dir.to_owned()), &Options::default())
}

/// Opens a changed copy of the small Llama; the error must name what is wrong.
fn refused(change: impl FnOnce(&Path), names: &str) {
    let dir = folder("llama", "llama");
    change(dir.path());
    let error = match open(dir.path()) {
        Ok(_) => panic!("opened although {names} is wrong"),
        Err(error) => error.to_string(),
    };
    assert!(error.contains(names), "{error:?} does not name {names:?}");
}

fn config(dir: &Path, change: impl FnOnce(&mut Value)) {
    let path = dir.join("config.json");
    let mut config: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut config);
    std::fs::write(path, config.to_string()).unwrap();
}

fn weights(dir: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let path = dir.join("model.safetensors");
    let mut bytes = std::fs::read(&path).unwrap();
    change(&mut bytes);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn configs_that_claim_the_impossible() {
    for (key, value, names) in [
        ("hidden_size", json!(1_u64 << 60), "hidden_size"),
        ("hidden_size", json!(64), "embed_tokens"),
        ("num_hidden_layers", json!(1000), "layers.2."),
        ("num_hidden_layers", json!(-1), "num_hidden_layers"),
        ("num_attention_heads", json!(0), "num_attention_heads"),
        ("num_key_value_heads", json!(3), "key/value heads"),
        ("head_dim", json!(7), "even number"),
        ("vocab_size", json!("many"), "vocab_size"),
        ("rms_norm_eps", json!(-1.0), "rms_norm_eps"),
        ("model_type", json!("mamba"), "architecture \"mamba\""),
        ("hidden_act", json!("relu"), "relu"),
        (
            "rope_parameters",
            json!({"rope_type": "longrope"}),
            "longrope",
        ),
        ("rope_parameters", json!({"rope_theta": 0.0}), "rope_theta"),
        ("rope_parameters", json!({"rope_type": "llama3"}), "llama3"),
        (
            "rope_parameters",
            json!({"rope_theta": 1e4, "partial_rotary_factor": 9}),
            "partial_rotary_factor",
        ),
    ] {
        refused(|dir| config(dir, |c| c[key] = value.clone()), names);
    }
    refused(
        |dir| std::fs::write(dir.join("config.json"), "{").unwrap(),
        "config.json",
    );
    refused(
        |dir| std::fs::remove_file(dir.join("config.json")).unwrap(),
        "config.json",
    );
}

#[test]
fn weights_that_lie_about_their_size() {
    refused(|dir| weights(dir, |b| b.truncate(5)), "too short");
    refused(
        |dir| weights(dir, |b| b.truncate(b.len() - 1)),
        "cut or damaged",
    );
    refused(|dir| weights(dir, |b| b.extend([0; 7])), "cut or damaged");
    refused(
        |dir| weights(dir, |b| b[..8].copy_from_slice(&u64::MAX.to_le_bytes())),
        "header claims",
    );
    refused(
        |dir| weights(dir, |b| b[..8].copy_from_slice(&9_u64.to_le_bytes())),
        "header",
    );
    refused(
        |dir| std::fs::remove_file(dir.join("model.safetensors")).unwrap(),
        "model.safetensors",
    );
}

#[test]
fn weights_that_are_no_numbers() {
    let nan = |bytes: &mut Vec<u8>| {
        let end = bytes.len();
        bytes[end - 2..].copy_from_slice(&half::f16::NAN.to_le_bytes());
    };
    refused(|dir| weights(dir, nan), "NaN or infinity");
    let infinite = |bytes: &mut Vec<u8>| {
        let end = bytes.len();
        bytes[end - 2..].copy_from_slice(&half::f16::NEG_INFINITY.to_le_bytes());
    };
    refused(|dir| weights(dir, infinite), "NaN or infinity");
}

fn index(dir: &Path, map: Value) {
    std::fs::rename(dir.join("model.safetensors"), dir.join("part.safetensors")).unwrap();
    let index = json!({"metadata": {}, "weight_map": map});
    std::fs::write(dir.join("model.safetensors.index.json"), index.to_string()).unwrap();
}

#[test]
fn shards_that_are_missing_or_elsewhere() {
    let one = json!({"model.norm.weight": "part.safetensors"});
    let dir = folder("llama", "llama");
    index(dir.path(), one);
    assert!(open(dir.path()).is_ok(), "one shard of everything opens");
    refused(
        |dir| index(dir, json!({"model.norm.weight": "gone.safetensors"})),
        "gone.safetensors",
    );
    refused(
        |dir| index(dir, json!({"lost.weight": "part.safetensors"})),
        "lost.weight",
    );
    refused(
        |dir| index(dir, json!({"x": "../../etc/passwd"})),
        "leaves the folder",
    );
    refused(
        |dir| index(dir, json!({"x": "/etc/passwd"})),
        "leaves the folder",
    );
    let twice = |dir: &Path| {
        index(
            dir,
            json!({"model.norm.weight": "part.safetensors", "x": "copy.safetensors"}),
        );
        std::fs::copy(dir.join("part.safetensors"), dir.join("copy.safetensors")).unwrap();
    };
    refused(twice, "two shards");
}

#[test]
fn tokenizers_that_do_not_fit() {
    refused(
        |dir| std::fs::write(dir.join("tokenizer.json"), "{}").unwrap(),
        "tokenizer.json",
    );
    refused(
        |dir| std::fs::remove_file(dir.join("tokenizer.json")).unwrap(),
        "tokenizer.json",
    );
    refused(
        |dir| std::fs::remove_file(dir.join("chat_template.jinja")).unwrap(),
        "chat_template",
    );
}

fn with_template(template: &str) -> (TempDir, Result<Scorer, ScoreError>) {
    let dir = folder("llama", "llama");
    std::fs::write(dir.path().join("chat_template.jinja"), template).unwrap();
    let scorer = open(dir.path());
    (dir, scorer)
}

fn score(template: &str) -> Result<f64, ScoreError> {
    let (_dir, scorer) = with_template(template);
    let context = [ChatMessage::text(Role::User, "hi")];
    let actions = [ChatMessage::text(Role::Assistant, "hello")];
    let request = Request {
        context: &context,
        tools: &[],
        actions: &actions,
        now_us: None,
    };
    scorer?
        .score(&request, &Progress::default())
        .remove(0)
        .map(|s| s.logp_sum)
}

#[test]
fn templates_that_never_end_or_grow() {
    for template in [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}x{% endfor %}{% endfor %}{% endfor %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% set ns = namespace(x='ab') %}{% for i in range(99999) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{{ 'ab' * 100000000000 }}",
        "{% set a = [1] %}{% set b = [a,a,a,a,a,a,a,a] %}{% set c = [b,b,b,b,b,b,b,b] %}{% set d = [c,c,c,c,c,c,c,c] %}{% set e = [d,d,d,d,d,d,d,d] %}{% set f = [e,e,e,e,e,e,e,e] %}{% set g = [f,f,f,f,f,f,f,f] %}{% set h = [g,g,g,g,g,g,g,g] %}{% set i = [h,h,h,h,h,h,h,h] %}{{ [i,i,i,i,i,i,i,i] | tojson }}",
        "{{ 'x'.replace('', 'y' * 1000000).replace('y', 'z' * 1000000) }}",
    ] {
        let error = score(template).expect_err(template);
        assert!(
            matches!(error, ScoreError::Template(_)),
            "{template}: {error}"
        );
    }
}

#[test]
fn templates_that_break_or_forget() {
    assert!(matches!(score("{% if %}"), Err(ScoreError::Template(_))));
    let error = score("{{ raise_exception('roles must alternate') }}").unwrap_err();
    assert!(
        error.to_string().contains("roles must alternate"),
        "{error}"
    );
    let error = score("always the same").unwrap_err();
    assert!(
        error.to_string().contains("leaves the action out"),
        "{error}"
    );
    let error = score("{{ messages | length }}{{ messages[-1].content }}").unwrap_err();
    assert!(matches!(error, ScoreError::Action(_)), "{error}");
}

/// A template that knows no tools is told on, and a call that it swallows is never scored.
#[test]
fn templates_without_tools_are_reported() {
    let template = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
    let (_dir, scorer) = with_template(template);
    let mut scorer = scorer.unwrap();
    let reference = crate::score::models::reference();
    let request = &reference["requests"][0];
    let context = crate::score::models::messages(&request["context"]);
    let calls = crate::score::models::messages(&request["actions"]);
    let text = ChatMessage::text(Role::Assistant, "thirty days");
    let request = Request {
        context: &context,
        tools: request["tools"].as_array().unwrap(),
        actions: &[text, calls[0].clone()],
        now_us: None,
    };
    let scores = scorer.score(&request, &Progress::default());
    let warnings = &scores[0].as_ref().unwrap().warnings;
    assert!(
        warnings
            .iter()
            .any(|w| w.contains("leaves tools out: search")),
        "{warnings:?}"
    );
    let error = scores[1].as_ref().unwrap_err().to_string();
    assert!(error.contains("call of search"), "{error}");
}

/// The alignment that every offset is divided by.
#[test]
fn a_gguf_header_that_divides_by_zero() {
    let bytes = std::fs::read(fixtures().join("gguf/qwen2-q4_1.gguf")).unwrap();
    let mut changed = bytes.clone();
    // One field more: count of fields at byte 16; the new field goes first, at byte 24.
    let count = u64::from_le_bytes(bytes[16..24].try_into().unwrap()) + 1;
    changed[16..24].copy_from_slice(&count.to_le_bytes());
    let mut field = 17_u64.to_le_bytes().to_vec();
    field.extend(b"general.alignment");
    field.extend(4_u32.to_le_bytes());
    field.extend(0_u32.to_le_bytes());
    changed.splice(24..24, field);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.gguf");
    std::fs::write(&path, changed).unwrap();
    let error = Scorer::open(&ModelSource::Gguf(path), &Options::default()).unwrap_err();
    assert!(matches!(error, ScoreError::Malformed { .. }), "{error}");
}
