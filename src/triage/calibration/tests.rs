//! Quality, gain and reliability by hand; the table of published labels.

use super::*;

fn item(id: usize, group: &str, truth: Layer, said: Layer, row: u32) -> Judged {
    Judged {
        id: id.to_string(),
        group: group.to_owned(),
        truth,
        said,
        row: (said != Layer::Undetermined).then_some(row),
    }
}

use Layer::{Context, Index, Model, Tool, Undetermined};

#[test]
fn quality_counts_abstention_apart_from_mistakes() {
    let items = [
        item(0, "a", Index, Index, 3),
        item(1, "a", Context, Index, 3),
        item(2, "b", Tool, Undetermined, 0),
        item(3, "b", Undetermined, Undetermined, 0),
    ];
    let q = quality(&items);
    // By hand: index P 1/2 R 1 F1 2/3; context 0; tool 0; undetermined P 1/2 R 1 F1 2/3; mean 1/3.
    assert!((q.macro_f1.unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(
        (q.accuracy, q.abstention, q.right_when_named),
        (Some(0.5), 0.5, Some(0.5))
    );
    assert_eq!(q.recall(Index), Some(1.0));
    assert_eq!(q.recall(Model), None);
    let said: Vec<(Layer, Layer, u32)> =
        q.confusion.iter().map(|c| (c.truth, c.said, c.n)).collect();
    assert_eq!(
        said,
        [
            (Index, Index, 1),
            (Context, Index, 1),
            (Tool, Undetermined, 1),
            (Undetermined, Undetermined, 1)
        ]
    );
}

#[test]
fn a_gain_is_drawn_by_task_and_needs_the_same_items() {
    let groups = ["a", "b", "c", "d", "e"];
    let list = |said: fn(Layer) -> Layer| -> Vec<Judged> {
        (0..20)
            .map(|i| {
                let truth = [Index, Tool][i % 2];
                item(i, groups[i / 4], truth, said(truth), 3)
            })
            .collect()
    };
    let rules = list(|t| if t == Index { Index } else { Undetermined });
    let all_right = list(|t| t);
    let gain = macro_f1_gain(&all_right, &rules, 2000, 7).unwrap();
    // By hand: 1 against the mean of index 1, tool 0, undetermined 0.
    assert!((gain.difference - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(gain.groups, 5);
    assert!(gain.is_proven());
    // Every task looks alike, so every draw gives the same.
    let interval = gain.interval.unwrap();
    assert!((interval.low - interval.high).abs() < 1e-12);
    let nothing = macro_f1_gain(&rules, &rules, 2000, 7).unwrap();
    assert!(!nothing.is_proven() && nothing.difference.abs() < 1e-12);
    assert_eq!(macro_f1_gain(&all_right, &rules[1..], 2000, 7), None);
}

#[test]
fn a_row_is_trusted_as_far_as_it_was_right_on_other_tasks() {
    // Row 5 is right in task a (3 of 3) and wrong in task b (0 of 1).
    let items = [
        item(0, "a", Tool, Tool, 5),
        item(1, "a", Tool, Tool, 5),
        item(2, "a", Tool, Tool, 5),
        item(3, "b", Model, Tool, 5),
        item(4, "b", Model, Undetermined, 0),
    ];
    let r = reliability(&items).unwrap();
    // By hand, Laplace: items of a see b only, (0+1)/(1+2) = 1/3; the item of b sees a, (3+1)/(3+2) = 4/5.
    let brier = (3.0 * (1.0_f64 / 3.0 - 1.0).powi(2) + 0.8_f64.powi(2)) / 4.0;
    assert!((r.brier - brier).abs() < 1e-12, "{}", r.brier);
    // Constant 3/4: (3·(1/4)² + (3/4)²)/4.
    assert!((r.brier_constant - 0.1875).abs() < 1e-12);
    assert_eq!(r.n, 4);
    let bins: Vec<(u32, f64)> = r.bins.iter().map(|b| (b.n, b.right)).collect();
    assert_eq!(bins, [(3, 1.0), (1, 0.0)]);
    assert_eq!(
        row_record(&items),
        [RowRecord {
            row: 5,
            layer: Tool,
            right: 3,
            of: 4
        }]
    );
    assert_eq!(reliability(&items[4..]), None);
}

#[test]
fn the_published_categories_mean_what_the_table_says() {
    // SCIENCE part 2, "Datasets for measuring agreement", row AgentRx.
    for (category, layers) in [
        ("Misinterpretation of Tool Output", &[Model][..]),
        ("Instruction Adherence Failure", &[Model]),
        ("Intent Plan Misalignment", &[Model]),
        ("Intent-Plan Misalignment", &[Model]),
        ("Invention of New Information", &[Model]),
        ("Underspecified User Intent", &[Context]),
        ("Invalid Invocation", &[Tool, Model]),
        ("Intent Not Supported", &[Layer::Environment]),
        ("System Failure", &[Layer::Environment]),
        ("Something new", &[]),
    ] {
        assert_eq!(agentrx_layers(category), layers, "{category}");
    }
}

#[test]
fn agreement_with_people_is_strict_in_kappa_and_fair_to_ambiguous_labels() {
    let label = |layers: &[Layer]| OutsideLabel {
        run: "r".into(),
        category: "c".into(),
        layers: layers.to_vec(),
        step: None,
    };
    let pairs = [
        (label(&[Model]), Model),
        (label(&[Tool, Model]), Model),
        (label(&[Model]), Undetermined),
        (label(&[Context]), Undetermined),
    ];
    let report = compare_with_people(&pairs);
    assert_eq!((report.named, report.agreed, report.commonest), (2, 2, 2));
    // By hand: p_o = 1/4; p_e = model 2/4 · 2/4 = 1/4; κ = 0.
    assert!(report.kappa.unwrap().abs() < 1e-12);
    assert!((report.quality.abstention - 0.5).abs() < 1e-12);
}
