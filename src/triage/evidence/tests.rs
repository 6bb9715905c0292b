//! Statuses on small runs; the policy desk of the owner's chapter.

use super::*;
use crate::domain::chat::Role;
use crate::domain::{DocRef, Owner, StepKind, TaskId};

fn doc(version: &str, text: &str, from: &str, until: Option<&str>, index: &[&str]) -> Document {
    Document {
        doc_id: "leave".into(),
        version: version.into(),
        title: None,
        text: text.into(),
        valid_from: Some(from.into()),
        valid_until: until.map(str::to_owned),
        indexed_in: Some(index.iter().map(|i| (*i).to_owned()).collect()),
    }
}

const OLD: &str = "年假政策。2024-01-01 起施行。全体员工每年 10 天年假。";
const NEW: &str = "年假政策。2025-07-01 起施行。全职员工每年 15 天年假；外包人员不适用。";

fn register() -> Register {
    Register::new([
        doc(
            "v1",
            OLD,
            "2024-01-01",
            Some("2025-06-30"),
            &["idx-1", "idx-2"],
        ),
        doc("v2", NEW, "2025-07-01", None, &["idx-2"]),
    ])
}

fn task() -> Task {
    Task {
        task_id: TaskId::from("t"),
        family: None,
        scenario: None,
        prompt: None,
        date: Some("2025-09-01".into()),
        requires: vec![Requirement {
            doc_id: "leave".into(),
            version: Some("v2".into()),
            spans: vec!["全职员工每年15天年假".into()],
            conditions: vec!["外包人员不适用".into()],
        }],
        expected: serde_json::Value::Null,
        standard: serde_json::Value::Null,
        grader: serde_json::Value::Null,
        tools: serde_json::Value::Null,
    }
}

fn steps(parts: Vec<(Owner, StepKind, &str)>) -> Vec<Step> {
    let role = |owner| match owner {
        Owner::Model => Role::Assistant,
        Owner::Tool => Role::Tool,
        Owner::System | Owner::Runtime => Role::System,
        Owner::User | Owner::Unknown => Role::User,
    };
    let numbered = parts.into_iter().zip(0..);
    numbered
        .map(|((owner, kind, text), i)| Step {
            index: i,
            message: i,
            ..Step::new(owner, kind, role(owner), text)
        })
        .collect()
}

/// Question, search, `found`, answer.
fn run_with(found: &str) -> Vec<Step> {
    steps(vec![
        (Owner::User, StepKind::Text, "外包人员能休几天年假?"),
        (Owner::Model, StepKind::ToolCall, r#"{"query":"年假"}"#),
        (Owner::Tool, StepKind::Observation, found),
        (Owner::Model, StepKind::Text, "15 天。"),
    ])
}

fn status(steps: &[Step], index: Option<&str>) -> Evidence {
    let mut rollout = Rollout::new("r", "atif", "f");
    rollout.index_version = index.map(str::to_owned);
    let (task, register) = (task(), register());
    let facts = EvidenceFacts {
        rollout: &rollout,
        steps,
        task: Some(&task),
        requires: &[],
        register: &register,
        decisive: None,
    };
    evidence_status(&facts).remove(0)
}

#[test]
fn all_of_it_before_the_model_is_in_prompt() {
    let e = status(
        &run_with(
            "年假政策。２０２５年７月１日起施行。全职员工每年 １５ 天年假；\n外包人员 不适用。",
        ),
        Some("idx-2"),
    );
    assert_eq!((e.status, e.valid), (EvidenceStatus::InPrompt, Some(true)));
    assert_eq!(e.decisive_step, Some(3));
    let parts: Vec<_> = e
        .spans
        .iter()
        .map(|s| (s.part, s.in_view, s.places[0].step))
        .collect();
    assert_eq!(
        parts,
        [("span", true, 2), ("condition", true, 2), ("date", true, 2)]
    );
    assert_eq!(
        e.seen,
        [SeenVersion {
            version: Some("v2".into()),
            valid: Some(true),
            steps: vec![2]
        }]
    );
}

#[test]
fn stale_index_is_told_from_a_missing_document() {
    let e = status(&run_with(OLD), Some("idx-1"));
    assert_eq!((e.status, e.valid), (EvidenceStatus::StaleOnly, Some(true)));
    assert_eq!(
        e.seen,
        [SeenVersion {
            version: Some("v1".into()),
            valid: Some(false),
            steps: vec![2]
        }]
    );
    assert!(e.reason.contains("v1 came instead"), "{}", e.reason);
    assert_eq!(
        status(&run_with("nothing found"), Some("idx-0")).status,
        EvidenceStatus::NotIndexed
    );
}

#[test]
fn indexed_and_not_brought_is_not_retrieved() {
    let e = status(&run_with(OLD), Some("idx-2"));
    assert_eq!(e.status, EvidenceStatus::NotRetrieved);
    // The index version is unknown, but the log shows what came back.
    let e = status(&run_with(OLD), None);
    assert_eq!(e.status, EvidenceStatus::NotRetrieved);
    assert!(
        e.reason.contains("does not name the index version"),
        "{}",
        e.reason
    );
}

#[test]
fn a_lost_date_or_condition_is_not_in_prompt() {
    for (found, lost) in [
        ("全职员工每年 15 天年假；外包人员不适用。", "date"),
        ("2025-07-01 起施行。全职员工每年 15 天年假", "condition"),
        (
            "2025年7月1日起施行。外包人员不适用。全职员工每年 15 天年假期另计",
            "span",
        ),
    ] {
        let mut run = run_with(found);
        run[2].documents = vec![DocRef {
            doc_id: "leave".into(),
            version: Some("v2".into()),
        }];
        let e = status(&run, Some("idx-2"));
        if lost == "span" {
            // Chinese has no word boundary: 年假 in 年假期 counts.
            assert_eq!(e.status, EvidenceStatus::InPrompt);
            continue;
        }
        assert_eq!(e.status, EvidenceStatus::NotInPrompt, "{found}");
        assert!(
            e.reason.contains(lost) && e.reason.contains("never there"),
            "{}",
            e.reason
        );
    }
}

#[test]
fn a_compaction_that_dropped_it_is_not_in_prompt() {
    let mut run = steps(vec![
        (Owner::User, StepKind::Text, "外包人员能休几天年假?"),
        (Owner::Model, StepKind::ToolCall, "{}"),
        (Owner::Tool, StepKind::Observation, NEW),
        (Owner::Runtime, StepKind::Text, "摘要：查到了新的年假政策。"),
        (Owner::Model, StepKind::Text, "15 天。"),
    ]);
    run[3].replaces = vec![1, 2];
    let e = status(&run, Some("idx-2"));
    assert_eq!(e.status, EvidenceStatus::NotInPrompt);
    assert!(e.reason.contains("had left the context"), "{}", e.reason);
    // A summary that keeps everything keeps the evidence.
    run[3].text = format!("摘要：{NEW}");
    assert_eq!(status(&run, Some("idx-2")).status, EvidenceStatus::InPrompt);
}

#[test]
fn what_comes_after_the_decision_or_from_the_model_does_not_count() {
    let mut run = run_with("nothing");
    run[1].text = NEW.to_owned();
    run.push(Step {
        index: 4,
        message: 4,
        ..Step::new(Owner::Tool, StepKind::Observation, Role::Tool, NEW)
    });
    assert_eq!(
        status(&run, Some("idx-2")).status,
        EvidenceStatus::NotRetrieved
    );
}

#[test]
fn a_system_prompt_that_holds_it_needs_no_retrieval() {
    let run = steps(vec![
        (Owner::System, StepKind::Text, NEW),
        (Owner::User, StepKind::Text, "几天?"),
        (Owner::Model, StepKind::Text, "15 天。"),
    ]);
    assert_eq!(status(&run, None).status, EvidenceStatus::InPrompt);
}

#[test]
fn a_question_that_quotes_a_rule_brings_nothing() {
    let run = steps(vec![
        (Owner::User, StepKind::Text, "听说外包人员不适用, 对吗?"),
        (Owner::Model, StepKind::Text, "对。"),
    ]);
    assert_eq!(
        status(&run, Some("idx-2")).status,
        EvidenceStatus::NotRetrieved
    );
}

#[test]
fn unknown_where_the_log_cannot_tell() {
    let rollout = Rollout::new("r", "atif", "f");
    let run = run_with("x");
    let register = Register::default();
    let bare = Requirement {
        doc_id: "leave".into(),
        version: None,
        spans: vec![],
        conditions: vec![],
    };
    let facts = EvidenceFacts {
        rollout: &rollout,
        steps: &run,
        task: None,
        requires: std::slice::from_ref(&bare),
        register: &register,
        decisive: None,
    };
    let got = evidence_status(&facts);
    assert_eq!(
        (got[0].status, got[0].valid),
        (EvidenceStatus::Unknown, None)
    );
    assert!(got[0].reason.contains("docs import"));
    let none = evidence_status(&EvidenceFacts {
        requires: &[],
        ..facts
    });
    assert!(none.is_empty());
}

#[test]
fn without_a_version_the_one_valid_on_the_date_is_meant() {
    let rollout = Rollout::new("r", "atif", "f");
    let run = run_with(NEW);
    let (register, mut task) = (register(), task());
    task.requires[0].version = None;
    let at = |date: &str, task: &Task| {
        let task = Task {
            date: Some(date.into()),
            ..task.clone()
        };
        let facts = EvidenceFacts {
            rollout: &rollout,
            steps: &run,
            task: Some(&task),
            requires: &[],
            register: &register,
            decisive: None,
        };
        let e = evidence_status(&facts).remove(0);
        (e.version, e.valid)
    };
    assert_eq!(at("2025-09-01", &task), (Some("v2".into()), Some(true)));
    assert_eq!(at("2025-03-01", &task), (Some("v1".into()), Some(true)));
    assert_eq!(at("2023-03-01", &task), (None, Some(false)));
}
