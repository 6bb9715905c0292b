//! Outcome, each trap in its smallest input: a status is no success, what stops midway ended abruptly, missing is not 0.

use super::seen::{SeenRun, see_bytes};
use triagent::domain::{Ending, Outcome, RewardStatus};

fn one(name: &str, text: &str) -> SeenRun {
    let seen = see_bytes(name, text.as_bytes());
    assert_eq!(seen.runs.len(), 1, "{:?}", seen.report);
    seen.runs.into_iter().next().unwrap()
}

/// OTel UNSET and OK, MLflow OK: nobody judged the task.
#[test]
fn a_status_of_ok_is_no_success() {
    let otel = |status: &str| {
        format!(
            r#"{{"name":"c","context":{{"trace_id":"0x1","span_id":"0x2"}},"status":{{"status_code":"{status}"}},"attributes":{{"openinference.span.kind":"LLM","llm.input_messages.0.message.role":"user","llm.input_messages.0.message.content":"q","llm.output_messages.0.message.role":"assistant","llm.output_messages.0.message.content":"a"}}}}"#
        )
    };
    for status in ["UNSET", "OK"] {
        let run = one("a.jsonl", &otel(status));
        assert_eq!((run.head.outcome, run.rewards.len()), (Outcome::Unknown, 0));
    }
    let mlflow = r#"{"info":{"trace_id":"tr-1","state":"OK"},"data":{"spans":[{"trace_id":"t","span_id":"s","name":"c","start_time_unix_nano":1,"end_time_unix_nano":2,"status":{"code":"STATUS_CODE_OK"},"attributes":{"mlflow.spanType":"\"CHAT_MODEL\"","mlflow.spanInputs":"{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}","mlflow.spanOutputs":"{}"}}]}}"#;
    assert_eq!(one("t.json", mlflow).head.outcome, Outcome::Unknown);
}

/// Agent Lightning's state `succeeded` with reward 0 is a failure, and of several rewards the last one counts.
#[test]
fn agent_lightning_takes_the_last_reward() {
    let event = |value: &str, at: u8| {
        format!(
            r#"{{"event_type":"reward","rollout_id":"r","attempt_id":"0","timestamp":{at},"data":{{"value":{value}}}}}"#
        )
    };
    let run = one("events.jsonl", &[event("1", 1), event("0", 2)].join("\n"));
    let results: Vec<_> = run.rewards.iter().map(|r| r.result).collect();
    assert_eq!(results, [Some(0.0)]);
    assert_eq!(run.head.outcome, Outcome::Fail);
}

/// verifiers: `ok: true` and a stop condition, and the last call was HTTP 400.
#[test]
fn verifiers_ok_does_not_hide_a_failed_call() {
    let text = r#"{"id":"e","ok":true,"errors":[],"task":{"type":"t","key":"k"},"traces":[{"version":1,"id":"t","nodes":[{"message":{"role":"user","content":"q"},"sampled":false}],"calls":[{"node":0,"model":"m","error":{"type":"BadRequest","message":"HTTP 400","status_code":400}}],"rewards":{},"ok":true,"is_completed":true,"stop_condition":"agent_completed","errors":[]}]}"#;
    let run = one("traces.jsonl", text);
    assert_ne!(run.head.outcome, Outcome::Pass);
    assert!(
        run.calls
            .iter()
            .any(|c| c.error.as_ref().is_some_and(|e| e.contains("400"))),
        "{:?}",
        run.calls
    );
    assert_eq!(run.head.ending, Ending::Error);
}

/// AgentDojo: utility is the outcome whatever the text says; `security` with an attack means that the attack worked.
#[test]
fn agentdojo_security_means_that_the_injection_worked() {
    let text = |attack: &str, utility: &str| {
        format!(
            r#"{{"suite_name":"s","pipeline_name":"p","user_task_id":"u","injection_task_id":null,"attack_type":{attack},"messages":[{{"role":"assistant","content":[{{"type":"text","content":"could not be paid"}}]}}],"utility":{utility},"security":true}}"#
        )
    };
    let clean = one("none.json", &text("null", "true"));
    assert_eq!(clean.head.outcome, Outcome::Pass);
    let harmless = clean.rewards.iter().filter_map(|r| r.side_effects.as_ref());
    assert!(harmless.flatten().next().is_none(), "{:?}", clean.rewards);
    let attacked = one("i.json", &text("\"important_instructions\"", "false"));
    assert_eq!(attacked.head.outcome, Outcome::Fail);
    let said = format!("{:?} {:?}", attacked.rewards, attacked.head.extra);
    assert!(
        said.contains("security") || said.contains("injection"),
        "{said}"
    );
}

/// An unfinished AgentDojo file lacks utility altogether: missing, not 0.
#[test]
fn a_reward_that_is_not_written_is_missing() {
    let text = r#"{"suite_name":"s","pipeline_name":"p","user_task_id":"u","messages":[{"role":"user","content":[{"type":"text","content":"q"}]}]}"#;
    let run = one("none.json", text);
    assert_eq!(run.head.outcome, Outcome::Unknown);
    assert!(run.rewards.iter().all(|r| r.result.is_none()));
    // tau-bench writes 0 for a trial that crashed before it was graded.
    let crashed = r#"[{"task_id":0,"reward":0.0,"info":{"error":"boom","traceback":"t"},"traj":[],"trial":0}]"#;
    let run = one("results.json", crashed);
    assert_eq!(
        (run.rewards[0].result, run.rewards[0].status),
        (None, RewardStatus::Missing)
    );
    assert_eq!(
        (run.head.outcome, run.head.ending),
        (Outcome::Unknown, Ending::Error)
    );
}

/// Logs that just stop: after a tool's answer, in an unanswered call, in an answer without an end.
#[test]
fn what_stops_midway_ended_abruptly() {
    let gemini = r#"{"sessionId":"s","projectHash":"p","messages":[{"id":"1","type":"user","content":"q"},{"id":"2","type":"gemini","content":"","toolCalls":[{"id":"c","name":"f","args":{},"status":"success","result":[{"functionResponse":{"id":"c","name":"f","response":{"output":"x"}}}]}]}]}"#;
    let killed = r#"{"info":{"id":"ses_1"},"messages":[{"info":{"role":"assistant","id":"m","time":{"created":1795971033198}},"parts":[{"type":"step-start"},{"type":"text","text":"half"}]}]}"#;
    let unstored = r#"{"info":{"id":"ses_1"},"messages":[{"info":{"role":"assistant","id":"m","time":{"created":1795971033198,"completed":1795971033199},"tokens":{"input":0,"output":0}},"parts":[]}]}"#;
    let unanswered = r#"{"type":"assistant","uuid":"1","sessionId":"s","message":{"id":"m","role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]}}"#;
    for (name, text) in [
        ("g.json", gemini),
        ("k.json", killed),
        ("u.json", unstored),
        ("c.jsonl", unanswered),
    ] {
        assert_eq!(one(name, text).head.ending, Ending::Abrupt, "{name}");
    }
}

/// Codex: retries leave no rows; how the turn ended is told once.
#[test]
fn codex_tells_the_error_when_the_turn_ends() {
    let text = "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"hi\"}]}}\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_complete\",\"last_agent_message\":null,\"error\":{\"message\":\"HTTP 500\",\"codex_error_info\":\"other\"}}}\n";
    let run = one("rollout.jsonl", text);
    assert_eq!(run.head.ending, Ending::Error);
    assert_eq!(run.head.ending_note.as_deref(), Some("other"));
    assert!(run.steps.iter().any(|s| s.text == "HTTP 500"));
}
