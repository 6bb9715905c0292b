//! Names that a log, a file or a person gave: whatever stands in them, the screen stays whole.

use super::sizes::WAYS;
use super::stage::play;
use serde_json::{Value, json};
use triagent::domain::Progress;
use triagent::jobs::{self, ImportOptions};
use triagent::store::Store;
use triagent::tui::Stage;

/// Line ends of all kinds, what ends a text in C, and what a terminal obeys.
const EVIL: &str = "a\nb\r\nc\u{b}d\u{2028}e\u{0}f\u{1b}[2Jg\u{85}h\ti";

/// A run all of whose names are evil.
fn chat(n: usize) -> Value {
    let named = |what: &str| format!("{what}{n}{EVIL}");
    let words = [
        "family",
        "scenario",
        "group",
        "trial",
        "index_version",
        "prompt_version",
    ];
    let more = [
        "toolset_version",
        "checkpoint",
        "tokenizer",
        "task_id",
        "rollout_id",
    ];
    let fields = words
        .iter()
        .chain(&more)
        .map(|w| ((*w).to_owned(), json!(named(w))));
    let mut own: serde_json::Map<String, Value> = fields.collect();
    let harness = json!({"name": named("h"), "version": named("v"), "stop_rule": named("s")});
    own.insert("harness".to_owned(), harness);
    own.insert(
        "rewards".to_owned(),
        json!([{"grader": named("grader"), "result": 1.0, "detail": named("d")}]),
    );
    let call = json!({"id": named("c"), "type": "function", "function": {"name": named("tool"), "arguments": "{}"}});
    json!({
        "id": named("id"), "model": named("model"), "triagent": own,
        "tools": [{"type": "function", "function": {"name": named("tool"), "description": named("d")}}],
        "messages": [
            {"role": "user", "content": named("ask")},
            {"role": "assistant", "content": named("say"), "tool_calls": [call]},
            {"role": "tool", "tool_call_id": named("c"), "content": named("got")},
            {"role": "assistant", "content": named("end")},
        ],
    })
}

fn opencode() -> Value {
    let part = json!({"type": "text", "text": EVIL});
    let model = json!({"id": EVIL, "role": "assistant", "modelID": EVIL, "finish": "stop"});
    json!({
        "info": {"id": format!("ses_{EVIL}"), "version": EVIL, "title": EVIL, "model": {"id": EVIL}},
        "messages": [
            {"info": {"id": "m1", "role": "user"}, "parts": [part.clone()]},
            {"info": model, "parts": [part]},
        ],
    })
}

/// A file's name holds anything but a slash and NUL.
fn evil_file(folder: &std::path::Path, tail: &str) -> std::path::PathBuf {
    folder.join(format!("{}{tail}", EVIL.replace('\0', "")))
}

#[test]
fn no_name_breaks_the_screen() {
    let folder = tempfile::tempdir().unwrap();
    let (log, other) = (
        evil_file(folder.path(), ".jsonl"),
        evil_file(folder.path(), ".json"),
    );
    let rows: Vec<String> = (0..3).map(|n| chat(n).to_string()).collect();
    std::fs::write(&log, rows.join("\n")).unwrap();
    std::fs::write(&other, opencode().to_string()).unwrap();
    let workspace = evil_file(folder.path(), ".db");
    let mut store = Store::create(&workspace).unwrap();
    let (options, progress) = (ImportOptions::default(), Progress::default());
    let totals = jobs::import(
        &mut store,
        &[log, other],
        &options,
        1,
        &progress,
        &mut |_| {},
    );
    assert_eq!(totals.unwrap().stored, 4);
    drop(store);
    for way in WAYS {
        let store = Store::open(&workspace).unwrap();
        let mut stage = Stage::new(Some(store), 80, 24).unwrap();
        for keys in [*way, "j", "j", "j", "<tab>", "<enter>"] {
            assert_whole(&stage.keys(keys).screen(), way);
        }
    }
}

/// The editor of notes is a foreign widget.
#[test]
fn what_is_pasted_into_a_note_stays_visible_text() {
    let mut play = play(80, 24);
    play.stage.keys("<enter>1").paste(EVIL);
    assert_whole(&play.stage.screen(), "note");
}

#[track_caller]
fn assert_whole(screen: &str, way: &str) {
    assert_eq!(screen.split('\n').count(), 24, "{way}: {screen}");
    let raw = |c: char| c != '\n' && (c.is_control() || c == '\u{2028}');
    assert!(!screen.contains(raw), "{way}: {screen:?}");
}
