//! The board: rows, filter, facets, marks, jumping, search.

use super::stage::{assert_shows, play};

#[test]
fn the_board_shows_runs_with_outcome_and_count() {
    let mut play = play(80, 24);
    let screen = play.keys("");
    assert_shows(
        &screen,
        &[
            "[board]",
            "filter none",
            "✗ fail",
            "✓ pass",
            "? help",
            "anna",
        ],
    );
    insta::assert_snapshot!("board_80x24", screen);
}

#[test]
fn a_filter_narrows_and_the_cursor_stays_on_its_run() {
    let mut play = play(80, 24);
    play.filter("run:teach-model");
    play.keys("jjj");
    let before = play.stage.selected().join("");
    let name: String = before.split_whitespace().next().unwrap().to_owned();
    play.filter("outcome:fail");
    assert!(play.stage.selected().join("").contains(&name));
    let screen = play.keys("F");
    assert_shows(&screen, &["filter none"]);
}

#[test]
fn a_wrong_filter_says_where_and_what_was_meant() {
    let mut play = play(100, 24);
    play.stage.keys("f").text("outcmoe:fail");
    let screen = play.keys("<enter>");
    assert_shows(&screen, &["outcmoe", "outcome"]);
    // Nothing is lost: the line can be mended where it stands.
    play.keys("<esc>");
    assert_shows(&play.stage.screen(), &["filter none"]);
}

#[test]
fn completion_offers_keys_and_values() {
    let mut play = play(100, 30);
    play.stage.keys("f").text("outc");
    let screen = play.keys("<tab>");
    assert_shows(&screen, &["outcome:"]);
}

#[test]
fn marks_and_bulk_labels_are_undone_as_one() {
    let mut play = play(80, 24);
    play.filter("run:teach-index");
    let screen = play.keys("xxxL1");
    assert_shows(&screen, &["saved 3 labels", "you labelled 3 of 10"]);
    let screen = play.keys("u");
    assert_shows(&screen, &["undone: 3 decisions", "you labelled 0 of 10"]);
    let screen = play.keys("<ctrl-r>");
    assert_shows(&screen, &["you labelled 3 of 10"]);
}

#[test]
fn a_range_marks_what_lies_between() {
    let mut play = play(80, 24);
    let screen = play.keys("v4jv");
    assert_shows(&screen, &["5 marked"]);
    assert_shows(&play.keys("<esc>"), &["runs"]);
    assert!(!play.stage.screen().contains("marked"));
}

#[test]
fn counts_move_and_the_ends_hold() {
    let mut play = play(80, 24);
    play.filter("run:teach-index");
    play.keys("3j");
    assert!(play.stage.selected().join("").contains("teach-index-04"));
    play.keys("G");
    assert!(play.stage.selected().join("").contains("teach-index-10"));
    play.keys("99j99kgg");
    assert!(play.stage.selected().join("").contains("teach-index-01"));
}

#[test]
fn sorting_twice_turns_the_order_round() {
    let mut play = play(80, 24);
    let screen = play.keys("ss");
    assert_shows(&screen, &["sort:steps"]);
    let screen = play.keys("ss");
    assert_shows(&screen, &["sort:-steps"]);
}

#[test]
fn jumping_finds_a_run_by_a_few_letters() {
    let mut play = play(80, 24);
    play.stage.keys("gr").text("mod07");
    let screen = play.keys("<enter>");
    assert_shows(&screen, &["[run]", "teach-model-07"]);
}

#[test]
fn words_are_found_in_all_runs_in_chinese_too() {
    let mut play = play(120, 30);
    play.stage.keys("/").text("报销").keys("<enter>");
    let screen = play.stage.screen();
    assert_shows(&screen, &["search", "“报销” stands in"]);
    let screen = play.keys("<enter>");
    assert_shows(&screen, &["[run]", "“报销” 1/"]);
}

#[test]
fn facets_narrow_by_one_key() {
    let mut play = play(120, 30);
    let screen = play.keys("<tab>");
    assert_shows(&screen, &["counts", "outcome"]);
    play.keys("j<enter>");
    assert_shows(&play.row("filter"), &["outcome:"]);
}

#[test]
fn a_saved_queue_comes_back() {
    let mut play = play(100, 24);
    play.filter("outcome:fail");
    play.stage.keys("Q").text("night shift").keys("<enter>F");
    let screen = play.keys("<space>f");
    assert_shows(&screen, &["night shift", "outcome:fail"]);
    play.keys("<enter>");
    assert_shows(&play.row("filter"), &["outcome:fail"]);
}

#[test]
fn sequences_show_their_next_keys_at_once() {
    let mut play = play(100, 30);
    let screen = play.keys("<space>");
    assert_shows(&screen, &["advice", "queue", "export"]);
    let screen = play.keys("<esc>y");
    assert_shows(&screen, &["Copies the run's name"]);
}

#[test]
fn nothing_happens_by_mistake() {
    let mut play = play(100, 24);
    assert_shows(&play.keys("Y"), &["Y does nothing in board"]);
    // Escape never leaves, pasting runs no keys.
    play.keys("<esc><esc>");
    play.stage.paste("qqq1");
    assert!(!play.stage.has_left);
    play.keys("q");
    assert!(play.stage.has_left);
}
