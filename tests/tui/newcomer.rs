//! What somebody meets who has never seen the program: what to do next is said, in full, on the smallest screen.

use super::stage::{assert_shows, play, prepared, workspace};
use triagent::domain::{Decision, Layer, Verdict};
use triagent::store::{Act, Store};
use triagent::tui::Stage;

/// A workspace without a run.
fn empty() -> (tempfile::TempDir, Stage) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(&folder.path().join("workspace.db")).unwrap();
    (folder, Stage::new(Some(store), 80, 24).unwrap())
}

/// Every empty place says why, and what to do next; nothing of it is cut at 80 columns.
#[test]
fn empty_places_say_what_to_do_in_full() {
    let next = [
        ("", "I  import logs"),
        ("<space>p", "press p"),
        ("<space>r", "press I to import them"),
        ("<space>a", "I  reads logs"),
        ("<space>h", "triagent change add"),
        ("<space>g", "triagent merge"),
        ("<space>s", "C looks for"),
        ("<space>f", "Q keeps the filter under a name"),
        ("<space>j", "I  imports logs"),
    ];
    for (way, words) in next {
        let (_folder, mut stage) = empty();
        let screen = stage.keys(way).screen();
        assert!(!screen.contains('…'), "{way}:\n{screen}");
        // Prose breaks anywhere, so it is compared as one line.
        let prose: Vec<&str> = screen.split_whitespace().collect();
        let wanted: Vec<&str> = words.split_whitespace().collect();
        assert!(
            prose.join(" ").contains(&wanted.join(" ")),
            "{way}: {words}\n{screen}"
        );
    }
}

/// Help, the pop-ups of next keys and the lines to type say all of what they say at 80 columns.
#[test]
fn help_is_never_cut() {
    let places = ["", "<enter>", "<space>p<enter>", "xx=", "<space>e"];
    for place in places {
        for prefix in ["?", " ", "g", "y", "z", "O"] {
            let mut play = play(80, 24);
            play.keys(place);
            let screen = play.keys(prefix);
            // Only what lies above is help; under it a list may cut what it likes.
            let cut = |screen: &str| {
                let above = screen.lines().filter(|l| l.starts_with('│'));
                above.filter(|l| l.contains('…')).count()
            };
            assert_eq!(cut(&screen), 0, "{place} {prefix}\n{screen}");
            if prefix == "?" {
                let rest = play.keys("<pagedown><pagedown>");
                assert_eq!(cut(&rest), 0, "{place} {prefix}\n{rest}");
            }
        }
    }
}

/// One line says how it goes until the first label is given; it never stands in the way.
#[test]
fn the_first_steps_are_said_until_the_first_label() {
    let mut play = play(80, 24);
    assert_shows(
        &play.keys(""),
        &["new here? Space q opens a failure", "? helps"],
    );
    let run = play.keys("<enter>");
    assert_shows(
        &run,
        &["which layer failed?", "u takes it back", "K explains"],
    );
    play.keys("1<esc>");
    play.stage.wait(10_000);
    assert!(!play.keys("q").contains("new here?"));
}

/// A message longer than the row grows upwards instead of being cut.
#[test]
fn long_messages_are_not_cut() {
    let mut play = play(50, 20);
    let screen = play.keys("P");
    let prose: Vec<&str> = screen.split_whitespace().collect();
    assert!(
        prose
            .join(" ")
            .contains("P does nothing in board; ? shows what does"),
        "{screen}"
    );
    let screen = play.keys("<space>gq<enter>J");
    let prose: Vec<&str> = screen.split_whitespace().collect();
    assert!(
        prose
            .join(" ")
            .contains("adjudicate: only for a run in agreement: Space g"),
        "{screen}"
    );
}

/// The mark goes where it came from, on the last row too.
#[test]
fn marking_the_last_row_twice_unmarks_it() {
    let mut play = play(100, 30);
    assert_shows(&play.keys("Gx"), &["1 marked"]);
    assert!(!play.keys("x").contains("marked"));
    assert_shows(&play.keys("x"), &["1 marked"]);
}

/// DESIGN §10: secrets are masked on screen until somebody asks, wherever a log's text is shown.
#[test]
fn a_pair_masks_secrets_until_they_are_revealed() {
    use triagent::domain::{Item, Outcome, Owner, Role, Rollout, Sink, Step, StepKind};
    const PHONE: &str = "13800138000";
    let mut play = prepared(100, 30, |store| {
        let mut intake = store.intake(1).unwrap();
        for (name, outcome, says) in [
            ("phone-a", Outcome::Pass, "Calling you now."),
            ("phone-b", Outcome::Fail, "Wait 30 days."),
        ] {
            let mut head = Rollout::new(name.to_owned(), "test", "log.jsonl");
            head.task = Some("a-phone".into());
            head.outcome = outcome;
            let asks = format!("Call me back: {PHONE}");
            let user = Step::new(Owner::User, StepKind::Text, Role::User, asks);
            let says = says.to_owned();
            let mut model = Step::new(Owner::Model, StepKind::Text, Role::Assistant, says);
            model.message = 1;
            for item in [
                Item::Begin(Box::new(head.clone())),
                Item::Step(Box::new(user)),
                Item::Step(Box::new(model)),
                Item::End(Box::new(head)),
            ] {
                assert!(intake.put(item).is_continue());
            }
        }
        intake.finish().unwrap();
        store.index_all().unwrap();
    });
    let hidden = |screen: &str| assert!(!screen.contains(PHONE), "{screen}");
    play.keys("<space>p");
    let screen = play.keys("<enter>");
    assert_shows(
        &screen,
        &["pair on a-phone", "secrets masked", "Call me back"],
    );
    hidden(&screen);
    assert_shows(&play.keys("zs"), &[PHONE, "secrets are shown"]);
    play.keys("<space>b");
    play.filter("run:phone-");
    let compared = play.keys("xx=");
    assert_shows(&compared, &["Call me back"]);
    hidden(&compared);
    play.keys("<space>b/");
    play.stage.text("Call me back").keys("<enter>");
    let found = play.stage.screen();
    assert_shows(&found, &["stands in 2 steps"]);
    hidden(&found);
    hidden(&play.keys("<enter>"));
}

/// Back on the list of pairs, what was decided is decided there too.
#[test]
fn the_list_of_pairs_knows_what_was_just_decided() {
    let mut play = play(100, 30);
    play.keys("<space>p");
    play.keys("<enter>3");
    play.stage.text("the same query").keys("<enter>");
    let screen = play.keys("q");
    assert_shows(&screen, &["12 to decide, 1 decided"]);
    // Another digit chooses anew while the criteria are asked for.
    play.keys("<enter>1");
    let screen = play.keys("2");
    assert_shows(&screen, &["why is right better?", "2 ✓ right better"]);
}

fn label(store: &mut Store, reviewer: &str, run: &str, layer: Layer, step: u32) {
    let mut verdict = Verdict::new(run.into(), layer);
    verdict.decisive_step = Some(step);
    verdict.note = format!("{reviewer} saw it");
    let act = Act {
        reviewer,
        now_us: 1,
        codebook: "1",
    };
    store.decide(act, &Decision::Verdict(verdict)).unwrap();
}

/// S-05: a run on which two reviewers differ is read with both labels in view and settled; their own labels stay.
#[test]
fn a_dispute_is_settled_on_screen() {
    let mut play = prepared(80, 24, |store| {
        label(store, "ben", "teach-index-01", Layer::Index, 2);
        label(store, "cleo", "teach-index-01", Layer::Context, 4);
    });
    let screen = play.keys("<space>g");
    assert_shows(
        &screen,
        &[
            "1 run to settle",
            "✗ differ",
            "teach-index-01",
            "ben saw it",
            "J settles",
        ],
    );
    let screen = play.keys("<enter>");
    assert_shows(&screen, &["J settles it: ben: index · cleo: context"]);
    assert_shows(&play.keys("J"), &["settle: ben: index · cleo: context"]);
    assert_shows(&play.keys("2"), &["why so?"]);
    play.stage.text("the clause was cut").keys("<enter>");
    let screen = play.stage.screen();
    assert_shows(
        &screen,
        &["teach-index-01 is settled as context", "✓ context"],
    );
    let store = Store::open_read_only(&play.file).unwrap();
    let live = |kind: &str| store.live_on(kind, "teach-index-01").unwrap();
    assert_eq!(live("verdict").len(), 2);
    let settled = live("adjudication").pop().unwrap();
    match &settled.decision {
        // As the command line does: the evidence of whoever chose that layer stays.
        Decision::Adjudication(v) => assert_eq!(
            (v.layer, v.decisive_step, v.note.as_str()),
            (Layer::Context, Some(4), "the clause was cut")
        ),
        other => panic!("{other:?}"),
    }
    assert_shows(
        &play.keys("u"),
        &["undone: teach-index-01 is settled", "✗ differ"],
    );
    // Whoever labels a run is not shown what others said.
    play.keys("<space>b");
    assert_shows(&play.keys("<enter>J"), &["only for a run in agreement"]);
}

/// What takes its time is stopped by Esc, and an answer that comes late changes nothing.
#[test]
fn esc_stops_a_search_a_comparison_and_a_preview() {
    let mut play = play(100, 30);
    play.stage.leave_slow_open();
    while play.stage.answer_slow().is_some() {}
    let board = play.keys("");
    play.keys("/");
    play.stage.text("rule").keys("<enter>");
    assert_shows(
        &play.stage.screen(),
        &["search  working it out…   Esc stops it"],
    );
    let after = play.keys("<esc>");
    assert_shows(&after, &["stopped searching", "filter none"]);
    while play.stage.answer_slow().is_some() {}
    play.stage.wait(10_000);
    assert_eq!(play.stage.screen(), board);

    assert_shows(&play.keys("ggxx="), &["comparing…   Esc stops it"]);
    assert_shows(&play.keys("<esc>"), &["stopped comparing", "filter none"]);
    let marked = play.keys("<esc>");
    while play.stage.answer_slow().is_some() {}
    assert_eq!(play.stage.screen().lines().nth(1), marked.lines().nth(1));

    play.keys("<space>e");
    play.stage.wait(10_000);
    let formats = play.stage.screen();
    play.keys("<enter><esc>");
    while play.stage.answer_slow().is_some() {}
    play.stage.wait(10_000);
    assert_eq!(play.stage.screen(), formats);
}

/// A list too long to be there at once begins at once; the rest follows, and the cursor stays on its run.
#[test]
fn a_long_list_begins_before_it_is_counted() {
    use triagent::domain::{Item, Owner, Role, Rollout, Sink, Step, StepKind};
    let (_folder, file) = workspace();
    let mut store = Store::open(&file).unwrap();
    let mut intake = store.intake(1).unwrap();
    for n in 0..300 {
        let head = Rollout::new(format!("many-{n:03}"), "test", "log.jsonl");
        let text = format!("words of {n}");
        let step = Step::new(Owner::Model, StepKind::Text, Role::Assistant, text);
        for item in [
            Item::Begin(Box::new(head.clone())),
            Item::Step(Box::new(step)),
            Item::End(Box::new(head)),
        ] {
            assert!(intake.put(item).is_continue());
        }
    }
    intake.finish().unwrap();
    let mut stage = Stage::new(Some(store), 100, 30).unwrap();
    let whole = stage.screen();
    stage.keys("f").text("run:many-007").keys("<enter>");
    stage.leave_slow_open();
    // By hand: the list begins with 200 rows, and the number of all runs is known at once.
    let first = stage.keys("F").screen();
    let count = |screen: &str| screen.lines().nth(1).unwrap().trim().to_owned();
    assert_eq!(count(&first), count(&whole));
    assert_shows(&stage.keys("*").screen(), &["still being read"]);
    // The end that is asked for meanwhile is the end of all.
    stage.keys("G");
    while stage.answer_slow().is_some() {}
    assert!(stage.selected()[0].contains("many-299"));
    // Read again: what is seen stays until the new list is there, and does not move then.
    stage.keys("R");
    assert!(stage.selected()[0].contains("many-299"));
    while stage.answer_slow().is_some() {}
    assert!(stage.selected()[0].contains("many-299"));
}

/// Whatever a vim hand or an arrow hand presses, something happens; a movement never leaves the place.
#[test]
fn vim_and_arrow_hands_both_work_everywhere() {
    let places = [
        ("", "board"),
        ("<tab>", "board"),
        ("<enter>", "run"),
        ("<enter>i<tab><tab>", "run"),
        ("<space>p<enter>", "pair"),
        ("xx=", "compare"),
        ("<space>r", "rewards"),
        ("<space>a<tab>", "advice"),
        ("/rule<enter>", "search"),
        ("<space>m", ""),
        ("<enter>K", ""),
    ];
    let keys = [
        "j",
        "k",
        "<down>",
        "<up>",
        "gg",
        "G",
        "<home>",
        "<end>",
        "<pagedown>",
        "<pageup>",
        "<ctrl-d>",
        "<ctrl-u>",
    ];
    for (way, word) in places {
        let mut play = play(100, 30);
        play.keys(way);
        for key in keys {
            let screen = play.keys(key);
            assert!(!screen.contains("does nothing"), "{way} {key}\n{screen}");
            let bar = screen.lines().next().unwrap_or_default();
            let is_here = word.is_empty() || bar.contains(&format!("[{word}]"));
            assert!(is_here, "{way} {key}\n{screen}");
        }
        // The end and the beginning are opposite ways.
        let first = play.keys("gg");
        play.keys("G");
        assert_eq!(play.keys("gg"), first, "{way}");
        let left = play.keys("<esc>");
        assert!(!left.contains("does nothing"), "{way}\n{left}");
        assert_shows(&play.keys("?"), &["Esc closes"]);
    }
}
