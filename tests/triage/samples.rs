//! The policy desk: what `sample-logs/EXPECTED.json` says, written down before the program existed.

use super::reading::{Run, here, register, runs_below, tasks};
use serde_json::Value;
use triagent::domain::{Outcome, Task};
use triagent::triage::{
    Evidence, EvidenceFacts, NotComparable, Register, SuggestFacts, Suggestion, compare_decisions,
    diff_runs, evidence_status, suggest, suggest_pairings,
};

struct Desk {
    runs: Vec<Run>,
    tasks: Vec<Task>,
    register: Register,
    expected: Value,
}

fn desk() -> Desk {
    let expected = std::fs::read_to_string(here("sample-logs/EXPECTED.json")).unwrap();
    Desk {
        runs: runs_below(&here("sample-logs/runs")),
        tasks: tasks(&here("sample-logs/tasks.jsonl")),
        register: register(&here("sample-logs/documents.jsonl")),
        expected: serde_json::from_str(&expected).unwrap(),
    }
}

impl Desk {
    fn run(&self, id: &str) -> &Run {
        self.runs
            .iter()
            .find(|r| r.head.id.as_str() == id)
            .unwrap_or_else(|| panic!("{id} was not read"))
    }

    fn evidence(&self, run: &Run, decisive: Option<u32>) -> Vec<Evidence> {
        let task = self
            .tasks
            .iter()
            .find(|t| Some(&t.task_id) == run.head.task.as_ref());
        evidence_status(&EvidenceFacts {
            rollout: &run.head,
            steps: &run.steps,
            task,
            requires: &[],
            register: &self.register,
            decisive,
        })
    }

    fn suggestion(&self, run: &Run, decisive: Option<u32>) -> Suggestion {
        let evidence = self.evidence(run, decisive);
        suggest(&SuggestFacts {
            run: run.view(),
            evidence: &evidence,
            rewards: &run.rewards,
            reviewed: None,
            decisive,
            probe: None,
        })
    }
}

#[test]
fn every_status_is_the_one_that_was_written_down() {
    let desk = desk();
    let mut checked = 0;
    for (id, expected) in desk.expected["runs"].as_object().unwrap() {
        let Some(status) = expected["evidence_status"].as_str() else {
            continue;
        };
        let decisive = expected["decisive_step"]
            .as_u64()
            .map(|d| u32::try_from(d).unwrap());
        let got = desk.evidence(desk.run(id), decisive);
        let words: Vec<&str> = got.iter().map(|e| e.status.word()).collect();
        assert_eq!(words, [status], "{id}: {}", got[0].reason);
        assert_eq!(got[0].valid, Some(true), "{id}");
        checked += 1;
    }
    assert!(checked >= 26, "{checked}");
}

#[test]
fn suggestions_hold_where_provenance_can_tell_and_keep_quiet_elsewhere() {
    let desk = desk();
    for (id, expected) in desk.expected["runs"].as_object().unwrap() {
        let Some(layer) = expected["layer"].as_str() else {
            continue;
        };
        let decisive = expected["decisive_step"]
            .as_u64()
            .map(|d| u32::try_from(d).unwrap());
        let got = desk.suggestion(desk.run(id), decisive);
        // The rules alone can show where evidence got lost, outages and graders; model and tool text need a probe or a person.
        let expected = match layer {
            "model" | "tool" => "undetermined",
            other => other,
        };
        assert_eq!(
            got.layer.word(),
            expected,
            "{id}: row {:?}, {}",
            got.row,
            got.reason
        );
    }
}

#[test]
fn unlabelled_runs_are_read_at_their_last_decision() {
    let desk = desk();
    for id in [
        "teach-index-01",
        "four-stale-citation",
        "layer-context",
        "group-zero-0",
    ] {
        let named = desk.expected["runs"][id]["decisive_step"]
            .as_u64()
            .map(|d| u32::try_from(d).unwrap());
        let run = desk.run(id);
        assert_eq!(
            desk.suggestion(run, None).layer,
            desk.suggestion(run, named).layer,
            "{id}"
        );
    }
}

#[test]
fn s83_pairs_stand_inside_one_request_only() {
    let desk = desk();
    for pair in desk.expected["four"]["pairs"].as_array().unwrap() {
        let at = |key: &str| {
            let (run, step) = pair[key].as_str().unwrap().split_once(':').unwrap();
            (desk.run(run), step.parse::<u32>().unwrap())
        };
        let ((a, i), (b, j)) = (at("chosen"), at("rejected"));
        compare_decisions(&a.view(), i, &b.view(), j).unwrap_or_else(|e| panic!("{pair}: {e}"));
    }
    let complete = desk.run("four-correct-citation");
    let missing = desk.run("four-missing-but-sure");
    let across = compare_decisions(&complete.view(), 4, &missing.view(), 4);
    assert!(matches!(across, Err(NotComparable::HashMismatch(..))));
}

#[test]
fn pairings_are_suggested_from_passed_and_failed_runs_of_one_task() {
    let desk = desk();
    let complete: Vec<_> = desk
        .runs
        .iter()
        .filter(|r| {
            r.head
                .task
                .as_ref()
                .is_some_and(|t| t.as_str() == "hotel-complete")
        })
        .map(Run::view)
        .collect();
    let found = suggest_pairings(&complete);
    let names: Vec<(String, String)> = found
        .iter()
        .map(|s| (s.pair.a.to_string(), s.pair.b.to_string()))
        .collect();
    let expected = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert!(
        names.contains(&expected(
            "four-correct-citation:4",
            "four-stale-citation:4"
        )),
        "{names:?}"
    );
    assert!(
        names.contains(&expected(
            "four-correct-citation:6",
            "four-well-formatted:6"
        )),
        "{names:?}"
    );
}

#[test]
fn s13_the_same_weights_on_another_index_are_input_changed() {
    let desk = desk();
    let old = desk.run("teach-index-01");
    let new = desk.run("teach-pass-new-index");
    assert_eq!(new.head.outcome, Outcome::Pass);
    let diff = diff_runs(&old.view(), &new.view());
    let same = old.head.checkpoint.is_some() && old.head.checkpoint == new.head.checkpoint;
    assert!(diff.note.starts_with("input changed"), "{}", diff.note);
    assert_eq!(
        diff.note.contains("weights unchanged"),
        same,
        "{}",
        diff.note
    );
}
