//! Reading a run: owners, folds, jumps, search, raw text, inspector, secrets.

use super::stage::{assert_shows, play};

/// S-14: the viewer walks the sample and shows who wrote what; the reward stands apart.
#[test]
fn a_run_shows_who_wrote_each_step() {
    let mut play = play(80, 24);
    play.filter("run:four-correct-citation");
    let screen = play.keys("<enter>");
    assert_shows(
        &screen,
        &["[run]", "four-correct-citation", "system text", "user text"],
    );
    insta::assert_snapshot!("run_80x24", screen);
    let screen = play.keys("i");
    assert_shows(
        &screen,
        &[
            "rewards of the whole run",
            "evidence",
            "side effects",
            "cost",
        ],
    );
}

#[test]
fn jumps_go_to_decisions_and_failures() {
    let mut play = play(100, 30);
    play.filter("run:layer-environment");
    play.keys("<enter>");
    assert_shows(&play.keys("}"), &["◆", "model"]);
    let screen = play.keys("]");
    assert!(play.stage.selected().join("").contains('✗'), "{screen}");
    assert_shows(&play.keys("gg["), &["no earlier failed step"]);
}

#[test]
fn searching_inside_counts_and_goes_round() {
    let mut play = play(100, 30);
    play.filter("run:four-correct-citation");
    play.keys("<enter>");
    play.stage.keys("/").text("hotel").keys("<enter>");
    let screen = play.stage.screen();
    assert_shows(&screen, &["“hotel” 1/"]);
    let screen = play.keys("n");
    assert_shows(&screen, &["“hotel” 2/"]);
    let screen = play.keys("NN");
    assert!(!screen.contains("“hotel” 1/"), "{screen}");
    assert!(!play.keys("<esc>").contains("“hotel”"));
}

#[test]
fn raw_text_wrapping_and_folds_turn_and_turn_back() {
    let mut play = play(100, 30);
    play.filter("run:four-correct-citation");
    let plain = play.keys("<enter>");
    assert_shows(&play.keys("zr"), &["text · raw"]);
    assert_shows(&play.keys("zrw"), &["not wrapped"]);
    assert_eq!(play.keys("w"), plain);
    play.keys("zM");
    assert_shows(&play.keys("zR"), &["text"]);
}

/// tau-bench logs bring the right actions; a reviewer needs them to label. What a grader quotes may hold a secret.
#[test]
fn what_a_grader_says_is_shown_with_its_secrets_masked() {
    let desk = crate::cli::desk::Desk::new();
    let run = serde_json::json!({
        "task_id": 3, "reward": 0.0, "trial": 0,
        "info": {"reward_info": {"reward": 0.0, "info": {"r_actions": 0.0}, "actions": [
            {"name": "get_order", "kwargs": {"note": "postgres://svc:Tr0ub4dor9x@db.example.com/x"}}]}, "task": {"instruction": "ask"}},
        "traj": [{"role": "system", "content": "policy"}, {"role": "user", "content": "hi"},
                 {"role": "assistant", "content": "hello"}],
    });
    std::fs::write(desk.path("tau.json"), format!("[{run}]")).unwrap();
    desk.run(&["import", "tau.json"]).ok();
    let store = triagent::store::Store::open(&desk.path(".triagent/workspace.db")).unwrap();
    let mut stage = triagent::tui::Stage::new(Some(store), 120, 50).unwrap();
    let screen = stage.keys("<enter>i").screen();
    assert_shows(
        &screen,
        &["what tau-bench says itself", "get_order", "r_actions"],
    );
    assert!(!screen.contains("Tr0ub4dor9x"), "{screen}");
}

#[test]
fn copying_names_what_was_copied() {
    let mut play = play(100, 30);
    play.filter("run:four-correct-citation");
    assert_shows(&play.keys("<enter>jyy"), &["copied the step's name"]);
    play.keys("yj");
    play.keys("yc");
    assert_eq!(play.stage.copied[0], "four-correct-citation:1");
    assert!(play.stage.copied[1].contains("\"owner\""));
    assert!(play.stage.copied[2].starts_with("## four-correct-citation"));
}

/// S-22: a retry that sampled again stays an attempt of its own, and the adopted one is marked.
#[test]
fn attempts_are_seen_with_the_adopted_one_marked() {
    let mut play = play(160, 50);
    play.filter("has:retry");
    let screen = play.keys("<enter>i");
    assert_shows(&screen, &["retried"]);
    let mut seen = screen;
    for _ in 0..12 {
        if seen.contains("attempts at this request") {
            break;
        }
        seen = play.keys("}");
    }
    assert_shows(&seen, &["2 attempts at this request", "adopted"]);
}

#[test]
fn a_card_is_one_page() {
    let mut play = play(100, 40);
    play.filter("run:four-stale-citation");
    let screen = play.keys("C");
    assert_shows(&screen, &["four-stale-citation", "y c copies the card"]);
}

/// A match in a part that is folded away is unfolded and seen at once, the first one too.
#[test]
fn the_first_match_is_seen_even_where_its_step_was_folded() {
    use triagent::domain::{Item, Owner, Role, Rollout, Sink, Step, StepKind};
    let mut play = super::stage::prepared(100, 30, |store| {
        let mut intake = store.intake(1).unwrap();
        let head = Rollout::new("long-answer".to_owned(), "test", "log.jsonl");
        let mut lines: Vec<String> = (0..80).map(|n| format!("row {n}")).collect();
        lines[60] = "row 60 holds the needle".to_owned();
        let first = Step::new(Owner::User, StepKind::Text, Role::User, "go".to_owned());
        let text = lines.join("\n");
        let mut answer = Step::new(Owner::Tool, StepKind::Observation, Role::Tool, text);
        answer.message = 1;
        for item in [
            Item::Begin(Box::new(head.clone())),
            Item::Step(Box::new(first)),
            Item::Step(Box::new(answer)),
            Item::End(Box::new(head)),
        ] {
            assert!(intake.put(item).is_continue());
        }
        intake.finish().unwrap();
    });
    play.filter("run:long-answer");
    assert!(play.keys("<enter>").contains("more lines"));
    play.keys("/");
    play.stage.text("needle").keys("<enter>");
    let screen = play.stage.screen();
    assert_shows(&screen, &["“needle” 1/1", "row 60 holds the needle"]);
}
