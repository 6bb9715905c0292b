//! Each family against transformers in F32, token by token.

use crate::score::models::{agree, folder, open, reference};
use triagent::score::Options;

fn check(name: &str) {
    let reference = reference();
    let model = &reference["models"][name];
    let dir = folder(name, model["weights"].as_str().unwrap());
    let mut scorer = open(dir.path(), &Options::default());
    agree(name, &mut scorer, &reference["requests"], &model["results"]);
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
