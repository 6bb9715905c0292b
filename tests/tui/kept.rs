//! Nothing that was decided is lost unsaid: marks before a label, undo, half a decision about a pair, the demo's end.

use super::stage::{Play, assert_shows, play};
use triagent::domain::{Decision, Verdict};

fn label(play: &Play, run: &str) -> Option<Verdict> {
    let store = play.stage.store().unwrap();
    let records = store.live_on("verdict", run).unwrap();
    records
        .into_iter()
        .rev()
        .find_map(|record| match record.decision {
            Decision::Verdict(verdict) => Some(verdict),
            _ => None,
        })
}

fn pairs(play: &Play) -> usize {
    play.stage.store().unwrap().pairs().unwrap().len()
}

fn draft(play: &Play, run: &str) -> Option<String> {
    let store = play.stage.store().unwrap();
    store.draft("anna", &format!("marks {run}")).unwrap()
}

/// A tie on the first pair, then the first run of the teaching case.
fn after_a_pair() -> Play {
    let mut play = play(100, 30);
    play.keys("<space>p<enter>3");
    play.stage.text("both cite the rule").keys("<enter>qq");
    play.filter("run:teach-").keys("<enter>");
    play
}

impl Play {
    fn then(&mut self, keys: &str) -> &mut Self {
        self.keys(keys);
        self
    }
}

/// A mark made before the label says that it waits, undo takes it back, and nothing of another screen.
#[test]
fn undo_takes_the_mark_back_that_was_just_made() {
    let mut play = after_a_pair();
    assert_shows(&play.keys("}d"), &["kept; it is saved with your label"]);
    assert_shows(&play.keys("u"), &["undone: decisive step"]);
    assert_eq!((pairs(&play), draft(&play, "teach-index-01")), (1, None));
    play.keys("<ctrl-r>");
    assert!(draft(&play, "teach-index-01").is_some());
    // Without a mark undo reaches the pair, and says where that was made.
    assert_shows(&play.keys("uu"), &["undone on another page: pair, tie"]);
    assert_eq!(pairs(&play), 0);
}

/// Marks made before the label come back with the run, and leave with the label.
#[test]
fn marks_without_a_label_come_back() {
    let mut play = after_a_pair();
    play.then("}dD").then("q").then("<enter>").then("1<esc>");
    let verdict = label(&play, "teach-index-01").unwrap();
    assert!(verdict.decisive_step.is_some());
    assert_eq!(verdict.contributing.len(), 1);
    assert_eq!(draft(&play, "teach-index-01"), None);
    // The label taken back leaves what it rested on.
    play.keys("u");
    assert!(label(&play, "teach-index-01").is_none());
    assert!(draft(&play, "teach-index-01").is_some());
}

/// The first step of a run is a prompt: nobody decided anything there.
#[test]
fn a_step_that_the_model_did_not_write_is_doubted() {
    let mut play = after_a_pair();
    assert_shows(&play.keys("d"), &["the model did not write this step"]);
    assert_shows(&play.keys("1"), &["the model did not write this step"]);
}

/// What was taken back is named, and what still stands.
#[test]
fn undo_says_what_stands() {
    let mut play = after_a_pair();
    play.keys("1<esc>}d");
    let step = label(&play, "teach-index-01")
        .unwrap()
        .decisive_step
        .unwrap();
    let text = format!("undone: decisive step {step} on teach-index-01; layer index stays");
    assert_shows(&play.keys("u"), &[&text]);
    play.keys("cr");
    assert_shows(
        &play.keys("u"),
        &[
            "undone on another page: sub-cause index-not-refreshed on teach-index-01; layer index stays",
        ],
    );
    play.keys("<2");
    assert_shows(
        &play.keys("<esc>u"),
        &["teach-index-01 is context; it is index again"],
    );
}

/// In a workspace that is thrown away, one key too many does not throw it away.
#[test]
fn the_demo_asks_before_decisions_go_with_it() {
    let mut play = play(80, 24);
    play.stage.as_demo();
    let screen = play.keys("<enter>1<esc>qq");
    assert_shows(
        &screen,
        &["q again ends the demo, and 1 decision goes with it"],
    );
    // Another key in between is a second thought.
    play.keys("jq");
    assert!(!play.stage.has_left);
    play.keys("q");
    assert!(play.stage.has_left);
}

#[test]
fn a_demo_in_which_nothing_was_decided_ends_at_once() {
    let mut play = play(80, 24);
    play.stage.as_demo();
    play.keys("q");
    assert!(play.stage.has_left);
}

/// The question names the verdict, and words for one verdict are not put under another.
#[test]
fn a_reason_belongs_to_its_verdict() {
    let mut play = play(120, 40);
    play.keys("<space>p<enter>");
    assert_shows(&play.keys("1c<enter>"), &["why is left better?"]);
    play.stage.text("cites the rule");
    assert_shows(&play.keys("<esc>"), &["not saved"]);
    assert_shows(&play.keys("1c<enter>"), &["› cites the rule"]);
    let screen = play.keys("<esc>3");
    assert_shows(&screen, &["why a tie?"]);
    assert!(!screen.contains("cites the rule"), "{screen}");
    assert_shows(&play.keys("<esc>2"), &["why is right better?"]);
    assert_shows(&play.keys("<esc>"), &["not saved"]);
    assert_eq!(pairs(&play), 0);
}

/// Undo of a pair leaves the sides where they were.
#[test]
fn undo_of_a_pair_keeps_its_sides() {
    let mut play = play(120, 40);
    let before = play.keys("<space>p<enter>");
    play.keys("3");
    play.stage.text("both cite the rule").keys("<enter>u");
    assert_eq!(pairs(&play), 0);
    let first = |screen: &str| screen.lines().find(|l| l.contains('→')).unwrap().to_owned();
    assert_eq!(first(&before), first(&play.stage.screen()));
}

/// A pair below another screen shows what holds now; going to a list that lies below stacks no copy of it.
#[test]
fn going_back_shows_what_holds() {
    let mut play = play(120, 40);
    play.keys("<space>p<enter>3");
    play.stage.text("both cite the rule").keys("<enter>");
    assert_shows(&play.stage.screen(), &["✓ decided"]);
    let screen = play.keys("<space>auq");
    assert!(!screen.contains("✓ decided"), "{screen}");
    assert_shows(&play.keys("<space>p"), &["to decide"]);
    assert_shows(&play.keys("q"), &["[board]"]);
}

/// A message speaks of the page on which it was said.
#[test]
fn a_message_leaves_with_its_page() {
    let mut play = after_a_pair();
    assert_shows(&play.keys("}d"), &["is the first wrong decision"]);
    let screen = play.keys(">");
    assert!(!screen.contains("is the first wrong decision"), "{screen}");
}

/// What is longer than four rows says where it stands whole.
#[test]
fn a_message_too_long_says_where_it_stands_whole() {
    let mut play = play(30, 20);
    play.filter("run:teach-").keys("<enter>");
    let screen = play.keys("d");
    assert_shows(&screen, &["… Space m shows it whole"]);
}
