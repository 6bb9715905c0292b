//! A file that grows while it is watched (`import --follow`): after every look the run holds what the file held, and in the
//! end it is one run with the steps that one import of the whole file gives.

use super::seen::real_logs;
use std::path::Path;
use triagent::domain::{Filter, Progress};
use triagent::jobs::{self, ImportOptions};
use triagent::store::Store;

fn look(store: &mut Store, path: &Path) {
    let options = ImportOptions::default();
    jobs::import(
        store,
        &[path.to_owned()],
        &options,
        1,
        &Progress::default(),
        &mut |_| {},
    )
    .unwrap();
}

/// Runs and their steps, as `owner kind text`.
fn held(store: &Store) -> Vec<(String, Vec<String>)> {
    let page = store.runs(&Filter::default(), None, 100).unwrap();
    let rows = page.rows.into_iter();
    rows.map(|row| {
        let steps = store.steps(&row.id).unwrap();
        let lines = steps
            .iter()
            .map(|s| format!("{} {} {}", s.owner, s.kind, s.text));
        (row.id.0.clone(), lines.collect())
    })
    .collect()
}

/// Looks at a file while it grows; most see a row in its middle.
const LOOKS: usize = 13;

#[test]
fn a_growing_session_stays_one_run() {
    let Some(root) = real_logs() else { return };
    let logs = [
        "claude-code/representative.jsonl",
        "claude-code/subagent-parent.jsonl",
        "codex-rollout/rollout-2026-11-29T16-40-56-01a2282e-5a6b-7713-9714-709582a9bf8a.jsonl",
        "codex-rollout/rollout-2026-11-29T16-40-56-01a2282e-5c7f-7c33-b055-c4d7ee1139ab.jsonl",
        "gemini-cli/session-2026-11-29T17-04-756a98b1.jsonl",
        "opencode/edit-errors-then-fixed.stream.jsonl",
        "pi-session/session.jsonl",
        "openhands-events/goal-events.jsonl",
        "agent-lightning-1/r0.events.json",
    ];
    let mut wrong = Vec::new();
    for name in logs {
        let bytes = std::fs::read(root.join(name)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(Path::new(name).file_name().unwrap());
        let mut store = Store::in_memory().unwrap();
        for share in 1..=LOOKS {
            std::fs::write(&path, &bytes[..bytes.len() * share / LOOKS]).unwrap();
            look(&mut store, &path);
        }
        let mut whole = Store::in_memory().unwrap();
        look(&mut whole, &path);
        let (grown, once) = (held(&store), held(&whole));
        if grown != once {
            let ids = |runs: &[(String, Vec<String>)]| {
                runs.iter()
                    .map(|(id, steps)| format!("{id} {}", steps.len()))
                    .collect::<Vec<_>>()
            };
            wrong.push(format!(
                "{name}: {:?}, at once {:?}",
                ids(&grown),
                ids(&once)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const HALF: &str = r#"{"type":"assistant","uuid":"1","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}}
{"type":"user","uuid":"2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"A"}]}}
"#;
const REST: &str = r#"{"type":"assistant","uuid":"3","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"b","name":"f","input":{}}]}}
{"type":"user","uuid":"4","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"B"}]}}
"#;

/// Parallel calls are written one by one with their answers, and belong to one answer: the second call moves before the
/// first answer. The run that a look saw half is told anew, unless somebody has worked on it.
#[test]
fn an_answer_seen_half_is_told_anew_unless_somebody_worked_on_it() {
    let look_twice = |between: &dyn Fn(&mut Store)| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let mut store = Store::in_memory().unwrap();
        let first =
            r#"{"type":"user","uuid":"0","sessionId":"s","message":{"role":"user","content":"q"}}"#;
        std::fs::write(&path, format!("{first}\n{HALF}")).unwrap();
        look(&mut store, &path);
        between(&mut store);
        std::fs::write(&path, format!("{first}\n{HALF}{REST}")).unwrap();
        look(&mut store, &path);
        held(&store)
    };
    let untouched = look_twice(&|_| {});
    assert_eq!(untouched.len(), 1, "{untouched:?}");
    assert_eq!(
        untouched[0].1,
        [
            "user text q",
            "model tool_call {}",
            "model tool_call {}",
            "tool observation A",
            "tool observation B"
        ]
    );
    let worked_on = look_twice(&|store| store.put_draft("me", "s", "looks wrong", 1).unwrap());
    assert_eq!(worked_on.len(), 2, "{worked_on:?}");
}
