//! The self-check as people run it.

use crate::cli::desk::Desk;
use crate::score::models::folder;
use serde_json::{Value, json};
use std::process::Command;

fn self_check(precision: &str) -> (Value, Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_triagent"))
        .args([
            "score",
            "--self-check",
            "--json",
            "--device",
            "cpu",
            "--precision",
            precision,
        ])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let talk = String::from_utf8_lossy(&out.stderr).into_owned();
    (
        serde_json::from_slice(&out.stdout).expect(&talk),
        out.status.code(),
        talk,
    )
}

/// F32 on the CPU is the reference itself; sixteen bits are told by how much they move margins, and
/// refused where that may turn a preference around.
#[test]
fn the_self_check_tells_the_drift_of_a_mode() {
    let (exact, code, _) = self_check("f32");
    assert_eq!((&exact["max"], code), (&Value::from(0.0), Some(0)));
    let fast = crate::score::fast::precisions().len() > 1;
    for precision in ["f16", "bf16"].into_iter().chain(fast.then_some("int8")) {
        let (check, code, talk) = self_check(precision);
        let margin = check["max_margin"].as_f64().unwrap();
        assert!(margin > 0.0, "{check}");
        assert_eq!(check["mode"], format!("{precision} on cpu"));
        let passes = margin <= 1.0;
        assert_eq!(
            (check["passes"].as_bool(), code),
            (Some(passes), Some(i32::from(!passes)))
        );
        assert_eq!(talk.contains("--precision f32"), !passes, "{talk}");
    }
}

/// A log of three calls whose tokens and log-probs transformers recorded (`drift.json` says how), by two versions of a policy.
fn log(shift: f64) -> Value {
    let text = include_str!("drift.json");
    let recorded: Value = serde_json::from_str(text).unwrap();
    let calls = recorded["calls"].as_array().unwrap();
    let step = |(i, call): (usize, &Value)| {
        let mut metrics = call.clone();
        let last = i + 1 == calls.len();
        for logp in metrics["logprobs"].as_array_mut().unwrap() {
            *logp = json!(logp.as_f64().unwrap() + if last { shift } else { 0.0 });
        }
        json!({"step_id": i + 2, "source": "agent", "message": format!("answer {i}"),
               "model_name": if last { "policy-2" } else { "policy-1" }, "metrics": metrics})
    };
    let mut steps = vec![json!({"step_id": 1, "source": "user", "message": "ask"})];
    steps.extend(calls.iter().enumerate().map(step));
    json!({"schema_version": "ATIF-v1.4", "session_id": "recorded",
           "agent": {"name": "desk", "version": "1"}, "steps": steps})
}

/// TRAINING B3: the same weights are near what was recorded, another policy is not, and its scores carry the mark.
#[test]
fn recorded_log_probs_are_held_against_ours_by_version() {
    let model = folder("llama", "llama");
    let model = model.path().to_str().unwrap();
    for (shift, near) in [(0.0, true), (-0.7, false)] {
        let desk = Desk::new();
        std::fs::write(desk.path("log.json"), log(shift).to_string()).unwrap();
        desk.run(&["import", "log.json"]).ok();
        let checked = desk.run(&["score", "--drift", "--model", model, "--json"]);
        let rows = if near {
            checked.ok().rows()
        } else {
            checked.ended(1).rows()
        };
        assert_eq!(rows.len(), 2);
        for (row, version) in rows.iter().zip(["policy-1", "policy-2"]) {
            assert_eq!(row["version"], version);
            let report = &row["report"];
            let is_same = near || version == "policy-1";
            assert_eq!(report["passes"], is_same, "{row}");
            // e^0.7 by hand where the record was moved, else 1 within what two engines differ by.
            let wanted = if is_same { 1.0 } else { 0.7_f64.exp() };
            let ratio = report["ratio_mean"].as_f64().unwrap();
            assert!((ratio - wanted).abs() < 1e-3, "{ratio}");
            assert!(report["correlation"].as_f64().unwrap() > 0.999);
        }
        let scored = desk.run(&["score", "--runs", "--model", model, "--json"]);
        let scored = scored.ok().rows();
        assert_eq!(scored[0]["near_recorded_policy"], near);
    }
}

#[test]
fn tokens_of_another_vocabulary_are_told_and_nothing_logged_is_said() {
    let model = folder("llama", "llama");
    let model = model.path().to_str().unwrap();
    let desk = Desk::new();
    let mut strange = log(0.0);
    strange["steps"][1]["metrics"]["completion_token_ids"][0] = json!(99_999);
    strange["session_id"] = json!("strange");
    std::fs::write(desk.path("log.json"), strange.to_string()).unwrap();
    desk.run(&["import", "log.json"]).ok();
    let rows = desk
        .run(&["score", "--drift", "--model", model, "--json"])
        .ok()
        .rows();
    let left = rows[0]["left_out"].as_object().unwrap();
    assert!(left.keys().next().unwrap().contains("99999"), "{left:?}");
    let bare = Desk::new();
    std::fs::write(bare.path("a.jsonl"), "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"b\"}]}\n").unwrap();
    bare.run(&["import", "a.jsonl"]).ok();
    let said = bare.run(&["score", "--drift", "--model", model]).ended(1);
    assert!(said.err.contains("nothing can be compared"), "{}", said.err);
}
