//! Each family against transformers in F32, token by token.

use crate::score::models::{folder, messages, open, reference};
use serde_json::Value;
use triagent::domain::Progress;
use triagent::score::{Options, Request};

/// Agreement with transformers that the product promises, in nats per token.
const NATS: f64 = 1e-4;

fn check(name: &str) {
    let reference = reference();
    let model = &reference["models"][name];
    let dir = folder(name, model["weights"].as_str().unwrap());
    let mut scorer = open(dir.path(), &Options::default());
    let requests = reference["requests"].as_array().unwrap();
    for (request, expected) in requests.iter().zip(model["results"].as_array().unwrap()) {
        let (context, actions) = (messages(&request["context"]), messages(&request["actions"]));
        let tools = request["tools"].as_array().unwrap();
        let request = Request {
            context: &context,
            tools,
            actions: &actions,
            now_us: None,
        };
        let scores = scorer.score(&request, &Progress::default());
        for (score, expected) in scores.into_iter().zip(expected.as_array().unwrap()) {
            agree(name, &score.unwrap(), expected);
        }
    }
}

fn agree(name: &str, score: &triagent::score::ActionScore, expected: &Value) {
    let numbers = |key: &str| -> Vec<f64> {
        expected[key]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v.as_f64().unwrap())
            .collect()
    };
    let ids: Vec<f64> = score.per_token.iter().map(|t| f64::from(t.id)).collect();
    assert_eq!(ids, numbers("ids"), "{name}: tokens");
    assert_eq!(
        f64::from(score.prompt_tokens),
        expected["prompt_tokens"].as_f64().unwrap()
    );
    for (i, (token, want)) in score.per_token.iter().zip(numbers("logps")).enumerate() {
        let off = (f64::from(token.logp) - want).abs();
        assert!(
            off < NATS,
            "{name}: token {i} {:?}: {} instead of {want}",
            token.text,
            token.logp
        );
    }
    for (token, want) in score.per_token.iter().zip(numbers("entropies")) {
        assert!(
            (f64::from(token.entropy) - want).abs() < NATS,
            "{name}: entropy of {:?}",
            token.text
        );
    }
    let ranks: Vec<f64> = score.per_token.iter().map(|t| f64::from(t.rank)).collect();
    assert_eq!(ranks, numbers("ranks"), "{name}: ranks");
    let trl: f64 = numbers("logps").iter().sum();
    assert!((score.logp_sum_trl - trl).abs() < 1e-3, "{name}: TRL's sum");
}

#[test]
fn llama_agrees_with_transformers() {
    check("llama");
}

#[test]
fn llama_with_tied_head_and_own_head_dim_agrees() {
    check("llama-tied-headdim");
}

#[test]
fn llama3_and_linear_rope_scaling_agree() {
    check("llama-llama3");
    check("llama-linear");
}

#[test]
fn qwen2_agrees_with_bias_yarn_and_window() {
    check("qwen2");
    check("qwen2-yarn");
    check("qwen2-window");
}

#[test]
fn qwen3_agrees_with_head_norms() {
    check("qwen3");
}

#[test]
fn mistral_agrees_across_its_window() {
    check("mistral-window");
}

#[test]
fn smollm3_agrees_with_layers_without_positions() {
    check("smollm3");
}

#[test]
fn phi3_agrees_with_stacked_matrices_and_partial_rotation() {
    check("phi3");
}

#[test]
fn gemma3_agrees_with_two_rotations_and_four_norms() {
    check("gemma3");
}
