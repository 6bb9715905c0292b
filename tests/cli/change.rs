//! `change`: a ledger whose entries are accepted and rolled back by people, and nothing is ever overwritten.

use super::desk::{Desk, repository};
use serde_json::json;

fn desk() -> Desk {
    let desk = Desk::new();
    let runs = repository("sample-logs/runs/four").display().to_string();
    desk.run(&["import", &runs]).ok();
    desk
}

fn add(desk: &Desk, id: &str, more: &[&str]) {
    let mut args = vec![
        "change",
        "add",
        "prompt",
        id,
        "--claim",
        "asks for the date",
    ];
    args.extend(["--before", "prompt=desk-3", "--after", "prompt=desk-4"]);
    args.extend(more);
    desk.run(&args).ok();
}

#[test]
fn s11_a_change_without_acceptance_or_way_back_cannot_be_accepted() {
    let desk = desk();
    add(&desk, "p4", &[]);
    let ran = desk
        .run(&["change", "accept", "p4", "--reason", "it looks good"])
        .ended(1);
    for part in ["acceptance", "rollback"] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    assert_eq!(
        desk.run(&["change", "list", "--json"]).ok().row()["state"],
        json!(null)
    );
    let nobody = desk
        .run(&["change", "accept", "p9", "--reason", "x"])
        .ended(1);
    assert!(
        nobody.err.contains("p9") && nobody.err.contains("change list"),
        "{}",
        nobody.err
    );
    desk.run(&["change", "accept", "p4"]).ended(2);
}

#[test]
fn before_and_after_are_found_by_the_versions_that_runs_carry() {
    let desk = Desk::new();
    let runs = repository("sample-logs/runs").display().to_string();
    desk.run(&["import", &runs]).ok();
    let change = [
        "change",
        "add",
        "index",
        "idx",
        "--claim",
        "new policies",
        "--before",
        "index=idx-2025-06",
        "--after",
        "index=idx-2025-08",
    ];
    desk.run(&change).ok();
    let row = desk.run(&["change", "show", "idx", "--json"]).ok().row();
    // sample-logs/README: 20 failures of one cohort under the old index, and teach-pass-new-index, the same task as teach-index-01, under the new one.
    let (before, after) = (&row["sides"]["before"], &row["sides"]["after"]);
    assert_eq!(before["runs"], 22, "20 failures and 2 good runs: {row:#}");
    assert_eq!(before["passed"], 2);
    assert!(after["runs"].as_u64().unwrap() >= 1);
    let counts = &row["sides"]["same_tasks"]["counts"];
    assert_eq!(
        (&counts["fixed"], &counts["broken"]),
        (&json!(1), &json!(0)),
        "{row:#}"
    );
    let text = desk.run(&["change", "show", "idx"]).ok().out;
    // Wilson 95 % of 2 in 22 by hand: centre 0.1517, half 0.1264.
    assert!(
        text.contains("before    22 runs in 1 cohort, 9 % passed [3 %–28 %]"),
        "{text}"
    );
    assert!(text.contains("same tasks too few: "), "{text}");
    // A print that only one side names does not part the sides: no cohort may be compared with itself.
    let runs = desk.run(&["list", "runs", "--json", "--filter", "run:teach-index-01"]);
    let prompt = format!(
        "prompt={}",
        runs.ok().row()["prompt_version"].as_str().unwrap()
    );
    let both = [
        "change",
        "add",
        "prompt",
        "both",
        "--claim",
        "c",
        "--before",
        "index=idx-2025-06",
        "--after",
        "index=idx-2025-06",
        "--after",
        &prompt,
    ];
    desk.run(&both).ok();
    let row = desk.run(&["change", "show", "both", "--json"]).ok().row();
    let cohorts = |side: &str| {
        row["sides"][side]["cohorts"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    };
    assert!(
        cohorts("before")
            .iter()
            .all(|c| !cohorts("after").contains(c)),
        "{row:#}"
    );
}

#[test]
fn s81_a_change_is_accepted_then_rolled_back_and_both_stay_in_the_log() {
    let desk = desk();
    let more = [
        "--acceptance",
        "holdout of 40 tasks",
        "--rollback",
        "prompt desk-3",
    ];
    add(&desk, "p4", &more);
    let row = desk.run(&["change", "list", "--json"]).ok().row();
    assert_eq!(row["acceptable"], true, "{row:#}");
    let row = desk
        .run(&[
            "change",
            "accept",
            "p4",
            "--reason",
            "9 fixed, 1 broken",
            "--reviewer",
            "lead",
            "--json",
        ])
        .ok()
        .row();
    assert_eq!(
        (&row["state"], &row["settled"][0]["reviewer"]),
        (&json!("accepted"), &json!("lead"))
    );
    let ran = desk
        .run(&[
            "change",
            "roll-back",
            "p4",
            "--reason",
            "forbidden effect in production",
        ])
        .ok();
    assert!(
        ran.out.contains("rolled-back, back to prompt desk-3"),
        "{}",
        ran.out
    );
    let row = desk.run(&["change", "list", "--json"]).ok().row();
    assert_eq!(
        (&row["state"], row["settled"].as_array().unwrap().len()),
        (&json!("rolled-back"), 2)
    );
    let shown = desk.run(&["change", "show", "p4"]).ok().out;
    assert!(
        shown.contains("accepted  by lead: 9 fixed, 1 broken"),
        "{shown}"
    );
    assert!(
        shown.contains("rolled-back by tester: forbidden effect in production"),
        "{shown}"
    );
    // Undo takes the roll-back away and leaves the acceptance.
    desk.run(&["undo"]).ok();
    assert_eq!(
        desk.run(&["change", "list", "--json"]).ok().row()["state"],
        "accepted"
    );
    // Another entry under the same name is another change: nobody has accepted it.
    add(
        &desk,
        "p4",
        &["--acceptance", "new", "--rollback", "desk-4"],
    );
    let rows = desk.run(&["change", "list", "--json"]).ok().rows();
    assert_eq!(rows.last().unwrap()["state"], json!(null), "{rows:#?}");
}
