//! Pairs: blind, with a compulsory reason; tie, both bad and not comparable; a side written by hand.

use super::stage::{Play, assert_shows, play};
use triagent::domain::{Choice, Pair};

fn pairs(play: &Play) -> Vec<Pair> {
    let store = play.stage.store().unwrap();
    store
        .pairs()
        .unwrap()
        .into_iter()
        .map(|(_, pair)| pair)
        .collect()
}

fn on_first_pair(columns: u16, rows: u16) -> Play {
    let mut play = play(columns, rows);
    play.keys("<space>p<enter>");
    play
}

#[test]
fn pairs_worth_deciding_are_listed() {
    let mut play = play(100, 30);
    let screen = play.keys("<space>p");
    assert_shows(&screen, &["to decide", "? open"]);
}

#[test]
fn whose_a_side_is_stays_hidden_until_the_decision() {
    let mut play = on_first_pair(120, 40);
    let before = play.stage.screen();
    assert_shows(&before, &["same request", "left", "right", "left better"]);
    assert!(
        !before.contains("✓ pass") && !before.contains("reward"),
        "{before}"
    );
    play.stage
        .keys("1c<enter>")
        .text("cites the valid version")
        .keys("<enter><enter>");
    let after = play.stage.screen();
    assert_shows(&after, &["✓ decided", "left, better", "✓ pass", "✗ fail"]);
    // The sides stay where they were: a decision must not turn the screen round.
    let first = |screen: &str| screen.lines().find(|l| l.contains('→')).unwrap().to_owned();
    assert_eq!(first(&before), first(&after));
    let pair = pairs(&play).pop().unwrap();
    assert_eq!(pair.reason, "cites the valid version");
    assert!(pair.left.is_some() && pair.side_seed.is_some() && pair.active_ms.is_some());
}

/// S-42: the reason is compulsory, and "only smoother" cannot stand alone.
#[test]
fn a_reason_is_compulsory_and_smoother_is_not_enough() {
    let mut play = on_first_pair(120, 40);
    assert_shows(&play.keys("1<enter>"), &["tick at least one"]);
    play.keys("s<enter><enter>");
    assert_shows(&play.stage.screen(), &["a reason is missing"]);
    play.stage.text("reads better").keys("<enter>");
    assert_shows(&play.stage.screen(), &["cannot stand alone"]);
    assert!(pairs(&play).is_empty());
}

/// S-46: tie and both bad exist, and need a reason too.
#[test]
fn a_tie_needs_only_a_reason() {
    let mut play = on_first_pair(120, 40);
    play.stage
        .keys("3")
        .text("both cite the same rule")
        .keys("<enter>");
    assert_eq!(pairs(&play).pop().unwrap().choice, Choice::Tie);
    assert_shows(&play.keys("u"), &["undone: pair, tie"]);
    assert!(pairs(&play).is_empty());
}

#[test]
fn a_better_decision_can_be_written_and_is_marked_as_human() {
    let mut play = play(120, 40);
    play.filter("run:four-missing-but-sure");
    play.keys("<enter>G");
    assert_shows(
        &play.keys("p"),
        &["a better decision at four-missing-but-sure"],
    );
    // Everything that stands there goes, then the better answer is typed.
    play.stage.keys("<ctrl-u>");
    for _ in 0..40 {
        play.stage.keys("<backspace><ctrl-u>");
    }
    play.stage.text("您的职级是什么？").keys("<esc>");
    let screen = play.stage.screen();
    assert_shows(&screen, &["[pair]", "您的职级是什么？"]);
    let left = screen
        .lines()
        .find(|l| l.contains("您的职级是什么？"))
        .unwrap();
    let is_left = left.find("您的职级是什么？").unwrap() < left.len() / 2;
    play.stage
        .keys(if is_left { "1" } else { "2" })
        .keys("o<enter>");
    play.stage.text("asks instead of guessing").keys("<enter>");
    let pair = pairs(&play).pop().unwrap();
    assert!(pair.b.is_human());
    assert_eq!(pair.choice, Choice::B);
    assert_shows(&play.stage.screen(), &["written by anna"]);
}

/// Two runs of different tasks are refused where they were marked, and no key waits for a page that does not come.
#[test]
fn a_pair_that_cannot_be_opened_leaves_the_board() {
    let mut play = play(120, 30);
    play.filter("run:four-");
    play.keys("ggx");
    play.stage
        .keys("f<ctrl-u>")
        .text("run:teach-index-01")
        .keys("<enter>");
    let screen = play.keys("ggxp");
    assert_shows(&screen, &["[board]", "different tasks"]);
}

/// What the user asked stays in sight however long a tool's answer behind it is.
#[test]
fn the_question_is_seen_above_a_long_tool_answer() {
    let mut play = play(80, 24);
    play.filter("run:four-stale-citation");
    play.keys("<enter>G");
    let screen = play.keys("p<esc>");
    assert_shows(&screen, &["» user", "hotel night in Lyon"]);
}

/// A written decision that cannot be read does not trap its writer: a second Esc leaves it, and it is kept.
#[test]
fn an_unreadable_decision_can_be_left_and_comes_back() {
    let mut play = play(100, 30);
    play.filter("run:four-stale-citation");
    // Step 2 is a call, which is written as JSON.
    play.keys("<enter>jjp");
    assert_shows(
        &play.keys("<ctrl-x>"),
        &["What should have been said here?"],
    );
    play.stage.text("{\"content\": nothing");
    assert_shows(
        &play.keys("<esc>"),
        &[
            "not valid JSON",
            "Esc again leaves it",
            "a better decision at",
        ],
    );
    let left = play.keys("<esc>");
    assert_shows(
        &left,
        &["no pair was made", "p at this step brings it back"],
    );
    let back = play.keys("p");
    assert_shows(
        &back,
        &["half-written decision is back", "\"content\": nothing"],
    );
    // Plain words are words.
    play.keys("<ctrl-x>");
    play.stage.text("Which day is it about?").keys("<esc>");
    assert_shows(
        &play.stage.screen(),
        &["Which day is it about?", "left", "right"],
    );
}
