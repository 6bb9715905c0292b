//! The way on and the way out: footers, menus, empty places, keys that belong elsewhere.

use super::stage::{assert_shows, play, prepared};
use triagent::domain::{Decision, Item, Layer, Rollout, RunId, Sink, Verdict};
use triagent::store::{Act, Store};
use triagent::tui::Stage;

fn footer(screen: &str) -> &str {
    screen.lines().last().unwrap_or_default()
}

fn empty(columns: u16) -> (tempfile::TempDir, Stage) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(&folder.path().join("workspace.db")).unwrap();
    (folder, Stage::new(Some(store), columns, 24).unwrap())
}

/// Words of a screen as one line: prose breaks anywhere.
fn prose(screen: &str) -> String {
    let words: Vec<&str> = screen.split_whitespace().collect();
    words.join(" ")
}

/// On the narrowest screen the way out and the help stand; other hints go first.
#[test]
fn the_footer_keeps_the_way_out() {
    let places = [
        ("", "q leave"),
        ("<enter>", "q back"),
        ("<space>p", "q back"),
        ("<space>p<enter>", "q back"),
        ("xx=", "q back"),
        ("<space>a", "q back"),
        ("<space>s", "q back"),
        ("<space>r", "q back"),
        ("<space>e", "q back"),
    ];
    for (way, out) in places {
        let mut play = play(80, 24);
        let screen = play.keys(way);
        assert_shows(footer(&screen), &[out, "? help"]);
    }
    let mut play = play(80, 24);
    assert_shows(footer(&play.keys("<space>s")), &["C check"]);
}

/// Arrows and letters move in a box of letters, and Enter takes what is under the cursor.
#[test]
fn menus_have_a_cursor() {
    let mut play = play(100, 30);
    play.filter("run:teach-index-01");
    play.keys("Lj");
    let under = play.stage.selected().join("\n");
    assert!(under.contains("context"), "{under}");
    play.keys("<down><up><enter>");
    let store = play.stage.store().unwrap();
    let found = store.live_on("verdict", "teach-index-01").unwrap();
    assert!(matches!(&found[0].decision, Decision::Verdict(v) if v.layer == Layer::Context));
    // The box of graders: the one under the cursor is taken, then it can be completed or sent.
    let screen = play.keys("<space>ra<down><enter>");
    let line = screen.lines().find(|l| l.contains("› ")).unwrap();
    let names = triagent::reward::built_in_graders();
    assert!(line.contains(names[1].name.as_str()), "{screen}");
}

/// Help scrolls by arrows and pages while letters narrow it.
#[test]
fn help_scrolls_while_it_is_narrowed() {
    let mut play = play(80, 24);
    play.keys("<enter>?");
    play.stage.text("s");
    let top = play.stage.screen();
    let below = play.keys("<pagedown><pagedown>");
    assert_ne!(top, below);
    let rows = |screen: &str| screen.lines().nth(4).unwrap().to_owned();
    assert_ne!(rows(&top), rows(&below), "{below}");
    assert_eq!(top, play.keys("<pageup><pageup><pageup>"));
}

/// A search without a hit says how names are found; `f` says where it works; Esc leaves.
#[test]
fn a_search_without_a_hit_leads_on() {
    let mut play = play(80, 24);
    play.keys("/");
    play.stage.text("zzqqxx").keys("<enter>");
    let screen = prose(&play.stage.screen());
    assert!(screen.contains("gr finds a run by its name"), "{screen}");
    assert_shows(&play.keys("f"), &["f (filter) works on the board; Space b"]);
    assert_shows(&play.keys("<esc>"), &["[board]"]);
}

/// Without a run the welcome page stays, with its keys, and nothing can be queued.
#[test]
fn a_workspace_without_runs_says_how_to_begin() {
    let (_folder, mut stage) = empty(80);
    let screen = stage.screen();
    assert_shows(&screen, &["import logs", "open the demo", "No runs yet"]);
    assert_shows(footer(&screen), &["I import", "d demo", "q leave"]);
    let screen = stage.keys("<space>q").screen();
    assert_shows(&screen, &["no runs yet", "I reads logs"]);
}

/// Where no run is known to have failed, the key that says so is named as everywhere else.
#[test]
fn a_queue_without_failures_names_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::create(&folder.path().join("workspace.db")).unwrap();
    let head = Rollout::new("only".to_owned(), "test", "log.jsonl");
    let mut intake = store.intake(1).unwrap();
    for item in [
        Item::Begin(Box::new(head.clone())),
        Item::End(Box::new(head)),
    ] {
        assert!(intake.put(item).is_continue());
    }
    intake.finish().unwrap();
    let mut stage = Stage::new(Some(store), 80, 24).unwrap();
    let screen = prose(&stage.keys("<space>q").screen());
    assert!(
        screen.contains("Of on a run says that it failed"),
        "{screen}"
    );
}

/// Findings do not speak of growth before anything was checked.
#[test]
fn findings_before_the_first_check_do_not_contradict_themselves() {
    let mut play = play(80, 24);
    let screen = play.keys("<space>s");
    assert_shows(&screen, &["Nothing was checked yet"]);
    assert!(
        !screen.contains("grown since") && !screen.contains("0 findings"),
        "{screen}"
    );
}

/// Where only one person has labelled, it says what a second label takes.
#[test]
fn agreement_says_how_a_second_label_comes() {
    let mut play = prepared(100, 30, |store| {
        let act = Act {
            reviewer: "ben",
            now_us: 1,
            codebook: "1",
        };
        let verdict = Verdict::new(RunId::from("teach-index-01"), Layer::Index);
        store.decide(act, &Decision::Verdict(verdict)).unwrap();
    });
    let screen = prose(&play.keys("<space>g"));
    assert!(
        screen.contains("1 run has the label of one reviewer"),
        "{screen}"
    );
    assert!(screen.contains("--reviewer NAME"), "{screen}");
}

/// Several paths, the user's own folder, and no option that the box cannot follow.
#[test]
fn the_import_box_takes_what_a_shell_takes() {
    let (_folder, mut stage) = empty(100);
    assert_shows(
        &stage.keys("I").screen(),
        &["files or folders, also several"],
    );
    stage.text("~/no-such-folder-of-mine").keys("<enter>");
    let screen = stage.screen();
    assert_shows(&screen, &["no-such-folder-of-mine: no such file"]);
    // The typed line alone still has the short form: the error names the folder itself.
    assert_eq!(screen.matches("~/no-such").count(), 1, "{screen}");
    // A long path does not hide what is wrong with it.
    let long = format!("/{}", "far/".repeat(40));
    stage.keys("<ctrl-u>").text(&long).keys("<enter>");
    assert_shows(&prose(&stage.screen()), &["no such file or folder"]);
}

/// A cohort's name has the room that is there, and is cut where its rows are alike.
#[test]
fn cohorts_are_told_apart() {
    let rows = |columns, height| {
        let screen = play(columns, height).keys("<space>a");
        let row = |line: &str| {
            line.split("collect and label only")
                .next()
                .map(str::to_owned)
        };
        let lines = screen
            .lines()
            .skip(2)
            .filter(|l| l.contains("/harness") || l.contains("ckpt="));
        lines.filter_map(row).collect::<Vec<String>>()
    };
    let wide = rows(200, 60);
    // Two columns before it, one of figures between: the name had 35 of 100 columns.
    assert!(wide.iter().all(|row| row.chars().count() > 60), "{wide:#?}");
    let narrow = rows(80, 24);
    let told_apart: std::collections::BTreeSet<&String> = narrow.iter().collect();
    assert!(
        narrow.len() > 2 && told_apart.len() == narrow.len(),
        "{narrow:#?}"
    );
}
