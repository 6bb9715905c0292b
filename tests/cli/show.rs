//! `triagent show` for a person.

use super::desk::{Desk, real_logs};

/// Labels that came with a log lead nobody: before a reviewer's own label only their number is told. The first of AgentRx's
/// labels on the failed retail runs blames an "Instruction Adherence Failure" (read in its file).
#[test]
fn labels_of_the_log_are_told_after_ones_own() {
    let Some(root) = real_logs() else { return };
    let desk = Desk::new();
    let path = |name: &str| root.join(name).display().to_string();
    desk.run(&["import", &path("tau-bench"), &path("tau-bench-labels")]);
    let runs = desk
        .run(&["list", "runs", "-f", "task:retail-2 outcome:fail", "--json"])
        .rows();
    let run = runs[0]["run"].as_str().unwrap();
    let show = || {
        let shown = desk.run(&["show", run]).ok();
        shown.out + &shown.err
    };
    let category = "Instruction Adherence Failure";
    let before = show();
    assert!(before.contains("came with the log") && !before.contains(category));
    desk.run(&["label", run, "--layer", "context"]).ok();
    let after = show();
    assert!(
        after.contains("agentrx") && after.contains(category),
        "{after}"
    );
    // Whoever has not labelled is still told nothing.
    let other = desk.run(&["show", run, "--reviewer", "other"]).ok();
    assert!(!other.out.contains(category));
}
