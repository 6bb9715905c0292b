//! Shows a hack suite, made of the workspace's own runs, to a grader, and keeps what it fell for.
//!
//! The suite and the verdict are the reward room's; a user's command runs in the sandbox.

mod asked;

pub use asked::{GraderError, asked_graders};

use super::JobError;
use crate::domain::{Filter, Outcome, Progress, TaskId};
use crate::reward::{
    AuditReport, Grade, GradeCase, RewardError, RuleGrader, audit, grade_case, hack_suite,
};
use crate::sandbox::{Isolation, Sandbox};
use crate::store::{RunRow, Store, StoreError};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Kind under which audits are kept.
const KIND: &str = "audit";
/// Runs of a kind that are read to build the suite; the suite takes what it needs of them.
const BASES: usize = 5;

/// A grader that can be asked.
#[derive(Debug, Clone)]
pub enum AskedGrader {
    /// Checks as data.
    Rules(RuleGrader),
    /// A user's own command.
    Command {
        /// Program and arguments.
        command: Vec<String>,
        /// Keeps it in.
        sandbox: Sandbox,
    },
}

impl AskedGrader {
    /// The name that its rewards carry, unless the user says another.
    pub fn name(&self) -> String {
        match self {
            Self::Rules(rules) => rules.name.clone(),
            Self::Command { command, .. } => command.join(" "),
        }
    }

    fn version(&self) -> Option<String> {
        match self {
            Self::Rules(rules) => Some(rules.version.clone()),
            Self::Command { .. } => None,
        }
    }
}

/// An audit as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// The name that the log's rewards give this grader.
    pub stands_for: String,
    /// Its version, where it has one.
    pub version: Option<String>,
    /// What was found.
    #[serde(flatten)]
    pub report: AuditReport,
    /// Runs that the suite was made of and whose task names no required document: there an evidence grader has nothing to read.
    pub without_requirements: usize,
    /// How well a command was kept in.
    pub isolation: Option<String>,
}

/// What to audit.
#[derive(Debug, Clone)]
pub struct AuditOptions {
    /// The suite is made of these runs only.
    pub filter: Filter,
    /// The name that the log's rewards give this grader.
    pub stands_for: Option<String>,
    /// Its version there.
    pub version: Option<String>,
}

/// Audits a grader; keeps the result where the workspace may be written.
pub fn audit_grader(
    store: &mut Store,
    grader: &AskedGrader,
    options: &AuditOptions,
    now_us: i64,
    progress: &Progress,
) -> Result<Audit, JobError> {
    let failed = bases(store, &options.filter, Outcome::Fail)?;
    let passed = bases(store, &options.filter, Outcome::Pass)?;
    let suite = hack_suite(&failed, &passed);
    progress.set_total(suite.len() as u64);
    let mut isolation = None;
    let report = audit(&grader.name(), &suite, |case| {
        progress.add(1);
        if progress.is_cancelled() {
            return Err("stopped".to_owned());
        }
        ask(grader, case, &mut isolation)
    })?;
    if progress.is_cancelled() {
        return Err(JobError::Cancelled);
    }
    if let Some(row) = report
        .rows
        .first()
        .filter(|_| report.rows.iter().all(|r| r.grade.is_none()))
    {
        return Err(RewardError::GraderFailed(row.reason.clone()).into());
    }
    let bare = |c: &&GradeCase| c.task.as_ref().is_none_or(|t| t.requires.is_empty());
    let found = Audit {
        stands_for: options.stands_for.clone().unwrap_or_else(|| grader.name()),
        version: options.version.clone().or_else(|| grader.version()),
        report,
        without_requirements: failed.iter().filter(bare).count(),
        isolation: isolation.map(|i| isolation_words(i).to_owned()),
    };
    if !store.is_read_only() {
        let version = found.version.as_deref().unwrap_or_default();
        store.put_result(KIND, &found.stands_for, version, now_us, &found)?;
    }
    Ok(found)
}

/// Audits that were kept, with their times, by grader.
pub fn audits(store: &Store) -> Result<Vec<(i64, Audit)>, JobError> {
    let kept: Vec<(String, String, i64, Audit)> = store.results(KIND, None)?;
    Ok(kept
        .into_iter()
        .map(|(_, _, at, audit)| (at, audit))
        .collect())
}

fn ask(
    grader: &AskedGrader,
    case: &GradeCase,
    isolation: &mut Option<Isolation>,
) -> Result<Grade, String> {
    match grader {
        AskedGrader::Rules(rules) => Ok(rules.grade(case)),
        AskedGrader::Command { command, sandbox } => {
            let shown = serde_json::to_value(case).map_err(|e| e.to_string())?;
            let answer = sandbox.ask(command, &shown).map_err(|e| e.to_string())?;
            *isolation = Some(answer.isolation);
            let grade: Grade = serde_json::from_value(answer.value).map_err(|e| {
                format!("its answer is no grade ({e}); it must print {{\"result\": 0 or 1, …}}")
            })?;
            if grade.result.is_finite() {
                Ok(grade)
            } else {
                Err("its result is no number".to_owned())
            }
        }
    }
}

fn isolation_words(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::Enforced => "kept from writing and from the network",
        Isolation::Partly => "kept from writing; this kernel cannot keep it from the network",
        Isolation::None => "not kept in: this system cannot",
    }
}

/// Runs to build cases of: those whose task says what it requires go first, and each task but once where there are enough.
fn bases(store: &Store, filter: &Filter, outcome: Outcome) -> Result<Vec<GradeCase>, JobError> {
    let mut rows: Vec<RunRow> = Vec::new();
    store.each_run(filter, |row| {
        if row.outcome == outcome {
            rows.push(row);
        }
        Ok::<(), StoreError>(())
    })?;
    let mut telling: BTreeMap<String, bool> = BTreeMap::new();
    for row in &rows {
        if let Some(task) = row.task.clone().filter(|t| !telling.contains_key(t)) {
            let known = store.task(&TaskId::from(task.as_str()))?;
            telling.insert(task, known.is_some_and(|t| !t.requires.is_empty()));
        }
    }
    let tells = |row: &RunRow| {
        row.task
            .as_ref()
            .is_some_and(|t| telling.get(t) == Some(&true))
    };
    let mut seen = BTreeSet::new();
    let mut ranked: Vec<(bool, bool, RunRow)> = Vec::new();
    for row in rows {
        let again = row.task.clone().is_some_and(|t| !seen.insert(t));
        ranked.push((!tells(&row), again, row));
    }
    // Stable: what is equally good stays in order of import.
    ranked.sort_by_key(|(silent, again, _)| (*silent, *again));
    let documents = store.documents()?;
    let mut out = Vec::new();
    for (_, _, row) in ranked {
        if out.len() == BASES {
            break;
        }
        let task = match &row.task {
            Some(id) => store.task(&TaskId::from(id.as_str()))?,
            None => None,
        };
        let case = grade_case(
            row.id.as_str(),
            &store.steps(&row.id)?,
            task.as_ref(),
            &documents,
        );
        if !case.answer.trim().is_empty() {
            out.push(case);
        }
    }
    Ok(out)
}
