//! Identity, order and duplicates across formats, each in its smallest input: what comes twice counts once, what really
//! happened twice stays twice, copies are marked, times and trees are put in order.

use super::seen::{Seen, see_bytes};
use triagent::domain::{Owner, StepKind};

/// A resumed Claude Code session repeats its rows with their ids.
#[test]
fn rows_of_a_resumed_session_count_once() {
    let row =
        r#"{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"hi"}}"#;
    let answer = r#"{"type":"assistant","uuid":"a","parentUuid":"u","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"yes"}]}}"#;
    let text = [row, answer, row, answer].join("\n");
    let seen = see_bytes("s.jsonl", text.as_bytes());
    assert_eq!(seen.lines(), ["user text hi", "model text yes"]);
    assert_eq!(seen.report.repeated, 2);
}

/// Rows of one message id are one answer; its usage grows from row to row and the last one is the whole.
#[test]
fn one_answer_over_several_rows_is_one_call() {
    let row = |uuid: &str, block: &str, tokens: u8| {
        format!(
            r#"{{"type":"assistant","uuid":"{uuid}","sessionId":"s","message":{{"id":"m","role":"assistant","content":[{block}],"usage":{{"input_tokens":1,"output_tokens":{tokens}}}}}}}"#
        )
    };
    let text = [
        row("1", r#"{"type":"text","text":"a"}"#, 1),
        row(
            "2",
            r#"{"type":"tool_use","id":"c","name":"f","input":{}}"#,
            9,
        ),
    ];
    let seen = see_bytes("s.jsonl", text.join("\n").as_bytes());
    let calls: Vec<_> = seen.calls().map(|c| c.usage.output).collect();
    assert_eq!(calls, [Some(9)]);
}

/// Codex mirrors every item in an event; only the items are steps.
#[test]
fn codex_mirrors_are_not_steps() {
    let text = "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"yes\"}]}}\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"agent_message\",\"message\":\"yes\"}}\n";
    let seen = see_bytes("rollout.jsonl", text.as_bytes());
    assert_eq!(seen.lines(), ["model text yes"]);
}

/// Gemini CLI writes an answer first without and then with its tool calls, and the answers once more as a user row.
#[test]
fn gemini_rows_with_a_known_id_replace_the_earlier_one() {
    let response = r#"{"functionResponse":{"id":"c","name":"f","response":{"output":"x"}}}"#;
    let text = [
        r#"{"sessionId":"s","projectHash":"p","kind":"main"}"#.to_owned(),
        r#"{"id":"1","type":"gemini","content":"","thoughts":[]}"#.to_owned(),
        format!(
            r#"{{"id":"1","type":"gemini","content":"","toolCalls":[{{"id":"c","name":"f","args":{{}},"status":"success","result":[{response}]}}]}}"#
        ),
        format!(r#"{{"id":"2","type":"user","content":[{response}]}}"#),
    ];
    let seen = see_bytes("s.jsonl", text.join("\n").as_bytes());
    assert_eq!(seen.lines(), ["model tool_call {}", "tool observation x"]);
    assert_eq!((seen.calls().count(), seen.report.repeated), (1, 1));
}

/// A rewind leaves what stood behind it; it is kept, off the path.
#[test]
fn a_rewind_leaves_a_branch() {
    let text = [
        r#"{"sessionId":"s","projectHash":"p","kind":"main"}"#,
        r#"{"id":"1","type":"user","content":"q"}"#,
        r#"{"id":"2","type":"gemini","content":"wrong"}"#,
        r#"{"$rewindTo":"1"}"#,
        r#"{"id":"3","type":"gemini","content":"right"}"#,
    ];
    let seen = see_bytes("s.jsonl", text.join("\n").as_bytes());
    let off: Vec<_> = seen
        .steps()
        .map(|s| (s.text.as_str(), s.off_path))
        .collect();
    assert_eq!(off, [("q", false), ("wrong", true), ("right", false)]);
}

/// pi's rows are a tree; what is not above the last row was left. A compaction keeps what stands behind its mark.
#[test]
fn pi_follows_the_tree_and_keeps_what_a_compaction_names() {
    let message = |id: &str, parent: &str, text: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"message":{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let text = [
        r#"{"type":"session","version":3,"id":"s","cwd":"/"}"#.to_owned(),
        message("1", "null", "a"),
        message("2", "\"1\"", "left"),
        message("3", "\"1\"", "b"),
        message("4", "\"3\"", "c"),
        r#"{"type":"compaction","id":"5","parentId":"4","summary":"sum","firstKeptEntryId":"4"}"#
            .to_owned(),
        message("6", "\"5\"", "d"),
    ];
    let seen = see_bytes("s.jsonl", text.join("\n").as_bytes());
    let steps: Vec<_> = seen.steps().collect();
    let off: Vec<_> = steps
        .iter()
        .filter(|s| s.off_path)
        .map(|s| s.text.as_str())
        .collect();
    assert_eq!(off, ["left"]);
    let sum = steps.iter().find(|s| s.text == "sum").unwrap();
    assert_eq!((sum.owner, &sum.replaces), (Owner::Runtime, &vec![0, 2]));
}

/// opencode's summary takes the place of what it sums up; text that the program put in is the program's.
#[test]
fn opencode_compaction_and_inserted_text() {
    let text = r#"{"info":{"id":"ses_1"},"messages":[
{"info":{"role":"user","id":"1"},"parts":[{"type":"text","text":"q"},{"type":"text","text":"note","synthetic":true}]},
{"info":{"role":"assistant","id":"2","mode":"compaction","summary":true,"finish":"stop","time":{"created":1,"completed":2}},"parts":[{"type":"text","text":"sum"}]}]}"#;
    let seen = see_bytes("e.json", text.as_bytes());
    assert_eq!(
        seen.lines(),
        ["user text q", "runtime text note", "model text sum"]
    );
    assert_eq!(seen.runs[0].steps[2].replaces, [0, 1]);
}

/// A span that was exported twice after a retry is one call.
#[test]
fn a_span_exported_twice_is_one_call() {
    let span = r#"{"name":"c","context":{"trace_id":"0x1","span_id":"0x2"},"start_time":"2026-01-01T00:00:00Z","attributes":{"openinference.span.kind":"LLM","llm.output_messages.0.message.role":"assistant","llm.output_messages.0.message.content":"a"}}"#;
    let seen = see_bytes("a.jsonl", format!("{span}\n{span}\n").as_bytes());
    assert_eq!((seen.calls().count(), seen.report.repeated), (1, 1));
}

/// Exporters write children before parents, and siblings may share a stamp: the tree orders, then the file.
#[test]
fn spans_are_ordered_by_the_tree() {
    let span = |id: &str, parent: &str, kind: &str, said: &str| {
        format!(
            r#"{{"name":"{id}","context":{{"trace_id":"0x1","span_id":"0x{id}"}},"parent_id":{parent},"start_time":"2026-01-01T00:00:00Z","attributes":{{"openinference.span.kind":"{kind}","llm.output_messages.0.message.role":"assistant","llm.output_messages.0.message.content":"{said}"}}}}"#
        )
    };
    let text = [
        span("3", "\"0x1\"", "LLM", "first"),
        span("4", "\"0x2\"", "LLM", "second"),
        span("2", "\"0x1\"", "CHAIN", ""),
        span("1", "null", "AGENT", ""),
    ];
    let seen = see_bytes("a.jsonl", text.join("\n").as_bytes());
    assert_eq!(seen.lines(), ["model text first", "model text second"]);
}

/// ATIF says which steps are copies from the file before: they stand in the context and are no calls.
#[test]
fn copied_context_is_no_inference() {
    let text = r#"{"schema_version":"ATIF-v1.6","session_id":"s","agent":{"name":"a","version":"1"},"steps":[
{"step_id":1,"source":"user","message":"q","is_copied_context":true},
{"step_id":2,"source":"agent","message":"old","is_copied_context":true},
{"step_id":3,"source":"agent","message":"new"}]}"#;
    let seen = see_bytes("t.json", text.as_bytes());
    let copied: Vec<_> = seen.steps().map(|s| s.copied).collect();
    assert_eq!(copied, [true, true, false]);
    assert_eq!(seen.calls().count(), 1);
}

/// Every spelling of a time that logs have; all but the last two are one moment.
#[test]
fn times_in_all_their_spellings() {
    let at = |written: &str| {
        let row = format!(
            r#"{{"type":"user","uuid":"u","sessionId":"s","timestamp":{written},"message":{{"role":"user","content":"q"}}}}"#
        );
        see_bytes("s.jsonl", row.as_bytes()).runs[0].steps[0].at_us
    };
    // 2026-11-29T17:04:07.5Z, by `date -d 2026-11-29T17:04:07Z +%s`.
    let want = Some(1_795_971_847_500_000);
    for written in [
        "\"2026-11-29T17:04:07.500Z\"",
        "\"2026-11-29T18:04:07.500+01:00\"",
        "\"2026-11-29T17:04:07.500000\"",
        "\"2026-11-29 17:04:07.5\"",
        "1795971847.5",
        "1795971847500",
        "\"1795971847500\"",
        "1795971847500000",
        "\"1795971847500000123\"",
    ] {
        assert_eq!(at(written), want, "{written}");
    }
    assert_eq!(at("null"), None);
    assert_eq!(at("\"yesterday\""), None);
}

/// Zip members with one name: the last wins, as its writer meant.
#[test]
fn of_zip_members_with_one_name_the_last_wins() {
    let sample = |text: &str| {
        format!(
            r#"{{"id":1,"epoch":1,"input":"q","target":"","messages":[{{"role":"user","content":"q","source":"input"}},{{"role":"assistant","content":"{text}","source":"generate"}}],"scores":{{}}}}"#
        )
    };
    let header = r#"{"version":2,"status":"success","eval":{"task":"t","model":"m"}}"#;
    let bytes = super::seen::zip_stored(&[
        ("header.json", header.as_bytes()),
        ("samples/1_epoch_1.json", sample("first").as_bytes()),
        ("samples/1_epoch_1.json", sample("second").as_bytes()),
    ]);
    let seen = see_bytes("a.eval", &bytes);
    assert_eq!(seen.runs.len(), 1, "{:?}", seen.report);
    assert_eq!(said(&seen), ["second"]);
}

fn said(seen: &Seen) -> Vec<&str> {
    let texts = seen
        .steps()
        .filter(|s| s.owner == Owner::Model && s.kind == StepKind::Text);
    texts.map(|s| s.text.as_str()).collect()
}

/// Several answers to one request are branches: one goes on, the others stay beside the path.
#[test]
fn several_choices_are_branches() {
    let row = r#"{"request":{"messages":[{"role":"user","content":"q"}],"n":2},"response":{"choices":[{"index":0,"message":{"role":"assistant","content":"a"}},{"index":1,"message":{"role":"assistant","content":"b"}}]}}"#;
    let seen = see_bytes("r.jsonl", row.as_bytes());
    let all = said(&seen);
    assert!(all.contains(&"a") && all.contains(&"b"), "{all:?}");
    let on_path = seen.runs[0]
        .steps
        .iter()
        .filter(|s| s.owner == Owner::Model && !s.off_path);
    assert_eq!(on_path.count(), 1);
}

/// A sub-agent's Codex file begins with a copy of its parent's history: it stands in the context and is no inference.
#[test]
fn a_forked_codex_session_counts_its_copied_rows_once() {
    let message = |ordinal: u8, role: &str, kind: &str, text: &str| {
        format!(
            r#"{{"type":"response_item","ordinal":{ordinal},"payload":{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}}}"#
        )
    };
    let text = [
        r#"{"type":"session_meta","ordinal":0,"payload":{"id":"s","timestamp":"2026-01-01T00:00:00Z","subagent_history_start_ordinal":3}}"#.to_owned(),
        message(1, "user", "input_text", "q"),
        message(2, "assistant", "output_text", "old"),
        message(3, "assistant", "output_text", "new"),
    ];
    let seen = see_bytes("rollout.jsonl", text.join("\n").as_bytes());
    let steps: Vec<_> = seen.steps().map(|s| (s.text.as_str(), s.copied)).collect();
    assert_eq!(steps, [("q", true), ("old", true), ("new", false)]);
    assert_eq!(seen.calls().count(), 1);
}

/// A compaction's summary is the program's text and takes the place of what it sums up, in every agent that compacts.
#[test]
fn a_summary_takes_the_place_of_what_it_sums_up() {
    let claude = [
        r#"{"type":"user","uuid":"1","sessionId":"s","message":{"role":"user","content":"q"}}"#,
        r#"{"type":"system","subtype":"compact_boundary","uuid":"2","sessionId":"s","content":"Conversation compacted"}"#,
        r#"{"type":"user","uuid":"3","sessionId":"s","isCompactSummary":true,"message":{"role":"user","content":"sum"}}"#,
    ];
    let codex = [
        r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}}"#,
        r#"{"type":"compacted","payload":{"message":"sum"}}"#,
    ];
    for rows in [&claude[..], &codex] {
        let seen = see_bytes("s.jsonl", rows.join("\n").as_bytes());
        let sum = seen.steps().find(|s| s.text == "sum").unwrap();
        assert_eq!((sum.owner, &sum.replaces), (Owner::Runtime, &vec![0]));
    }
}

/// Text that the program puts in the user's name is the program's, in each agent's own words.
#[test]
fn inserted_text_is_the_programs() {
    let claude = |text: &str, meta: &str| {
        format!(
            r#"{{"type":"user","uuid":"1","sessionId":"s"{meta},"message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let codex = |text: &str| {
        format!(
            r#"{{"type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}}}"#
        )
    };
    let gemini = |text: &str| {
        format!(
            r#"{{"sessionId":"s","projectHash":"p","messages":[{{"id":"1","type":"user","content":[{{"text":"{text}"}}]}}]}}"#
        )
    };
    let cases = [
        (claude("hello", ""), Owner::User),
        (claude("hello", r#","isMeta":true"#), Owner::Runtime),
        (
            claude("<system-reminder>x</system-reminder>", ""),
            Owner::Runtime,
        ),
        (
            claude("<command-name>/clear</command-name>", ""),
            Owner::Runtime,
        ),
        (codex("hello"), Owner::User),
        (
            codex("<environment_context>x</environment_context>"),
            Owner::Runtime,
        ),
        (gemini("hello"), Owner::User),
        (
            gemini("<session_context>x</session_context>"),
            Owner::Runtime,
        ),
    ];
    for (text, want) in cases {
        let seen = see_bytes("s.jsonl", text.as_bytes());
        assert_eq!(seen.runs[0].steps[0].owner, want, "{text}");
    }
}

/// opencode: tokens and cost stand in the end of each answer; an answer without an end does not count the last one's again.
#[test]
fn opencode_answers_count_their_own_tokens() {
    let row = |kind: &str, part: &str| {
        format!(
            r#"{{"type":"{kind}","timestamp":1,"sessionID":"ses_1","part":{{"messageID":"m",{part}}}}}"#
        )
    };
    let rows = [
        row("text", r#""type":"text","text":"a""#),
        row(
            "step_finish",
            r#""type":"step-finish","reason":"tool-calls","cost":0.5,"tokens":{"input":7,"output":3}"#,
        ),
        row("text", r#""type":"text","text":"b""#),
    ];
    let seen = see_bytes("s.jsonl", rows.join("\n").as_bytes());
    let calls = seen.calls();
    let told: Vec<_> = calls
        .map(|c| (c.usage.output, c.cost_usd, c.finish_reason.as_deref()))
        .collect();
    assert_eq!(
        told,
        [(Some(3), Some(0.5), Some("tool-calls")), (None, None, None)]
    );
}
