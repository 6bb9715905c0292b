//! Calls that join by exact tokens, and those that do not (S-25 to S-28).

use super::fixtures::*;
use triagent::domain::*;
use triagent::export::*;

fn call(index: u32, prompt: &[u32], response: &[u32]) -> Call {
    Call {
        index,
        prompt_token_ids: Some(prompt.to_vec()),
        completion_token_ids: Some(response.to_vec()),
        logprobs: Some(response.iter().map(|_| -0.5).collect()),
        adopted: Adopted::Yes,
        ..Call::default()
    }
}

#[test]
fn calls_join_when_the_prompt_begins_with_all_that_came_before() {
    let (a, b) = (
        call(0, &[1, 2], &[3, 4]),
        call(1, &[1, 2, 3, 4, 9, 9], &[5]),
    );
    let rows = token_rows(&[&a, &b], Combine::ExactPrefix);
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!(row.prompt_ids, [1, 2]);
    assert_eq!(row.response_ids, [3, 4, 9, 9, 5]);
    assert_eq!(row.mask, [1, 1, 0, 0, 1]);
    assert_eq!(
        row.logprobs.as_deref(),
        Some(&[-0.5, -0.5, 0.0, 0.0, -0.5][..])
    );
    // S-27: the other way of combining gives a row for each call.
    assert_eq!(token_rows(&[&a, &b], Combine::PerCall).len(), 2);
}

/// S-25: "he" + "llo" was generated; the next prompt says "hello" in one token: the same text, another row.
#[test]
fn text_that_was_tokenised_again_starts_a_new_row_and_says_so() {
    let (he, llo, hello) = (11, 12, 13);
    let (a, b) = (call(0, &[1], &[he, llo]), call(1, &[1, hello, 7], &[5]));
    let rows = token_rows(&[&a, &b], Combine::ExactPrefix);
    assert_eq!(rows.len(), 2);
    assert!(rows[0].broke.is_none());
    assert!(rows[1].broke.unwrap().contains("tokenised again"));
    let shorter = call(1, &[1], &[5]);
    let rows = token_rows(&[&a, &shorter], Combine::ExactPrefix);
    assert!(rows[1].broke.unwrap().contains("rewritten"));
}

#[test]
fn log_probs_are_kept_whole_or_not_at_all() {
    let mut b = call(1, &[1, 2, 3], &[5, 6]);
    b.logprobs = Some(vec![-0.1]);
    let rows = token_rows(&[&call(0, &[1], &[2]), &b], Combine::ExactPrefix);
    assert_eq!(rows[0].logprobs, None);
}

/// S-26: where only text was stored, the file says so and invents nothing.
#[test]
fn text_alone_is_said_to_be_not_recoverable() {
    let mut exact = four().remove(0);
    exact.calls = vec![call(0, &[1], &[2])];
    exact.steps[2].call = Some(0);
    let runs = vec![exact, four().remove(1)];
    let out = export(Format::Jsonl, &runs, &[]);
    let rows = out.rows();
    assert_eq!(rows[0]["token_ids"], "exact");
    assert!(
        rows[1]["token_ids"]
            .as_str()
            .unwrap()
            .starts_with("original generation not recoverable")
    );
    assert!(rows[1]["calls"].as_array().unwrap().is_empty());
    assert_eq!(
        (
            out.manifest.units.runs_with_token_ids,
            out.manifest.units.runs_with_text_only
        ),
        (1, 1)
    );
    assert_eq!(out.text("tokens/train.jsonl").lines().count(), 1);
    let told = "exact token ids: 1 runs; only text was stored of 1 runs: original generation not recoverable";
    assert!(out.text("README.md").contains(told));
}

/// A compaction in the middle cuts a conversation: what was summed up stands in the first, the sum in the second.
#[test]
fn a_rewritten_context_cuts_a_conversation() {
    let mut story = Story::new("long", "t")
        .user("q")
        .calls("search", "{}")
        .gets("a lot");
    story = story
        .step(
            Owner::Runtime,
            StepKind::Text,
            Role::User,
            "summary: nothing found",
        )
        .edit(|s| s.replaces = vec![1, 2]);
    let run = story.says("Which year do you mean?").passes();
    let out = export(Format::OpenaiSft, std::slice::from_ref(&run), &[]);
    let rows = out.rows();
    assert_eq!(rows.len(), 2);
    let roles = |row: &serde_json::Value| {
        row["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["role"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(roles(&rows[0]), ["user", "assistant"]);
    assert_eq!(roles(&rows[1]), ["user", "user", "assistant"]);
}
