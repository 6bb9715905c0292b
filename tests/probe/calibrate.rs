//! Calibration with models whose worth is known: one that reads as one should, one that notices nothing.

use super::hand::ByHand;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use triagent::domain::{ChatMessage, Layer, Progress};
use triagent::jobs::{CalibrateOptions, Calibration, calibrate};
use triagent::store::Store;

fn suite() -> Vec<Value> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/assets/fault-suite/suite.jsonl"
    );
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

/// What a reader who misses nothing does with each failure of the suite.
struct Reader {
    cases: Vec<Case>,
}

struct Case {
    request: String,
    actions: [String; 2],
    hint: Vec<String>,
    /// The pieces of each variant that mends.
    mends: Vec<Vec<Vec<String>>>,
    /// Evidence that the decision rests on.
    rests_on: Option<Vec<String>>,
    is_wrong: bool,
}

/// Pieces of a variant; the words of one piece stand on one line.
fn pieces(edit: &Value) -> Vec<Vec<String>> {
    let text = |v: &Value| v.as_str().unwrap().to_owned();
    let tool = |e: &Value| {
        let name = format!("\"name\":\"{}\"", e["tool"].as_str().unwrap());
        let arguments = e["arguments"].as_object().unwrap().values().map(text);
        let words = [name, text(&e["description"])];
        words.into_iter().chain(arguments).collect()
    };
    let edits = edit["edits"].as_array();
    match edit["op"].as_str().unwrap() {
        "replace_text" => edits
            .unwrap()
            .iter()
            .map(|e| vec![text(&e["put"])])
            .collect(),
        "replace_tool" => edits.unwrap().iter().map(tool).collect(),
        _ => vec![vec![text(&edit["text"])]],
    }
}

fn stands(piece: &[String], said: &str) -> bool {
    said.lines()
        .any(|line| piece.iter().all(|words| line.contains(words)))
}

fn action(message: &Value) -> String {
    let call = &message["tool_calls"][0]["function"];
    match message["content"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("{}{}", call["name"].as_str().unwrap(), call["arguments"]),
    }
}

fn action_of(message: &ChatMessage) -> String {
    let call = message.tool_calls.first();
    let called = call.map(|c| format!("{}{}", c.name, c.arguments_object().unwrap()));
    message.content.clone().or(called).unwrap()
}

impl Reader {
    fn new() -> Self {
        let case = |row: Value| {
            let variants = &row["variants"];
            let mends = ["E", "C", "T"].iter().filter_map(|v| variants.get(*v));
            Case {
                request: row["task"]["prompt"].as_str().unwrap().to_owned(),
                actions: [action(&row["recorded"]), action(&row["corrected"][0])],
                hint: pieces(&variants["O"]).remove(0),
                mends: mends.map(pieces).collect(),
                rests_on: variants.get("-E").map(|e| pieces(e).remove(0)),
                is_wrong: row["cause"] != "none" && row["cause"] != "grader_wants_other_words",
            }
        };
        Self {
            cases: suite().into_iter().map(case).collect(),
        }
    }

    /// The margin of a model that makes the recorded mistakes and turns on whatever it is given.
    fn margin(&self, said: &str, actions: &[ChatMessage]) -> f64 {
        let own = [action_of(&actions[0]), action_of(&actions[1])];
        let case = self
            .cases
            .iter()
            .find(|c| c.actions == own && said.contains(&c.request))
            .unwrap_or_else(|| panic!("{own:?}\n{said}"));
        if stands(&case.hint, said) {
            return 4.0;
        }
        if !case.is_wrong {
            return 0.5;
        }
        let mended = |all: &&Vec<Vec<String>>| all.iter().all(|p| stands(p, said));
        let gain = case.mends.iter().filter(mended).count() as f64 * 3.5;
        let gone = case.rests_on.as_ref().is_some_and(|p| !stands(p, said));
        gain - 3.0 - if gone { 5.0 } else { 0.0 }
    }
}

/// What comes of a model that notices nothing; made once, because it takes its time.
static BLIND: LazyLock<Calibration> = LazyLock::new(|| run(|_, _| -3.0));

fn run(margin: impl FnMut(&str, &[ChatMessage]) -> f64) -> Calibration {
    let mut model = ByHand::new(margin);
    let options = CalibrateOptions::default();
    calibrate(None, &mut model, &options, 1, &Progress::default()).unwrap()
}

#[test]
fn a_model_that_notices_nothing_stays_off() {
    let found = run(|_, _| -3.0);
    assert_eq!(
        (found.screen.cases.len(), found.full.cases.len()),
        (180, 20)
    );
    // Rules alone: index, context, environment and grader are always found; 100 failures stay open, 40 of them rightly.
    let rules = &found.screen.rules;
    let f1 = |layer| {
        let class = rules.classes.iter().find(|c| c.layer == layer);
        class.and_then(|c| c.f1)
    };
    for layer in [Layer::Environment, Layer::Grader] {
        assert_eq!(f1(layer), Some(1.0), "{layer}");
    }
    assert_eq!((f1(Layer::Tool), f1(Layer::Model)), (Some(0.0), Some(0.0)));
    assert_eq!(found.screen.failed_gates["positive control"], 180);
    assert!(!found.ship && !found.uses_evidence);
    assert!(found.verdict.contains("does not beat"), "{}", found.verdict);
    assert!(found.screen.gain.as_ref().unwrap().difference < 0.0);
}

#[test]
fn a_model_that_reads_as_one_should_wins() {
    let reader = Reader::new();
    let found = run(|said, actions| reader.margin(said, actions));
    let wrong: Vec<_> = found
        .full
        .cases
        .iter()
        .filter(|c| c.probe != c.truth)
        .map(|c| (&c.id, c.truth, c.probe, c.row, &c.failed_gate, &c.effects))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(found.full.probe.macro_f1, Some(1.0));
    assert!(found.uses_evidence && found.ship, "{}", found.verdict);
}

#[test]
fn the_sample_holds_every_kind_in_proportion_and_repeats_with_its_seed() {
    let found = &*BLIND;
    let mut by_truth: BTreeMap<&str, usize> = BTreeMap::new();
    for case in &found.full.cases {
        *by_truth.entry(case.truth.word()).or_default() += 1;
    }
    // 30 of 180 each → 3 or 4 of 20; 40 open ones → 4 or 5; 10 outages and 10 graders → 1 or 2.
    for layer in ["index", "context", "tool", "model"] {
        assert!((3..=4).contains(&by_truth[layer]), "{by_truth:?}");
    }
    assert!((3..=5).contains(&by_truth["undetermined"]), "{by_truth:?}");
    let ids = |c: &Calibration| {
        c.full
            .cases
            .iter()
            .map(|c| c.id.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(found), ids(&run(|_, _| -3.0)));
}

#[test]
fn a_stopped_calibration_goes_on_in_its_workspace() {
    let mut store = Store::in_memory().unwrap();
    let options = CalibrateOptions {
        full: 2,
        ..CalibrateOptions::default()
    };
    let mut first = ByHand::new(|_: &str, _: &[ChatMessage]| -3.0);
    first.stops_after = 500;
    calibrate(
        Some(&mut store),
        &mut first,
        &options,
        1,
        &Progress::default(),
    )
    .unwrap_err();
    let mut second = ByHand::new(|_: &str, _: &[ChatMessage]| -3.0);
    let found = calibrate(
        Some(&mut store),
        &mut second,
        &options,
        1,
        &Progress::default(),
    )
    .unwrap();
    let mut third = ByHand::new(|_: &str, _: &[ChatMessage]| -3.0);
    let again = calibrate(
        Some(&mut store),
        &mut third,
        &options,
        1,
        &Progress::default(),
    )
    .unwrap();
    assert_eq!(again, found);
    assert_eq!(third.asked, 0);
    assert!(second.asked > 0);
    let mut whole = ByHand::new(|_: &str, _: &[ChatMessage]| -3.0);
    calibrate(None, &mut whole, &options, 1, &Progress::default()).unwrap();
    // Only the case that was cut in two is asked about twice.
    assert!(first.asked + second.asked - whole.asked < 20);
}
