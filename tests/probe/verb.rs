//! `probe` and `calibrate` as a script sees them.

use crate::cli::desk::{Desk, repository};

fn desk() -> Desk {
    let desk = Desk::new();
    let path = |name: &str| repository(name).to_string_lossy().into_owned();
    desk.run(&["import", &path("sample-logs/runs/teaching")])
        .ok();
    desk.run(&["docs", "import", &path("sample-logs/documents.jsonl")])
        .ok();
    desk.run(&["tasks", "import", &path("sample-logs/tasks.jsonl")])
        .ok();
    desk
}

#[test]
fn a_quick_probe_with_the_embedded_model_shows_both_terms_gates_and_diffs() {
    let desk = desk();
    let row = desk
        .run(&["probe", "teach-index-05", "--quick", "--json"])
        .ok()
        .row();
    assert_eq!(row["run"], "teach-index-05");
    assert_eq!(row["step"], 4);
    assert_eq!(row["report"]["screen_only"], true);
    let effect = &row["report"]["effects"][0];
    assert_eq!(effect["variant"], "evidence");
    assert!(effect["corrected"][1].as_f64().unwrap() < 0.0);
    assert!(effect["recorded"][1].as_f64().unwrap() < 0.0);
    assert!(row["binding"]["is_proxy"].as_bool().unwrap());
    assert_eq!(row["suggestion"]["layer"], "index");
    let said = desk
        .run(&["suggest", "teach-index-05", "--json"])
        .ok()
        .row();
    assert!(said["probe"].is_object());
    let text = desk.run(&["probe", "teach-index-05", "--quick"]).ok().out;
    for words in [
        "evidence inserted",
        "oracle hint",
        "positive control",
        "no verdict",
        "suggestion: index",
    ] {
        assert!(text.contains(words), "{words} is missing:\n{text}");
    }
}

#[test]
fn refusals_say_what_to_do() {
    let desk = desk();
    let ran = desk.run(&["probe", "teach-index-05:2"]).ended(1);
    assert!(ran.err.contains("--corrected"), "{}", ran.err);
    desk.run(&["probe", "teach-index-05:2", "--step", "4"])
        .ended(2);
    desk.run(&["probe", "teach-index-05", "--step", "99"])
        .ended(1);
    desk.run(&["probe", "teach-index-05", "--corrected", "@nowhere.json"])
        .ended(1);
}
