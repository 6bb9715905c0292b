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

/// How long the file is at each look: eighths of it, in the middle of rows. opencode's parallel calls are written one by one
/// with their answers; a look between two of them sees an order that the whole file does not have, so it is cut between
/// answers.
fn looks(bytes: &[u8], name: &str) -> Vec<usize> {
    if !name.starts_with("opencode") {
        return (1..=8).map(|n| bytes.len() * n / 8).collect();
    }
    let text = std::str::from_utf8(bytes).unwrap();
    let ends = text.match_indices('\n').map(|(at, _)| at + 1);
    let is_end = |end: &usize| text[..*end].lines().last().unwrap().contains("step_finish");
    ends.filter(is_end).collect()
}

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
        for end in looks(&bytes, name) {
            std::fs::write(&path, &bytes[..end]).unwrap();
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
