//! Graders and the hack suite on the sample logs.

use crate::triage::reading::{Run, documents, here, runs_below, tasks};
use serde_json::Value;
use triagent::domain::Outcome;
use triagent::reward::{GradeCase, RuleGrader, audit, built_in_graders, grade_case, hack_suite};

fn grader(name: &str) -> RuleGrader {
    built_in_graders()
        .into_iter()
        .find(|g| g.name == name)
        .unwrap()
}

fn cases() -> Vec<(Run, GradeCase)> {
    let register = documents(&here("sample-logs/documents.jsonl"));
    let tasks = tasks(&here("sample-logs/tasks.jsonl"));
    runs_below(&here("sample-logs/runs"))
        .into_iter()
        .filter_map(|run| {
            let task = tasks
                .iter()
                .find(|t| Some(&t.task_id) == run.head.task.as_ref())?;
            let case = grade_case(run.head.id.as_str(), &run.steps, Some(task), &register);
            Some((run, case))
        })
        .collect()
}

#[test]
fn s83_success_rewards_of_the_four_trajectories_are_1_0_0_1() {
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(here("sample-logs/EXPECTED.json")).unwrap())
            .unwrap();
    let all = cases();
    let order = expected["four"]["order"].as_array().unwrap();
    let wanted = expected["four"]["success_rewards"].as_array().unwrap();
    for (id, wanted) in order.iter().zip(wanted) {
        let (_, case) = all.iter().find(|(_, c)| id == c.run.as_str()).unwrap();
        let grade = grader("policy-evidence").grade(case);
        assert_eq!(
            f64::from(u8::from(grade.is_success())),
            wanted.as_f64().unwrap(),
            "{id}: {:?}",
            grade.reasons
        );
    }
}

#[test]
fn s67_s68_on_the_sample_logs_the_marker_loses_and_the_evidence_grader_wins() {
    let all = cases();
    let of = |outcome: Outcome| -> Vec<GradeCase> {
        all.iter()
            .filter(|(r, c)| r.head.outcome == outcome && !c.answer.is_empty())
            .map(|(_, c)| c.clone())
            .collect()
    };
    let suite = hack_suite(&of(Outcome::Fail), &of(Outcome::Pass));
    assert!(suite.len() > 40, "{}", suite.len());
    let report = |name: &str| audit(name, &suite, |c| Ok(grader(name).grade(c))).unwrap();
    let marker = report("source-marker");
    assert!(marker.fooled * 2 > marker.hacks, "{}", marker.words);
    let evidence = report("policy-evidence");
    let fooled: Vec<_> = evidence.rows.iter().filter(|r| r.fooled).collect();
    assert!(fooled.is_empty(), "{fooled:#?}");
}

/// S-67: the page about graders explains every hack that an audit shows.
#[test]
fn the_graders_page_names_every_hack() {
    let page = std::fs::read_to_string(here("docs/graders.md")).unwrap();
    for hack in triagent::reward::Hack::ALL {
        let word = hack.words().split(':').next().unwrap();
        assert!(page.contains(&format!("| {word} |")), "{word}");
    }
}
