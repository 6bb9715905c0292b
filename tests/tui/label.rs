//! Labelling: a digit saves, a strip offers sub-causes, the next movement goes on; notes, pins, ticks, undo.

use super::stage::{Play, assert_shows, play};
use triagent::domain::{Decision, Layer, Verdict};

fn verdicts(play: &Play, run: &str) -> Vec<Verdict> {
    let store = play.stage.store().unwrap();
    let records = store.live_on("verdict", run).unwrap();
    let verdict = |decision| match decision {
        Decision::Verdict(v) => Some(v),
        _ => None,
    };
    records
        .into_iter()
        .filter_map(|r| verdict(r.decision))
        .collect()
}

fn last(play: &Play, run: &str) -> Verdict {
    verdicts(play, run).pop().unwrap()
}

fn on_teaching_case(columns: u16, rows: u16) -> Play {
    let mut play = play(columns, rows);
    play.filter("run:teach-");
    play.keys("<enter>");
    play
}

/// S-03: one key labels and goes on.
#[test]
fn a_digit_saves_at_once_and_a_letter_names_the_cause() {
    let mut play = on_teaching_case(80, 24);
    let screen = play.keys("1");
    assert_eq!(last(&play, "teach-index-01").layer, Layer::Index);
    assert_shows(&screen, &["index: why?", "index-not-refreshed", "✓ index"]);
    let screen = play.keys("r");
    let verdict = last(&play, "teach-index-01");
    assert_eq!(verdict.cause.as_deref(), Some("index-not-refreshed"));
    assert_shows(&screen, &["teach-index-02", "you labelled 1 of"]);
}

#[test]
fn movement_leaves_the_strip_and_goes_on_and_escape_stays() {
    let mut play = on_teaching_case(80, 24);
    assert_shows(&play.keys("1j"), &["teach-index-02"]);
    assert_shows(&play.keys("1<esc>"), &["teach-index-02"]);
    assert_shows(&play.keys("1<enter>"), &["teach-index-03"]);
    assert_eq!(last(&play, "teach-index-01").cause, None);
}

#[test]
fn a_second_digit_relabels_without_leaving() {
    let mut play = on_teaching_case(80, 24);
    let screen = play.keys("12");
    assert_shows(&screen, &["context: why?", "teach-index-01"]);
    assert_eq!(last(&play, "teach-index-01").layer, Layer::Context);
}

/// S-04: one unticked box keeps a model verdict from counting.
#[test]
fn model_is_unproven_until_four_boxes_are_ticked() {
    let mut play = on_teaching_case(80, 24);
    let screen = play.keys("4");
    assert_shows(
        &screen,
        &["model is unproven", "document visible", "tool text clear"],
    );
    assert!(!last(&play, "teach-index-01").is_proven());
    play.keys("dvt<enter>");
    assert!(!last(&play, "teach-index-01").is_proven());
    play.keys("<esc>tc<enter>");
    assert!(last(&play, "teach-index-01").is_proven());
    play.keys("<esc>u");
    assert!(!last(&play, "teach-index-01").is_proven());
}

/// Four keys prove a model failure, name its cause and show the next run.
#[test]
fn all_ticks_at_once_go_on_to_the_cause() {
    let mut play = on_teaching_case(80, 24);
    assert_shows(&play.keys("4a"), &["model: why?"]);
    assert!(last(&play, "teach-index-01").is_proven());
    assert_shows(&play.keys("c"), &["teach-index-02"]);
    let verdict = last(&play, "teach-index-01");
    assert!(verdict.is_proven() && verdict.cause.is_some());
}

#[test]
fn undo_and_redo_say_what_they_did() {
    let mut play = on_teaching_case(80, 24);
    play.keys("1<esc>");
    assert_shows(&play.keys("u"), &["undone: teach-index-01 is index"]);
    assert!(verdicts(&play, "teach-index-01").is_empty());
    assert_shows(&play.keys("u"), &["nothing to undo"]);
    assert_shows(&play.keys("<ctrl-r>"), &["redone: teach-index-01 is index"]);
    assert_eq!(last(&play, "teach-index-01").layer, Layer::Index);
}

#[test]
fn repeat_gives_the_last_label_with_its_cause() {
    let mut play = on_teaching_case(80, 24);
    play.keys("1r.");
    let verdict = last(&play, "teach-index-02");
    assert_eq!(verdict.cause.as_deref(), Some("index-not-refreshed"));
    assert_shows(&play.stage.screen(), &["teach-index-03"]);
}

#[test]
fn decisive_step_note_and_quote_wait_for_the_label() {
    let mut play = on_teaching_case(100, 30);
    play.keys("}d");
    play.stage.keys("e").text("旧版被当作有效").keys("<esc>");
    play.keys("<tab>j\"");
    assert!(verdicts(&play, "teach-index-01").is_empty());
    play.keys("1<esc>");
    let verdict = last(&play, "teach-index-01");
    assert_eq!(verdict.note, "旧版被当作有效");
    assert!(verdict.decisive_step.is_some());
    assert_eq!(verdict.pins.len(), 1);
    assert!(!verdict.pins[0].quote.is_empty());
}

/// Every key of a note is on the disk before the next one: a kill loses nothing.
#[test]
fn a_half_written_note_survives_a_kill() {
    let mut play = on_teaching_case(80, 24);
    play.stage.keys("e").text("half a tho");
    let store = play.stage.store().unwrap();
    let draft = store.draft("anna", "note teach-index-01").unwrap();
    assert_eq!(draft.as_deref(), Some("half a tho"));
    let again = triagent::store::Store::open(&play.file).unwrap();
    let mut stage = triagent::tui::Stage::new(Some(again), 80, 24).unwrap();
    stage.keys("f").text("run:teach-").keys("<enter><enter>e");
    assert_shows(
        &stage.screen(),
        &["half a tho", "half-written note is back"],
    );
}

/// The machine's layer is seen only after the reviewer's own, and a change after that is recorded as such.
#[test]
fn the_machine_speaks_last() {
    let mut play = on_teaching_case(140, 40);
    assert!(!play.keys("i").contains("machine"));
    let screen = play.keys("2<esc>");
    assert_shows(&screen, &["the machine says", "index, you say otherwise"]);
    assert!(!last(&play, "teach-index-01").suggestion_seen);
    play.keys("1<esc>");
    assert!(last(&play, "teach-index-01").suggestion_seen);
}

#[test]
fn time_per_item_leaves_pauses_out() {
    let mut play = on_teaching_case(80, 24);
    // Three keys a second apart, then a coffee break, then the label.
    play.keys("jjj");
    play.stage.wait(3_600_000);
    play.keys("1");
    let spent = last(&play, "teach-index-01").active_ms.unwrap();
    assert!((3_000..10_000).contains(&spent), "{spent}");
}

#[test]
fn the_codebook_explains_every_label() {
    let mut play = on_teaching_case(100, 40);
    let screen = play.keys("K");
    assert_shows(
        &screen,
        &["codebook", "Four questions", "index", "index-not-refreshed"],
    );
}

#[test]
fn a_finished_queue_says_so() {
    let mut play = play(100, 24);
    play.filter("run:teach-index-0");
    play.keys("<enter>");
    for _ in 0..9 {
        play.keys("1<enter>");
    }
    let screen = play.stage.screen();
    assert_shows(
        &screen,
        &[
            "you labelled 9 of 9",
            "every run of this list has your label",
        ],
    );
}

/// Labels from the seeded random queue may enter intervals; those picked by hand never do.
#[test]
fn the_queue_is_random_and_says_so_on_the_label() {
    let mut play = play(100, 24);
    let screen = play.keys("<space>q");
    assert_shows(&screen, &["from the queue", "queue: you labelled 0 of"]);
    let names = |screen: &str| {
        screen
            .lines()
            .nth(1)
            .unwrap()
            .split_whitespace()
            .next()
            .unwrap()
            .to_owned()
    };
    let mut seen = vec![names(&screen)];
    for _ in 0..4 {
        seen.push(names(&play.keys("1<enter>")));
    }
    assert!(last(&play, &seen[0]).from_random_queue);
    let mut sorted = seen.clone();
    sorted.sort();
    assert_ne!(seen, sorted, "the order of the log is no random order");
    play.keys("<space>b");
    play.filter("outcome:pass");
    play.keys("<enter>6<esc>");
    let picked = names(&play.stage.screen());
    assert!(!last(&play, &picked).from_random_queue);
}

/// S-91: a claim that is a misconception raises a hint.
#[test]
fn a_doubtful_claim_in_a_note_raises_a_hint() {
    let mut play = on_teaching_case(140, 30);
    play.stage
        .keys("e")
        .text("The reflection updated the weights.")
        .keys("<esc>");
    let screen = play.stage.screen();
    assert_shows(&screen, &["note kept;"]);
    assert!(!screen.contains("saved with your label"), "{screen}");
}
