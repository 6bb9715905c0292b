//! `rewards`: numbers in, relative signal out.

use super::desk::Desk;
use serde_json::json;

#[test]
fn s57_the_seeds_example() {
    // Seed A5: [0,0,1,1] → mean 0.5, population std 0.5, [-1,-1,1,1].
    let desk = Desk::new();
    let row = desk
        .run(&["rewards", "advantages", "0", "0", "1", "1", "--json"])
        .ok()
        .row();
    assert_eq!(row["mean"], 0.5);
    assert_eq!(row["std"], 0.5);
    assert_eq!(row["convention"], "population");
    assert_eq!(row["advantages"], json!([-1.0, -1.0, 1.0, 1.0]));
    assert_eq!(row["signal"], "relative");
    assert!(row["missing"].as_array().unwrap().len() >= 7, "S-59: {row}");
    let text = desk
        .run(&["rewards", "advantages", "0", "0", "1", "1"])
        .ok()
        .out;
    for words in [
        "mean        0.5",
        "population std",
        "relative signal only",
        "clipping",
    ] {
        assert!(text.contains(words), "{words} is missing:\n{text}");
    }
}

#[test]
fn s60_a_group_of_equals_has_no_relative_signal_and_no_false_claim() {
    let desk = Desk::new();
    let ran = desk
        .run(&["rewards", "advantages", "0", "0", "0", "0"])
        .ok();
    assert!(
        ran.out.contains("no distinguishing relative signal"),
        "{}",
        ran.out
    );
    assert!(!ran.out.to_lowercase().contains("gradient is zero"));
}

#[test]
fn minus_one_is_a_number_and_a_dash_is_missing() {
    let desk = Desk::new();
    let row = desk
        .run(&["rewards", "advantages", "-1", "_", "1", "--json"])
        .ok()
        .row();
    // By hand: mean 0, population std 1.
    assert_eq!(row["advantages"], json!([-1.0, null, 1.0]));
    assert_eq!(row["missing_rewards"], json!([2]));
    let ran = desk.run(&["rewards", "advantages", "1", "x"]).ended(2);
    assert!(ran.err.contains("reward 2 is `x`"), "{}", ran.err);
}

#[test]
fn s58_trl_prints_other_numbers_than_the_seed() {
    let desk = Desk::new();
    for flag in ["--convention", "--std"] {
        let row = desk
            .run(&[
                "rewards",
                "advantages",
                "0",
                "0",
                "1",
                "1",
                flag,
                "trl",
                "--json",
            ])
            .ok()
            .row();
        // REQUIREMENTS, numeric fixtures: ±0.865875.
        let first = row["advantages"][0].as_f64().unwrap();
        assert!((first + 0.865_875).abs() < 1e-6, "{first}");
    }
}
