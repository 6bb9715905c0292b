//! Tool calls, each oddity in its smallest input: arguments in both shapes, broken ones, unknown tools, failures that only
//! the text tells, answers out of order, without ids, without calls.

use super::seen::{Seen, see_bytes};
use triagent::domain::{Owner, Step, StepKind, StepStatus};

fn calls(seen: &Seen) -> Vec<&Step> {
    seen.steps()
        .filter(|s| s.kind == StepKind::ToolCall)
        .collect()
}

fn answers(seen: &Seen) -> Vec<&Step> {
    let is_answer = |s: &&Step| s.kind == StepKind::Observation;
    seen.steps().filter(is_answer).collect()
}

fn chat(messages: &str) -> Seen {
    see_bytes(
        "a.jsonl",
        format!(r#"{{"messages":[{messages}]}}"#).as_bytes(),
    )
}

/// Text stays as the model wrote it, spaces and order included; an object becomes compact JSON.
#[test]
fn arguments_are_text_or_an_object() {
    let text = r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{ \"b\": 1, \"a\": 2.50 }"}}]}"#;
    assert_eq!(calls(&chat(text))[0].text, r#"{ "b": 1, "a": 2.50 }"#);
    let object = r#"{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{"b":1,"a":2.50}}]}"#;
    assert_eq!(calls(&chat(object))[0].text, r#"{"b":1,"a":2.50}"#);
    let flat = r#"{"role":"assistant","tool_calls":[{"id":"c","function":"f","args":{"a":1}}]}"#;
    let seen = chat(flat);
    assert_eq!(
        (
            calls(&seen)[0].tool.as_deref(),
            calls(&seen)[0].text.as_str()
        ),
        (Some("f"), r#"{"a":1}"#)
    );
}

/// Broken arguments are a failure of their own kind: never repaired, never dropped.
#[test]
fn broken_arguments_stay_as_they_are() {
    let row = r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\": 1"}}]}"#;
    assert_eq!(calls(&chat(row))[0].text, r#"{"a": 1"#);
}

/// Codex answers "failed to parse …" and "unsupported call" as normal output; the exit code stands in a header line,
/// in older versions in JSON.
#[test]
fn codex_tells_failures_in_its_text() {
    let cases = [
        ("failed to parse function arguments: EOF", StepStatus::Error),
        ("unsupported call: no_such_tool", StepStatus::Error),
        (
            "Chunk ID: 1\nProcess exited with code 1\nOutput:\nx",
            StepStatus::Error,
        ),
        (
            "Chunk ID: 1\nProcess exited with code 0\nOutput:\nProcess exited with code 1",
            StepStatus::Ok,
        ),
        (
            r#"{"output":"x","metadata":{"exit_code":2}}"#,
            StepStatus::Error,
        ),
        (
            r#"{"output":"x","metadata":{"exit_code":0}}"#,
            StepStatus::Ok,
        ),
        ("plain text", StepStatus::Unknown),
    ];
    for (output, want) in cases {
        let quoted = serde_json::to_string(output).unwrap();
        let rows = format!(
            "{{\"type\":\"response_item\",\"payload\":{{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"shell\",\"arguments\":\"{{}}\"}}}}\n{{\"type\":\"response_item\",\"payload\":{{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":{quoted}}}}}\n"
        );
        let seen = see_bytes("rollout.jsonl", rows.as_bytes());
        assert_eq!(answers(&seen)[0].status, want, "{output}");
    }
}

/// opencode renames a call that it could not make to `invalid` and calls it completed; so it calls a command that
/// exited with 1. The name that the model wrote comes back.
#[test]
fn opencode_hides_failures_behind_completed() {
    let part = |tool: &str, state: &str| {
        format!(
            r#"{{"info":{{"id":"ses_1"}},"messages":[{{"info":{{"role":"assistant","id":"m"}},"parts":[{{"type":"tool","tool":"{tool}","callID":"c","state":{state}}}]}}]}}"#
        )
    };
    let cases = [
        (
            "invalid",
            r#"{"status":"completed","input":{"tool":"bash","error":"JSON parsing failed"},"output":"The arguments are invalid"}"#,
            "bash",
            Some(StepStatus::Error),
        ),
        (
            "bash",
            r#"{"status":"completed","input":{},"output":"x","metadata":{"exit":1}}"#,
            "bash",
            Some(StepStatus::Error),
        ),
        (
            "bash",
            r#"{"status":"completed","input":{},"output":"x","metadata":{"exit":0}}"#,
            "bash",
            Some(StepStatus::Ok),
        ),
        (
            "edit",
            r#"{"status":"error","input":{},"error":"not found"}"#,
            "edit",
            Some(StepStatus::Error),
        ),
        ("bash", r#"{"status":"running","input":{}}"#, "bash", None),
    ];
    for (tool, state, name, want) in cases {
        let seen = see_bytes("e.json", part(tool, state).as_bytes());
        assert_eq!(calls(&seen)[0].tool.as_deref(), Some(name));
        assert_eq!(answers(&seen).first().map(|s| s.status), want, "{state}");
    }
}

/// Gemini's error stands in the response; its shell tool is a success whatever the command did.
#[test]
fn gemini_tells_failures_in_response_and_text() {
    let cases = [
        ("error", r#"{"error":"Tool not found"}"#, StepStatus::Error),
        (
            "success",
            r#"{"output":"Output: x\nExit Code: 1\n"}"#,
            StepStatus::Error,
        ),
        (
            "success",
            r#"{"output":"Output: x\nExit Code: 0\n"}"#,
            StepStatus::Ok,
        ),
        ("cancelled", r#"{"error":"no"}"#, StepStatus::Denied),
    ];
    for (status, response, want) in cases {
        let text = format!(
            r#"{{"sessionId":"s","projectHash":"p","messages":[{{"id":"1","type":"gemini","content":"","toolCalls":[{{"id":"c","name":"f","args":{{}},"status":"{status}","result":[{{"functionResponse":{{"id":"c","name":"f","response":{response}}}}}]}}]}}]}}"#
        );
        let seen = see_bytes("s.json", text.as_bytes());
        assert_eq!(answers(&seen)[0].status, want, "{response}");
    }
}

/// AgentDojo: an unknown tool has its text in `error` and empty content.
#[test]
fn agentdojo_keeps_the_error_apart() {
    let text = r#"{"suite_name":"s","pipeline_name":"p","user_task_id":"u","messages":[{"role":"assistant","content":null,"tool_calls":[{"function":"nope","args":{},"id":"c"}]},{"role":"tool","content":[{"type":"text","content":""}],"tool_call_id":"c","error":"Invalid tool nope provided.","tool_call":{"function":"nope","args":{},"id":"c"}}],"utility":false,"security":true}"#;
    let seen = see_bytes("none.json", text.as_bytes());
    let answer = answers(&seen)[0];
    assert_eq!(answer.status, StepStatus::Error);
    assert!(answer.text.contains("Invalid tool nope"), "{}", answer.text);
}

/// mini-swe-agent: `<returncode>` is the only sign of a failed command.
#[test]
fn mini_swe_agent_has_the_return_code_in_the_text() {
    let text = |code: u8| {
        format!(
            r#"{{"trajectory_format":"mini-swe-agent-1","info":{{"mini_version":"1"}},"messages":[{{"role":"system","content":"s"}},{{"role":"user","content":"task"}},{{"role":"assistant","content":"```bash\nls\n```"}},{{"role":"user","content":"<returncode>{code}</returncode>\n<output>\nx\n</output>"}}]}}"#
        )
    };
    for (code, want) in [(0, StepStatus::Ok), (1, StepStatus::Error)] {
        let seen = see_bytes("a.traj.json", text(code).as_bytes());
        let last = seen.steps().last().unwrap();
        // Text mode: sent as `user`, and no person's words.
        assert_ne!(last.owner, Owner::User);
        assert_eq!(last.status, want);
    }
}

/// Parallel calls answered in the other order are matched by id.
#[test]
fn answers_out_of_order_are_matched_by_id() {
    let seen = chat(
        r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"g","arguments":"{}"}}]},{"role":"tool","tool_call_id":"b","content":"B"},{"role":"tool","tool_call_id":"a","content":"A"}"#,
    );
    let joined: Vec<_> = answers(&seen)
        .iter()
        .map(|s| (s.text.as_str(), s.tool.as_deref().unwrap()))
        .collect();
    assert_eq!(joined, [("B", "g"), ("A", "f")]);
}

/// An id that comes again in a later turn belongs to that turn's call.
#[test]
fn an_id_that_repeats_joins_its_own_turn() {
    let seen = chat(
        r#"{"role":"assistant","tool_calls":[{"id":"call_0","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_0","content":"1"},{"role":"assistant","tool_calls":[{"id":"call_0","function":{"name":"g","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_0","content":"2"}"#,
    );
    let joined: Vec<_> = answers(&seen)
        .iter()
        .map(|s| (s.text.as_str(), s.tool.as_deref().unwrap()))
        .collect();
    assert_eq!(joined, [("1", "f"), ("2", "g")]);
    assert!(
        answers(&seen)
            .iter()
            .all(|s| !s.extra.contains_key("orphan"))
    );
}

/// Without ids answers are matched by position, and marked as inferred.
#[test]
fn answers_without_ids_are_matched_by_position_and_marked() {
    let row = r#"{"example_id":1,"reward":1,"prompt":[],"completion":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":"A"}]}"#;
    let seen = see_bytes("results.jsonl", row.as_bytes());
    let answer = answers(&seen)[0];
    assert_eq!(answer.tool_call_id.as_deref(), Some("a"));
    assert_eq!(answer.extra["joined"], "by position");
    let share = r#"{"conversations":[{"from":"human","value":"q"},{"from":"function_call","value":"{\"name\":\"f\",\"arguments\":{}}"},{"from":"observation","value":"A"},{"from":"gpt","value":"x"}]}"#;
    let seen = see_bytes("s.jsonl", share.as_bytes());
    let (call, answer) = (calls(&seen)[0], answers(&seen)[0]);
    assert!(call.tool_call_id.is_some());
    assert_eq!(answer.tool_call_id, call.tool_call_id);
    assert!(answer.extra.contains_key("joined"), "{:?}", answer.extra);
}

/// Calls without answers and answers without calls are real: both are kept, the latter marked.
#[test]
fn orphans_on_both_sides_are_kept() {
    let seen = chat(
        r#"{"role":"tool","tool_call_id":"lost","content":"old"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"next"}"#,
    );
    assert_eq!((calls(&seen).len(), answers(&seen).len()), (1, 1));
    assert_eq!(answers(&seen)[0].extra["orphan"], true);
}

/// tau2's simulated user has tools of its own: they are not the agent's actions.
#[test]
fn calls_of_the_simulated_user_are_not_the_agents() {
    let text = r#"{"timestamp":"2026-01-01","info":{"environment_info":{"domain_name":"telecom"},"agent_info":{"llm":"m"}},"tasks":[],"simulations":[{"id":"s","task_id":"t","trial":0,"messages":[{"role":"user","content":null,"tool_calls":[{"id":"u1","name":"check_status","arguments":{},"requestor":"user"}]},{"role":"tool","id":"u1","content":"ok","requestor":"user","error":false},{"role":"assistant","content":null,"tool_calls":[{"id":"a1","name":"lookup","arguments":{},"requestor":"assistant"}]},{"role":"tool","id":"a1","content":"no","requestor":"assistant","error":true}]}]}"#;
    let seen = see_bytes("results.json", text.as_bytes());
    let owners: Vec<_> = calls(&seen)
        .iter()
        .map(|s| (s.tool.as_deref().unwrap(), s.owner))
        .collect();
    assert_eq!(
        owners,
        [("check_status", Owner::User), ("lookup", Owner::Model)]
    );
    assert_eq!(seen.tool_calls(), 1);
    assert_eq!(answers(&seen)[1].status, StepStatus::Error);
}

/// Actions that a model wrote as text stay its text, whole; nothing is split by looks.
#[test]
fn actions_in_text_form_stay_text() {
    let said =
        "<think>a</think> <function=f>1</function> <function=g>2</function> ```bash\\nls\\n```";
    let seen = chat(&format!(r#"{{"role":"assistant","content":"{said}"}}"#));
    assert_eq!(calls(&seen).len(), 0);
    assert_eq!(seen.lines().len(), 1);
}

/// Inspect tells broken arguments apart from a tool that failed.
#[test]
fn inspect_keeps_the_parse_error() {
    let text = r#"{"version":2,"status":"success","eval":{"task":"t","model":"m"},"samples":[{"id":1,"epoch":1,"input":"q","target":"","messages":[{"role":"user","content":"q","source":"input"},{"role":"assistant","content":"","source":"generate","tool_calls":[{"id":"c","function":"f","arguments":{},"parse_error":"bad JSON","type":"function"}]},{"role":"tool","tool_call_id":"c","function":"f","content":"","error":{"type":"parsing","message":"bad JSON"}}],"scores":{}}]}"#;
    let seen = see_bytes("a.json", text.as_bytes());
    let answer = answers(&seen)[0];
    assert_eq!(answer.status, StepStatus::Error);
    assert!(answer.text.contains("bad JSON"), "{}", answer.text);
    assert!(
        calls(&seen)[0].extra.values().any(|v| v == "bad JSON"),
        "{:?}",
        calls(&seen)[0].extra
    );
}

/// Cline speaks in the user's name: surroundings, and in older versions tools' answers. (Shape from its source.)
#[test]
fn cline_speaks_in_the_users_name() {
    let text = r#"[{"role":"user","content":[{"type":"text","text":"<task>q</task>"},{"type":"text","text":"<environment_details>\n# Time\n</environment_details>"}],"ts":1795971847500},{"role":"assistant","content":[{"type":"text","text":"<read_file><path>a</path></read_file>"}]},{"role":"user","content":[{"type":"text","text":"[read_file for 'a'] Result:\nx"}]}]"#;
    let seen = see_bytes("api_conversation_history.json", text.as_bytes());
    assert_eq!(seen.report.format.as_deref(), Some("cline"));
    let owners: Vec<_> = seen.steps().map(|s| s.owner).collect();
    assert_eq!(
        owners,
        [Owner::User, Owner::Runtime, Owner::Model, Owner::Tool]
    );
}

/// A fork of Claude Code puts a tool's answer into the parts of Gemini's: its text is the answer.
#[test]
fn an_answer_in_response_parts_is_its_output() {
    let text = r#"{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":{"callId":"c","responseParts":{"functionResponse":{"id":"c","name":"read","response":{"output":"the file"}}}}}]}}"#;
    let seen = see_bytes("s.jsonl", text.as_bytes());
    assert_eq!(seen.lines(), ["tool observation the file"]);
    assert!(seen.report.not_understood.is_empty());
}

/// The list of calls may be packed into a text; so may one call alone, and what is no call at all stays as it is.
#[test]
fn packed_tool_calls_are_never_dropped() {
    let packed = |inner: &str| {
        let text = serde_json::to_string(inner).unwrap();
        let seen = chat(&format!(r#"{{"role":"assistant","tool_calls":{text}}}"#));
        let calls = calls(&seen).into_iter();
        calls
            .map(|c| format!("{} {}", c.tool.as_deref().unwrap_or(""), c.text))
            .collect::<Vec<_>>()
    };
    let call = r#"{"id":"c","function":{"name":"f","arguments":"{}"}}"#;
    assert_eq!(packed(call), ["f {}"]);
    assert_eq!(packed(&format!("[{call}]")), ["f {}"]);
    assert_eq!(packed("f(1)"), [" f(1)"]);
    assert_eq!(packed("12"), [" 12"]);
    for nothing in ["", "null", "[]"] {
        assert_eq!(packed(nothing), [""; 0], "{nothing:?}");
    }
    let alone = chat(&format!(r#"{{"role":"assistant","tool_calls":{call}}}"#));
    assert_eq!(calls(&alone)[0].tool.as_deref(), Some("f"));
}
