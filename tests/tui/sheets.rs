//! Lists with a page beside them: advice, rewards, export, jobs, messages; and comparing.

use super::stage::{assert_shows, play, prepared};
use triagent::domain::{FindingAction, Progress};

/// S-02: no labels, no training: localise first.
#[test]
fn advice_without_labels_says_what_is_missing() {
    let mut play = play(160, 50);
    let screen = play.keys("<space>a");
    assert_shows(
        &screen,
        &[
            "advice",
            "cohort",
            "gates",
            "refused, and by which gate",
            "missing:",
        ],
    );
}

/// S-57 to S-61: relative signal with its convention, and what a group without one should be checked for.
#[test]
fn rewards_name_their_convention_and_explain_a_group_without_signal() {
    let mut play = play(160, 60);
    let screen = play.keys("<space>r");
    assert_shows(
        &screen,
        &[
            "relative signal",
            "convention",
            "population",
            "a full update still needs",
            "how length enters",
            "no grader has met the hack suite",
        ],
    );
    assert!(!screen.contains("gradient is zero"));
}

/// S-67: what fooled a grader stands on the rewards screen, with the answer before and after.
#[test]
fn rewards_show_the_last_audit_of_each_grader() {
    use triagent::jobs::{AskedGrader, AuditOptions, audit_grader};
    let mut play = prepared(170, 60, |store| {
        let built_in = triagent::reward::built_in_graders();
        let marker = built_in.into_iter().find(|g| g.name == "source-marker");
        let options = AuditOptions {
            filter: triagent::domain::Filter::default(),
            stands_for: None,
            version: None,
        };
        let asked = AskedGrader::Rules(marker.unwrap());
        audit_grader(store, &asked, &options, 1, &Progress::default()).unwrap();
    });
    let screen = play.keys("<space>rG");
    assert_shows(
        &screen,
        &[
            "grader source-marker",
            "hacks fooled it",
            "✗ fooled",
            "marker without evidence",
            "✗ refused",
        ],
    );
}

#[test]
fn export_previews_before_it_writes() {
    let mut play = play(160, 60);
    let screen = play.keys("<space>e");
    assert_shows(&screen, &["trl-dpo", "trl-sft"]);
    let screen = play.keys("<enter>");
    assert_shows(&screen, &["would leave", "stays out"]);
}

#[test]
fn messages_keep_everything_that_was_said() {
    let mut play = play(100, 30);
    play.keys("Y");
    play.stage.wait(10_000);
    assert!(!play.stage.screen().contains("does nothing"));
    assert_shows(
        &play.keys("<space>m"),
        &["messages", "Y does nothing in board"],
    );
}

/// S-13: two runs side by side, and which layer differs.
#[test]
fn two_runs_are_compared_by_layer_and_step() {
    let mut play = play(140, 50);
    play.filter("run:four-");
    let screen = play.keys("xx=");
    assert_shows(
        &screen,
        &["compare", "index", "parameters", "they part at row"],
    );
    assert_shows(&play.keys("]"), &["≠"]);
    assert_shows(&play.keys(">"), &["no further run"]);
}

/// Of three marked runs, the first stays and the others take turns beside it.
#[test]
fn of_three_runs_each_is_laid_beside_the_first() {
    let mut play = play(140, 50);
    play.filter("run:four-");
    let first = play.keys("xxx=");
    assert_shows(&first, &["(1 of 2; > and < turn)", "they part at row"]);
    let second = play.keys(">");
    assert_shows(&second, &["(2 of 2; > and < turn)", "they part at row"]);
    let title = |screen: &str| {
        screen
            .lines()
            .find(|l| l.contains(" of 2;"))
            .unwrap()
            .to_owned()
    };
    let names = |line: &str| {
        line.trim()
            .split(' ')
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (one, two) = (names(&title(&first)), names(&title(&second)));
    assert_eq!(one[0], two[0]);
    assert_ne!(one[2], two[2]);
    assert_eq!(play.keys("<"), first);
}

#[test]
fn empty_lists_say_what_to_do_next() {
    let mut play = play(100, 30);
    assert_shows(
        &play.keys("<space>h"),
        &["Nobody has written a change down.", "triagent change add"],
    );
    assert_shows(&play.keys("q<space>g"), &["triagent merge"]);
    assert_shows(&play.keys("q<space>f"), &["No filter is kept yet."]);
    assert_shows(&play.keys("q<space>j"), &["Nothing has run"]);
}

/// Findings are decided where they are listed: one, then all of its rule as one batch, and taken back.
#[test]
fn findings_are_kept_redacted_or_dropped_on_screen() {
    let mut play = play(140, 40);
    assert_shows(
        &play.keys("<space>s"),
        &["findings", "Nothing was checked yet", "C looks for"],
    );
    let mut play = prepared(140, 40, |store| {
        triagent::jobs::check(store, 1, &Progress::default()).unwrap();
    });
    let screen = play.keys("<space>s");
    // By hand from sample-logs: the shell run shows a phone number and rewrites its grader.
    assert_shows(&screen, &["cn-mobile", "tamper", "grade.sh", "not decided"]);
    assert!(!screen.contains("13800138000"), "{screen}");
    let store = |file: &std::path::Path| triagent::store::Store::open_read_only(file).unwrap();
    let decided = |file: &std::path::Path| {
        let found = triagent::jobs::findings(&store(file)).unwrap();
        let words = found
            .iter()
            .filter_map(|f| f.action.map(FindingAction::word));
        words.collect::<Vec<_>>()
    };
    let open = triagent::jobs::findings(&store(&play.file)).unwrap().len();
    assert_shows(&play.keys("x"), &["saved: redact finding", "u undoes"]);
    assert_eq!(decided(&play.file), ["redact"]);
    assert_shows(&play.keys("K"), &["saved: keep finding"]);
    assert_shows(&play.keys("jX"), &["saved: drop finding"]);
    assert_eq!(decided(&play.file), ["keep", "drop"]);
    play.keys("u");
    assert_eq!(decided(&play.file), ["keep"]);
    let screen = play.keys("k*");
    assert!(screen.contains("no other finding of"), "{screen}");
    assert_shows(&screen, &[&format!("{} not decided", open - 1)]);
    // Elsewhere the same keys do something else, or say where they work.
    assert_shows(&play.keys("q<space>eX"), &["only in findings"]);
}

/// S-11, S-81: a lead accepts a complete change and rolls it back, with a reason each; an incomplete one cannot be accepted.
#[test]
fn changes_are_accepted_and_rolled_back_on_screen() {
    use triagent::domain::{Change, ChangeState, ChangedThing, Decision};
    let change = |id: &str, acceptance: Option<&str>| {
        let print = |v: &str| [("prompt".to_owned(), v.to_owned())].into();
        Decision::Change(Box::new(Change {
            id: id.into(),
            thing: ChangedThing::Prompt,
            claim: "asks for the date".into(),
            before: print("desk-3"),
            after: print("desk-4"),
            acceptance: acceptance.map(str::to_owned),
            rollback: Some("prompt desk-3".into()),
        }))
    };
    let mut play = prepared(140, 40, |store| {
        let act = triagent::store::Act {
            reviewer: "ann",
            now_us: 1,
            codebook: "1",
        };
        store.decide(act, &change("half", None)).unwrap();
        store
            .decide(act, &change("whole", Some("holdout")))
            .unwrap();
    });
    // Newest first.
    let screen = play.keys("<space>h");
    assert_shows(&screen, &["whole", "open: ready", "half", "lacks 1"]);
    let screen = play.keys("Anine fixed, one broken<enter>");
    assert_shows(
        &screen,
        &[
            "saved: whole is accepted",
            "✓ accepted",
            "nine fixed, one broken",
        ],
    );
    assert_shows(&play.keys("Bit forgets names<enter>"), &["rolled back"]);
    assert_shows(
        &play.keys("jA"),
        &["half cannot be accepted yet", "no acceptance method"],
    );
    let store = triagent::store::Store::open_read_only(&play.file).unwrap();
    let ledger = triagent::jobs::ledger(&store).unwrap();
    let states: Vec<_> = ledger
        .iter()
        .map(triagent::jobs::LedgerEntry::state)
        .collect();
    assert_eq!(states, [None, Some(ChangeState::RolledBack)]);
    assert_eq!(ledger[1].settled.len(), 2);
    // An empty reason decides nothing.
    assert_shows(&play.keys("kA<enter>"), &["needs a reason"]);
}

/// A probe speaks after the reviewer, and shows what it rests on: cells, gates, the exact change, the model.
#[test]
fn a_probe_is_shown_after_the_label_with_all_that_it_rests_on() {
    let mut play = play(140, 50);
    play.filter("run:teach-index-01");
    assert_shows(&play.keys("<enter>P"), &["label the run first"]);
    play.keys("1<esc>");
    assert_shows(&play.keys("P"), &["This run was not probed.", "P scores"]);
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_triagent"))
        .args([
            "--workspace",
            play.file.to_str().unwrap(),
            "probe",
            "teach-index-01",
            "--quick",
        ])
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let screen = play.keys("R");
    assert_shows(
        &screen,
        &["evidence inserted", "one look", "corrected", "recorded"],
    );
    let page = play.keys("<tab>");
    assert_shows(&page, &["cells", "natural", "what was changed"]);
}
