//! Test vectors of SCIENCE part 5, recomputed there from the published examples.

use super::*;
use crate::domain::{Choice, Side};

fn close(got: Option<f64>, want: f64) {
    let got = got.unwrap();
    assert!((got - want).abs() < 5e-7, "got {got}, want {want}");
}

/// Rows of reviewers, one character an item, `·` or a space missing.
fn units(rows: &[&str]) -> Vec<Vec<f64>> {
    let rows: Vec<Vec<char>> = rows.iter().map(|r| r.chars().collect()).collect();
    (0..rows[0].len())
        .map(|i| {
            rows.iter()
                .map(|r| r[i])
                .filter(|c| *c != '·')
                .map(|c| f64::from(u32::from(c) - u32::from('0')))
                .collect()
        })
        .collect()
}

fn value(rows: &[&str], metric: AlphaMetric) -> Option<f64> {
    alpha(&units(rows), metric).unwrap().value
}

#[test]
fn vector_1_krippendorffs_example() {
    let rows = [
        "12332141 2···",
        "1233224125·3",
        "·33323422 51·",
        "1233244125 1·",
    ];
    let rows: Vec<String> = rows.iter().map(|r| r.replace(' ', "")).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    close(value(&rows, AlphaMetric::Nominal), 0.743421);
    close(value(&rows, AlphaMetric::Ordinal), 0.815388);
    close(value(&rows, AlphaMetric::Interval), 0.849107);
    close(value(&rows, AlphaMetric::Ratio), 0.797403);
    let a = alpha(&units(&rows), AlphaMetric::Nominal).unwrap();
    assert_eq!((a.n, a.dropped), (40, 1));
    assert_eq!(
        a.counts.iter().map(|(_, c)| *c).collect::<Vec<_>>(),
        [9, 13, 10, 5, 3]
    );
    assert!((a.observed - 0.2).abs() < 1e-9 && (a.expected - 0.779487).abs() < 5e-7);
}

#[test]
fn vectors_2_to_4() {
    close(
        value(&["0100000010", "1110010000"], AlphaMetric::Nominal),
        0.095238,
    );
    close(
        value(&["aabbdcccedda", "babbbccceddd"], AlphaMetric::Nominal),
        0.691964,
    );
    let gaps = ["·····34121133·3", "1·213343·······", "··21344·21133·4"];
    close(value(&gaps, AlphaMetric::Nominal), 0.691358);
    close(value(&gaps, AlphaMetric::Interval), 0.810845);
}

#[test]
fn vector_5_our_labels() {
    // 3×8 layers with gaps → 0.622642 (n = 21).
    let a = [
        "index", "index", "context", "model", "model", "tool", "", "model",
    ];
    let b = [
        "index", "context", "context", "model", "", "tool", "model", "model",
    ];
    let c = [
        "", "index", "context", "context", "model", "tool", "model", "index",
    ];
    let mut labels = Vec::new();
    for (who, row) in [("a", a), ("b", b), ("c", c)] {
        labels.extend(
            row.iter()
                .enumerate()
                .filter(|(_, l)| !l.is_empty())
                .map(|(i, l)| (i.to_string(), who, *l)),
        );
    }
    let ratings = Ratings::from_labels(labels.iter().map(|(i, w, l)| (i.as_str(), *w, *l)));
    let (given, _) = ratings.units();
    let direct = alpha(&given, AlphaMetric::Nominal).unwrap();
    close(direct.value, 0.622642);
    assert_eq!(direct.n, 21);
    let report = agreement_report(&ratings, 1);
    assert_eq!(report.statistics[0].statistic, "krippendorff-alpha-nominal");
    close(report.statistics[0].value, 0.622642);
    let interval = report.statistics[0].interval.unwrap();
    assert!(interval.low < 0.622642 && 0.622642 < interval.high);
    // Items 1, 3 and 7 differ.
    assert_eq!(
        report
            .disagreements
            .iter()
            .map(|d| d.item.as_str())
            .collect::<Vec<_>>(),
        ["1", "3", "7"]
    );
    assert_eq!(report, agreement_report(&ratings, 1));
}

fn table(cells: &[&[u32]]) -> Table {
    Table {
        cells: cells.iter().map(|r| r.to_vec()).collect(),
    }
}

#[test]
fn vector_6_cohen_and_the_prevalence_paradox() {
    close(cohen(&table(&[&[20, 5], &[10, 15]])), 0.4);
    close(cohen(&table(&[&[45, 15], &[25, 15]])), 0.130435);
    close(cohen(&table(&[&[25, 35], &[5, 35]])), 0.259259);
    let paradox = table(&[&[118, 5], &[2, 0]]);
    close(cohen(&paradox), -0.023392);
    close(paradox.observed(), 0.944);
    close(pabak(&paradox), 0.888);
    close(ac1(&paradox.counts()), 0.940776);
}

#[test]
fn vector_7_four_layers() {
    let t = table(&[&[12, 2, 0, 1], &[3, 9, 1, 2], &[0, 1, 7, 2], &[1, 2, 1, 16]]);
    close(t.observed(), 0.733333);
    close(cohen(&t), 0.636364);
    close(ac1(&t.counts()), 0.647102);
    close(table_alpha(&t), 0.639257);
}

#[test]
fn vector_8_fleiss() {
    let items: Vec<Vec<u32>> = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    .iter()
    .map(|r| r.to_vec())
    .collect();
    let kappa = fleiss(&items).unwrap();
    assert!((kappa - 0.209931).abs() < 1e-6, "{kappa}");
    assert_eq!(fleiss(&[vec![2, 1], vec![1, 1]]), None);
}

#[test]
fn one_category_only_is_undefined_and_single_labels_are_dropped() {
    let same = Ratings::from_labels([
        ("1", "a", "index"),
        ("1", "b", "index"),
        ("2", "a", "index"),
        ("2", "b", "index"),
    ]);
    let report = agreement_report(&same, 1);
    assert_eq!(
        (report.statistics[0].value, report.statistics[0].interval),
        (None, None)
    );
    assert!(report.statistics[0].reason.starts_with("n/a"));
    let lonely = Ratings::from_labels([("1", "a", "index"), ("2", "a", "tool")]);
    let report = agreement_report(&lonely, 1);
    assert_eq!((report.dropped, report.statistics[0].value), (2, None));
}

#[test]
fn two_complete_reviewers_also_get_cohens_kappa() {
    let ratings = Ratings::from_labels([
        ("1", "a", "x"),
        ("1", "b", "x"),
        ("2", "a", "x"),
        ("2", "b", "y"),
        ("3", "a", "y"),
        ("3", "b", "y"),
        ("4", "a", "y"),
        ("4", "b", "y"),
    ]);
    let names: Vec<String> = agreement_report(&ratings, 1)
        .statistics
        .iter()
        .map(|s| s.statistic.clone())
        .collect();
    assert_eq!(
        names,
        [
            "krippendorff-alpha-nominal",
            "cohen-kappa",
            "raw-agreement",
            "gwet-ac1"
        ]
    );
    let report = agreement_report(&ratings, 1);
    // By hand: p_o = 3/4, p_e = (2·1 + 2·3)/16 = 1/2 → κ = 1/2; label x: 2 of 3 meetings agree.
    close(report.statistics[1].value, 0.5);
    close(report.per_label["x"], 2.0 / 3.0);
}

#[test]
fn side_and_length_bias() {
    let trace = |choice, left, a, b| PairTrace {
        reviewer: "ann".into(),
        choice,
        left: Some(left),
        length_a: a,
        length_b: b,
    };
    let all = vec![
        trace(Choice::A, Side::A, 10, 5),
        trace(Choice::A, Side::A, 20, 5),
        trace(Choice::B, Side::B, 5, 10),
        trace(Choice::Tie, Side::A, 5, 10),
    ];
    let bias = pair_bias(&all);
    assert_eq!(
        (
            bias.sided,
            bias.left_chosen,
            bias.chosen_longer,
            bias.rejected_longer
        ),
        (3, 3, 3, 0)
    );
    // 3 of 3: exact two-sided 2/8.
    assert!((bias.side_p - 0.25).abs() < 1e-12 && (bias.length_p - 0.25).abs() < 1e-12);
    assert_eq!(bias.length_ratio, Some(2.0));
    assert_eq!(swap_check(Choice::A, Choice::B), SwapCheck::Tie);
}

#[test]
fn haste_is_flagged_only_in_stretches() {
    let mut times = vec![1000; 20];
    times[3..8].fill(100);
    times[12] = 50;
    let p = pace(&times).unwrap();
    assert_eq!((p.median_ms, p.hasty), (1000.0, vec![(3, 5)]));
    assert_eq!(pace(&[]), None);
}
