//! The fault suite: causes are known by construction, so statuses can be checked one by one.

use super::reading::{Run, here, runs_of};
use serde_json::Value;
use std::collections::BTreeMap;
use triagent::domain::{Document, Task};
use triagent::triage::{EvidenceFacts, Register, SuggestFacts, evidence_status, suggest};

struct Case {
    id: String,
    cause: String,
    statuses: Vec<String>,
    accept: Vec<String>,
    task: Task,
    register: Register,
    run: Run,
}

fn cases() -> Vec<Case> {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(here("assets/fault-suite/suite.jsonl")).unwrap();
    text.lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            let path = folder.path().join("run.json");
            std::fs::write(&path, row["run"].to_string()).unwrap();
            let words = |value: &Value| -> Vec<String> {
                value
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|v| v.as_str().unwrap().to_owned())
                    .collect()
            };
            let documents: Vec<Document> =
                serde_json::from_value(row["documents"].clone()).unwrap();
            Case {
                id: row["id"].as_str().unwrap().to_owned(),
                cause: row["cause"].as_str().unwrap().to_owned(),
                statuses: words(&row["evidence_status"]),
                accept: words(&row["truth"]["accept"]),
                task: serde_json::from_value(row["task"].clone()).unwrap(),
                register: Register::new(documents),
                run: runs_of(&path).remove(0),
            }
        })
        .collect()
}

#[test]
fn all_180_statuses_are_true_by_construction() {
    let mut wrong = Vec::new();
    for case in cases() {
        let got = evidence_status(&EvidenceFacts {
            rollout: &case.run.head,
            steps: &case.run.steps,
            task: Some(&case.task),
            requires: &[],
            register: &case.register,
            decisive: None,
        });
        let words: Vec<&str> = got.iter().map(|e| e.status.word()).collect();
        if words != case.statuses {
            let reasons: Vec<&str> = got.iter().map(|e| e.reason.as_str()).collect();
            wrong.push(format!(
                "{}: got {words:?}, true {:?}; {reasons:?}",
                case.id, case.statuses
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn provenance_alone_never_names_a_wrong_layer_on_single_faults() {
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut named = 0;
    for case in cases().into_iter().filter(|c| !c.cause.contains('+')) {
        let evidence = evidence_status(&EvidenceFacts {
            rollout: &case.run.head,
            steps: &case.run.steps,
            task: Some(&case.task),
            requires: &[],
            register: &case.register,
            decisive: None,
        });
        let got = suggest(&SuggestFacts {
            run: case.run.view(),
            evidence: &evidence,
            rewards: &case.run.rewards,
            reviewed: None,
            decisive: None,
            probe: None,
        });
        let layer = got.layer.word().to_owned();
        named += usize::from(layer != "undetermined");
        if layer != "undetermined" && !case.accept.contains(&layer) {
            wrong
                .entry(case.cause)
                .or_default()
                .push(format!("{}: {layer}, {}", case.id, got.reason));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // index 30, context 30, environment 10, grader 10.
    assert_eq!(named, 80);
}
