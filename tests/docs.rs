//! The README keeps its word: its key table and its screens are the program's own.

use crate::tui::stage::play;
use std::path::{Path, PathBuf};
use triagent::domain::Progress;
use triagent::jobs::Demo;
use triagent::tui::Stage;

const BEGIN: &str = "<!-- keys -->\n";
const END: &str = "<!-- /keys -->";

/// The table comes out of the one table of actions; `INSTA_UPDATE=always` writes it.
#[test]
fn the_readme_shows_the_keys_that_the_screen_has() {
    let table = triagent::tui::key_table().unwrap();
    let (before, after) = between(BEGIN, END);
    told(&before, &table, &after);
}

/// Each is what the sample logs show after some keys.
#[test]
fn the_readme_shows_screens_of_this_program() {
    let mut stage = play(98, 24);
    let mut screens = Vec::new();
    stage.filter("run:four-stale");
    screens.push(("run", stage.keys("<enter>")));
    screens.push(("evidence", stage.keys("i")));
    let mut stage = play(98, 24);
    screens.push(("pair", stage.keys("<space>p<enter>")));
    screens.push(("advice", labelled().keys("<space>a<tab><ctrl-d>").screen()));
    for (name, screen) in screens {
        let begin = format!("<!-- screen {name} -->\n");
        let (before, after) = between(&begin, "<!-- /screen -->");
        told(&before, &format!("```\n{screen}\n```\n"), &after);
    }
}

/// The demo after its reviewer has labelled.
fn labelled() -> Stage {
    let folder = tempfile::tempdir().unwrap();
    let mut demo = Demo::start(folder.path(), 1).unwrap();
    demo.import(&Progress::default()).unwrap();
    demo.label().unwrap();
    Stage::new(Some(demo.store), 98, 24).unwrap()
}

/// The README up to and with one mark, and from the next mark on.
fn between(begin: &str, end: &str) -> (String, String) {
    let readme = std::fs::read_to_string(readme()).unwrap();
    let (before, rest) = readme.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    (format!("{before}{begin}"), format!("{end}{after}"))
}

fn readme() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")
}

/// Compares, or writes with `INSTA_UPDATE=always`.
fn told(before: &str, wanted: &str, after: &str) {
    let whole = format!("{before}{wanted}{after}");
    if std::env::var("INSTA_UPDATE").as_deref() == Ok("always") {
        std::fs::write(readme(), whole).unwrap();
        return;
    }
    let shown = std::fs::read_to_string(readme()).unwrap();
    assert_eq!(
        shown, whole,
        "run INSTA_UPDATE=always cargo test -- docs:: --test-threads=1"
    );
}

/// S-33 and others: every page that the README names exists.
#[test]
fn the_readme_names_files_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    for name in [
        "ARCHITECTURE.md",
        "docs/calibration.md",
        "docs/cleaning.md",
        "docs/export.md",
        "docs/graders.md",
        "docs/speed.md",
        "docs/three-failures.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "assets/proxy/CARD.md",
        "sample-logs/",
        "assets/schema/",
    ] {
        assert!(readme.contains(name), "{name} is not mentioned");
        assert!(root.join(name).exists(), "{name} does not exist");
    }
}
