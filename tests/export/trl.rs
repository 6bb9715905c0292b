//! What TRL reads, row by row. Expected values come from TRAINING A1 and A2 and from the hand-made runs.

use super::fixtures::*;
use serde_json::{Value, json};
use triagent::export::Format;

#[test]
fn a_preference_row_is_one_decision_a_side_with_flat_provenance() {
    let runs = four();
    let out = export(Format::TrlDpo, &runs, &pairs(&runs));
    assert_eq!(out.left_out(), Vec::<String>::new());
    let rows = out.rows();
    assert_eq!(rows.len(), 3);
    let first = json!({
        "prompt": [
            {"role": "system", "content": "Answer from policies and cite them."},
            {"role": "user", "content": "差旅报销的住宿上限是多少？我是正式员工，2026 年 3 月出差。"},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "c2", "type": "function",
                "function": {"name": "search", "arguments": {"query": "住宿上限 2026", "limit": 3}}}]},
            {"role": "tool", "content": "T-7 v3 (2026-01-01 起): 正式员工 600 元/晚。T-7 v2 (至 2025-12-31): 500 元/晚。",
                "tool_call_id": "c2", "name": "search"}],
        "chosen": [{"role": "assistant", "content": "上限为 600 元/晚 [T-7 v3]。"}],
        "rejected": [{"role": "assistant", "content": "上限为 500 元/晚 [T-7 v2]。"}],
        "tools": serde_json::to_string(&[search_tool()]).unwrap(),
        "id": "p1", "task_id": "complete",
        "chosen_id": "correct-citation:4", "rejected_id": "stale-citation:4",
        "chosen_source": "recorded", "rejected_source": "recorded",
        "reviewer": "wang", "reason": "引用了有效版本", "criteria": "citation-valid", "evidence": "T-7 v3",
        "standard": "policy-1", "context_hash": rows[0]["context_hash"],
    });
    assert_eq!(rows[0], first);
    // Inside one request only (S-83): clarification over confident, whichever side it stood on.
    assert_eq!(
        rows[1]["chosen"][0]["content"],
        "请问您是正式员工还是实习生？"
    );
    assert_eq!(rows[2]["chosen_source"], "human:lin");
    assert_eq!(
        rows[2]["chosen"][0]["tool_calls"][0]["function"]["arguments"],
        json!({"query": "T-7", "limit": 1})
    );
    same_keys(&rows);
}

#[test]
fn supervised_rows_are_decisions_of_successes_and_written_sides() {
    let runs = four();
    let out = export(Format::TrlSft, &runs, &pairs(&runs));
    let rows = out.rows();
    let ids: Vec<&str> = rows.iter().map(|r| r["id"].as_str().unwrap()).collect();
    // Two decisions of each success, and the side that a reviewer wrote for a failure (S-83).
    let expected = [
        "correct-citation:2",
        "correct-citation:4",
        "correct-clarification:2",
        "correct-clarification:4",
        "stale-citation:2",
    ];
    assert_eq!(ids, expected);
    assert_eq!(
        out.left_out(),
        [
            "stale-citation not-a-success",
            "sure-without-condition not-a-success"
        ]
    );
    assert_eq!(rows[4]["source"], "human:lin");
    assert_eq!(rows[4]["reason"], "引用了有效版本");
    same_keys(&rows);
    for row in &rows {
        assert_eq!(row["completion"].as_array().unwrap().len(), 1);
        assert_eq!(row["completion"][0]["role"], "assistant");
        assert!(row["tools"].is_string());
    }
}

#[test]
fn a_run_without_tools_says_null_and_not_an_empty_list() {
    // `{% if tools is not none %}` of Llama 3 would print a tool section for `[]`; TRL reads the string as JSON.
    let mut story = Story::new("plain", "t").user("hi").says("Which one?");
    story.0.head.tools.clear();
    let out = export(Format::TrlSft, &[story.passes()], &[]);
    assert_eq!(out.rows()[0]["tools"], "null");
}

/// The reader takes its columns from the first rows, so every row has the same keys in the same order.
fn same_keys(rows: &[Value]) {
    let keys = |r: &Value| r.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for row in rows {
        assert_eq!(keys(row), keys(&rows[0]));
    }
}
