//! The sample logs against the answers that were written down before any program looked (`EXPECTED.json`).

use super::seen::{Seen, see};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use triagent::domain::Adopted;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-logs")
}

fn expected() -> Value {
    serde_json::from_slice(&std::fs::read(folder().join("EXPECTED.json")).unwrap()).unwrap()
}

/// Every ATIF file of `runs/`, by the name of its run.
fn trajectories() -> BTreeMap<String, Seen> {
    let kinds = ["four", "teaching", "gateway", "groups", "layers"];
    let files = kinds.iter().flat_map(|kind| {
        std::fs::read_dir(folder().join("runs").join(kind))
            .unwrap()
            .map(|entry| entry.unwrap().path())
    });
    let named = files.filter_map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        Some((
            name.strip_suffix(".trajectory.json")?.to_owned(),
            see(&path),
        ))
    });
    named.collect()
}

/// S-14, S-83, S-86: owners, step by step, and outcomes are those of `EXPECTED.json`.
#[test]
fn owners_and_outcomes_are_as_written_down() {
    let runs = trajectories();
    let expected = expected();
    let expected = expected["runs"].as_object().unwrap();
    assert_eq!(
        runs.keys().collect::<BTreeSet<_>>(),
        expected.keys().collect::<BTreeSet<_>>()
    );
    for (name, want) in expected {
        let run = &runs[name].runs[0];
        let steps: Vec<Value> = run
            .steps
            .iter()
            .map(|s| format!("{} {}", s.owner, s.kind).into())
            .collect();
        assert_eq!(want["steps"], Value::from(steps), "{name}");
        assert_eq!(want["outcome"], run.head.outcome.word(), "{name}");
        assert_eq!(want["task"], run.head.task.as_ref().unwrap().0.as_str());
        assert!(runs[name].report.skipped.is_empty(), "{name}");
    }
}

/// S-83: success rewards 1, 0, 0, 1 in the order of the exercise.
#[test]
fn the_four_rewards_are_one_zero_zero_one() {
    let (runs, expected) = (trajectories(), expected());
    let order = expected["four"]["order"].as_array().unwrap();
    let results = order
        .iter()
        .map(|name| runs[name.as_str().unwrap()].runs[0].rewards[0].result);
    let want = [1.0, 0.0, 0.0, 1.0].map(Some);
    assert_eq!(results.collect::<Vec<_>>(), want);
}

/// S-23, S-92: in our own notation, one report is a repeat and the retry stays an attempt of its own.
#[test]
fn the_gateway_case_keeps_the_retry_and_drops_the_repeat() {
    let runs = trajectories();
    let seen = &runs["gateway-fake-citation"];
    let of = |c: &triagent::domain::Call| (c.event_id.clone().unwrap(), c.adopted);
    let calls: Vec<_> = seen.calls().map(of).collect();
    let want = [
        ("e0", Adopted::Yes),
        ("e1", Adopted::No),
        ("e2", Adopted::Yes),
    ];
    assert_eq!(calls, want.map(|(id, adopted)| (id.to_owned(), adopted)));
    assert_eq!(seen.report.repeated, 1);
    let reports: Vec<_> = seen.calls().skip(1).map(|c| u64::from(c.reports)).collect();
    let attempts = expected()["gateway"]["atif"]["attempts_of_lr-2"].clone();
    let want = attempts.as_array().unwrap().iter();
    let want: Vec<_> = want.map(|a| a["reports"].as_u64().unwrap()).collect();
    assert_eq!(reports, want);
    let off = seen.steps().filter(|s| s.off_path).map(|s| s.index);
    assert_eq!(off.collect::<Vec<_>>(), [4]);
}

/// S-21, S-22: Agent Lightning's events have no ids; only equal id, content and time is a repeat.
#[test]
fn the_gateway_events_keep_four_calls_of_five_reports() {
    let seen = see(&folder().join("runs/gateway/gateway.events.jsonl"));
    let want = &expected()["gateway"]["agent_lightning"];
    assert_eq!(want["run"], seen.runs[0].head.id.0.as_str());
    assert_eq!(want["calls"], seen.calls().count());
    assert_eq!(want["duplicate_reports"], seen.report.repeated);
    assert!(seen.calls().all(|c| c.event_id_minted));
    let results: Vec<_> = seen.runs[0].rewards.iter().map(|r| r.result).collect();
    assert_eq!(results, [Some(1.0)]);
}

/// The broken file: good lines are kept, bad ones are reported with their line.
#[test]
fn broken_lines_are_reported_and_good_ones_kept() {
    let seen = see(&folder().join("broken/mixed.jsonl"));
    let expected = expected();
    let want = &expected["broken"]["mixed.jsonl"];
    let lines = |key: &str| -> Vec<u64> { serde_json::from_value(want[key].clone()).unwrap() };
    let reported: Vec<u64> = seen.report.skipped.iter().map(|s| s.line).collect();
    for line in lines("must_be_reported") {
        assert!(reported.contains(&line), "line {line} of {reported:?}");
    }
    for line in lines("good_lines") {
        assert!(!reported.contains(&line), "line {line} of {reported:?}");
    }
    let kept = seen.runs.len() as u64;
    assert_eq!(kept + seen.report.skips, 7, "every line but the blank one");
}
