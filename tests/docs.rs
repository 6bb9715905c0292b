//! The README keeps its word: its key table is the program's own.

use std::path::Path;

const BEGIN: &str = "<!-- keys -->\n";
const END: &str = "<!-- /keys -->";

/// The table comes out of the one table of actions; `INSTA_UPDATE=always` writes it.
#[test]
fn the_readme_shows_the_keys_that_the_screen_has() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once(BEGIN).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    let table = triagent::tui::key_table().unwrap();
    if std::env::var("INSTA_UPDATE").as_deref() == Ok("always") {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(shown, table, "run INSTA_UPDATE=always cargo test docs::");
}

/// S-33 and others: every page that the README names exists.
#[test]
fn the_readme_names_files_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    for name in [
        "ARCHITECTURE.md",
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
