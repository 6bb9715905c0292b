//! The toy fixture of SCIENCE part 3, and what its edges must give.

use super::*;

fn cells(n: u8) -> Vec<Cell> {
    let placements = [Placement::Start, Placement::Natural, Placement::End];
    (0..n)
        .map(|i| Cell {
            placement: placements[usize::from(i % 3)],
            wrapper: i / 3,
        })
        .collect()
}

/// A margin as log-probs of two strings of equal length.
fn at(margin: f64) -> CellScore {
    CellScore {
        corrected: margin - 10.0,
        recorded: -10.0,
    }
}

fn variant(variant: Variant, n: u8, recorded: f64, changed: f64, placebo: f64) -> VariantScores {
    let len = usize::from(n);
    VariantScores {
        variant,
        author: "register".into(),
        diff: "+ v2".into(),
        cells: cells(n),
        baseline: vec![at(recorded); len],
        changed: vec![at(changed); len],
        placebos: vec![vec![at(placebo); 3]; len],
    }
}

fn toy(evidence: f64, oracle: f64, n: u8) -> ProbeMatrix {
    ProbeMatrix {
        corrected_bytes: 20,
        recorded_bytes: 20,
        variants: vec![
            variant(Variant::Evidence, n, -3.2, evidence, -3.0),
            variant(Variant::Oracle, n, -3.2, oracle, -3.0),
        ],
    }
}

fn facts() -> GateFacts {
    GateFacts {
        fits_window: true,
        same_template: true,
        ..GateFacts::default()
    }
}

fn run(matrix: &ProbeMatrix) -> ProbeReport {
    evaluate_probe(matrix, &facts(), false, &ProbeSettings::default())
}

#[test]
fn toy_fixture_shifts_and_flips() {
    // SCIENCE part 3: m(x_R) = −3.2, m(x_E) = +1.1, placebo −3.0, oracle +4.0 → ē = 4.1 ≥ τ = 1.0, flip true.
    let report = run(&toy(1.1, 4.0, 12));
    let e = report.effect(Variant::Evidence).unwrap();
    assert!((e.effect - 4.1).abs() < 1e-9, "{}", e.effect);
    assert!((report.tau - 1.0).abs() < 1e-12);
    assert!(e.shift && e.flip && !e.fragile);
    // 12 identical cells: the smallest p that 12 signs allow, 2/4096 = 0.00049.
    assert!((e.p.unwrap() - 2.0 / 4096.0).abs() < 1e-12);
    assert_eq!(e.placebo_rank, Some((1, 36)));
    assert!(report.gates_hold() && !report.screen_only);
    // Both terms are shown, not only their difference.
    assert!((e.margin.0 + 3.2).abs() < 1e-9 && (e.margin.1 - 1.1).abs() < 1e-9);
    assert!((e.recorded.1 + 10.0).abs() < 1e-9);
}

#[test]
fn toy_fixture_without_effect_does_not_shift() {
    // Replace m(x_E) by −2.8 → ē = 0.2.
    let report = run(&toy(-2.8, 4.0, 12));
    let e = report.effect(Variant::Evidence).unwrap();
    assert!((e.effect - 0.2).abs() < 1e-9 && !e.shift && report.gates_hold());
}

#[test]
fn an_insensitive_proxy_fails_the_control() {
    // Oracle −3.0 → gate fails.
    let report = run(&toy(1.1, -3.0, 12));
    assert_eq!(report.failed_gate().unwrap().name, "positive control");
}

#[test]
fn few_cells_are_a_screen_only() {
    for n in [1, 6, 7] {
        let report = run(&toy(1.1, 4.0, n));
        assert!(
            report.screen_only && !report.shifts(Variant::Evidence),
            "{n} cells"
        );
    }
    assert!(!run(&toy(1.1, 4.0, 8)).screen_only);
}

#[test]
fn a_model_that_does_not_make_the_error_fails_the_reproduction() {
    let mut matrix = toy(3.0, 6.0, 12);
    for v in &mut matrix.variants {
        v.baseline = vec![at(0.5); 12];
    }
    assert_eq!(run(&matrix).failed_gate().unwrap().name, "reproduction");
}

#[test]
fn an_unstable_slot_and_a_cut_prompt_fail_their_gates() {
    let mut matrix = toy(1.1, 4.0, 12);
    matrix.variants[0].placebos = vec![vec![at(0.0); 3]; 12];
    matrix.variants[1].placebos = vec![vec![at(0.0); 3]; 12];
    assert_eq!(run(&matrix).failed_gate().unwrap().name, "placebo");
    let cut = GateFacts {
        fits_window: false,
        ..facts()
    };
    let report = evaluate_probe(&toy(1.1, 4.0, 12), &cut, false, &ProbeSettings::default());
    assert_eq!(report.failed_gate().unwrap().name, "length");
}

#[test]
fn tau_grows_with_the_placebos_spread() {
    // By hand: placebo shifts −1, 0, 1 in each cell → MAD 1 → τ = 3 · 1.4826.
    let mut matrix = toy(1.1, 4.0, 12);
    for v in &mut matrix.variants {
        v.placebos = vec![vec![at(-4.2), at(-3.2), at(-2.2)]; 12];
    }
    let report = run(&matrix);
    assert!((report.tau - 3.0 * 1.4826).abs() < 1e-9, "{}", report.tau);
    assert!(!report.shifts(Variant::Evidence), "4.3 is below τ = 4.45");
}

#[test]
fn an_effect_that_turns_with_the_placement_is_fragile() {
    let mut matrix = toy(1.1, 4.0, 12);
    let scores = &mut matrix.variants[0];
    for (cell, changed) in scores.cells.iter().zip(&mut scores.changed) {
        if cell.placement == Placement::End {
            *changed = at(-5.0);
        }
    }
    assert!(run(&matrix).effect(Variant::Evidence).unwrap().fragile);
}

#[test]
fn an_inserted_text_that_any_text_could_be_ranks_too_low() {
    let mut matrix = toy(1.1, 4.0, 12);
    // Two of 36 unrelated documents do as much: rank 3 of 37 is below the top 5%.
    matrix.variants[0].placebos[0][0] = at(1.5);
    matrix.variants[0].placebos[1][0] = at(1.5);
    let report = run(&matrix);
    let e = report.effect(Variant::Evidence).unwrap();
    assert_eq!(e.placebo_rank, Some((3, 36)));
    assert!(!e.shift);
}

#[test]
fn drift_needs_thirty_actions_and_rank_agreement() {
    let with = |n: u32, sign: f64| GateFacts {
        logged: (0..n)
            .map(|i| (f64::from(i), sign * f64::from(i)))
            .collect(),
        ..facts()
    };
    let gate = |facts: &GateFacts| {
        let report = evaluate_probe(&toy(1.1, 4.0, 12), facts, false, &ProbeSettings::default());
        report
            .gates
            .iter()
            .find(|g| g.name == "drift")
            .map(|g| g.holds)
    };
    assert_eq!(gate(&with(30, 1.0)), Some(Some(true)));
    assert_eq!(gate(&with(30, -1.0)), Some(Some(false)));
    assert_eq!(gate(&with(29, -1.0)), Some(None));
    assert_eq!(gate(&facts()), None);
}

#[test]
fn the_same_matrix_gives_the_same_bytes() {
    let bytes = || serde_json::to_string(&run(&toy(1.1, 4.0, 12))).unwrap();
    assert_eq!(bytes(), bytes());
}
