//! Identity of runs, calls and attempts (S-20 to S-26).

use super::seen::see_bytes;
use triagent::domain::{Adopted, RewardStatus};

fn event(id: &str, attempt: &str, adopted: &str, answer: &str, at: u32) -> String {
    format!(
        r#"{{"event_type":"model_request","rollout_id":"r","attempt_id":"{attempt}","timestamp":{at},"event_id":"{id}",
"logical_request_id":"L1","adopted":"{adopted}","data":{{"model":"m","request":{{"messages":[{{"role":"user","content":"q"}}]}},
"response":{{"id":"resp-{id}","choices":[{{"message":{{"role":"assistant","content":"{answer}"}},"finish_reason":"stop"}}]}}}}}}"#
    )
    .replace('\n', "")
}

/// S-20, S-21, S-22, S-23: the case of Q092. One logical request; event e1 is logged twice, e2 is a retry after a
/// timeout with an answer of its own. Two attempts remain, one report is removed, the reward counts once.
#[test]
fn one_logical_request_two_attempts_one_repeated_report() {
    let rows = [
        event("e1", "0", "no", "first", 1),
        event("e1", "0", "no", "first", 1),
        event("e2", "1", "yes", "second", 2),
        r#"{"event_type":"reward","rollout_id":"r","attempt_id":"1","timestamp":3,"data":{"value":1,"source":"g"}}"#
            .to_owned(),
    ];
    let seen = see_bytes("events.jsonl", rows.join("\n").as_bytes());
    assert_eq!(seen.runs.len(), 1);
    let run = &seen.runs[0];
    let ids = |c: &triagent::domain::Call| {
        (
            c.event_id.clone().unwrap(),
            c.attempt.clone().unwrap(),
            c.reports,
            c.adopted,
        )
    };
    let calls: Vec<_> = run.calls.iter().map(ids).collect();
    let want = vec![
        ("e1".to_owned(), "0".to_owned(), 2, Adopted::No),
        ("e2".to_owned(), "1".to_owned(), 1, Adopted::Yes),
    ];
    assert_eq!(calls, want);
    assert!(
        run.calls
            .iter()
            .all(|c| c.logical_request_id.as_deref() == Some("L1"))
    );
    assert_eq!(seen.report.repeated, 1);
    assert_eq!(
        seen.lines(),
        ["user text q", "model text first", "model text second"]
    );
    let off: Vec<bool> = run.steps.iter().map(|s| s.off_path).collect();
    assert_eq!(off, [false, true, false]);
    assert_eq!(run.rewards.len(), 1);
    assert_eq!(run.rewards[0].status, RewardStatus::Ok);
}

/// S-22: the same request sent twice is two inferences, not one report twice.
#[test]
fn the_same_prompt_twice_is_two_calls() {
    let rows = [
        event("e1", "0", "unknown", "same", 1),
        event("e2", "0", "unknown", "same", 2),
    ];
    let seen = see_bytes("events.jsonl", rows.join("\n").as_bytes());
    assert_eq!(seen.runs[0].calls.len(), 2);
    assert_eq!(seen.report.repeated, 0);
}

/// S-25: `he`+`llo` came back as `hello`: the second prompt's tokens do not start with the first call's.
#[test]
fn a_broken_token_prefix_is_flagged() {
    let call = |prompt: &str, answer: &str, at: u32| {
        format!(
            r#"{{"event_type":"model_request","rollout_id":"r","attempt_id":"0","timestamp":{at},"data":{{"request":{{"messages":[]}},"response":{{"id":"c{at}","prompt_token_ids":{prompt},"choices":[{{"message":{{"role":"assistant","content":"a{at}"}},"token_ids":{answer}}}]}}}}}}"#
        )
    };
    let rows = [
        call("[1]", "[2,3]", 1),
        call("[1,2,3,4]", "[5]", 2),
        call("[1,23,4,5]", "[6]", 3),
    ];
    let seen = see_bytes("events.jsonl", rows.join("\n").as_bytes());
    let words: Vec<_> = seen
        .calls()
        .map(|c| c.extra.get("token_prefix").cloned())
        .collect();
    assert_eq!(
        words,
        [None, Some("continues".into()), Some("broken".into())]
    );
}

/// S-26: only text is stored, so token ids and log-probs stay empty and the report counts what is missing.
#[test]
fn text_alone_gives_no_token_ids() {
    let seen = see_bytes("events.jsonl", event("e1", "0", "yes", "a", 1).as_bytes());
    let call = &seen.runs[0].calls[0];
    assert_eq!((&call.completion_token_ids, &call.logprobs), (&None, &None));
    assert_eq!(seen.report.missing["token ids"], 1);
}

/// Two equal samples are two samples; the same row on another day has the same name.
#[test]
fn equal_rows_keep_apart_and_names_are_stable() {
    let row =
        r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yes"}]}"#;
    let text = format!("{row}\n{row}\n");
    let ids = |name: &str| {
        let seen = see_bytes(name, text.as_bytes());
        seen.runs
            .iter()
            .map(|r| r.head.id.0.clone())
            .collect::<Vec<_>>()
    };
    let first = ids("a.jsonl");
    assert_eq!(first[1], format!("{}-2", first[0]));
    assert_eq!(first, ids("b.jsonl"));
}

/// Triplets repeat what events hold: beside events they are named and left; alone their token ids are kept (S-26).
#[test]
fn triplets_are_read_only_where_no_events_stand_beside_them() {
    let triplet = r#"{"event_type":"model_request","rollout_id":"r","attempt_id":"0","timestamp":1,"data":{"prompt_token_ids":[1,2],"response_token_ids":[3],"response_log_probs":[-0.5]}}"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r0.triplets.json");
    std::fs::write(&path, format!("[{triplet}]")).unwrap();
    let alone = super::seen::see(&path);
    let call = &alone.runs[0].calls[0];
    assert_eq!(call.completion_token_ids, Some(vec![3]));
    assert_eq!(call.logprobs, Some(vec![-0.5]));
    std::fs::write(folder.path().join("r0.events.json"), "[]").unwrap();
    let beside = super::seen::see(&path);
    assert_eq!((beside.runs.len(), beside.report.notes.len()), (0, 1));
}
