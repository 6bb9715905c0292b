//! Files that stand beside runs and speak of them: failure labels (AgentRx), annotations of spans (Phoenix), reports
//! of a grader (SWE-bench). They are found by name in a walk, read once when a run first asks, and joined by id.

use super::json::Node;
use super::limits::{MAX_SIDE_BYTES, MAX_SIDE_FILES};
use super::parse::{Flaws, decode, parse};
use super::scores::Score;
use super::source::Source;
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// What a file's name says where it speaks of other files' runs.
const NAMES: &[&str] = &[
    "label",
    "annotation",
    "ground_truth",
    "report",
    "swebench_eval",
];

/// The file may speak of runs in other files.
pub(crate) fn is_beside(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_lowercase();
    let is_json = name.ends_with(".json") || name.ends_with(".jsonl");
    // Many programs call their runs results; those of SWE-agent stand with its predictions.
    let is_results = || name == "results.json" && path.with_file_name("preds.json").exists();
    is_json && (NAMES.iter().any(|part| name.contains(part)) || is_results())
}

/// The files beside a unit; all units of one walk share them.
#[derive(Clone, Default)]
pub struct Beside(Arc<Files>);

#[derive(Default)]
struct Files {
    paths: Vec<PathBuf>,
    index: OnceLock<Index>,
}

impl PartialEq for Beside {
    fn eq(&self, other: &Self) -> bool {
        self.0.paths == other.0.paths
    }
}

impl Eq for Beside {}

impl std::fmt::Debug for Beside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.0.paths).finish()
    }
}

impl Beside {
    pub(crate) fn of(mut paths: Vec<PathBuf>) -> Self {
        paths.sort();
        paths.dedup();
        paths.truncate(MAX_SIDE_FILES);
        Self(Arc::new(Files {
            paths,
            index: OnceLock::new(),
        }))
    }

    /// There are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.paths.is_empty()
    }

    /// What they say, read when first asked.
    pub(crate) fn index(&self) -> &Index {
        self.0.index.get_or_init(|| {
            let mut index = Index::default();
            for path in &self.0.paths {
                read(path, &mut index);
            }
            index
        })
    }
}

/// One trajectory's failures as an annotator listed them.
#[derive(Debug, Clone)]
pub(crate) struct Failures {
    /// The label file's name; it names the data set.
    pub(crate) file: String,
    /// The record.
    pub(crate) record: Value,
}

/// What a grader's report says of one instance.
#[derive(Debug, Clone)]
pub(crate) struct Verdict {
    /// Resolved or not; `None` = it could not be graded.
    pub(crate) resolved: Option<bool>,
    pub(crate) detail: Value,
}

/// Everything that stands beside, by the id that it speaks of.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// By trajectory.
    pub(crate) failures: HashMap<String, Vec<Failures>>,
    /// By span.
    pub(crate) annotations: HashMap<String, Vec<Score>>,
    /// By instance.
    pub(crate) verdicts: HashMap<String, Verdict>,
}

impl Index {
    /// Takes one document or row; says what it was.
    pub(crate) fn take(&mut self, file: &str, node: &Node<'_>) -> Option<&'static str> {
        let rows = if node.is_list() {
            node.items()
        } else {
            node.get("data").map_or(&[][..], Node::items)
        };
        if rows.first().is_some_and(is_failures) {
            rows.iter().for_each(|row| self.failed(file, row));
            return Some("failure labels");
        }
        if rows.first().is_some_and(is_annotation) {
            rows.iter().for_each(|row| self.annotated(row));
            return Some("annotations of spans");
        }
        if is_failures(node) {
            self.failed(file, node);
            return Some("failure labels");
        }
        self.report(file, node).then_some("the report of a grader")
    }

    fn failed(&mut self, file: &str, row: &Node<'_>) {
        let Some(id) = row.id("trajectory_id") else {
            return;
        };
        self.failures.entry(id).or_default().push(Failures {
            file: file.to_owned(),
            record: super::extra::bounded(row),
        });
    }

    fn annotated(&mut self, row: &Node<'_>) {
        let Some(span) = row.id("span_id") else {
            return;
        };
        let kind = row.str("annotator_kind").unwrap_or("unknown");
        let result = row.get("result");
        let part = |key: &str| result.and_then(|r| r.get(key));
        let value = part("score").or_else(|| part("label"));
        self.annotations.entry(span).or_default().push(Score {
            source: format!("phoenix:{kind}"),
            name: row.id("name").unwrap_or_default(),
            value: value.map(Node::to_value).unwrap_or_default(),
            reason: part("explanation")
                .and_then(Node::as_id)
                .unwrap_or_default(),
            detail: super::extra::bounded(row),
        });
    }

    /// SWE-bench: one object an instance, lists of ids, or one row an instance.
    fn report(&mut self, file: &str, node: &Node<'_>) -> bool {
        let mut is_report = false;
        let lists = [
            ("resolved_ids", Some(true)),
            ("unresolved_ids", Some(false)),
            ("error_ids", None),
            ("empty_patch_ids", Some(false)),
        ];
        for (key, resolved) in lists {
            is_report |= node.has(key);
            for id in node.list(key).iter().filter_map(Node::as_id) {
                let detail = serde_json::json!({"report": file, "list": key});
                self.verdicts.insert(id, Verdict { resolved, detail });
            }
        }
        let row = node.id("instance_id").zip(graded(node));
        let named = node
            .members()
            .iter()
            .filter_map(|(id, inner)| Some(((id.clone().into_owned(), graded(inner)?), inner)));
        let all = row.map(|row| (row, node)).into_iter().chain(named);
        for ((id, resolved), inner) in all {
            is_report = true;
            let detail =
                serde_json::json!({"report": file, "details": super::extra::bounded(inner)});
            let resolved = Some(resolved);
            self.verdicts.insert(id, Verdict { resolved, detail });
        }
        is_report
    }
}

fn is_failures(row: &Node<'_>) -> bool {
    row.has("trajectory_id") && row.has("failures")
}

fn is_annotation(row: &Node<'_>) -> bool {
    row.has("annotator_kind") && row.has("span_id")
}

/// `resolved`, beside a field that only a report has, or in a row's own report.
fn graded(node: &Node<'_>) -> Option<bool> {
    let inner = node
        .get("test_result")
        .and_then(|t| t.get("report"))
        .unwrap_or(node);
    let is_report = [
        "tests_status",
        "patch_successfully_applied",
        "patch_exists",
        "empty_generation",
    ];
    let resolved = inner.bool("resolved")?;
    is_report
        .iter()
        .any(|key| inner.has(key))
        .then_some(resolved)
}

/// A file that cannot be read says nothing here; read as a unit of its own it is told.
fn read(path: &Path, index: &mut Index) {
    let Ok(source) = Source::open(path) else {
        return;
    };
    if source.len() > MAX_SIDE_BYTES {
        return;
    }
    let len = usize::try_from(source.len()).unwrap_or(0);
    let Ok(bytes) = source.read_at(0, len) else {
        return;
    };
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let text = decode(&bytes, &mut Flaws::default());
    if let Ok(node) = parse(&text, &mut Flaws::default()) {
        index.take(&file, &node);
        return;
    }
    for line in text.lines() {
        if let Ok(node) = parse(line, &mut Flaws::default()) {
            index.take(&file, &node);
        }
    }
}
