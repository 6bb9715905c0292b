//! The machine against people: AgentRx's root causes of tau-bench's failed retail runs (SCIENCE 2), where this machine has them.

use super::reading::{Run, runs_of};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use triagent::domain::Layer;
use triagent::triage::{RunView, SuggestFacts, suggest};

fn logs() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/real-logs");
    let folder = std::env::var_os("TRIAGENT_REAL_LOGS").map_or(beside, PathBuf::from);
    let found = folder.join("tau-bench-labels").is_dir().then_some(folder);
    if found.is_none() {
        eprintln!("skipped: no real logs; TRIAGENT_REAL_LOGS names their folder");
    }
    found
}

/// SCIENCE part 2, the table of data sets: AgentRx's category to our words.
fn layer_of(category: &str) -> &'static str {
    match category {
        "Misinterpretation of Tool Output"
        | "Instruction Adherence Failure"
        | "Intent Plan Misalignment" => "model",
        "Underspecified User Intent" => "user or context",
        "Invalid Invocation" => "tool or model",
        "Intent Not Supported" | "System Failure" => "environment",
        other => panic!("{other} is not in the table"),
    }
}

/// Root cause of each labelled run, by task number.
fn people(folder: &Path) -> BTreeMap<u64, &'static str> {
    let path = folder.join("tau-bench-labels/agentrx-tau-retail-labels.json");
    let rows: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cause = |row: &Value| {
        let root = &row["root_cause"]["failure_id"];
        let all = row["failures"].as_array().unwrap();
        let found = all.iter().find(|f| f["failure_id"] == *root).unwrap();
        layer_of(found["failure_category"].as_str().unwrap())
    };
    rows.iter()
        .map(|row| (row["trajectory_id"].as_u64().unwrap(), cause(row)))
        .collect()
}

fn machine(run: &Run) -> Layer {
    let facts = SuggestFacts {
        run: RunView {
            rollout: &run.head,
            steps: &run.steps,
            calls: &run.calls,
        },
        evidence: &[],
        rewards: &run.rewards,
        reviewed: None,
        decisive: None,
        probe: None,
    };
    suggest(&facts).layer
}

fn task_number(run: &Run) -> u64 {
    let task = run.head.task.as_ref().unwrap().as_str();
    task.rsplit('-').next().unwrap().parse().unwrap()
}

/// The figures of `docs/calibration.md`. 24 of the 29 carry labels in our copy. Two things are fixed here: what people said, counted
/// by hand from the file, and that the machine invents no layer where nothing tells it one.
#[test]
fn on_tau_bench_the_machine_keeps_quiet_where_people_say_model() {
    let Some(folder) = logs() else { return };
    let people = people(&folder);
    let mut said: BTreeMap<&str, u32> = BTreeMap::new();
    for cause in people.values() {
        *said.entry(cause).or_default() += 1;
    }
    let counted = [
        ("environment", 2),
        ("model", 14),
        ("tool or model", 1),
        ("user or context", 7),
    ];
    assert_eq!(said, BTreeMap::from(counted));
    let runs = runs_of(&folder.join("tau-bench/retail-failed-29.json"));
    assert_eq!(runs.len(), 29);
    let mut table: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for run in &runs {
        if let Some(person) = people.get(&task_number(run)) {
            *table.entry((person, machine(run).word())).or_default() += 1;
        }
    }
    let expected = [
        (("environment", "undetermined"), 2),
        (("model", "undetermined"), 14),
        (("tool or model", "undetermined"), 1),
        (("user or context", "undetermined"), 7),
    ];
    assert_eq!(table, BTreeMap::from(expected));
    // Abstention 24 of 24; Cohen's kappa 0: nothing named, so nothing agreed and nothing agreed by chance.
}
