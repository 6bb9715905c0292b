//! Reads files and gives runs as the pure rooms see them.

use std::path::{Path, PathBuf};
use triagent::domain::{Call, Document, Item, Progress, Reward, Rollout, Step, Task};
use triagent::import::{Unit, read, read_documents, read_tasks};
use triagent::triage::{Register, RunView};

/// A run in memory.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) head: Rollout,
    pub(crate) steps: Vec<Step>,
    pub(crate) calls: Vec<Call>,
    pub(crate) rewards: Vec<Reward>,
}

impl Run {
    pub(crate) fn view(&self) -> RunView<'_> {
        RunView {
            rollout: &self.head,
            steps: &self.steps,
            calls: &self.calls,
        }
    }
}

pub(crate) fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

pub(crate) fn runs_of(path: &Path) -> Vec<Run> {
    let mut items: Vec<Item> = Vec::new();
    read(&Unit::file(path), None, &mut items, &Progress::default());
    let mut runs: Vec<Run> = Vec::new();
    for item in items {
        match (item, runs.last_mut()) {
            (Item::Begin(head), _) => runs.push(Run {
                head: *head,
                steps: vec![],
                calls: vec![],
                rewards: vec![],
            }),
            (Item::Step(step), Some(run)) => run.steps.push(*step),
            (Item::Call(call), Some(run)) => run.calls.push(*call),
            (Item::Reward(reward), Some(run)) => run.rewards.push(*reward),
            (Item::End(head), Some(run)) => run.head = *head,
            _ => {}
        }
    }
    runs
}

/// All runs below a folder, in the order of their paths.
pub(crate) fn runs_below(folder: &Path) -> Vec<Run> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths.iter().flat_map(|p| runs_of(p)).collect()
}

pub(crate) fn documents(path: &Path) -> Vec<Document> {
    let (documents, skips) = read_documents(path);
    assert!(skips.is_empty(), "{skips:?}");
    documents
}

pub(crate) fn register(path: &Path) -> Register {
    Register::new(documents(path))
}

pub(crate) fn tasks(path: &Path) -> Vec<Task> {
    let (tasks, skips) = read_tasks(path);
    assert!(skips.is_empty(), "{skips:?}");
    tasks
}
