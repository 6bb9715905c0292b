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

/// S-29: tool set, context compression and stop rule of the harness, where the log tells them. Values read off the files.
#[test]
fn facts_of_the_harness_are_kept() {
    let Some(root) = super::seen::real_logs() else {
        return;
    };
    let cases = [
        (
            "swe-agent-traj/v1.0-marshmallow-1867-messages.traj",
            Some("per_instance_cost_limit=3"),
            Some("last_n_observations"),
        ),
        (
            "mini-swe-agent/resolved-django-14752.traj.json",
            Some("step_limit=250 cost_limit=3.0"),
            Some("none"),
        ),
        (
            "openhands-events/conversation-pwd",
            Some("max_iterations=500"),
            None,
        ),
        (
            "tau2-bench/airline-finetuned-1trial.json",
            Some("max_steps=200 max_errors=10"),
            None,
        ),
        ("claude-code/representative.jsonl", None, None),
    ];
    for (name, stop, compression) in cases {
        let found = triagent::import::discover(&[root.join(name)]);
        let seen = super::seen::see_unit(&found.units[0], None);
        let harness = &seen.runs[0].head.harness;
        assert_eq!(harness.stop_rule.as_deref(), stop, "{name}");
        assert_eq!(harness.compression.as_deref(), compression, "{name}");
        assert!(harness.name.is_some(), "{name}");
    }
}

/// S-18: a record of the final answer alone is marked; one with a tool call or two answers is not.
#[test]
fn a_final_answer_alone_is_outcome_only() {
    let cases = [
        (
            r#"{"role":"user","content":"q"},{"role":"assistant","content":"a"}"#,
            true,
        ),
        (
            r#"{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"r"},{"role":"assistant","content":"b"}"#,
            false,
        ),
        (
            r#"{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}"#,
            false,
        ),
    ];
    for (messages, want) in cases {
        let run = one("a.jsonl", &format!(r#"{{"messages":[{messages}]}}"#));
        assert_eq!(run.head.outcome_only, want, "{messages}");
    }
}

/// S-31: the two stages of Agent Lightning are two formats, and each run says which.
#[test]
fn stages_of_agent_lightning_are_kept_apart() {
    let Some(root) = super::seen::real_logs() else {
        return;
    };
    let stage = |name: &str| {
        let seen = super::seen::see(&root.join(name));
        let extra = &seen.runs[0].head.extra;
        (
            seen.report.format.unwrap(),
            extra["stage"].as_str().unwrap().to_owned(),
        )
    };
    let (new, old) = (
        stage("agent-lightning-1/events.jsonl"),
        stage("agent-lightning-0/spans.jsonl"),
    );
    assert_eq!(new, ("agent-lightning-1".to_owned(), "v1.0".to_owned()));
    assert_eq!(old.0, "agent-lightning-0");
    assert_ne!(old.1, new.1);
}

/// S-35: requests and responses as they were captured: each request's own place, model and sampling.
#[test]
fn boundaries_of_requests_are_as_captured() {
    let row = |q: &str, t: &str, a: &str| {
        format!(
            r#"{{"request":{{"model":"m","temperature":{t},"messages":[{{"role":"user","content":"{q}"}}]}},"response":{{"id":"r{a}","choices":[{{"message":{{"role":"assistant","content":"{a}"}},"finish_reason":"stop"}}]}}}}"#
        )
    };
    let text = format!("{}\n{}\n", row("one", "0.1", "a"), row("two", "0.9", "b"));
    let seen = see_bytes("log.jsonl", text.as_bytes());
    let calls: Vec<_> = seen
        .calls()
        .map(|c| {
            (
                c.request_id.clone().unwrap(),
                c.sampling["temperature"].clone(),
                c.source.line,
            )
        })
        .collect();
    assert_eq!(
        calls,
        [
            ("ra".to_owned(), 0.1.into(), 1),
            ("rb".to_owned(), 0.9.into(), 2)
        ]
    );
}

/// TRL: a reward function that gave nothing (null here, NaN there) is missing, never 0; a whole number is a count that the
/// trainer's user added.
#[test]
fn trl_tells_missing_rewards_from_counts() {
    let row = |format: &str| {
        format!(
            r#"{{"step":1,"prompt":"q","completion":"a","tool_json":{format},"exact_reward":1,"num_tokens":12,"advantage":0.5}}"#
        )
    };
    let text = [row("null"), row("NaN"), row("1.0"), row("0")].join("\n");
    let seen = see_bytes("a.jsonl", text.as_bytes());
    let told = |run: &SeenRun| {
        let rewards = run.rewards.iter();
        rewards
            .map(|r| (r.grader.clone(), r.result))
            .collect::<Vec<_>>()
    };
    for (run, want) in seen.runs.iter().zip([None, None, Some(1.0), Some(0.0)]) {
        let want = [("tool_json", want), ("exact_reward", Some(1.0))];
        assert_eq!(told(run), want.map(|(name, r)| (name.to_owned(), r)));
        assert_eq!(run.head.extra["num_tokens"], 12);
    }
    assert!(seen.report.notes.iter().any(|n| n.contains("num_tokens")));
}
