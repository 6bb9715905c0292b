//! `rewards`: numbers in, relative signal out.

use super::desk::{Desk, repository};
use serde_json::{Value, json};

#[test]
fn s57_the_seeds_example() {
    // Seed A5: [0,0,1,1] → mean 0.5, population std 0.5, [-1,-1,1,1].
    let desk = Desk::new();
    let row = desk
        .run(&["rewards", "advantages", "0", "0", "1", "1", "--json"])
        .ok()
        .row();
    assert_eq!(row["mean"], 0.5);
    assert_eq!(row["std"], 0.5);
    assert_eq!(row["convention"], "population");
    assert_eq!(row["advantages"], json!([-1.0, -1.0, 1.0, 1.0]));
    assert_eq!(row["signal"], "relative");
    assert!(row["missing"].as_array().unwrap().len() >= 7, "S-59: {row}");
    let text = desk
        .run(&["rewards", "advantages", "0", "0", "1", "1"])
        .ok()
        .out;
    for words in [
        "mean        0.5",
        "population std",
        "relative signal only",
        "clipping",
    ] {
        assert!(text.contains(words), "{words} is missing:\n{text}");
    }
}

#[test]
fn s60_a_group_of_equals_has_no_relative_signal_and_no_false_claim() {
    let desk = Desk::new();
    let ran = desk
        .run(&["rewards", "advantages", "0", "0", "0", "0"])
        .ok();
    assert!(
        ran.out.contains("no distinguishing relative signal"),
        "{}",
        ran.out
    );
    assert!(!ran.out.to_lowercase().contains("gradient is zero"));
}

#[test]
fn minus_one_is_a_number_and_a_dash_is_missing() {
    let desk = Desk::new();
    let row = desk
        .run(&["rewards", "advantages", "-1", "_", "1", "--json"])
        .ok()
        .row();
    // By hand: mean 0, population std 1.
    assert_eq!(row["advantages"], json!([-1.0, null, 1.0]));
    assert_eq!(row["missing_rewards"], json!([2]));
    let ran = desk.run(&["rewards", "advantages", "1", "x"]).ended(2);
    assert!(ran.err.contains("reward 2 is `x`"), "{}", ran.err);
}

#[test]
fn s58_trl_prints_other_numbers_than_the_seed() {
    let desk = Desk::new();
    for flag in ["--convention", "--std"] {
        let row = desk
            .run(&[
                "rewards",
                "advantages",
                "0",
                "0",
                "1",
                "1",
                flag,
                "trl",
                "--json",
            ])
            .ok()
            .row();
        // REQUIREMENTS, numeric fixtures: ±0.865875.
        let first = row["advantages"][0].as_f64().unwrap();
        assert!((first + 0.865_875).abs() < 1e-6, "{first}");
    }
}

/// The sample logs with register and task list.
fn samples() -> Desk {
    let desk = Desk::new();
    let path = |name: &str| repository("sample-logs").join(name).display().to_string();
    desk.run(&["import", &path("runs")]).ok();
    desk.run(&["docs", "import", &path("documents.jsonl")]).ok();
    desk.run(&["tasks", "import", &path("tasks.jsonl")]).ok();
    desk
}

fn group<'a>(rows: &'a [Value], name: &str) -> &'a Value {
    rows.iter().find(|r| r["group"] == name).unwrap()
}

#[test]
fn s57_s61_recorded_groups_show_their_signal_or_why_there_is_none() {
    // sample-logs/EXPECTED.json: car-trip has rewards 0 0 1 1; in visa-letter the search backend was down.
    let desk = samples();
    let rows = desk.run(&["rewards", "groups", "--json"]).ok().rows();
    let mixed = &group(&rows, "car-trip#1")["report"]["advantages"];
    assert_eq!(mixed["advantages"], json!([-1.0, -1.0, 1.0, 1.0]));
    let down = &group(&rows, "visa-letter#1")["report"];
    assert_eq!(down["advantages"]["signal"], "no_relative_signal");
    let holds: Vec<&Value> = down["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| &c["holds"])
        .collect();
    // Too hard cannot be judged, the tools all failed, so the reward is not what is broken.
    assert_eq!(holds, [&Value::Null, &json!(true), &json!(false)]);
    let text = desk.run(&["rewards", "groups"]).ok().out;
    for words in [
        "tools all failing — yes",
        "convention  population",
        "measured",
        "expected",
        "pass@1",
    ] {
        assert!(text.contains(words), "{words} is missing:\n{text}");
    }
    assert!(!text.to_lowercase().contains("gradient is zero"), "S-60");
    let trl = desk
        .run(&["rewards", "groups", "--convention", "trl", "--json"])
        .ok()
        .rows();
    let trl = group(&trl, "car-trip#1")["report"]["advantages"]["advantages"]
        .as_array()
        .unwrap();
    // REQUIREMENTS, numeric fixtures: TRL gives ±0.865875 for 0 0 1 1.
    assert!((trl[3].as_f64().unwrap() - 0.865_875).abs() < 1e-6);
}

/// Two ATIF runs of one group, which differ as told.
fn pair_of_runs(desk: &Desk, questions: [&str; 2], versions: [&str; 2]) {
    for (i, (question, version)) in questions.iter().zip(versions).enumerate() {
        let run = json!({
            "schema_version": "ATIF-v1.4", "session_id": format!("r{i}"),
            "agent": {"name": "a", "version": "1"},
            "steps": [
                {"step_id": 1, "source": "user", "message": question},
                {"step_id": 2, "source": "agent", "message": "yes"},
            ],
            "extra": {"triagent": {"task_id": "t", "rollout_id": format!("r{i}"), "group": "g",
                "rewards": [{"grader": "x", "version": version, "result": i, "status": "ok"}]}},
        });
        desk.write(&format!("runs/r{i}.json"), &run.to_string());
    }
    desk.run(&["import", "runs"]).ok();
}

#[test]
fn s64_a_group_that_breaks_its_contract_is_refused() {
    for (questions, versions, part) in [
        (["what?", "which?"], ["1", "1"], "question"),
        (["what?", "what?"], ["1", "2"], "grader version"),
    ] {
        let desk = Desk::new();
        pair_of_runs(&desk, questions, versions);
        let rows = desk.run(&["rewards", "groups", "--json"]).ended(3).rows();
        let refused = rows[0]["refused"].as_str().unwrap_or_default();
        assert!(refused.contains(part), "{rows:#?}");
        assert!(rows[0]["report"].is_null());
    }
    let desk = Desk::new();
    pair_of_runs(&desk, ["what?", "what?"], ["1", "1"]);
    let rows = desk.run(&["rewards", "groups", "--json"]).ok().rows();
    assert_eq!(
        rows[0]["report"]["advantages"]["advantages"],
        json!([-1.0, 1.0])
    );
}

#[test]
fn s67_s68_the_marker_loses_the_evidence_grader_wins_and_the_gate_knows() {
    let desk = samples();
    let marker = desk
        .run(&["rewards", "audit", "source-marker", "--json"])
        .ok()
        .row();
    let rows = marker["rows"].as_array().unwrap();
    let fooled_by = |hack: &str| {
        rows.iter()
            .any(|r| r["hack"] == hack && r["fooled"] == true)
    };
    assert!(fooled_by("marker") && fooled_by("invalid_id") && fooled_by("stale_version"));
    let lost = desk
        .run(&["rewards", "audit", "source-marker", "--fail"])
        .ended(1);
    assert!(
        lost.out.contains("✗ fooled") && lost.out.contains("+ "),
        "{}",
        lost.out
    );
    let evidence = desk
        .run(&["rewards", "audit", "policy-evidence", "--fail", "--json"])
        .ok()
        .row();
    assert_eq!(
        (&evidence["fooled"], &evidence["refused"]),
        (&json!(0), &json!(0))
    );
    assert!(
        evidence["hacks"].as_u64().unwrap() >= 40 && evidence["controls"].as_u64().unwrap() == 5
    );
    // The teaching cohort's rewards are by policy-evidence 1; the tau-bench cohort's grader met no suite.
    let advice = desk.run(&["advise", "--json"]).ok().rows();
    let state = |grader: &str| {
        let has = |row: &&Value| {
            row["facts"]["rewards"]["not_audited"]
                .to_string()
                .contains(grader)
        };
        let row = advice
            .iter()
            .find(has)
            .unwrap_or_else(|| panic!("{grader}"));
        row["gates"]
            .as_array()
            .unwrap()
            .iter()
            .find(|g| g["id"] == "G3")
            .unwrap()["state"]
            .clone()
    };
    assert_eq!(state("tau-bench"), "unmeasured");
    let passes = |row: &Value| {
        row["gates"]
            .as_array()
            .unwrap()
            .iter()
            .any(|g| g["id"] == "G3" && g["state"] == "pass")
    };
    assert!(advice.iter().any(passes));
}

#[test]
fn s67_a_users_own_command_meets_the_same_suite() {
    let desk = samples();
    desk.write(
        "marker.sh",
        "#!/bin/sh\nif grep -q '\\[source\\]'; then echo '{\"result\": 1}'; else echo '{\"result\": 0}'; fi\n",
    );
    let ran = desk.run(&[
        "rewards",
        "audit",
        "--as",
        "mine@2",
        "--json",
        "--",
        "sh",
        "marker.sh",
    ]);
    if ran.err.contains("cannot keep the grader from writing") {
        eprintln!("skipped: this kernel has no Landlock");
        return;
    }
    let own = ran.ok().row();
    let built_in = desk
        .run(&["rewards", "audit", "source-marker", "--json"])
        .ok()
        .row();
    // The same rule, so the same cases fool it.
    assert_eq!(
        (&own["fooled"], &own["hacks"]),
        (&built_in["fooled"], &built_in["hacks"])
    );
    assert_eq!(
        (own["stands_for"].as_str(), own["version"].as_str()),
        (Some("mine"), Some("2"))
    );
    let broken = desk
        .run(&["rewards", "audit", "--", "sh", "-c", "echo no"])
        .ended(1);
    assert!(
        broken.err.contains("failed on every case"),
        "{}",
        broken.err
    );
    let typo = desk.run(&["rewards", "audit", "sorce-marker"]).ended(2);
    assert!(typo.err.contains("source-marker"), "{}", typo.err);
}
