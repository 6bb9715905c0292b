//! ATIF there and back: what our own import reads of our export is what went in, whatever format it came from.

use super::fixtures::*;
use crate::import::seen::{SeenRun, real_logs, see, see_unit};
use serde_json::Value;
use std::path::{Path, PathBuf};
use triagent::domain::*;
use triagent::export::*;
use triagent::import::discover;

/// A run without what a copy may change: where it stands, and what its file is called.
fn placeless(run: &SeenRun) -> SeenRun {
    let mut run = run.clone();
    run.head.span = SourceSpan::default();
    run.head.format = String::new();
    run.head.source = String::new();
    run.steps
        .iter_mut()
        .for_each(|s| s.source = SourceSpan::default());
    run.calls
        .iter_mut()
        .for_each(|c| c.source = SourceSpan::default());
    run
}

fn as_input(run: &SeenRun) -> RunInput {
    RunInput {
        calls: run.calls.clone(),
        rewards: run.rewards.clone(),
        labels: run.labels.clone(),
        ..RunInput::new(run.head.clone(), run.steps.clone())
    }
}

/// Exports runs and reads each file again.
fn there_and_back(runs: &[SeenRun], what: &Path) {
    let inputs: Vec<RunInput> = runs.iter().map(as_input).collect();
    let out = export(Format::Atif, &inputs, &[]);
    assert_eq!(
        out.manifest
            .files
            .iter()
            .filter(|f| f.name.starts_with("train/"))
            .count(),
        runs.len()
    );
    let mut back: Vec<SeenRun> = Vec::new();
    for file in out
        .manifest
        .files
        .iter()
        .filter(|f| f.name.starts_with("train/"))
    {
        let seen = see(&out.dir.path().join(&file.name));
        assert!(
            seen.report.skipped.is_empty(),
            "{} {:?}",
            what.display(),
            seen.report.skipped
        );
        back.extend(seen.runs);
    }
    for run in runs {
        let found = back.iter().find(|b| b.head.id == run.head.id);
        let found = found
            .unwrap_or_else(|| panic!("{}: {} did not come back", what.display(), run.head.id));
        let (was, is) = (placeless(run), placeless(found));
        let place = || format!("{}: {}", what.display(), run.head.id);
        assert_eq!(was.head, is.head, "{}", place());
        for (a, b) in was.steps.iter().zip(&is.steps) {
            assert_eq!(a, b, "{}", place());
        }
        assert_eq!(was.steps.len(), is.steps.len(), "{}", place());
        assert_eq!(was.calls, is.calls, "{}", place());
        assert_eq!(was.rewards, is.rewards, "{}", place());
        assert_eq!(was.labels, is.labels, "{}", place());
    }
}

/// Takes everything in a folder there and back; returns how many runs came.
fn all(root: PathBuf) -> usize {
    let mut runs = 0;
    for unit in discover(&[root]).units {
        let seen = see_unit(&unit, None);
        let mut ids: Vec<&str> = seen.runs.iter().map(|r| r.head.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        // Two runs with one id in one file are told apart by the store, which is not here.
        if !seen.runs.is_empty() && ids.len() == seen.runs.len() {
            there_and_back(&seen.runs, &unit.path);
            runs += seen.runs.len();
        }
    }
    runs
}

#[test]
fn sample_logs_come_back_as_they_were() {
    let runs = all(Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-logs/runs"));
    println!("{runs} runs");
    // The four policy trajectories, the teaching case of twenty and more.
    assert!(runs >= 24, "{runs}");
}

#[test]
fn real_logs_come_back_as_they_were() {
    let Some(root) = real_logs() else { return };
    let mut runs = 0;
    for folder in [
        "tau-bench",
        "mini-swe-agent",
        "agent-lightning-1",
        "atif",
        "openai-chat-jsonl",
        "claude-code",
        "codex-rollout",
        "who-and-when",
        "gemini-cli",
        "agentdojo",
    ] {
        runs += all(root.join(folder));
    }
    println!("{runs} runs");
    assert!(runs >= 29, "{runs}");
}

/// What a reader without our words sees is plain ATIF: only known keys outside `extra`, ids that join.
#[test]
fn others_read_plain_atif() {
    let runs: Vec<RunInput> = four().into_iter().chain(wide()).collect();
    let out = export(Format::Atif, &runs, &[]);
    let text = out.text("train/parallel.json");
    let trajectory: Value = serde_json::from_str(&text).unwrap();
    let keys = |v: &Value| v.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        keys(&trajectory),
        [
            "schema_version",
            "session_id",
            "trajectory_id",
            "agent",
            "steps",
            "extra"
        ]
    );
    let steps = trajectory["steps"].as_array().unwrap();
    let known = [
        "step_id",
        "timestamp",
        "source",
        "model_name",
        "message",
        "reasoning_content",
        "tool_calls",
        "observation",
        "metrics",
        "is_copied_context",
        "llm_call_count",
        "extra",
    ];
    for (at, step) in steps.iter().enumerate() {
        assert_eq!(step["step_id"], at + 1);
        assert!(
            keys(step).iter().all(|k| known.contains(&k.as_str())),
            "{step}"
        );
    }
    // Parallel calls and both answers are one step, as ATIF has it.
    assert_eq!(steps[2]["tool_calls"].as_array().unwrap().len(), 2);
    let results = steps[2]["observation"]["results"].as_array().unwrap();
    let answered: Vec<&Value> = results.iter().map(|r| &r["source_call_id"]).collect();
    let asked: Vec<&Value> = steps[2]["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| &c["tool_call_id"])
        .collect();
    assert_eq!(answered, asked);
    assert_eq!(steps[2]["tool_calls"][0]["arguments"]["path"], "a.md");
}
