//! What came through the door, in a shape that tests can compare.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use triagent::domain::{
    Call, ForeignLabel, Item, Owner, Progress, Reward, Rollout, Step, StepKind,
};
use triagent::import::{FileReport, Unit, read};

/// A run as it came out.
#[derive(Debug, Clone)]
pub(crate) struct SeenRun {
    pub(crate) head: Rollout,
    pub(crate) steps: Vec<Step>,
    pub(crate) calls: Vec<Call>,
    pub(crate) rewards: Vec<Reward>,
    pub(crate) labels: Vec<ForeignLabel>,
}

/// All that came out of one unit.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) report: FileReport,
    pub(crate) runs: Vec<SeenRun>,
}

impl Seen {
    /// Steps of all runs.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.runs.iter().flat_map(|r| &r.steps)
    }

    /// Calls of all runs.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.runs.iter().flat_map(|r| &r.calls)
    }

    /// Step counts by owner.
    pub(crate) fn owners(&self) -> BTreeMap<String, u64> {
        let mut owners = BTreeMap::new();
        for step in self.steps() {
            *owners.entry(step.owner.word().to_owned()).or_default() += 1;
        }
        owners
    }

    /// The model's tool calls. Those of a simulated user are not the agent's.
    pub(crate) fn tool_calls(&self) -> usize {
        let is_call = |s: &&Step| s.kind == StepKind::ToolCall && s.owner == Owner::Model;
        self.steps().filter(is_call).count()
    }

    /// One line a step: `owner kind text`, for small cases.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |s: &Step| format!("{} {} {}", s.owner, s.kind, s.text);
        self.steps().map(line).collect()
    }
}

/// Reads a unit.
pub(crate) fn see_unit(unit: &Unit, format: Option<&str>) -> Seen {
    let mut items: Vec<Item> = Vec::new();
    let report = read(unit, format, &mut items, &Progress::default());
    Seen {
        report,
        runs: runs(items),
    }
}

/// Reads a file.
pub(crate) fn see(path: &Path) -> Seen {
    see_unit(&Unit::file(path), None)
}

/// Reads bytes as a file of this name.
pub(crate) fn see_bytes(name: &str, bytes: &[u8]) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    see(&path)
}

fn runs(items: Vec<Item>) -> Vec<SeenRun> {
    let mut runs: Vec<SeenRun> = Vec::new();
    let mut is_open = false;
    for item in items {
        match item {
            Item::Begin(head) => {
                assert!(!is_open, "a run begins inside another");
                is_open = true;
                runs.push(SeenRun {
                    head: *head,
                    steps: Vec::new(),
                    calls: Vec::new(),
                    rewards: Vec::new(),
                    labels: Vec::new(),
                });
            }
            Item::End(head) => {
                assert!(is_open, "a run ends that has not begun");
                is_open = false;
                let run = runs.last_mut().unwrap();
                assert_eq!(run.head.id, head.id, "a run changes its id");
                run.head = *head;
            }
            Item::Skip(_) | Item::NotUnderstood { .. } => {}
            inside => {
                assert!(is_open, "an item outside any run: {inside:?}");
                add(runs.last_mut().unwrap(), inside);
            }
        }
    }
    assert!(!is_open, "the last run does not end");
    runs
}

fn add(run: &mut SeenRun, item: Item) {
    match item {
        Item::Step(step) => {
            assert_eq!(step.index as usize, run.steps.len());
            if let Some(call) = step.call {
                assert!(
                    (call as usize) < run.calls.len(),
                    "a step names a call that is not there"
                );
            }
            assert!(
                step.replaces.iter().all(|&r| r < step.index),
                "a step replaces a later one"
            );
            run.steps.push(*step);
        }
        Item::Call(call) => {
            assert_eq!(call.index as usize, run.calls.len());
            run.calls.push(*call);
        }
        Item::Reward(reward) => run.rewards.push(*reward),
        Item::Label(label) => run.labels.push(*label),
        _ => {}
    }
}

/// The folder of real logs, or nothing where it is not at hand.
pub(crate) fn real_logs() -> Option<PathBuf> {
    let path = std::env::var_os("TRIAGENT_REAL_LOGS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/real-logs"),
        PathBuf::from,
    );
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: no real logs; set TRIAGENT_REAL_LOGS to a folder that holds them");
    None
}
