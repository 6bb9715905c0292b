//! The store: identity, pages, search, the append-only log. Expected values are worked out by hand.

mod arrival;

use std::ops::ControlFlow;
use triagent::domain::filter::{Condition, Field, Filter, Sort, Term};
use triagent::domain::{
    Decision, Item, Layer, Outcome, Owner, Reward, Role, Rollout, RunId, Sink, Step, StepKind,
    Verdict,
};
use triagent::store::{Act, IntakeCounts, SourceMark, Store, StoreError};

fn step(owner: Owner, text: &str) -> Item {
    Item::Step(Box::new(Step::new(
        owner,
        StepKind::Text,
        Role::Assistant,
        text,
    )))
}

/// Brings one run in; an empty id asks the store to mint one.
fn bring(store: &mut Store, id: &str, texts: &[&str], reward: Option<f64>) -> IntakeCounts {
    let mut intake = store.intake(1_000_000).unwrap();
    let mut head = Rollout::new(id, "test", "a.jsonl");
    if reward == Some(0.0) {
        head.outcome = Outcome::Fail;
    }
    head.family = Some("refund".to_owned());
    assert_eq!(
        intake.put(Item::Begin(Box::new(head.clone()))),
        ControlFlow::Continue(())
    );
    for text in texts {
        assert_eq!(
            intake.put(step(Owner::Model, text)),
            ControlFlow::Continue(())
        );
    }
    if let Some(result) = reward {
        assert_eq!(
            intake.put(Item::Reward(Box::new(Reward::result("r", result)))),
            ControlFlow::Continue(())
        );
    }
    assert_eq!(
        intake.put(Item::End(Box::new(head))),
        ControlFlow::Continue(())
    );
    intake.finish().unwrap()
}

fn act(reviewer: &str, now_us: i64) -> Act<'_> {
    Act {
        reviewer,
        now_us,
        codebook: "1",
    }
}

fn label(store: &mut Store, reviewer: &str, run: &str, layer: Layer) {
    store
        .decide(
            act(reviewer, 5_000_000),
            &Decision::Verdict(Verdict::new(RunId::from(run), layer)),
        )
        .unwrap();
}

fn layer_of(store: &Store, run: &str) -> Option<Layer> {
    store.run_row(&RunId::from(run)).unwrap().layer
}

fn all() -> Filter {
    Filter::default()
}

#[test]
fn importing_twice_changes_nothing_and_a_grown_run_gets_only_what_is_new() {
    let mut store = Store::in_memory().unwrap();
    let first = bring(&mut store, "r1", &["one", "two"], None);
    assert_eq!((first.stored, first.steps), (1, 2));
    let again = bring(&mut store, "r1", &["one", "two"], None);
    assert_eq!((again.stored, again.duplicates, again.steps), (0, 1, 0));
    let grown = bring(&mut store, "r1", &["one", "two", "three"], None);
    assert_eq!((grown.stored, grown.grown, grown.steps), (0, 1, 1));
    let older = bring(&mut store, "r1", &["one"], None);
    assert_eq!((older.stored, older.duplicates), (0, 1));
    assert_eq!(store.steps(&RunId::from("r1")).unwrap().len(), 3);
    assert_eq!(store.count_runs(&all()).unwrap(), 1);
}

/// A log may give any name, also the one under which a run waits: it is read like any other, and nobody sweeps it.
#[test]
fn a_log_cannot_name_a_run_that_is_not_all_here() {
    let mut store = Store::in_memory().unwrap();
    let long: Vec<String> = (0..1500).map(|n| format!("text {n}")).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    for name in ["importing~1", "importing~2", "importing~3"] {
        assert_eq!(bring(&mut store, name, &["one"], None).stored, 1);
    }
    assert_eq!(bring(&mut store, "importing~4", &long, None).stored, 1);
    assert_eq!(bring(&mut store, "importing~4", &long, None).duplicates, 1);
    let rows = store.runs(&all(), None, 10).unwrap().rows;
    let names: Vec<_> = rows.iter().map(|r| r.id.as_str()).collect();
    let kept = [
        "~importing~1",
        "~importing~2",
        "~importing~3",
        "~importing~4",
    ];
    assert!(
        kept.iter().all(|name| names.contains(name)) && names.len() == 4,
        "{names:?}"
    );
    // Long after, another import comes.
    store.intake(i64::MAX / 2).unwrap().finish().unwrap();
    assert_eq!(store.count_runs(&all()).unwrap(), 4);
}

#[test]
fn another_run_of_the_same_name_gets_a_suffix() {
    let mut store = Store::in_memory().unwrap();
    bring(&mut store, "r1", &["one"], None);
    bring(&mut store, "r1", &["other"], None);
    let rows = store.runs(&all(), None, 10).unwrap().rows;
    assert_eq!(
        rows.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(),
        ["r1", "r1~2"]
    );
    assert_eq!(bring(&mut store, "r1", &["other"], None).duplicates, 1);
}

#[test]
fn a_run_without_a_name_is_named_by_its_content() {
    let mut store = Store::in_memory().unwrap();
    bring(&mut store, "", &["one"], None);
    assert_eq!(bring(&mut store, "", &["one"], None).duplicates, 1);
    let row = store.runs(&all(), None, 10).unwrap().rows.remove(0);
    assert_eq!(row.id.as_str().len(), 10);
    assert!(store.rollout(&row.id).unwrap().id_minted);
}

#[test]
fn a_reward_that_arrives_later_from_the_same_file_updates_the_run() {
    let mut store = Store::in_memory().unwrap();
    bring(&mut store, "r1", &["one"], None);
    assert_eq!(bring(&mut store, "r1", &["one"], Some(0.0)).updated, 1);
    let row = store.run_row(&RunId::from("r1")).unwrap();
    assert_eq!((row.reward_result, row.outcome), (Some(0.0), Outcome::Fail));
}

#[test]
fn an_import_that_is_dropped_leaves_nothing_half_done() {
    let mut store = Store::in_memory().unwrap();
    {
        let mut intake = store.intake(0).unwrap();
        let _ = intake.put(Item::Begin(Box::new(Rollout::new("r1", "test", "a"))));
        let _ = intake.put(step(Owner::Model, "one"));
    }
    assert_eq!(store.count_runs(&all()).unwrap(), 0);
    assert_eq!(bring(&mut store, "r1", &["one"], None).stored, 1);
}

#[test]
fn a_missing_reward_is_not_zero() {
    let mut store = Store::in_memory().unwrap();
    bring(&mut store, "r1", &["one"], None);
    let row = store.run_row(&RunId::from("r1")).unwrap();
    assert_eq!(
        (row.reward_result, row.reward_status.as_str()),
        (None, "missing")
    );
}

#[test]
fn search_finds_two_character_chinese_words_and_pages() {
    let mut store = Store::in_memory().unwrap();
    bring(
        &mut store,
        "zh",
        &["按照旧政策，可以退款。", "新政策已生效"],
        None,
    );
    bring(
        &mut store,
        "en",
        &["The old policy says so", "quote \" and OR inside"],
        None,
    );
    store.index_all().unwrap();
    let steps = |words: &str| {
        let hits = store.search(words, None, 10).unwrap();
        hits.into_iter()
            .map(|h| format!("{}:{}", h.run, h.step))
            .collect::<Vec<_>>()
    };
    assert_eq!(steps("政策"), ["zh:0", "zh:1"]);
    assert_eq!(steps("旧政策"), ["zh:0"]);
    assert_eq!(steps("OLD policy"), ["en:0"]);
    assert_eq!(steps("policy old"), [""; 0], "a phrase keeps its order");
    assert_eq!(steps("\" and OR"), ["en:1"], "operators are words");
    assert_eq!(steps("\"\""), [""; 0]);
    let first = store.search("政策", None, 1).unwrap();
    assert_eq!(store.search("政策", first.first(), 10).unwrap().len(), 1);
    let text = Filter {
        terms: vec![Term {
            negated: false,
            condition: Condition::Text("旧政策".to_owned()),
        }],
        sort: Vec::new(),
    };
    assert_eq!(store.count_runs(&text).unwrap(), 1);
}

#[test]
fn pages_follow_the_order_and_lose_no_row() {
    let mut store = Store::in_memory().unwrap();
    for (id, reward) in [
        ("a", Some(1.0)),
        ("b", None),
        ("c", Some(0.0)),
        ("d", Some(1.0)),
        ("e", None),
    ] {
        bring(&mut store, id, &[id], reward);
    }
    for (descending, expected) in [
        (false, ["c", "a", "d", "b", "e"]),
        (true, ["a", "d", "c", "b", "e"]),
    ] {
        let filter = Filter {
            terms: Vec::new(),
            sort: vec![Sort {
                field: Field::RewardResult,
                descending,
            }],
        };
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let page = store.runs(&filter, after.as_ref(), 2).unwrap();
            seen.extend(page.rows.iter().map(|r| r.id.0.clone()));
            after = page.rows.last().cloned();
            if !page.more {
                break;
            }
        }
        assert_eq!(seen, expected);
    }
}

#[test]
fn undo_appends_redo_brings_back_and_a_new_decision_ends_redo() {
    let mut store = Store::in_memory().unwrap();
    bring(&mut store, "r1", &["one"], Some(0.0));
    label(&mut store, "ann", "r1", Layer::Index);
    label(&mut store, "ann", "r1", Layer::Model);
    assert_eq!(layer_of(&store, "r1"), Some(Layer::Model));
    let me = act("ann", 6_000_000);
    assert_eq!(store.undo(me).unwrap().len(), 1);
    assert_eq!(layer_of(&store, "r1"), Some(Layer::Index));
    store.undo(me).unwrap();
    assert_eq!(layer_of(&store, "r1"), None);
    assert!(store.undo(me).unwrap().is_empty());
    store.redo(me).unwrap();
    assert_eq!(layer_of(&store, "r1"), Some(Layer::Index));
    store.redo(me).unwrap();
    assert_eq!(layer_of(&store, "r1"), Some(Layer::Model));
    store.undo(me).unwrap();
    label(&mut store, "ann", "r1", Layer::Tool);
    assert!(store.redo(me).unwrap().is_empty());
    assert_eq!(
        store
            .history("r1")
            .unwrap()
            .iter()
            .map(|(_, live)| *live)
            .collect::<Vec<_>>(),
        [true, false, true]
    );
}

#[test]
fn undo_touches_only_the_reviewers_own_last_decision_and_takes_a_batch_whole() {
    let mut store = Store::in_memory().unwrap();
    for id in ["r1", "r2"] {
        bring(&mut store, id, &[id], Some(0.0));
    }
    let both =
        ["r1", "r2"].map(|id| Decision::Verdict(Verdict::new(RunId::from(id), Layer::Index)));
    store.decide_batch(act("ann", 1), &both).unwrap();
    label(&mut store, "bob", "r1", Layer::Tool);
    assert_eq!(store.undo(act("ann", 2)).unwrap().len(), 2);
    assert_eq!(
        (layer_of(&store, "r1"), layer_of(&store, "r2")),
        (Some(Layer::Tool), None)
    );
    assert_eq!(store.redo(act("ann", 3)).unwrap().len(), 2);
    assert_eq!(layer_of(&store, "r2"), Some(Layer::Index));
}

#[test]
fn an_adjudication_goes_before_later_labels() {
    let mut store = Store::in_memory().unwrap();
    bring(&mut store, "r1", &["one"], Some(0.0));
    let settled = Verdict::new(RunId::from("r1"), Layer::Context);
    store
        .decide(act("lead", 1), &Decision::Adjudication(settled))
        .unwrap();
    label(&mut store, "ann", "r1", Layer::Model);
    assert_eq!(layer_of(&store, "r1"), Some(Layer::Context));
}

#[test]
fn facets_count_by_value_and_filters_combine() {
    let mut store = Store::in_memory().unwrap();
    for (id, reward) in [("a", Some(0.0)), ("b", None), ("c", Some(0.0))] {
        bring(&mut store, id, &[id], reward);
    }
    label(&mut store, "ann", "a", Layer::Index);
    let counts = store.facets(&all(), &[Field::Outcome]).unwrap().remove(0);
    let counts: Vec<_> = counts
        .iter()
        .map(|c| (c.value.as_deref(), c.count))
        .collect();
    assert_eq!(counts, [(Some("fail"), 2), (Some("unknown"), 1)]);
    // What people said goes before the log's word; runs without a value are counted too.
    let both = store
        .facets(&all(), &[Field::Layer, Field::Family])
        .unwrap();
    let told = |at: usize| -> Vec<(Option<&str>, u64)> {
        both[at]
            .iter()
            .map(|c| (c.value.as_deref(), c.count))
            .collect()
    };
    assert_eq!(told(0), [(None, 2), (Some("index"), 1)]);
    assert_eq!(told(1), [(Some("refund"), 3)]);
    let is = |field, value: &str, negated| Term {
        negated,
        condition: Condition::Is {
            field,
            values: vec![value.to_owned()],
        },
    };
    let filter = |terms| Filter {
        terms,
        sort: Vec::new(),
    };
    let count = |terms| store.count_runs(&filter(terms)).unwrap();
    assert_eq!(count(vec![is(Field::Layer, "index", false)]), 1);
    assert_eq!(
        count(vec![
            is(Field::Outcome, "fail", false),
            is(Field::Layer, "index", true)
        ]),
        1
    );
    assert_eq!(count(vec![is(Field::Layer, "none", false)]), 2);
    assert_eq!(count(vec![is(Field::Task, "none", false)]), 3);
    let mine = Term {
        negated: true,
        condition: Condition::Labelled(Some("ann".to_owned())),
    };
    assert_eq!(count(vec![mine]), 2);
}

#[test]
fn names_are_found_by_unique_beginnings() {
    let mut store = Store::in_memory().unwrap();
    for id in ["alpha-1", "alpha-2", "beta"] {
        bring(&mut store, id, &[id], None);
    }
    assert_eq!(store.resolve("be").unwrap().as_str(), "beta");
    assert!(matches!(
        store.resolve("alpha"),
        Err(StoreError::Ambiguous { count: 2, .. })
    ));
    assert!(matches!(store.resolve("x"), Err(StoreError::NoSuchRun(_))));
    assert!(matches!(store.resolve(""), Err(StoreError::NoSuchRun(_))));
}

#[test]
fn the_file_survives_reopening_and_refuses_what_it_must() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(".triagent").join("workspace.db");
    assert!(matches!(Store::open(&path), Err(StoreError::NotFound(_))));
    let mut store = Store::create(&path).unwrap();
    bring(&mut store, "r1", &["one"], None);
    label(&mut store, "ann", "r1", Layer::Index);
    let mark = SourceMark {
        path: "a.jsonl".to_owned(),
        size: 3,
        mtime_us: 9,
    };
    let mut intake = store.intake(0).unwrap();
    intake.mark_source(&mark, "test", "{}").unwrap();
    intake.finish().unwrap();
    drop(store);
    let mut reader = Store::open_read_only(&path).unwrap();
    assert_eq!(layer_of(&reader, "r1"), Some(Layer::Index));
    assert!(reader.is_unchanged(&mark).unwrap());
    assert!(
        !reader
            .is_unchanged(&SourceMark { size: 4, ..mark })
            .unwrap()
    );
    assert!(matches!(
        reader.undo(act("ann", 1)),
        Err(StoreError::ReadOnly)
    ));
    assert_eq!(reader.health(true).unwrap().integrity, "ok");
    assert_eq!(
        Store::locate(&dir.path().join("deep/er")).as_deref(),
        Some(path.as_path())
    );
    std::fs::write(
        dir.path().join("x.db"),
        b"not a database at all, but long enough to be one",
    )
    .unwrap();
    assert!(matches!(
        Store::open(&dir.path().join("x.db")),
        Err(StoreError::Damaged(_))
    ));
}

#[test]
fn a_newer_workspace_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    drop(Store::create(&path).unwrap());
    // SQLite keeps user_version big-endian at byte 60 of the file (sqlite.org/fileformat2, section 1.3).
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[60..64].copy_from_slice(&999_u32.to_be_bytes());
    std::fs::write(&path, bytes).unwrap();
    assert!(matches!(
        Store::open(&path),
        Err(StoreError::NewerSchema { found: 999, .. })
    ));
}

#[test]
fn bundles_merge_once_and_carry_undo() {
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("b.jsonl");
    let mut one = Store::in_memory().unwrap();
    bring(&mut one, "r1", &["one"], Some(0.0));
    label(&mut one, "ann", "r1", Layer::Index);
    label(&mut one, "ann", "r1", Layer::Model);
    one.undo(act("ann", 9)).unwrap();
    let written = one
        .write_bundle(&mut std::fs::File::create(&bundle).unwrap())
        .unwrap();
    assert_eq!(written.decisions, 3);
    let mut two = Store::in_memory().unwrap();
    bring(&mut two, "r1", &["one"], Some(0.0));
    label(&mut two, "bob", "r1", Layer::Tool);
    let merged = two.merge_bundle(&bundle).unwrap();
    assert_eq!((merged.added, merged.known), (3, 0));
    assert_eq!(two.merge_bundle(&bundle).unwrap().known, 3);
    assert_eq!(two.live_on("verdict", "r1").unwrap().len(), 2);
    std::fs::write(&bundle, "{\"format\":\"other\"}\n").unwrap();
    assert!(two.merge_bundle(&bundle).is_err());
}

#[test]
fn drafts_survive_and_go() {
    let mut store = Store::in_memory().unwrap();
    store.put_draft("ann", "r1", "half a th", 1).unwrap();
    assert_eq!(
        store.draft("ann", "r1").unwrap().as_deref(),
        Some("half a th")
    );
    store.put_draft("ann", "r1", "", 2).unwrap();
    assert_eq!(store.draft("ann", "r1").unwrap(), None);
}
