//! Size: prompts that every call repeats, names that files have, folders of many files, values over every limit.

use super::seen::{see, see_bytes};
use triagent::import::{detect, discover};

/// SWE-agent ≥ 1.1 stores the whole prompt with every step; each message is one step all the same.
#[test]
fn repeated_prompts_do_not_multiply_steps() {
    let count = 40;
    let mut history = vec![r#"{"role":"system","content":"s"}"#.to_owned()];
    let mut steps = Vec::new();
    for i in 0..count {
        steps.push(format!(
            r#"{{"action":"a{i}","observation":"o{i}","response":"r{i}","thought":"r{i}","query":[{}]}}"#,
            history.join(",")
        ));
        history.push(format!(
            r#"{{"role":"assistant","content":"r{i}","action":"a{i}","agent":"main"}}"#
        ));
        history.push(format!(
            r#"{{"role":"user","content":"o{i}","message_type":"observation","agent":"main"}}"#
        ));
    }
    let text = format!(
        r#"{{"environment":"e","trajectory":[{}],"history":[{}],"info":{{}}}}"#,
        steps.join(","),
        history.join(",")
    );
    let seen = see_bytes("a.traj", text.as_bytes());
    let steps = seen.steps().count();
    assert!(steps <= 1 + 3 * count, "{steps} steps of {count} turns");
    assert_eq!(seen.calls().count(), count);
}

/// The same for request logs: only the tail of each prompt is new.
#[test]
fn repeated_requests_keep_only_the_tail() {
    let mut messages = vec![r#"{"role":"user","content":"q"}"#.to_owned()];
    let mut rows = Vec::new();
    for i in 0..30 {
        let answer = format!(r#"{{"role":"assistant","content":"a{i}"}}"#);
        rows.push(format!(
            r#"{{"request":{{"model":"m","messages":[{}]}},"response":{{"id":"r{i}","choices":[{{"message":{answer}}}]}}}}"#,
            messages.join(",")
        ));
        messages.push(answer);
        messages.push(format!(r#"{{"role":"user","content":"q{i}"}}"#));
    }
    let seen = see_bytes("log.jsonl", rows.join("\n").as_bytes());
    assert_eq!((seen.runs.len(), seen.calls().count()), (1, 30));
    // One question, 30 answers, 29 more questions.
    assert_eq!(seen.steps().count(), 60);
}

/// File names hold spaces, colons, ampersands, other scripts.
#[test]
fn odd_file_names_are_read() {
    let row = r#"{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}"#;
    for name in [
        "a b.jsonl",
        "a:b&c.jsonl",
        "übung-日本-🙂.jsonl",
        "-.jsonl",
        "'quoted\".jsonl",
    ] {
        assert_eq!(see_bytes(name, row.as_bytes()).runs.len(), 1, "{name}");
    }
}

/// A member of an Inspect archive is called after its sample, and sample ids hold slashes.
#[test]
fn a_sample_id_with_a_slash_is_one_sample() {
    let sample = r#"{"id":"s/3","epoch":1,"input":"q","target":"","messages":[{"role":"user","content":"q","source":"input"}],"scores":{}}"#;
    let header = r#"{"version":2,"status":"success","eval":{"task":"t","model":"m"}}"#;
    let bytes = super::seen::zip_stored(&[
        ("header.json", header.as_bytes()),
        ("samples/s/3_epoch_1.json", sample.as_bytes()),
    ]);
    let seen = see_bytes("a.eval", &bytes);
    assert_eq!(seen.runs[0].head.task.as_ref().unwrap().0, "s/3");
}

/// Thousands of files in one folder are found in a fixed order, and each is read by itself.
#[test]
fn a_folder_of_many_files_is_walked_in_order() {
    const COUNT: usize = 3_000;
    let folder = tempfile::tempdir().unwrap();
    for i in 0..COUNT {
        let deep = folder.path().join(format!("{}", i % 10));
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(
            deep.join(format!("{i:05}.jsonl")),
            r#"{"messages":[{"role":"user","content":"q"}]}"#,
        )
        .unwrap();
    }
    let found = discover(&[folder.path().to_owned()]);
    assert_eq!((found.units.len(), found.skips.len()), (COUNT, 0));
    assert!(found.units.is_sorted_by_key(|u| u.path.clone()));
    let last = found.units.last().unwrap();
    assert_eq!(detect(last).format.as_deref(), Some("openai-chat"));
    assert_eq!(see(&last.path).runs.len(), 1);
}

/// SWE-agent's retry agent keeps every attempt; the one that was chosen stands once more at the top and counts once.
#[test]
fn attempts_are_runs_and_the_chosen_one_counts_once() {
    let history = |said: &str| {
        format!(
            r#""history":[{{"role":"user","content":"q","agent":"main"}},{{"role":"assistant","content":"{said}","agent":"main"}}]"#
        )
    };
    let text = format!(
        r#"{{"attempts":[{{{},"trajectory":[],"info":{{"exit_status":"exit_cost"}}}},{{{},"trajectory":[],"info":{{}}}}],"trajectory":[],{},"info":{{"best_attempt_idx":1,"exit_status":"submitted"}}}}"#,
        history("bad"),
        history("good"),
        history("good")
    );
    let seen = see_bytes("a.traj", text.as_bytes());
    let said: Vec<_> = seen.runs.iter().map(|r| r.steps[1].text.as_str()).collect();
    assert_eq!(said, ["bad", "good"]);
    assert_ne!(seen.runs[0].head.id, seen.runs[1].head.id);
}

/// Links that lead back into the folder by two ways would be walked 2^32 times.
#[cfg(unix)]
#[test]
fn links_in_a_ring_are_walked_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.jsonl"), "{}").unwrap();
    for name in ["one", "two"] {
        std::os::unix::fs::symlink(folder.path(), folder.path().join(name)).unwrap();
    }
    let found = discover(&[folder.path().to_owned()]);
    assert_eq!(found.units.len(), 1);
}

/// Numbers as large as they like, in places that are added or subtracted.
#[test]
fn huge_numbers_do_no_harm() {
    let huge = u64::MAX;
    let cases = [
        format!(
            r#"{{"type":"assistant","uuid":"1","sessionId":"s","timestamp":{huge},"message":{{"id":"m","role":"assistant","content":"a","usage":{{"input_tokens":{huge},"cache_read_input_tokens":{huge},"cache_creation_input_tokens":1,"output_tokens":{huge}}}}}}}"#
        ),
        format!(
            r#"{{"sessionId":"s","projectHash":"p","messages":[{{"id":"1","type":"gemini","content":"a","tokens":{{"input":{huge},"output":{huge},"thoughts":{huge}}}}}]}}"#
        ),
        format!(
            r#"{{"info":{{"id":"ses_1"}},"messages":[{{"info":{{"role":"assistant","id":"m","time":{{"created":-{huge},"completed":{huge}}},"tokens":{{"input":{huge},"output":{huge},"reasoning":{huge},"cache":{{"read":{huge},"write":{huge}}}}}}},"parts":[{{"type":"text","text":"a"}}]}}]}}"#
        ),
        format!(
            r#"{{"name":"x","context":{{"trace_id":"0x1","span_id":"0x2"}},"start_time":-9223372036854775808,"end_time":9223372036854775807,"attributes":{{"openinference.span.kind":"LLM","llm.token_count.prompt":{huge},"llm.output_messages.0.message.role":"assistant","llm.output_messages.0.message.content":"a"}}}}"#
        ),
        format!(
            r#"{{"schema_version":"ATIF-v1.6","session_id":"s","agent":{{"name":"a","version":"1"}},"steps":[{{"step_id":{huge},"source":"agent","message":"a","metrics":{{"prompt_tokens":{huge},"completion_tokens":1e400,"cost_usd":1e999}}}}]}}"#
        ),
    ];
    for text in cases {
        let seen = see_bytes("a.json", text.as_bytes());
        assert!(
            seen.steps().any(|s| s.text == "a"),
            "{text:.80}: {:?}",
            seen.report
        );
    }
}

/// Fifty thousand calls that nobody answered do not slow down the answers of others.
#[test]
fn unanswered_calls_do_not_make_reading_quadratic() {
    const COUNT: usize = 50_000;
    let mut text = String::from("{\"messages\":[");
    for i in 0..COUNT {
        text.push_str(&format!(r#"{{"role":"assistant","tool_calls":[{{"id":"c{i}","function":{{"name":"f","arguments":"{{}}"}}}}]}},"#));
    }
    for i in 0..COUNT {
        text.push_str(&format!(
            r#"{{"role":"tool","tool_call_id":"x{i}","content":"y"}},"#
        ));
    }
    text.push_str("]}");
    let start = std::time::Instant::now();
    let seen = see_bytes("a.jsonl", text.as_bytes());
    assert_eq!(seen.steps().count(), 2 * COUNT);
    // A walk through all open calls for each answer takes minutes in a debug build.
    assert!(
        start.elapsed() < std::time::Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
}

/// SWE-agent asks again where an answer has no action; such answers stand only in the trajectory, and that is told.
#[test]
fn requeries_are_told() {
    let text = r#"{"environment":"e","trajectory":[{"action":"","observation":"","response":"bad"},{"action":"ls","observation":"a","response":"good"}],"history":[{"role":"user","content":"q","agent":"main"},{"role":"assistant","content":"good","agent":"main"}],"info":{}}"#;
    let seen = see_bytes("a.traj", text.as_bytes());
    assert!(
        seen.report
            .notes
            .iter()
            .any(|n| n.contains("1 more answer;")),
        "{:?}",
        seen.report.notes
    );
}
