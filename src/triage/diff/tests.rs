//! Alignments on small runs, and what must hold for any two.

use super::*;
use crate::domain::chat::Role;
use crate::domain::{Rollout, StepKind};
use proptest::prelude::*;

fn run(letters: &str) -> Vec<Step> {
    letters
        .chars()
        .zip(0..)
        .map(|(c, i)| {
            let (owner, kind, role) = match c {
                'S' | 's' => (Owner::System, StepKind::Text, Role::System),
                'A'..='M' => (Owner::Model, StepKind::Text, Role::Assistant),
                _ => (Owner::Tool, StepKind::Observation, Role::Tool),
            };
            Step {
                index: i,
                message: i,
                ..Step::new(owner, kind, role, c.to_string())
            }
        })
        .collect()
}

fn picture(a: &str, b: &str) -> String {
    align(&run(a), &run(b))
        .iter()
        .map(|r| match r.kind {
            RowKind::Same => '=',
            RowKind::Changed => '~',
            RowKind::OnlyA => '<',
            RowKind::OnlyB => '>',
        })
        .collect()
}

#[test]
fn aligns_by_content_not_by_position() {
    assert_eq!(picture("SAnBo", "SAnBo"), "=====");
    assert_eq!(picture("SAnBo", "SAnCo"), "===~=");
    assert_eq!(picture("SAnBoCp", "SAnCp"), "===<<==");
    assert_eq!(picture("SA", "SAnB"), "==>>");
    assert_eq!(picture("", "A"), ">");
    // The observation differs, the action after it too.
    assert_eq!(picture("SAnBo", "SApCq"), "==~~~");
}

fn view<'a>(rollout: &'a Rollout, steps: &'a [Step]) -> RunView<'a> {
    RunView {
        rollout,
        steps,
        calls: &[],
    }
}

#[test]
fn s13_equal_weights_and_another_input_are_named() {
    let mut before = Rollout::new("a", "atif", "f");
    before.checkpoint = Some("sha:1".into());
    let mut after = before.clone();
    let (x, y) = (run("SAnB"), run("sAnC"));
    let d = diff_runs(&view(&before, &x), &view(&after, &y));
    assert_eq!(d.note, "input changed, weights unchanged");
    let first = d.first_divergence.unwrap();
    assert_eq!((first.a, first.owner), (Some(0), Owner::System));
    let prompt = d
        .layers
        .iter()
        .find(|l| l.layer == ComparedLayer::Prompt)
        .unwrap();
    assert_eq!(prompt.state, LayerState::Differs);
    let weights = d
        .layers
        .iter()
        .find(|l| l.layer == ComparedLayer::Parameters)
        .unwrap();
    assert_eq!(weights.state, LayerState::Same);

    after.checkpoint = Some("sha:2".into());
    let d = diff_runs(&view(&before, &x), &view(&after, &run("SAnC")));
    assert!(
        d.note.starts_with("input unchanged, weights changed"),
        "{}",
        d.note
    );
    after.checkpoint = None;
    let d = diff_runs(&view(&before, &x), &view(&after, &x));
    assert!(d.note.contains("weights unknown"), "{}", d.note);
}

#[test]
fn layers_are_told_apart_by_version() {
    let mut a = Rollout::new("a", "atif", "f");
    a.index_version = Some("idx-1".into());
    a.harness.version = Some("1".into());
    let mut b = a.clone();
    b.index_version = Some("idx-2".into());
    b.harness.version = None;
    let steps = run("SAnB");
    let layers = diff_runs(&view(&a, &steps), &view(&b, &steps)).layers;
    let state = |layer| layers.iter().find(|l| l.layer == layer).unwrap().state;
    assert_eq!(state(ComparedLayer::Index), LayerState::Differs);
    assert_eq!(state(ComparedLayer::Context), LayerState::Same);
    assert_eq!(state(ComparedLayer::Harness), LayerState::Unknown);
    assert_eq!(state(ComparedLayer::ToolText), LayerState::Unknown);
}

#[test]
fn words_differ_inside_a_line() {
    let got = word_diff("up to 80 EUR a night", "up to 90 EUR a night");
    let sides: Vec<(WordSide, &str)> = got.iter().map(|c| (c.side, c.text.as_str())).collect();
    assert_eq!(
        sides,
        [
            (WordSide::Both, "up to "),
            (WordSide::A, "80"),
            (WordSide::B, "90"),
            (WordSide::Both, " EUR a night")
        ]
    );
    let chinese = word_diff("每年十天年假", "每年五天年假");
    assert_eq!(chinese[1].text, "十");
}

proptest! {
    #[test]
    fn any_alignment_holds_every_step_once_and_in_order(a in "[A-Da-dnop]{0,40}", b in "[A-Da-dnop]{0,40}") {
        let (x, y) = (run(&a), run(&b));
        let rows = align(&x, &y);
        let left: Vec<u32> = rows.iter().filter_map(|r| r.a).collect();
        let right: Vec<u32> = rows.iter().filter_map(|r| r.b).collect();
        prop_assert_eq!(left, x.iter().map(|s| s.index).collect::<Vec<_>>());
        prop_assert_eq!(right, y.iter().map(|s| s.index).collect::<Vec<_>>());
    }

    #[test]
    fn words_give_both_texts_back(a in "\\PC{0,60}", b in "\\PC{0,60}") {
        let changes = word_diff(&a, &b);
        let side = |keep: WordSide| -> String {
            changes.iter().filter(|c| c.side == keep || c.side == WordSide::Both).map(|c| c.text.as_str()).collect()
        };
        prop_assert_eq!(side(WordSide::A), a);
        prop_assert_eq!(side(WordSide::B), b);
    }
}
