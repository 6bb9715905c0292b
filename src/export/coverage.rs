//! What the set covers: kinds of decisions by scenario (S-36), clarifications (S-38), and whether only the
//! shortest successes were taken (S-37). Tidiness is no quality: nothing here looks at format (S-39).

use super::input::RunInput;
use super::select::Example;
use crate::domain::chat::visible_before;
use crate::domain::step::words;
use crate::domain::{ChatMessage, Owner, Step, Task};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What kind of decision a row teaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cell {
    /// An ordinary step.
    Normal,
    /// It asks for what is missing before it acts.
    Clarification,
    /// It says no, or that it may not.
    Boundary,
    /// It goes on after a tool failed.
    Recovery,
}

words!(Cell {
    Normal => "normal", Clarification => "clarification", Boundary => "boundary", Recovery => "recovery",
});

/// Words by which an answer without a call says no. Shown as a rule in the manifest, not as the truth.
const BOUNDARY_WORDS: &[&str] = &[
    "i cannot",
    "i can't",
    "i am not able",
    "i'm not able",
    "i'm unable",
    "i am unable",
    "not allowed",
    "not permitted",
    "not eligible",
    "does not allow",
    "cannot be",
    "无法",
    "不能",
    "不可以",
    "不符合",
    "没有权限",
    "不允许",
    "无权",
];

pub(crate) fn cell(example: &Example<'_>, task: Option<&Task>) -> Cell {
    let scenario = example
        .run
        .head
        .scenario
        .as_deref()
        .or(task.and_then(|t| t.scenario.as_deref()));
    cell_of(
        scenario,
        &example.run.steps,
        example.at.step,
        &example.target,
    )
}

/// Which cell a decision falls in. A scenario that names a cell decides; else the text does.
pub fn cell_of(scenario: Option<&str>, steps: &[Step], at: u32, target: &ChatMessage) -> Cell {
    let last = is_last(steps, at);
    if let Some(cell) = scenario
        .and_then(named)
        .filter(|c| last && fits(*c, target))
    {
        return cell;
    }
    if after_failure(steps, at) {
        return Cell::Recovery;
    }
    if !target.tool_calls.is_empty() {
        return Cell::Normal;
    }
    let text = target.content.as_deref().unwrap_or("").to_lowercase();
    if asks(&text) {
        Cell::Clarification
    } else if BOUNDARY_WORDS.iter().any(|w| text.contains(w)) {
        Cell::Boundary
    } else {
        Cell::Normal
    }
}

fn named(scenario: &str) -> Option<Cell> {
    let s = scenario.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|w| s.contains(w));
    if has(&[
        "clarif",
        "missing-condition",
        "missing condition",
        "澄清",
        "缺条件",
    ]) {
        Some(Cell::Clarification)
    } else if has(&["boundary", "refus", "denied", "边界", "拒绝"]) {
        Some(Cell::Boundary)
    } else {
        None
    }
}

/// A call is neither a question nor a refusal, whatever the scenario is called.
fn fits(cell: Cell, target: &ChatMessage) -> bool {
    match cell {
        Cell::Clarification | Cell::Boundary => target.tool_calls.is_empty(),
        Cell::Normal | Cell::Recovery => true,
    }
}

fn is_last(steps: &[Step], at: u32) -> bool {
    let message = steps.iter().find(|s| s.index == at).map(|s| s.message);
    let mut later = steps.iter().filter(|s| s.index > at);
    !later.any(|s| s.owner == Owner::Model && Some(s.message) != message)
}

/// The first or the last sentence is a question: people ask and then explain, or explain and then ask.
fn asks(text: &str) -> bool {
    let end = text
        .trim_end()
        .trim_end_matches(['"', '”', ')', '）', '*', '`']);
    let first = text.find(['.', '!', '?', '。', '！', '？', '\n']);
    let opens = first
        .and_then(|i| text.get(i..))
        .and_then(|rest| rest.chars().next());
    end.ends_with(['?', '？']) || matches!(opens, Some('?' | '？'))
}

fn after_failure(steps: &[Step], at: u32) -> bool {
    let visible = visible_before(steps, at);
    visible
        .iter()
        .rev()
        .take_while(|s| s.owner != Owner::Model)
        .any(|s| s.is_failed())
}

/// Counts of the set.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Coverage {
    /// Rows by scenario (or family, or `-`) and cell.
    pub matrix: BTreeMap<String, BTreeMap<&'static str, usize>>,
    /// Rows by cell.
    pub cells: BTreeMap<&'static str, usize>,
    /// Cells with fewer than five rows.
    pub thin: Vec<&'static str>,
    /// Median steps of the runs that gave rows.
    pub median_steps: Option<u64>,
    /// Median steps of all successes that were read.
    pub median_steps_all: Option<u64>,
    /// Bytes of the targets: least, median, most.
    pub target_bytes: Option<[u64; 3]>,
    #[serde(skip)]
    chosen: BTreeSet<(u64, String)>,
    #[serde(skip)]
    all: Vec<u64>,
    #[serde(skip)]
    told: bool,
    #[serde(skip)]
    sizes: Vec<u64>,
}

impl Coverage {
    /// Starts with the successes that `jobs` knows of.
    pub(crate) fn new(success_steps: &[u64]) -> Self {
        Self {
            all: success_steps.to_vec(),
            told: !success_steps.is_empty(),
            ..Self::default()
        }
    }

    /// Counts a success that was read, whether it gives rows or not.
    pub(crate) fn success(&mut self, run: &RunInput) {
        if !self.told {
            self.all.push(run.steps.len() as u64);
        }
    }

    /// Counts a row.
    pub(crate) fn row(&mut self, example: &Example<'_>, cell: Cell) {
        let head = &example.run.head;
        let name = head
            .scenario
            .as_ref()
            .or(head.family.as_ref())
            .map_or("-", String::as_str);
        *self
            .matrix
            .entry(name.to_owned())
            .or_default()
            .entry(cell.word())
            .or_default() += 1;
        *self.cells.entry(cell.word()).or_default() += 1;
        self.chosen
            .insert((example.run.steps.len() as u64, head.id.to_string()));
        self.sizes
            .push(example.target.fingerprint_bytes().len() as u64);
    }

    /// Rows of a cell.
    pub fn of(&self, cell: Cell) -> usize {
        self.cells.get(cell.word()).copied().unwrap_or(0)
    }

    /// Takes the medians.
    pub(crate) fn close(&mut self) {
        let mut chosen: Vec<u64> = self.chosen.iter().map(|(steps, _)| *steps).collect();
        self.median_steps = median(&mut chosen);
        self.median_steps_all = median(&mut self.all);
        self.thin = Cell::ALL
            .iter()
            .filter(|c| self.of(**c) < 5)
            .map(|c| c.word())
            .collect();
        let middle = median(&mut self.sizes);
        self.target_bytes = match (self.sizes.first(), middle, self.sizes.last()) {
            (Some(least), Some(middle), Some(most)) => Some([*least, middle, *most]),
            _ => None,
        };
    }

    /// S-37: the selection's median is shorter than `share` of all successes' median.
    pub fn is_shortest_only(&self, share: f64) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "step counts are far below 2^52")]
        match (self.median_steps, self.median_steps_all) {
            (Some(chosen), Some(all)) => (chosen as f64) < share * (all as f64),
            _ => false,
        }
    }
}

/// The lower middle of the sorted numbers.
fn median(numbers: &mut [u64]) -> Option<u64> {
    numbers.sort_unstable();
    numbers.get(numbers.len().saturating_sub(1) / 2).copied()
}
