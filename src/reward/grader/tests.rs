//! Graders on the owner's cases.

use super::text::{citations, numbers};
use super::*;
use crate::domain::{Requirement, TaskId};
use serde_json::Value;

pub(crate) fn document(version: &str, text: &str, from: &str, until: Option<&str>) -> Document {
    Document {
        doc_id: "hotel-cap".into(),
        version: version.into(),
        title: None,
        text: text.into(),
        valid_from: Some(from.into()),
        valid_until: until.map(str::to_owned),
        indexed_in: None,
    }
}

pub(crate) fn case(run: &str, answer: &str, brought: &str) -> GradeCase {
    let step = |owner, kind, tool: Option<&str>, text: &str| GradeStep {
        owner,
        kind,
        tool: tool.map(str::to_owned),
        status: if kind == StepKind::Observation {
            StepStatus::Ok
        } else {
            StepStatus::Unknown
        },
        text: text.into(),
    };
    GradeCase {
        run: run.into(),
        task: Some(Task {
            task_id: TaskId::from("hotel"),
            family: None,
            scenario: None,
            prompt: Some("Employee, Lyon, 2025-09-12: hotel cap?".into()),
            date: Some("2025-09-12".into()),
            requires: vec![Requirement {
                doc_id: "hotel-cap".into(),
                version: Some("v2".into()),
                spans: vec![],
                conditions: vec![],
            }],
            expected: json!({"answer": "Up to 150 EUR a night [hotel-cap v2]."}),
            standard: Value::Null,
            grader: Value::Null,
            tools: Value::Null,
        }),
        answer: answer.into(),
        steps: vec![
            step(Owner::User, StepKind::Text, None, "hotel cap?"),
            step(Owner::Model, StepKind::ToolCall, Some("search"), "{}"),
            step(Owner::Tool, StepKind::Observation, Some("search"), brought),
        ],
        documents: vec![
            document("v1", V1, "2024-01-01", Some("2025-06-30")),
            document("v2", V2, "2025-07-01", None),
        ],
    }
}

pub(crate) const V1: &str =
    "Hotel nights. Valid 2024-01-01 to 2025-06-30. Employees: up to 120 EUR a night.";
pub(crate) const V2: &str = "Hotel nights. Valid from 2025-07-01. Employees: up to 150 EUR a night. Contractors: up to 90 EUR.";

fn grader(name: &str) -> RuleGrader {
    built_in_graders()
        .into_iter()
        .find(|g| g.name == name)
        .unwrap()
}

#[test]
fn the_built_in_file_reads() {
    let names: Vec<String> = read_graders(BUILT_IN)
        .unwrap()
        .into_iter()
        .map(|g| g.name)
        .collect();
    assert_eq!(
        names,
        [
            "source-marker",
            "tool-success",
            "few-calls",
            "tidy-format",
            "policy-evidence"
        ]
    );
    let odd = read_graders(
        "[[graders]]\nname = \"x\"\nversion = \"1\"\nresult = [{ check = \"wishes\" }]",
    );
    assert!(odd.unwrap_err().to_string().contains("graders.toml"));
}

#[test]
fn s67_a_marker_fools_the_marker_grader_and_not_the_evidence_grader() {
    let invalid = case("r", "Up to 120 EUR [source]", V1);
    assert_eq!(grader("source-marker").grade(&invalid).result, 1.0);
    assert_eq!(grader("policy-evidence").grade(&invalid).result, 0.0);
}

#[test]
fn s68_four_answers_with_invalid_sources_all_score_one_by_marker_and_zero_by_evidence() {
    let answers = [
        "120 EUR [source]",
        "80 EUR [source]",
        "99 EUR [hotel-cap v9] [source]",
        "120 EUR [hotel-cap v1] [source]",
    ];
    let by = |name: &str| -> Vec<f64> {
        answers
            .iter()
            .map(|a| grader(name).grade(&case("r", a, V1)).result)
            .collect()
    };
    assert_eq!(by("source-marker"), [1.0; 4]);
    assert_eq!(by("policy-evidence"), [0.0; 4]);
    let rewards: Vec<Option<f64>> = by("source-marker").into_iter().map(Some).collect();
    let signal = crate::reward::advantages(&rewards, crate::reward::Convention::Population, None)
        .unwrap()
        .signal;
    assert_eq!(signal, crate::reward::Signal::NoRelativeSignal);
}

#[test]
fn s85_a_well_formatted_wrong_answer_is_refused_with_its_reason() {
    let neat = case(
        "r",
        "## Answer\n\nUp to **120 EUR** a night [hotel-cap v2].",
        V2,
    );
    let grade = grader("policy-evidence").grade(&neat);
    assert!(!grade.is_success());
    assert!(
        grade
            .reasons
            .iter()
            .any(|r| r.contains("120 stands in no cited version")),
        "{:?}",
        grade.reasons
    );
}

#[test]
fn the_right_answer_passes_and_its_fields_stand_apart() {
    let grade =
        grader("policy-evidence").grade(&case("r", "Up to 150 EUR a night [hotel-cap v2].", V2));
    assert_eq!(
        (
            grade.result,
            grade.evidence,
            grade.side_effects.len(),
            grade.cost
        ),
        (1.0, Some(1.0), 0, Some(1.0))
    );
    let reward = grade.reward("policy-evidence", "1", true);
    assert_eq!(
        (reward.result, reward.evidence, reward.isolated),
        (Some(1.0), Some(1.0), Some(true))
    );
    // The same answer without ever having seen the version is a guess.
    let guess =
        grader("policy-evidence").grade(&case("r", "Up to 150 EUR a night [hotel-cap v2].", V1));
    assert!(
        guess.reasons[0].contains("never before the model"),
        "{:?}",
        guess.reasons
    );
}

#[test]
fn the_other_groups_figure_is_refused_although_it_stands_in_the_version() {
    let grade = grader("policy-evidence").grade(&case("r", "Up to 90 EUR [hotel-cap v2].", V2));
    assert_eq!((grade.result, grade.evidence), (0.0, Some(1.0)));
}

#[test]
fn citations_and_numbers_are_read_as_people_write_them() {
    let cited = citations("150 [hotel-cap v2], 见【taxi-zh v1】 and [source]");
    let names: Vec<(&str, Option<&str>)> = cited
        .iter()
        .map(|c| (c.doc_id.as_str(), c.version.as_deref()))
        .collect();
    assert_eq!(
        names,
        [
            ("hotel-cap", Some("v2")),
            ("taxi-zh", Some("v1")),
            ("source", None)
        ]
    );
    assert_eq!(
        numbers("１，２００ 元, 1,200.50 on 2025-07-01 at 10:30, v2, 30."),
        ["1200", "1200.50", "30"]
    );
}
