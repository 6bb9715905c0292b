//! Who is held out: whole groups, chosen by a seed, so that no task, document or scenario stands on two sides
//! (S-76). A group keeps its side when others join the set later.

use super::input::RunHead;
use super::options::{GroupBy, NearDuplicates, SplitOptions};
use crate::domain::step::words;
use crate::domain::{RunId, TaskId};
use std::collections::{BTreeMap, HashMap};

/// A side of the split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Trained on.
    Train,
    /// Looked at while training.
    Validation,
    /// Looked at once, at the end.
    Test,
}

words!(Part { Train => "train", Validation => "validation", Test => "test" });

/// Which side each run falls on.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    parts: HashMap<RunId, Part>,
    /// Groups on each side.
    pub groups: BTreeMap<Part, usize>,
    /// Near-duplicate tasks that fell on two sides.
    pub straddling: Vec<(TaskId, TaskId)>,
}

impl Plan {
    /// Assigns every run to a side.
    pub fn new(heads: &[RunHead], options: &SplitOptions, near: &[(TaskId, TaskId)]) -> Self {
        let mut groups = Groups::default();
        for (at, head) in heads.iter().enumerate() {
            for key in keys(head, options.by) {
                groups.join(at, key);
            }
        }
        let mut first: HashMap<&TaskId, usize> = HashMap::new();
        for (at, head) in heads.iter().enumerate() {
            if let Some(task) = &head.task {
                first.entry(task).or_insert(at);
            }
        }
        if options.near_duplicates == NearDuplicates::Join {
            for (a, b) in near {
                if let (Some(a), Some(b)) = (first.get(a), first.get(b)) {
                    groups.union(*a, *b);
                }
            }
        }
        let mut plan = Self::default();
        plan.assign(heads, options, &mut groups);
        let part = |task: &TaskId| {
            first
                .get(task)
                .and_then(|at| plan.parts.get(&heads[*at].run))
        };
        let differ =
            |(a, b): &&(TaskId, TaskId)| matches!((part(a), part(b)), (Some(a), Some(b)) if a != b);
        plan.straddling = near.iter().filter(differ).cloned().collect();
        plan
    }

    /// The side of a run; a run that the plan does not know trains.
    pub fn part(&self, run: &RunId) -> Part {
        self.parts.get(run).copied().unwrap_or(Part::Train)
    }

    fn assign(&mut self, heads: &[RunHead], options: &SplitOptions, groups: &mut Groups) {
        // A group is named after its smallest key, so that the order of the runs does not matter.
        let mut names: BTreeMap<usize, String> = BTreeMap::new();
        for (at, head) in heads.iter().enumerate() {
            let root = groups.root(at);
            for key in keys(head, options.by) {
                let name = names.entry(root).or_insert_with(|| key.clone());
                if key < *name {
                    *name = key;
                }
            }
        }
        let sides: HashMap<usize, Part> = names
            .iter()
            .map(|(root, name)| (*root, side(name, options)))
            .collect();
        for side in sides.values() {
            *self.groups.entry(*side).or_default() += 1;
        }
        for (at, head) in heads.iter().enumerate() {
            let side = sides.get(&groups.root(at)).copied().unwrap_or(Part::Train);
            self.parts.insert(head.run.clone(), side);
        }
    }
}

/// What binds a run to others: always its task, or its request where it has no task.
fn keys(head: &RunHead, by: GroupBy) -> Vec<String> {
    let own = match &head.task {
        Some(task) => format!("task:{task}"),
        None if head.request.is_empty() => format!("run:{}", head.run),
        None => format!("request:{}", blake3::hash(head.request.as_bytes()).to_hex()),
    };
    let mut keys = vec![own];
    match by {
        GroupBy::Task => {}
        GroupBy::Document => keys.extend(head.documents.iter().map(|d| format!("document:{d}"))),
        GroupBy::Scenario => keys.extend(head.scenario.iter().map(|s| format!("scenario:{s}"))),
    }
    keys
}

/// A group's side depends on its name and the seed alone.
fn side(name: &str, options: &SplitOptions) -> Part {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&options.seed.to_le_bytes());
    hasher.update(name.as_bytes());
    let bytes = hasher.finalize();
    let draw = bytes
        .as_bytes()
        .iter()
        .take(8)
        .fold(0u64, |n, b| (n << 8) | u64::from(*b));
    let percent = |p: u8| (u64::MAX / 100).saturating_mul(u64::from(p.min(100)));
    let test = percent(options.test);
    if draw < test {
        Part::Test
    } else if draw < test.saturating_add(percent(options.validation)) {
        Part::Validation
    } else {
        Part::Train
    }
}

/// Union-find over runs.
#[derive(Debug, Default)]
struct Groups {
    parent: Vec<usize>,
    owner: HashMap<String, usize>,
}

impl Groups {
    fn join(&mut self, run: usize, key: String) {
        self.grow(run);
        match self.owner.get(&key).copied() {
            Some(other) => self.union(run, other),
            None => {
                self.owner.insert(key, run);
            }
        }
    }

    fn union(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        let (low, high) = (a.min(b), a.max(b));
        self.parent[high] = low;
    }

    fn root(&mut self, mut at: usize) -> usize {
        self.grow(at);
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    fn grow(&mut self, to: usize) {
        while self.parent.len() <= to {
            self.parent.push(self.parent.len());
        }
    }
}
