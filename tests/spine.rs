//! The spine on logs that another project wrote: 29 failed tau-bench runs go in, reviewed pairs and datasets come out.
//!
//! `scripts/prove_spine.sh` does the same and feeds the files to TRL; its values are recorded in `tests/data/spine/`.

use crate::cli::desk::{Desk, real_logs, repository};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const REVIEWER: &str = "spine";

pub(crate) fn plan() -> Value {
    read("tests/data/spine/plan.json")
}

fn read(file: &str) -> Value {
    let text = std::fs::read_to_string(repository(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field]
        .as_str()
        .unwrap_or_else(|| panic!("{field}: {value}"))
}

/// Runs by task, freshly imported.
pub(crate) fn import(desk: &Desk) -> Option<BTreeMap<String, String>> {
    let source = real_logs()?.join("tau-bench/retail-failed-29.json");
    let report = desk
        .run(&["import", source.to_str().unwrap(), "--json"])
        .ok()
        .row();
    // The file's own length: `jq length` says 29.
    let counts = ["read", "stored", "duplicates", "skips"].map(|f| report[f].as_u64().unwrap());
    assert_eq!(counts, [29, 29, 0, 0]);
    let rows = desk.run(&["list", "runs", "--json"]).ok().rows();
    let pairs = rows
        .iter()
        .map(|r| (text(r, "task").to_owned(), text(r, "run").to_owned()));
    Some(pairs.collect())
}

pub(crate) fn label(desk: &Desk, runs: &BTreeMap<String, String>, plan: &Value) {
    for label in plan["labels"].as_array().unwrap() {
        let run = &runs[text(label, "task")];
        let mut args = vec![
            "label",
            run,
            "--layer",
            text(label, "layer"),
            "--note",
            text(label, "note"),
        ];
        if text(label, "layer") == "model" {
            args.extend(["--check", "all"]);
        }
        args.extend(["--reviewer", REVIEWER]);
        desk.run(&args).ok();
    }
}

/// Writes each chosen side for the decision it replaces; returns pair ids by task.
pub(crate) fn pair(
    desk: &Desk,
    runs: &BTreeMap<String, String>,
    plan: &Value,
) -> BTreeMap<String, String> {
    let mut ids = BTreeMap::new();
    for pair in plan["pairs"].as_array().unwrap() {
        let run = &runs[text(pair, "task")];
        let at = format!("{run}:{}", nth_call(desk, run, pair));
        let written = pair["chosen"].to_string();
        let args = [
            "pair",
            "@-",
            &at,
            "--prefer",
            "a",
            "--criterion",
            text(pair, "criterion"),
            "--reason",
            text(pair, "reason"),
            "--standard",
            text(plan, "standard"),
            "--reviewer",
            REVIEWER,
            "--json",
        ];
        let row = desk.run_with_stdin(&args, written.as_bytes()).ok().row();
        assert_eq!(row["human"], true);
        ids.insert(text(pair, "task").to_owned(), text(&row, "pair").to_owned());
    }
    ids
}

fn nth_call(desk: &Desk, run: &str, pair: &Value) -> u64 {
    let shown = desk.run(&["show", run, "--json"]).ok().row();
    let is_call =
        |s: &&Value| s["owner"] == "model" && s["kind"] == "tool_call" && s["tool"] == pair["tool"];
    let nth = usize::try_from(pair["nth"].as_u64().unwrap()).unwrap();
    let steps = shown["steps"].as_array().unwrap();
    steps.iter().filter(is_call).nth(nth).unwrap()["index"]
        .as_u64()
        .unwrap()
}

fn rows(desk: &Desk, format: &str, extra: &[&str]) -> (Value, Vec<Value>) {
    let out = format!("out/{format}");
    let mut args = vec!["export", format, "--out", &out, "--json"];
    args.extend(extra);
    let manifest = desk.run(&args).ok().row();
    let lines = std::fs::read_to_string(desk.path(&out).join("train.jsonl")).unwrap();
    (
        manifest,
        lines
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect(),
    )
}

#[test]
fn real_failures_become_datasets_that_say_what_they_teach() {
    let desk = Desk::new();
    let Some(runs) = import(&desk) else { return };
    let plan = plan();
    label(&desk, &runs, &plan);
    let ids = pair(&desk, &runs, &plan);
    let check = [
        "check",
        "--redact",
        "secret,personal",
        "--keep",
        "duplicate,template",
        "--reviewer",
        REVIEWER,
    ];
    desk.run(&check).ok();
    advice(&desk, &plan);

    let (manifest, pairs) = rows(&desk, "trl-dpo", &["--reference", "tiny"]);
    assert_eq!(manifest["blocked"], json!([]));
    assert_eq!(pairs.len(), ids.len(), "{}", manifest["left_out"]);
    for row in &pairs {
        dpo_row(row, &plan);
    }
    let (_, demonstrations) = rows(&desk, "trl-sft", &[]);
    // Every run failed, so only what a reviewer wrote may be demonstrated.
    assert_eq!(demonstrations.len(), ids.len());
    for row in &demonstrations {
        assert_eq!(row["completion"].as_array().unwrap().len(), 1);
        assert_eq!(row["completion"][0]["role"], "assistant");
        assert!(text(row, "source").starts_with("human:"), "{row}");
    }
    same_bytes(&desk);
}

/// Layers of the plan, counted by hand from its file: `jq '[.labels[].layer] | group_by(.) | map({(.[0]): length})'`.
fn advice(desk: &Desk, plan: &Value) {
    let advice = desk
        .run(&["advise", "--cohort", "retail", "--json"])
        .ok()
        .row();
    let count = |layer: &str| {
        let labels = plan["labels"].as_array().unwrap();
        labels.iter().filter(|l| l["layer"] == layer).count()
    };
    assert_eq!(
        (
            count("model"),
            count("context"),
            count("environment"),
            count("tool")
        ),
        (17, 7, 2, 1)
    );
    for layer in ["model", "context", "environment", "tool"] {
        assert_eq!(
            advice["shares"]["layers"][layer]["count"],
            count(layer),
            "{layer}"
        );
    }
    assert_eq!(advice["shares"]["undetermined"], 2);
    // 10 of 27 labelled failures are the system's: between 20 and 50 per cent, so the system comes first.
    assert_eq!(advice["rule"], 4, "{}", advice["headline"]);
    let g2 = advice["refusals"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["gate"] == "G2");
    for field in ["value", "threshold", "missing", "how"] {
        assert!(!text(g2.unwrap(), field).is_empty(), "{field}");
    }
}

/// TRAINING A1, A2: one assistant message a side, arguments as objects, tools as a JSON string, flat strings beside.
fn dpo_row(row: &Value, plan: &Value) {
    let pairs = plan["pairs"].as_array().unwrap();
    let planned = pairs.iter().find(|p| p["task"] == row["task_id"]).unwrap();
    for side in ["chosen", "rejected"] {
        let messages = row[side].as_array().unwrap();
        assert_eq!(
            (messages.len(), &messages[0]["role"]),
            (1, &json!("assistant")),
            "{side}"
        );
    }
    let prompt = row["prompt"].as_array().unwrap();
    assert_eq!(prompt[0]["role"], "system");
    for call in prompt
        .iter()
        .filter_map(|m| m["tool_calls"].as_array())
        .flatten()
    {
        assert!(call["function"]["arguments"].is_object(), "{call}");
    }
    serde_json::from_str::<Value>(text(row, "tools")).unwrap();
    let chosen = &row["chosen"][0];
    match planned["chosen"]["tool_calls"].as_array() {
        Some(calls) => {
            assert_eq!(
                chosen["tool_calls"][0]["function"]["name"],
                calls[0]["name"]
            );
            assert_eq!(
                chosen["tool_calls"][0]["function"]["arguments"],
                calls[0]["arguments"]
            );
        }
        None => assert_eq!(chosen["content"], planned["chosen"]["content"]),
    }
    assert_eq!(row["chosen_source"], format!("human:{REVIEWER}"));
    assert_eq!(row["rejected_source"], "recorded");
    assert_eq!(
        (&row["reason"], &row["criteria"]),
        (&planned["reason"], &planned["criterion"])
    );
}

/// The same input gives the same bytes.
fn same_bytes(desk: &Desk) {
    let first = std::fs::read(desk.path("out/trl-dpo/manifest.json")).unwrap();
    rows(desk, "trl-dpo", &["--reference", "tiny"]);
    assert_eq!(
        first,
        std::fs::read(desk.path("out/trl-dpo/manifest.json")).unwrap()
    );
}

/// TRL's own log-probs of what was exported, recorded by `scripts/prove_spine.sh` with `TRIAGENT_RECORD`; the model beside them was
/// written by `consume/make_tiny_model.py --seed 0`. Only the shortest of the ten,
/// since a debug build takes its time over 6,526 tokens; the script compares all.
#[test]
fn our_log_probs_of_real_pairs_equal_the_trainers() {
    /// What two F32 sums over hundreds of tokens may differ by, in nats.
    const NATS: f64 = 1e-3;
    let desk = Desk::new();
    let Some(runs) = import(&desk) else { return };
    let mut plan = plan();
    plan["pairs"]
        .as_array_mut()
        .unwrap()
        .retain(|pair| pair["task"] == "retail-12");
    let ids = pair(&desk, &runs, &plan);
    let tiny = repository("tests/data/spine/tiny");
    let args = [
        "score",
        "--pairs",
        "--model",
        tiny.to_str().unwrap(),
        "--device",
        "cpu",
        "--json",
    ];
    let scores = desk.run(&args).ok().rows();
    let recorded = read("tests/data/spine/reference.json");
    let mut compared = 0;
    for (task, id) in &ids {
        let pairs = recorded["pairs"].as_array().unwrap();
        let theirs = pairs.iter().find(|p| p["task"] == task.as_str()).unwrap();
        for (i, side) in ["a", "b"].iter().enumerate() {
            let ours = scores
                .iter()
                .find(|s| s["pair"] == id.as_str() && s["side"] == *side)
                .unwrap();
            assert_eq!(ours["prompt_tokens"], theirs["prompt_tokens"]);
            let (ours, theirs) = (&ours["logp_sum_trl"], &theirs["trainer_logps"][i]);
            let off = (ours.as_f64().unwrap() - theirs.as_f64().unwrap()).abs();
            assert!(off < NATS, "{task} side {side}: {ours} instead of {theirs}");
            compared += 1;
        }
    }
    assert_eq!(compared, 2);
}
