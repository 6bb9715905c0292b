//! One table of actions: help, palette and footer come out of it, and so does the README's key table.

use super::stage::{assert_shows, play};

#[test]
fn help_narrows_by_name_and_by_key() {
    let mut play = play(100, 40);
    assert_shows(&play.keys("?"), &["keys in board", "Label", "Undo"]);
    play.stage.text("undo");
    assert_shows(&play.stage.screen(), &["Takes your last decision back"]);
    play.keys("<esc>?");
    play.stage.text("x");
    assert_shows(&play.stage.screen(), &["Marks or unmarks the run"]);
    // Enter explains, it does not do.
    play.keys("<enter><esc>");
    assert!(!play.stage.screen().contains("marked"));
}

#[test]
fn the_palette_finds_and_says_why_not() {
    let mut play = play(100, 40);
    play.stage.keys(":").text("labind");
    assert_shows(&play.stage.screen(), &["label-index", "not in this place"]);
    play.keys("<esc>:");
    play.stage.text("go-adv").keys("<enter>");
    assert_shows(&play.stage.screen(), &["advice"]);
}

#[test]
fn the_key_table_is_what_the_readme_shows() {
    insta::assert_snapshot!("key_table", triagent::tui::key_table().unwrap());
}

#[test]
fn themes_follow_each_other() {
    let mut play = play(100, 24);
    for name in ["mono", "high-contrast", "deuteranopia", "default"] {
        assert_shows(&play.keys("<space>t"), &[&format!("theme {name}")]);
    }
}

#[test]
fn read_only_refuses_decisions_and_shows_it() {
    let mut play = play(100, 24);
    assert_shows(&play.keys("<space>R"), &["READ-ONLY"]);
    assert_shows(
        &play.keys("<enter>1"),
        &["label-index: the workspace is read-only"],
    );
}
