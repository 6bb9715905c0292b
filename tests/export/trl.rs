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

/// Scoring and export agree about what a message is: the rows hold the dicts that the scorer's template sees.
#[test]
fn rows_hold_the_dicts_that_scoring_renders() {
    use triagent::domain::chat::{context_before, decision_at};
    use triagent::score::template::message_dict;
    let mut developer = Story::new("dev", "t").step(
        triagent::domain::Owner::System,
        triagent::domain::StepKind::Text,
        triagent::domain::Role::Developer,
        "Cite.",
    );
    developer.0.head.tools.clear();
    let runs: Vec<_> = four()
        .into_iter()
        .chain(wide())
        .chain([developer.user("q").says("Which?").passes()])
        .collect();
    let rows = export(Format::TrlSft, &runs, &[]).rows();
    assert_eq!(rows.len(), 11);
    for row in rows {
        let run = runs
            .iter()
            .find(|r| r.head.id.as_str() == row["run"])
            .unwrap();
        let step: u32 = row["step"].as_str().unwrap().parse().unwrap();
        let prompt: Vec<Value> = context_before(&run.steps, step)
            .iter()
            .map(message_dict)
            .collect();
        assert_eq!(row["prompt"], Value::Array(prompt), "{}", row["id"]);
        assert_eq!(
            row["completion"],
            json!([message_dict(&decision_at(&run.steps, step).unwrap())])
        );
    }
}

/// The embedded model's own template and tokenizer, without its weights: rows are measured as the scorer reads them.
#[test]
fn a_reader_measures_rows_with_the_models_own_template() {
    use triagent::export::{Measured, Options, Segment, Target};
    use triagent::score::{ModelSource, Reader};
    let reader = Reader::open(&ModelSource::Embedded, None).unwrap();
    assert_eq!(
        (reader.tokenizer().len(), reader.template().len()),
        (32, 32)
    );
    let measure = |prompt: &[triagent::domain::ChatMessage],
                   target: &triagent::domain::ChatMessage,
                   tools: &[Value]| {
        let read = reader
            .read(prompt, target, tools)
            .map_err(|e| e.to_string())?;
        let token = |text: &String| Segment {
            text: text.clone(),
            owner: "model".to_owned(),
            trained: true,
        };
        Ok(Measured {
            prompt_tokens: u32::try_from(read.prompt_tokens).unwrap(),
            target_tokens: u32::try_from(read.action.len()).unwrap(),
            drops: read.drops,
            segments: read.action.iter().map(token).collect(),
            ..Measured::default()
        })
    };
    let target = Some(Target {
        has_generation_marks: reader.has_generation_marks(),
        measure: &measure,
    });
    let options = Options {
        target,
        ..Options::new(Format::TrlSft)
    };
    let out = export_with(&options, input(&four(), &[])).unwrap();
    assert_eq!(out.rows().len(), 4);
    assert!(
        !out.manifest
            .warnings
            .iter()
            .any(|w| w.contains("not checked"))
    );
}
