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
