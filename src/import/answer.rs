//! A provider's answer to one request (chat completions) as a call: id, model, usage, token ids, log-probs, end.

use super::extra::keep;
use super::json::Node;
use super::time::time;
use crate::domain::{Call, Usage};
use serde_json::{Map, Value};

/// Request fields that say how was sampled.
const SAMPLING: &[&str] = &[
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "n",
    "seed",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
    "reasoning_effort",
    "reasoning",
    "thinking",
    "tool_choice",
    "parallel_tool_calls",
    "logprobs",
    "top_logprobs",
    "logit_bias",
    "response_format",
    "stream",
    "extra_body",
    "stop_sequences",
];

/// Sampling parameters of a request.
pub(crate) fn sampling(request: &Node<'_>) -> Map<String, Value> {
    let mut map = Map::new();
    keep(&mut map, request, SAMPLING);
    map
}

/// Reads request and answer. The choice is the one that the caller follows.
pub(crate) fn call(
    request: Option<&Node<'_>>,
    answer: Option<&Node<'_>>,
    choice: Option<&Node<'_>>,
) -> Call {
    let mut call = Call::default();
    if let Some(request) = request {
        call.model = request.id("model");
        call.sampling = sampling(request);
    }
    let Some(answer) = answer else { return call };
    call.request_id = answer.id("id");
    call.model = answer.id("model").or(call.model);
    call.at_us = time(answer.get("created"));
    call.usage = answer.get("usage").map(usage).unwrap_or_default();
    call.prompt_token_ids = answer.get("prompt_token_ids").and_then(token_ids);
    call.error = answer
        .get("error")
        .map(|e| e.id("message").unwrap_or_else(|| e.compact()));
    keep(
        &mut call.extra,
        answer,
        &["system_fingerprint", "service_tier"],
    );
    if let Some(choice) = choice {
        call.finish_reason = choice.id("finish_reason");
        call.completion_token_ids = choice.get("token_ids").and_then(token_ids);
        call.logprobs = choice.get("logprobs").and_then(logprobs);
        keep(&mut call.extra, choice, &["stop_reason"]);
    }
    call
}

/// Token counts in any of the spellings. Anthropic's input leaves cached tokens out; here they are put back in.
pub(crate) fn usage(node: &Node<'_>) -> Usage {
    let first = |keys: &[&str]| keys.iter().find_map(|key| node.u64(key));
    let written = node.u64("cache_creation_input_tokens");
    let read = node.u64("cache_read_input_tokens");
    let details = [
        "prompt_tokens_details",
        "input_tokens_details",
        "input_token_details",
    ];
    let cached = details
        .iter()
        .find_map(|d| node.at(&[d, "cached_tokens"]))
        .and_then(Node::as_u64);
    let mut input = first(&["prompt_tokens", "input_tokens"]);
    // OpenAI-style totals already hold them; only Anthropic names both beside `input_tokens`.
    if node.has("input_tokens")
        && !node.has("prompt_tokens")
        && (written.is_some() || read.is_some())
    {
        input = sum(&[input, written, read]);
    }
    let reasoning = ["completion_tokens_details", "output_tokens_details"]
        .iter()
        .find_map(|d| node.at(&[d, "reasoning_tokens"]))
        .and_then(Node::as_u64);
    Usage {
        input,
        output: first(&["completion_tokens", "output_tokens"]),
        cached: read.or(cached),
        reasoning,
    }
}

/// The first count with the others put in; a count that is not told is 0, but without the first there is no sum.
pub(crate) fn sum(counts: &[Option<u64>]) -> Option<u64> {
    let (first, rest) = counts.split_first()?;
    let rest = rest.iter().flatten();
    // Hostile counts may be as large as they like.
    first.map(|first| rest.fold(first, |sum, n| sum.saturating_add(*n)))
}

/// Token ids, if every one is one.
pub(crate) fn token_ids(node: &Node<'_>) -> Option<Vec<u32>> {
    if !node.is_list() {
        return None;
    }
    let id = |n: &Node<'_>| n.as_u64().and_then(|id| u32::try_from(id).ok());
    node.items().iter().map(id).collect()
}

/// Log-probs: a list of numbers, or `{content: [{logprob}]}`. One that is not finite makes all unusable.
pub(crate) fn logprobs(node: &Node<'_>) -> Option<Vec<f64>> {
    let items = node.get("content").unwrap_or(node);
    if !items.is_list() {
        return None;
    }
    let number = |n: &Node<'_>| n.as_f64().or_else(|| n.f64("logprob"));
    items.items().iter().map(number).collect()
}
