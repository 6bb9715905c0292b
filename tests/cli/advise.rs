//! `advise`: gates that read what other verbs did, and advice that can be repeated from what it kept.

use super::desk::{Desk, repository};
use serde_json::Value;

fn samples() -> Desk {
    let desk = Desk::new();
    let path = |name: &str| repository("sample-logs").join(name).display().to_string();
    desk.run(&["import", &path("runs")]).ok();
    desk.run(&["docs", "import", &path("documents.jsonl")]).ok();
    desk.run(&["tasks", "import", &path("tasks.jsonl")]).ok();
    desk
}

/// A gate of the cohort that holds this run's family.
fn gate(desk: &Desk, cohort: &str, id: &str) -> Value {
    let row = desk
        .run(&["advise", "--cohort", cohort, "--json"])
        .ok()
        .row();
    let gates = row["gates"].as_array().unwrap();
    gates.iter().find(|g| g["id"] == id).unwrap().clone()
}

const TEACHING: &str = "desk-questions/harness=desk-loop 1.4/index=idx-2025-06";

#[test]
fn g6_is_measured_once_the_workspace_was_checked() {
    let desk = samples();
    assert_eq!(gate(&desk, TEACHING, "G6")["state"], "unmeasured");
    desk.run(&["check"]).ok();
    let found: Vec<Value> = desk.run(&["check", "--json"]).ok().rows();
    let near = found.iter().filter(|f| f["kind"] == "duplicate").count();
    let measured = gate(&desk, TEACHING, "G6");
    assert_ne!(measured["state"], "unmeasured", "{measured}");
    if near == 0 {
        assert_eq!(measured["state"], "pass", "{measured}");
    }
}

#[test]
fn d7_near_identical_sides_are_counted_until_somebody_says_why() {
    let desk = samples();
    // EXPECTED: the stale answer reads "Up to 120 EUR a night for employees [hotel-cap v1]." or nearly so; one sign is changed here.
    let shown = desk
        .run(&["show", "four-stale-citation", "--json"])
        .ok()
        .row();
    let steps = shown["steps"].as_array().unwrap();
    let last = steps
        .iter()
        .rev()
        .find(|s| s["owner"] == "model" && s["kind"] == "text")
        .unwrap();
    let said = last["text"].as_str().unwrap();
    let written = format!("{}!", said.strip_suffix('.').unwrap_or(said));
    assert!(said.chars().count() >= 40, "{said}");
    let at = format!("four-stale-citation:{}", last["index"]);
    desk.write("side.txt", &written);
    let pair = [
        "pair",
        &at,
        "@side.txt",
        "--prefer",
        "b",
        "--criterion",
        "citation-valid",
        "--reason",
        "a sign",
    ];
    let ran = desk.run(&pair);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let cohort = desk
        .run(&["cohort", "--json"])
        .ok()
        .rows()
        .into_iter()
        .map(|r| r["cohort"].as_str().unwrap().to_owned())
        .find(|c| c.starts_with("hotel-cap"))
        .unwrap();
    let open = gate(&desk, &cohort, "D7");
    assert_eq!(open["state"], "fail", "{open}");
    desk.run(&[
        "cohort",
        &cohort,
        "--set",
        "near-identical=intended",
        "--evidence",
        "the full stop is the lesson",
    ])
    .ok();
    let settled = gate(&desk, &cohort, "D7");
    assert_eq!(settled["state"], "pass", "{settled}");
    assert!(
        settled["value"].to_string().contains("wanted by tester"),
        "{settled}"
    );
}

#[test]
fn an_override_carries_name_and_reason_and_advice_repeats_itself() {
    let desk = samples();
    let ask = ["advise", "--cohort", TEACHING, "--json"];
    let first = desk.run(&ask).ok().out;
    assert_eq!(first, desk.run(&ask).ok().out);
    let refused = desk.run(&["advise", "--cohort", TEACHING, "--override", "train anyway"]);
    assert_eq!(
        refused.code, 2,
        "an override needs a reason: {}",
        refused.err
    );
    let over = [
        "advise",
        "--cohort",
        TEACHING,
        "--override",
        "collect demonstrations",
        "--reason",
        "the index is frozen",
        "--reviewer",
        "lead",
    ];
    let ran = desk.run(&over).ok();
    assert!(
        ran.out
            .contains("lead decided otherwise: collect demonstrations (the index is frozen)"),
        "{}",
        ran.out
    );
    let row = desk.run(&ask).ok().row();
    assert_eq!(row["facts"]["overridden"]["reviewer"], "lead");
    // What was given before stays, and each follows from the values that it was kept with.
    let kept = desk.run(&["advise", "--kept", "--json"]).ok().rows();
    assert_eq!(kept.len(), 2, "before and after the override");
    assert!(kept.iter().all(|k| k["repeats"] == "yes"), "{kept:#?}");
    // The machine's own headline stays beside it.
    let before: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(row["headline"], before["headline"]);
}
