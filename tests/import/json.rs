//! JSON itself, each oddity in its smallest input: what is cut, what Python writes and JSON does not know, numbers in all
//! their spellings, JSON inside text.

use super::seen::see_bytes;
use triagent::domain::{Outcome, RewardStatus, StepKind};

/// Two rows of each append-only format. The second is cut in half: the first is kept, one incomplete row is told.
#[test]
fn every_append_only_format_survives_a_killed_writer() {
    let cases = [
        (
            "claude-code",
            r#"{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"hi"}}"#,
        ),
        (
            "codex",
            r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}"#,
        ),
        ("pi", r#"{"type":"session","version":3,"id":"s","cwd":"/"}"#),
        (
            "opencode",
            r#"{"type":"text","timestamp":1,"sessionID":"ses_1","part":{"type":"text","text":"hi","messageID":"m"}}"#,
        ),
        (
            "gemini-cli",
            r#"{"sessionId":"s","projectHash":"p","kind":"main"}"#,
        ),
        (
            "nemo-gym",
            r#"{"responses_create_params":{"input":"hi"},"response":{"output":[]},"reward":1.0}"#,
        ),
        (
            "verifiers",
            r#"{"example_id":1,"prompt":[{"role":"user","content":"hi"}],"completion":[],"reward":1.0}"#,
        ),
        (
            "trl",
            r#"{"step":1,"prompt":"hi","completion":"yes","advantage":0.5}"#,
        ),
        (
            "verl",
            r#"{"input":"hi","output":"yes","gts":"1","score":1.0,"step":1}"#,
        ),
        (
            "art",
            r#"{"group_index":0,"reward":1.0,"messages":[{"role":"user","content":"hi"}]}"#,
        ),
        (
            "agent-lightning-1",
            r#"{"event_type":"reward","rollout_id":"r","attempt_id":"0","timestamp":1,"data":{"value":1}}"#,
        ),
        (
            "langsmith",
            r#"{"id":"a","trace_id":"t","run_type":"llm","dotted_order":"1","name":"x","inputs":{"messages":[{"role":"user","content":"hi"}]}}"#,
        ),
        (
            "otel",
            r#"{"name":"x","context":{"trace_id":"0x1","span_id":"0x2"},"attributes":{"openinference.span.kind":"LLM"}}"#,
        ),
        (
            "openhands",
            r#"{"id":"1","kind":"MessageEvent","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"hi"}]}}"#,
        ),
        (
            "request-log",
            r#"{"request":{"messages":[{"role":"user","content":"hi"}]},"response":{"choices":[{"message":{"role":"assistant","content":"yes"}}]}}"#,
        ),
        (
            "sharegpt",
            r#"{"conversations":[{"from":"human","value":"hi"},{"from":"gpt","value":"yes"}]}"#,
        ),
        (
            "openai-chat",
            r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yes"}]}"#,
        ),
    ];
    for (format, row) in cases {
        let half: String = row.chars().take(row.len() / 2).collect();
        let seen = see_bytes("log.jsonl", format!("{row}\n{half}").as_bytes());
        assert_eq!(
            seen.report.format.as_deref(),
            Some(format),
            "{}",
            seen.report.reason
        );
        assert_eq!(seen.runs.len(), 1, "{format}");
        // A log of one row looks like a document, and is a log.
        let alone = see_bytes("log.jsonl", row.as_bytes());
        assert_eq!(
            (alone.report.format.as_deref(), alone.runs.len()),
            (Some(format), 1)
        );
        let told: Vec<_> = seen.report.skipped.iter().map(|s| s.line).collect();
        assert_eq!(told, [2], "{format}: {:?}", seen.report.skipped);
        assert!(
            seen.report.skipped[0].reason.contains("incomplete"),
            "{format}"
        );
    }
}

/// Documents that are rewritten whole are seen half-written: every whole element before the cut is kept.
#[test]
fn half_written_documents_keep_their_whole_elements() {
    let cases = [
        (
            "swe-agent",
            r#"{"environment":"e","trajectory":[{"action":"ls","observation":"a","response":"one","thought":"one"},{"action":"pwd","observation":"b","resp"#,
            "one",
        ),
        (
            "mini-swe-agent",
            r#"{"trajectory_format":"mini-swe-agent-1","info":{"mini_version":"1"},"messages":[{"role":"system","content":"one"},{"role":"user","cont"#,
            "one",
        ),
        (
            "tau-bench",
            r#"[{"task_id":0,"reward":1.0,"info":{},"traj":[{"role":"user","content":"one"}],"trial":0},{"task_id":1,"rew"#,
            "one",
        ),
        (
            "agentdojo",
            r#"{"suite_name":"banking","pipeline_name":"p","user_task_id":"u","messages":[{"role":"user","content":[{"type":"text","content":"one"}]},{"role":"assi"#,
            "one",
        ),
        (
            "gemini-cli",
            r#"{"sessionId":"s","projectHash":"p","messages":[{"id":"1","type":"user","content":"one"},{"id":"2","ty"#,
            "one",
        ),
        (
            "atif",
            r#"{"schema_version":"ATIF-v1.6","session_id":"s","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"user","message":"one"},{"step_id":2,"sou"#,
            "one",
        ),
        (
            "opencode",
            r#"{"info":{"id":"ses_1"},"messages":[{"info":{"role":"user","id":"m"},"parts":[{"type":"text","text":"one"}]},{"info":{"ro"#,
            "one",
        ),
        (
            "who-and-when",
            r#"{"mistake_agent":"a","mistake_step":"0","history":[{"role":"assistant","name":"a","content":"one"},{"role":"as"#,
            "one",
        ),
    ];
    for (format, text, want) in cases {
        let seen = see_bytes("log.json", text.as_bytes());
        assert_eq!(
            seen.report.format.as_deref(),
            Some(format),
            "{}",
            seen.report.reason
        );
        assert!(
            seen.steps().any(|s| s.text.contains(want)),
            "{format}: {:?}",
            seen.lines()
        );
        assert!(seen.report.skips > 0, "{format}: the cut is not told");
        assert!(
            seen.report.skipped.iter().any(|s| s.line == 1),
            "{format}: {:?}",
            seen.report.skipped
        );
    }
}

/// One published file is not JSON in its middle (SWE-agent's BabyEncryption): what stands before is kept and the place told.
#[test]
fn a_document_that_is_broken_in_the_middle_tells_where() {
    let text = "{\"environment\":\"e\",\n\"trajectory\":[{\"action\":\"ls\",\"observation\":\"a\",\"response\":\"one\"},\n{\"action\":\"x\" \"observation\":1},\n{\"action\":\"pwd\",\"observation\":\"b\",\"response\":\"two\"}],\"info\":{}}";
    let seen = see_bytes("a.traj", text.as_bytes());
    assert!(seen.lines().iter().any(|l| l.contains("one")));
    assert!(
        seen.report.skipped.iter().any(|s| s.line == 3),
        "{:?}",
        seen.report.skipped
    );
}

/// Python writes NaN and infinities. A reward that is none is missing, not 0; log-probs with one are unusable.
#[test]
fn nan_and_infinity_are_read_and_mean_missing() {
    let row = r#"{"example_id":1,"prompt":[],"completion":[{"role":"assistant","content":"a"}],"reward":NaN,"speed":Infinity,"x":-Infinity}"#;
    let seen = see_bytes("results.jsonl", row.as_bytes());
    let reward = &seen.runs[0].rewards[0];
    assert_eq!(
        (reward.result, reward.status),
        (None, RewardStatus::Missing)
    );
    assert_eq!(seen.runs[0].head.outcome, Outcome::Unknown);
    let event = r#"{"event_type":"model_request","rollout_id":"r","attempt_id":"0","timestamp":1,"data":{"request":{"messages":[]},"response":{"id":"c","choices":[{"message":{"role":"assistant","content":"a"},"token_ids":[1,2],"logprobs":{"content":[{"token":"a","logprob":-0.5},{"token":"b","logprob":-Infinity}]}}]}}}"#;
    let seen = see_bytes("events.jsonl", event.as_bytes());
    let call = seen.calls().next().unwrap();
    assert_eq!(call.completion_token_ids, Some(vec![1, 2]));
    assert_eq!(call.logprobs, None);
}

/// A reward is a bool, an int, a float, a text, null, a list or a dict. Only what is one number is a result.
#[test]
fn rewards_in_all_their_types() {
    let cases = [
        ("true", Some(1.0)),
        ("false", Some(0.0)),
        ("1", Some(1.0)),
        ("0.25", Some(0.25)),
        ("-0.5", Some(-0.5)),
        ("\"0.5\"", Some(0.5)),
        ("null", None),
        ("[1,0]", None),
        (r#"{"a":1}"#, None),
    ];
    for (written, want) in cases {
        let row = format!(
            r#"{{"example_id":1,"prompt":[],"completion":[{{"role":"assistant","content":"a"}}],"reward":{written}}}"#
        );
        let seen = see_bytes("results.jsonl", row.as_bytes());
        let reward = &seen.runs[0].rewards[0];
        assert_eq!(reward.result, want, "{written}");
        let is_missing = reward.status == RewardStatus::Missing;
        assert_eq!(is_missing, want.is_none(), "{written}");
    }
}

/// Integers above 2^53, and integers as text: nanoseconds of OTLP are not rounded.
#[test]
fn nanoseconds_above_two_to_the_53_are_exact() {
    let span = |start: &str| {
        format!(
            r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"traceId":"a1","spanId":"b2","name":"chat","startTimeUnixNano":{start},"endTimeUnixNano":"1795971847861000999","attributes":[{{"key":"gen_ai.operation.name","value":{{"stringValue":"chat"}}}},{{"key":"gen_ai.usage.input_tokens","value":{{"intValue":"9007199254740993"}}}}]}}]}}]}}]}}"#
        )
    };
    for start in ["1795971847861000123", "\"1795971847861000123\""] {
        let seen = see_bytes("a.otlp.json", span(start).as_bytes());
        let call = seen.calls().next().unwrap();
        assert_eq!(call.at_us, Some(1_795_971_847_861_000), "{start}");
        assert_eq!(call.usage.input, Some(9_007_199_254_740_993));
    }
}

/// Who&When writes numbers as text.
#[test]
fn a_step_number_that_is_text_is_a_number() {
    let text = r#"{"mistake_agent":"b","mistake_step":"1","mistake_reason":"r","level":"2","history":[{"role":"assistant","name":"a","content":"x"},{"role":"assistant","name":"b","content":"y"}]}"#;
    let seen = see_bytes("1.json", text.as_bytes());
    assert_eq!(seen.runs[0].labels[0].step, Some(1));
}

/// Of two members with one key the last counts, as in Python, and the doubling is told.
#[test]
fn the_last_of_two_equal_keys_counts() {
    let row = r#"{"messages":[{"role":"user","content":"first","content":"second"},{"role":"assistant","content":"a"}]}"#;
    let seen = see_bytes("a.jsonl", row.as_bytes());
    assert_eq!(seen.lines()[0], "user text second");
    assert!(
        seen.report.not_understood.keys().any(|k| k.contains("key")),
        "{:?}",
        seen.report.not_understood
    );
}

/// `null` where a list is expected is an empty list.
#[test]
fn null_stands_for_an_empty_list() {
    let row = r#"{"messages":[{"role":"assistant","content":"a","tool_calls":null}],"tools":null}"#;
    let seen = see_bytes("a.jsonl", row.as_bytes());
    assert_eq!(seen.lines(), ["model text a"]);
    let gym = r#"{"responses_create_params":{"input":null,"tools":null},"response":{"output":null},"reward":0}"#;
    let seen = see_bytes("rollouts.jsonl", gym.as_bytes());
    assert_eq!((seen.runs.len(), seen.report.skips), (1, 0));
}

/// JSON inside text: arguments, whole calls, lists of calls, requests, attributes. Python's repr is not JSON and stays text.
#[test]
fn json_inside_text_is_taken_out() {
    let calls = [
        r#"[{"id":"c","function":{"name":"f","arguments":"{\"a\":1}"}}]"#,
        r#"["{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}"]"#,
        r#""[{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}]""#,
    ];
    for call in calls {
        let row = format!(
            r#"{{"example_id":1,"prompt":[],"completion":[{{"role":"assistant","content":null,"tool_calls":{call}}}],"reward":1,"info":"{{'k': None}}"}}"#
        );
        let seen = see_bytes("results.jsonl", row.as_bytes());
        let step = seen.steps().find(|s| s.kind == StepKind::ToolCall);
        let step = step.unwrap_or_else(|| panic!("no call in {call}"));
        assert_eq!(
            (step.tool.as_deref(), step.text.as_str()),
            (Some("f"), r#"{"a":1}"#)
        );
        assert_eq!(step.tool_call_id.as_deref(), Some("c"));
        assert_eq!(seen.runs[0].head.extra["info"], "{'k': None}");
    }
    let langfuse = r#"{"trace":{"id":"t","name":"n"},"observations":[{"id":"o","traceId":"t","type":"GENERATION","startTime":"2026-01-01T00:00:00Z","input":"{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}","output":"{\"role\":\"assistant\",\"content\":\"yes\"}"}]}"#;
    let seen = see_bytes("t.json", langfuse.as_bytes());
    assert_eq!(seen.lines(), ["user text hi", "model text yes"]);
    let mlflow = r#"{"info":{"trace_id":"tr-1","state":"OK"},"data":{"spans":[{"trace_id":"t","span_id":"s","name":"c","start_time_unix_nano":1,"end_time_unix_nano":2,"status":{"code":"STATUS_CODE_OK"},"attributes":{"mlflow.spanType":"\"CHAT_MODEL\"","mlflow.spanInputs":"{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}","mlflow.spanOutputs":"{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"yes\"}}]}"}}]}}"#;
    let seen = see_bytes("t.json", mlflow.as_bytes());
    assert_eq!(seen.lines(), ["user text hi", "model text yes"]);
}
