//! `suggest --cohorts`: suggestions in bulk, and agreement with people who had not seen them.

use super::desk::{Desk, repository};
use serde_json::{Value, json};

#[test]
fn a_cohort_shows_statuses_abstention_and_agreement_with_blind_verdicts() {
    let desk = Desk::new();
    let path = |name: &str| repository("sample-logs").join(name).display().to_string();
    desk.run(&["import", &path("runs/teaching")]).ok();
    desk.run(&["docs", "import", &path("documents.jsonl")]).ok();
    desk.run(&["tasks", "import", &path("tasks.jsonl")]).ok();
    let teaching = |desk: &Desk| -> Value {
        let rows = desk.run(&["suggest", "--cohorts", "--json"]).ok().rows();
        rows.into_iter().find(|r| r["runs"] == 20).unwrap()
    };
    // By construction (EXPECTED.json): 10 never got the valid version, 10 had all evidence, where the machine keeps quiet.
    let before = teaching(&desk);
    assert_eq!(before["layers"], json!({"index": 10, "undetermined": 10}));
    assert_eq!(before["abstention"], 0.5);
    assert_eq!(
        (&before["blind"], &before["agreement"]),
        (&json!(0), &json!(null))
    );
    for n in 1..=2 {
        desk.run(&["label", &format!("teach-index-0{n}"), "--layer", "index"])
            .ok();
        desk.run(&["label", &format!("teach-model-0{n}"), "--layer", "model"])
            .ok();
    }
    let after = teaching(&desk);
    assert_eq!(after["blind"], 4);
    assert_eq!(
        after["confusion"],
        json!([["index", "index", 2], ["model", "undetermined", 2]])
    );
    // Cohen by hand: observed 1/2; chance = (2/4)(2/4) for index, 0 for the others = 1/4; kappa = (1/2 - 1/4)/(3/4) = 1/3.
    let statistics = after["agreement"]["statistics"].as_array().unwrap();
    let kappa = statistics
        .iter()
        .find(|s| s["statistic"] == "cohen-kappa")
        .unwrap();
    assert!(
        (kappa["value"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-9,
        "{kappa}"
    );
    let text = desk.run(&["suggest", "--cohorts"]).ok().out;
    for words in [
        "no layer named for 50 %",
        "4 blind verdicts",
        "cohen-kappa 0.333",
        "person \\ machine",
    ] {
        assert!(text.contains(words), "{words} is missing:\n{text}");
    }
}
