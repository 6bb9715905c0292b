//! Cleaning: looks at every run and at the tasks as a set, keeps what it found, and says what people decided about it.
//!
//! Findings hold no secret words. What a redaction stands for is read from the run again when an export asks.

use super::JobError;
use crate::clean::{self, Cleaner, Register, Rules, RunText, TaskText};
use crate::domain::{
    Decision, Filter, Finding, FindingAction, FindingState, Owner, Progress, RunId, StepKind,
    TaskId,
};
use crate::store::{Store, StoreError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Kind under which findings are kept; `has:secret` looks there.
const FINDING: &str = "finding";
/// Kind under which the last check is kept.
const CHECK: &str = "check";
/// Findings about tasks belong to no run.
const ABOUT_TASKS: &str = "";
/// Share of texts that one skeleton may cover (SCIENCE part 6).
const TEMPLATE_SHARE: f64 = 0.2;
/// Steps in which a run's request is looked for, where no task list tells it.
const REQUEST_STEPS: u32 = 16;
/// Bytes of a request that are compared.
const REQUEST_BYTES: usize = 64 << 10;

/// What the last check looked at; a workspace that has grown since must be checked again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Version of the rules.
    pub rules: String,
    /// Runs looked at.
    pub runs: u64,
    /// Steps looked at.
    pub steps: u64,
    /// Findings.
    pub findings: u64,
}

/// Opens the cleaner of a workspace: built-in rules, the workspace's own file on top, the workspace's key.
pub fn cleaner(store: &Store) -> Result<Cleaner, JobError> {
    let own = std::fs::read_to_string(crate::paths::workspace_rules(store.path())).ok();
    // With no key nothing has been checked yet, so nothing that is shown can be compared with what is kept.
    let key = store
        .result::<[u8; 32]>("key", "cleaning", "placeholders")?
        .unwrap_or_default();
    Ok(Cleaner::new(Rules::read(own.as_deref())?, key))
}

/// Gives the workspace its key, once. `fresh` is random where the caller wants placeholders that nobody can guess.
pub fn ensure_cleaning_key(
    store: &mut Store,
    fresh: [u8; 32],
    now_us: i64,
) -> Result<(), JobError> {
    if store
        .result::<[u8; 32]>("key", "cleaning", "placeholders")?
        .is_none()
    {
        store.put_result("key", "cleaning", "placeholders", now_us, &fresh)?;
    }
    Ok(())
}

/// A key that nobody can guess, for placeholders and seeds.
pub fn random_key() -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for _ in 0..4 {
        hasher.update(uuid::Uuid::now_v7().as_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// Checks the whole workspace and keeps the findings.
pub fn check(store: &mut Store, now_us: i64, progress: &Progress) -> Result<Checked, JobError> {
    let cleaner = cleaner(store)?;
    let (runs, steps) = size(store)?;
    progress.set_total(runs);
    let mut found = of_runs(store, &cleaner, progress)?;
    found.extend(of_tasks(store)?.into_iter().map(|f| row(ABOUT_TASKS, f)));
    let checked = Checked {
        rules: cleaner.version().to_owned(),
        runs,
        steps,
        findings: found.len() as u64,
    };
    store.clear_results(FINDING)?;
    store.put_results(FINDING, now_us, &found)?;
    store.put_result(CHECK, "workspace", "latest", now_us, &checked)?;
    Ok(checked)
}

/// The last check, if there was one.
pub fn last_check(store: &Store) -> Result<Option<Checked>, JobError> {
    Ok(store.result(CHECK, "workspace", "latest")?)
}

/// The last check, unless the workspace has grown since.
pub fn fresh_check(store: &Store) -> Result<Option<Checked>, JobError> {
    let now = size(store)?;
    Ok(last_check(store)?.filter(|c| (c.runs, c.steps) == now))
}

/// All findings with what people decided, those about tasks first, then by run.
pub fn findings(store: &Store) -> Result<Vec<FindingState>, JobError> {
    with_actions(store, store.results(FINDING, None)?)
}

/// Findings in one run.
pub fn findings_of(store: &Store, run: &RunId) -> Result<Vec<FindingState>, JobError> {
    with_actions(store, store.results(FINDING, Some(run.as_str()))?)
}

/// Findings about tasks.
pub fn findings_about_tasks(store: &Store) -> Result<Vec<FindingState>, JobError> {
    with_actions(store, store.results(FINDING, Some(ABOUT_TASKS))?)
}

type Kept = (String, String, i64, Finding);

fn with_actions(store: &Store, kept: Vec<Kept>) -> Result<Vec<FindingState>, JobError> {
    kept.into_iter()
        .map(|(_, _, _, finding)| {
            let last = store.live_on("finding", &finding.id)?.pop();
            let action = last.and_then(|record| match record.decision {
                Decision::Finding { action, .. } => FindingAction::from_word(&action),
                _ => None,
            });
            Ok(FindingState { finding, action })
        })
        .collect()
}

fn size(store: &Store) -> Result<(u64, u64), JobError> {
    let (mut runs, mut steps) = (0, 0);
    store.each_run(&Filter::default(), |row| {
        runs += 1;
        steps += u64::from(row.steps);
        Ok::<(), StoreError>(())
    })?;
    Ok((runs, steps))
}

type Row = (String, String, Finding);

fn row(subject: &str, finding: Finding) -> Row {
    let key = format!("{}:{}", finding.kind.word(), finding.id);
    (subject.to_owned(), key, finding)
}

fn of_runs(store: &Store, cleaner: &Cleaner, progress: &Progress) -> Result<Vec<Row>, JobError> {
    let documents = store.documents()?;
    let register = Register::new(&documents);
    let mut names = Vec::new();
    store.each_run(&Filter::default(), |row| {
        names.push(row.id);
        Ok::<(), StoreError>(())
    })?;
    let mut found = Vec::new();
    for run in names {
        if progress.is_cancelled() {
            return Err(JobError::Cancelled);
        }
        let (head, steps, calls) = (store.rollout(&run)?, store.steps(&run)?, store.calls(&run)?);
        let task = match &head.task {
            Some(id) => store.task(id)?,
            None => None,
        };
        let text = RunText {
            head: &head,
            steps: &steps,
            calls: &calls,
        };
        let here = cleaner.run(text, &register, task.as_ref());
        found.extend(here.into_iter().map(|f| row(run.as_str(), f)));
        progress.add(1);
    }
    Ok(found)
}

/// Near-duplicate tasks, and skeletons that cover too many of the models' answers.
fn of_tasks(store: &Store) -> Result<Vec<Finding>, JobError> {
    let mut tasks: BTreeMap<TaskId, TaskText> = BTreeMap::new();
    let mut answers = Vec::new();
    let mut rows = Vec::new();
    store.each_run(&Filter::default(), |row| {
        rows.push((row.id, row.task.map(TaskId)));
        Ok::<(), StoreError>(())
    })?;
    for (run, task) in rows {
        answers.extend(last_answer(store, &run)?);
        let Some(task) = task else { continue };
        if let Entry::Vacant(place) = tasks.entry(task) {
            let text = task_text(store, place.key(), &run)?;
            place.insert(text);
        }
    }
    let texts: Vec<TaskText> = tasks.into_values().collect();
    let mut found = clean::duplicate_findings(&texts);
    let report = clean::templates(answers.iter().map(String::as_str));
    found.extend(clean::template_findings(&report, TEMPLATE_SHARE));
    Ok(found)
}

fn task_text(store: &Store, task: &TaskId, run: &RunId) -> Result<TaskText, JobError> {
    let listed = store.task(task)?;
    let documents = listed.as_ref().map_or_else(Vec::new, |t| {
        t.requires.iter().map(|r| r.doc_id.clone()).collect()
    });
    let text = match listed.and_then(|t| t.prompt) {
        Some(prompt) => prompt,
        None => request(store, run)?,
    };
    Ok(TaskText {
        task: task.clone(),
        text,
        documents,
    })
}

fn request(store: &Store, run: &RunId) -> Result<String, JobError> {
    let first = store.step_heads(run, 0..REQUEST_STEPS, REQUEST_BYTES)?;
    let said = first.into_iter().find(|s| s.owner == Owner::User);
    Ok(said.map(|s| s.preview).unwrap_or_default())
}

fn last_answer(store: &Store, run: &RunId) -> Result<Option<String>, JobError> {
    let count = store.step_count(run)?;
    let last = store.step_heads(
        run,
        count.saturating_sub(REQUEST_STEPS)..count,
        REQUEST_BYTES,
    )?;
    let said = last
        .into_iter()
        .rev()
        .find(|s| s.owner == Owner::Model && s.kind == StepKind::Text);
    Ok(said.map(|s| s.preview))
}
