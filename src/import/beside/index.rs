//! What the files beside runs say, by the id that they speak of, each with the file that says it. It joins nothing.

use super::whole;
use crate::import::extra::bounded;
use crate::import::json::Node;
use crate::import::scores::Score;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// The file that says it.
#[derive(Debug)]
pub(crate) struct Origin {
    /// Its folder, as a whole path.
    pub(crate) folder: PathBuf,
    /// Its name.
    file: String,
}

impl Origin {
    pub(crate) fn of(path: &Path) -> Self {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        Self {
            folder: whole(path).parent().map(Path::to_owned).unwrap_or_default(),
            file: file.into_owned(),
        }
    }
}

/// Something that a file says.
#[derive(Debug)]
pub(crate) struct Placed<T> {
    pub(crate) origin: Arc<Origin>,
    pub(crate) what: T,
}

/// Everything that stands beside, by the id that it speaks of. Files in several folders may speak of one id.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// By trajectory.
    pub(crate) failures: HashMap<String, Vec<Placed<Failures>>>,
    /// By span.
    pub(crate) annotations: HashMap<String, Vec<Score>>,
    /// By instance.
    pub(crate) verdicts: HashMap<String, Vec<Placed<Verdict>>>,
    left_out: usize,
    why_left_out: String,
}

impl Index {
    /// So many files were not read; the first reason is kept.
    pub(super) fn leave_out(&mut self, count: usize, why: impl FnOnce() -> String) {
        if count > 0 && self.left_out == 0 {
            self.why_left_out = why();
        }
        self.left_out += count;
    }

    /// What was not read, to be told where runs may miss it.
    pub(crate) fn left_out(&self) -> Option<String> {
        let files = match self.left_out {
            0 => return None,
            1 => "1 file of labels or reports was".to_owned(),
            n => format!("{n} files of labels or reports were"),
        };
        Some(format!(
            "{files} not read ({}); hint: import fewer folders at once",
            self.why_left_out
        ))
    }

    /// Takes one document or row; says what it was.
    pub(crate) fn take(&mut self, origin: &Arc<Origin>, node: &Node<'_>) -> Option<&'static str> {
        let rows = if node.is_list() {
            node.items()
        } else {
            node.get("data").map_or(&[][..], Node::items)
        };
        if rows.first().is_some_and(is_failures) {
            rows.iter().for_each(|row| self.failed(origin, row));
            return Some("failure labels");
        }
        if rows.first().is_some_and(is_annotation) {
            rows.iter().for_each(|row| self.annotated(row));
            return Some("annotations of spans");
        }
        if is_failures(node) {
            self.failed(origin, node);
            return Some("failure labels");
        }
        self.report(origin, node)
            .then_some("the report of a grader")
    }

    fn failed(&mut self, origin: &Arc<Origin>, row: &Node<'_>) {
        let Some(id) = row.id("trajectory_id") else {
            return;
        };
        let what = Failures {
            file: origin.file.clone(),
            record: bounded(row),
        };
        let origin = Arc::clone(origin);
        let all = self.failures.entry(id).or_default();
        all.push(Placed { origin, what });
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
            detail: bounded(row),
        });
    }

    /// SWE-bench: one object an instance, lists of ids, or one row an instance.
    fn report(&mut self, origin: &Arc<Origin>, node: &Node<'_>) -> bool {
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
                let detail = json!({"report": origin.file, "list": key});
                self.judged(origin, id, Verdict { resolved, detail });
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
            let detail = json!({"report": origin.file, "details": bounded(inner)});
            let resolved = Some(resolved);
            self.judged(origin, id, Verdict { resolved, detail });
        }
        is_report
    }

    /// One report may name an instance in a list and in detail; the detail stands behind.
    fn judged(&mut self, origin: &Arc<Origin>, id: String, what: Verdict) {
        let all = self.verdicts.entry(id).or_default();
        all.retain(|placed| !Arc::ptr_eq(&placed.origin, origin));
        let origin = Arc::clone(origin);
        all.push(Placed { origin, what });
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
