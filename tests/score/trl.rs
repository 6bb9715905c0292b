//! TRL's own numbers: DPO's log-probs, margins and losses of an exported file.

use crate::score::models::{folder, messages, open};
use serde_json::Value;
use std::path::{Path, PathBuf};
use triagent::domain::Progress;
use triagent::score::{ActionScore, Options, Request, Scorer};

/// Agreement with the trainer that the product promises, in nats per completion.
const NATS: f64 = 1e-3;

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn sides(scorer: &mut Scorer, row: &Value) -> Vec<ActionScore> {
    let tools = match &row["tools"] {
        Value::String(text) => serde_json::from_str(text).unwrap(),
        other => other.clone(),
    };
    let (context, chosen, rejected) = (
        messages(&row["prompt"]),
        messages(&row["chosen"]),
        messages(&row["rejected"]),
    );
    let request = Request {
        context: &context,
        tools: tools.as_array().map_or(&[], Vec::as_slice),
        actions: &[chosen[0].clone(), rejected[0].clone()],
        now_us: None,
    };
    let scores = scorer.score(&request, &Progress::default());
    scores.into_iter().map(Result::unwrap).collect()
}

fn check(mut policy: Scorer, reference: Option<Scorer>, rows: &str, report: &Value) {
    let mut reference = reference;
    let rows = rows
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut compared = 0;
    for (row, expected) in rows.zip(report["pairs"].as_array().unwrap()) {
        let ours = sides(&mut policy, &row);
        let number = |key: &str, i: usize| expected[key][i].as_f64().unwrap();
        for (i, score) in ours.iter().enumerate() {
            let want = number("trainer_logps", i);
            let off = (score.logp_sum_trl - want).abs();
            assert!(
                off < NATS,
                "row {compared} side {i}: {} instead of {want}",
                score.logp_sum_trl
            );
        }
        assert_eq!(
            f64::from(ours[0].prompt_tokens),
            expected["prompt_tokens"].as_f64().unwrap()
        );
        if let Some(reference) = &mut reference {
            let theirs = sides(reference, &row);
            // DPO (Rafailov et al.): m = β Σ (log π − log π₀) chosen minus rejected, loss = softplus(−m).
            let ratio = |i: usize| ours[i].logp_sum_trl - theirs[i].logp_sum_trl;
            let margin = report["beta"].as_f64().unwrap() * (ratio(0) - ratio(1));
            assert!((margin - expected["margin"].as_f64().unwrap()).abs() < NATS);
            let loss = (-margin).exp().ln_1p();
            assert!((loss - expected["sigmoid_loss"].as_f64().unwrap()).abs() < NATS);
        }
        compared += 1;
    }
    assert!(compared > 0);
}

/// Recorded from the real trainer; `report.json` says which versions.
#[test]
fn log_probs_margins_and_losses_equal_trls() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/score/trl");
    let report: Value = serde_json::from_str(&read(&here.join("report.json"))).unwrap();
    let (policy, reference) = (folder("llama", "llama"), folder("qwen2", "qwen2"));
    check(
        open(policy.path(), &Options::default()),
        Some(open(reference.path(), &Options::default())),
        &read(&here.join("pairs.jsonl")),
        &report,
    );
}

/// `scripts/compare_with_trl.sh` runs the trainer anew and sets these.
#[test]
fn log_probs_equal_a_fresh_run_of_the_trainer() {
    let path = |key: &str| std::env::var_os(key).map(PathBuf::from);
    let (Some(model), Some(data), Some(report)) = (
        path("TRIAGENT_TRL_MODEL"),
        path("TRIAGENT_TRL_DATA"),
        path("TRIAGENT_TRL_REPORT"),
    ) else {
        eprintln!("skipped: run scripts/compare_with_trl.sh");
        return;
    };
    let reference = path("TRIAGENT_TRL_REF").map(|p| open(&p, &Options::default()));
    let report: Value = serde_json::from_str(&read(&report)).unwrap();
    check(
        open(&model, &Options::default()),
        reference,
        &read(&data),
        &report,
    );
}
