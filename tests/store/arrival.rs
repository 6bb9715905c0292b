//! A run that arrives from a place where another one stood: told further, or another sample. Nothing that was told is lost.

use std::ops::ControlFlow;
use triagent::domain::{Filter, Item, Owner, Role, Rollout, Sink, Step, StepKind};
use triagent::store::{IntakeCounts, Store};

/// Each step is a message of its own.
fn bring(store: &mut Store, told: &[(Owner, &str)]) -> IntakeCounts {
    let mut intake = store.intake(1_000_000).unwrap();
    let head = Rollout::new("r", "test", "run.json");
    let mut items = vec![Item::Begin(Box::new(head.clone()))];
    for (message, (owner, text)) in (0..).zip(told) {
        let kind = match owner {
            Owner::Tool => StepKind::Observation,
            _ => StepKind::Text,
        };
        let mut step = Step::new(*owner, kind, Role::Assistant, *text);
        step.message = message;
        items.push(Item::Step(Box::new(step)));
    }
    items.push(Item::End(Box::new(head)));
    for item in items {
        assert_eq!(intake.put(item), ControlFlow::Continue(()));
    }
    intake.finish().unwrap()
}

fn texts(store: &Store) -> Vec<Vec<String>> {
    let rows = store.runs(&Filter::default(), None, 10).unwrap().rows;
    let texts = rows.iter().map(|row| {
        let steps = store.steps(&row.id).unwrap();
        steps.iter().map(|s| s.text.clone()).collect()
    });
    texts.collect()
}

use Owner::{Model, System, Tool, User};

/// The file was overwritten by another sample of the same task: half of it is the same, and both are kept.
#[test]
fn another_sample_written_over_the_first_is_a_run_of_its_own() {
    let mut store = Store::in_memory().unwrap();
    let sample = |answer: &'static str, tool: &'static str| {
        [(System, "s"), (User, "u"), (Model, answer), (Tool, tool)]
    };
    bring(&mut store, &sample("answer A", "tool A"));
    let second = bring(&mut store, &sample("answer B", "tool B"));
    assert_eq!((second.stored, second.grown), (1, 0));
    assert_eq!(
        texts(&store),
        [
            ["s", "u", "answer A", "tool A"],
            ["s", "u", "answer B", "tool B"]
        ]
    );
    // Begins like the first one's answer, and goes another way behind it.
    let third = bring(&mut store, &sample("answer A, but", "tool C"));
    assert_eq!((third.stored, third.grown), (1, 0));
    // Another answer stands where the old run's was, which comes later.
    let fourth = [
        (System, "s"),
        (User, "u"),
        (Model, "hm"),
        (Model, "answer A"),
        (Tool, "tool A"),
    ];
    assert_eq!(bring(&mut store, &fourth).stored, 1);
    assert_eq!(texts(&store).len(), 4);
}

/// A look saw the last answer half, or before anything stood in it: the whole one takes its place.
#[test]
fn an_answer_that_was_seen_half_is_told_anew() {
    for half in ["I wi", ""] {
        let mut store = Store::in_memory().unwrap();
        bring(&mut store, &[(User, "u"), (Model, half)]);
        let whole = [(User, "u"), (Model, "I will look"), (Tool, "found")];
        let grown = bring(&mut store, &whole);
        assert_eq!((grown.stored, grown.grown), (0, 1), "{half:?}");
        assert_eq!(texts(&store), [["u", "I will look", "found"]]);
    }
}
