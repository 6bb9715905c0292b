//! Every `--json` output keeps the fields that `assets/schema/` promises.

use super::desk::{Desk, repository};
use serde_json::{Value, json};

/// Says where a value breaks a schema: the few keywords that our schemas use.
fn breaches(value: &Value, schema: &Value, at: &str, found: &mut Vec<String>) {
    if let Some(types) = schema.get("type") {
        let names: Vec<&str> = match types {
            Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        if !names.iter().any(|name| is_a(value, name)) {
            found.push(format!("{at} is {value}, not {names:?}"));
            return;
        }
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array)
        && !words.contains(value)
    {
        found.push(format!("{at} is {value}, none of {words:?}"));
    }
    for name in schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let name = name.as_str().unwrap();
        if value.get(name).is_none() {
            found.push(format!("{at} lacks {name}"));
        }
    }
    let known = schema.get("properties").and_then(Value::as_object);
    for (name, part) in value.as_object().into_iter().flatten() {
        let own = known
            .and_then(|k| k.get(name))
            .or_else(|| schema.get("additionalProperties"));
        if let Some(own) = own {
            breaches(part, own, &format!("{at}.{name}"), found);
        }
    }
    if let Some(items) = schema.get("items") {
        for (i, part) in value.as_array().into_iter().flatten().enumerate() {
            breaches(part, items, &format!("{at}[{i}]"), found);
        }
    }
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("schema type {other}"),
    }
}

fn schema(name: &str) -> Value {
    let text = std::fs::read_to_string(repository(&format!("assets/schema/{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[track_caller]
fn holds(name: &str, rows: &[Value]) {
    assert!(!rows.is_empty(), "{name}: no row to check");
    let schema = schema(name);
    let mut found = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        breaches(row, &schema, &format!("{name}[{i}]"), &mut found);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_breach_is_found() {
    let schema = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "enum": ["x"]}}});
    let told = |value: Value| {
        let mut found = Vec::new();
        breaches(&value, &schema, "v", &mut found);
        found
    };
    assert!(told(json!({"a": "x", "more": 1})).is_empty());
    assert_eq!(told(json!({})), ["v lacks a"]);
    assert_eq!(told(json!({"a": 1})).len(), 1);
    assert_eq!(told(json!({"a": "y"})).len(), 1);
}

/// A row or more of a verb that may end in part.
fn rows(desk: &Desk, args: &[&str]) -> Vec<Value> {
    let mut args = args.to_vec();
    args.push("--json");
    let ran = desk.run(&args);
    assert!(matches!(ran.code, 0 | 3), "{args:?}: {}", ran.err);
    ran.rows()
}

fn imports(desk: &Desk) {
    let path = |name: &str| repository("sample-logs").join(name).display().to_string();
    holds(
        "import",
        &rows(desk, &["import", &path("runs"), &path("broken")]),
    );
    for (verb, file) in [("docs", "documents.jsonl"), ("tasks", "tasks.jsonl")] {
        holds("registers", &rows(desk, &[verb, "import", &path(file)]));
    }
}

fn decisions(desk: &Desk) {
    let label = ["label", "four-stale-citation", "--layer", "index"];
    holds("list-verdicts", &rows(desk, &label));
    let second = [&label[..3], &["model", "--reviewer", "other"]].concat();
    holds("list-verdicts", &rows(desk, &second));
    let pair = [
        "pair",
        "four-correct-citation:4",
        "four-stale-citation:4",
        "--prefer",
        "a",
        "--criterion",
        "citation-valid",
        "--reason",
        "v1 ended",
    ];
    holds("list-pairs", &rows(desk, &pair));
    let change = [
        "change",
        "add",
        "prompt",
        "p4",
        "--claim",
        "dates are asked for",
        "--before",
        "prompt=desk-3",
        "--after",
        "prompt=desk-4",
    ];
    holds("change", &rows(desk, &change));
}

#[test]
fn every_reading_verb_keeps_its_promised_fields() {
    let desk = Desk::new();
    imports(&desk);
    decisions(&desk);
    let kept: &[(&str, &[&str])] = &[
        ("list-runs", &["list", "runs"]),
        ("list-calls", &["list", "calls"]),
        ("list-tasks", &["list", "tasks"]),
        ("list-groups", &["list", "groups"]),
        ("list-verdicts", &["list", "verdicts"]),
        ("list-pairs", &["list", "pairs"]),
        ("show-run", &["show", "gateway-fake-citation"]),
        ("suggest", &["suggest"]),
        ("advise", &["advise"]),
        ("cohort", &["cohort"]),
        ("agreement", &["agreement"]),
        ("check", &["check"]),
        ("queue", &["queue"]),
        ("export", &["export", "trl-dpo", "--out", "out", "--draft"]),
        ("report", &["report", "--out", "page.html"]),
        ("undo", &["undo"]),
        ("undo", &["redo"]),
        ("rewards-groups", &["rewards", "groups"]),
        ("rewards-audit", &["rewards", "audit", "source-marker"]),
        ("doctor", &["doctor"]),
        ("config", &["config", "show"]),
        ("score", &["score", "--pairs"]),
    ];
    for (name, args) in kept {
        holds(name, &rows(&desk, args));
    }
    let diff = ["diff", "four-correct-citation", "four-stale-citation"];
    holds("diff", &rows(&desk, &diff));
    let rewards = ["rewards", "advantages", "0", "1", "_"];
    holds("rewards-advantages", &rows(&desk, &rewards));
}
