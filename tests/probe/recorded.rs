//! Calibrations that ship with the program: they count for the models that they name, and the page about them tells the same.

use std::collections::BTreeMap;
use triagent::domain::Layer;
use triagent::jobs::{CaseResult, calibration_of, recorded_calibrations};
use triagent::score::{ModelSource, Options, Scorer};

/// Macro-F1 from the cases by the textbook: 2·tp / (2·tp + fp + fn), mean over the layers that were put in.
fn macro_f1(cases: &[CaseResult], said: fn(&CaseResult) -> Layer) -> f64 {
    let mut counts: BTreeMap<Layer, (u32, u32)> = BTreeMap::new();
    for case in cases {
        counts.entry(case.truth).or_default().1 += 1;
        counts.entry(said(case)).or_default().1 += 1;
        if said(case) == case.truth {
            counts.entry(case.truth).or_default().0 += 1;
        }
    }
    let put_in = |layer: &Layer| cases.iter().any(|c| c.truth == *layer);
    let f1: Vec<f64> = counts
        .iter()
        .filter(|(layer, _)| put_in(layer))
        .map(|(_, (hits, named))| 2.0 * f64::from(*hits) / f64::from(*named))
        .collect();
    f1.iter().sum::<f64>() / f1.len() as f64
}

#[test]
fn what_ships_is_about_this_suite_and_its_figures_follow_from_its_cases() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/calibration.md");
    let page = std::fs::read_to_string(page).unwrap();
    let all = recorded_calibrations();
    assert!(!all.is_empty());
    for one in all {
        let name = &one.binding.model;
        assert!(
            calibration_of(None, &one.binding).unwrap().is_some(),
            "{name}: another edition of the suite"
        );
        assert_eq!(one.screen.cases.len(), 180, "{name}");
        for c in [&one.screen, &one.full] {
            for (quality, said) in [
                (&c.rules, (|r| r.rules) as fn(&CaseResult) -> Layer),
                (&c.probe, |r| r.probe),
            ] {
                let told = quality.macro_f1.unwrap();
                assert!(
                    (told - macro_f1(&c.cases, said)).abs() < 1e-9,
                    "{name}: {told}"
                );
                assert!(
                    page.contains(&format!("| {told:.3} |")),
                    "{name}: {told:.3} is not on the page"
                );
            }
        }
        let wins = [&one.screen, &one.full].iter().all(|c| {
            let interval = c.gain.as_ref().and_then(|g| g.interval);
            interval.is_some_and(|i| i.low > 0.0)
        });
        assert_eq!(one.ship, wins, "{name}: the ship rule");
        assert!(
            page.contains(&one.verdict),
            "{name}: scripts/calibration_page.py"
        );
    }
}

#[test]
fn the_embedded_proxy_is_known_and_stays_out_of_suggestions() {
    let scorer = Scorer::open(&ModelSource::Embedded, &Options::default()).unwrap();
    let known = calibration_of(None, scorer.binding()).unwrap();
    let known = known.expect("the weights, the template or the numerics changed: record it anew");
    assert!(!known.ship && !known.uses_evidence);
}
