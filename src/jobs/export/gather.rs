//! Reads runs, pairs and facts for an export.

use super::super::JobError;
use super::super::agreement::{layer_ratings, pair_ratings};
use super::super::check::{cleaner, findings_about_tasks, findings_of, fresh_check};
use super::ExportChoice;
use crate::clean::{Cleaner, RunText};
use crate::domain::{
    Decision, DecisionRecord, Filter, FindingAction, FindingKind, FindingState, Outcome, Owner,
    RunId, Task, TaskId, Verdict,
};
use crate::export::{Cleaning, Facts, PairInput, RunHead, RunInput, SourceError};
use crate::store::{Store, StoreError};
use crate::triage::{Ratings, agreement_report};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Steps in which the request is looked for.
const REQUEST_STEPS: u32 = 16;
/// Seed of the bootstrap behind the agreement figures, as `triagent agreement` has it by default.
const AGREEMENT_SEED: u64 = 0;
/// Bytes of the request that the leak check reads.
const REQUEST_BYTES: usize = 16 << 10;

/// Names of the runs that pass, in order of import.
pub(super) fn runs(store: &Store, filter: &Filter) -> Result<Vec<RunId>, JobError> {
    let mut names = Vec::new();
    store.each_run(filter, |row| {
        names.push(row.id);
        Ok::<(), StoreError>(())
    })?;
    Ok(names)
}

/// Pairs whose first candidate belongs to one of the runs; those about the same two candidates stand together.
pub(super) fn pairs(store: &Store, runs: &[RunId]) -> Result<Vec<DecisionRecord>, JobError> {
    let passing: HashSet<&RunId> = runs.iter().collect();
    let mut pairs: Vec<DecisionRecord> = store
        .pairs()?
        .into_iter()
        .filter(|(_, pair)| passing.contains(&pair.a.at().run))
        .map(|(record, _)| record)
        .collect();
    pairs.sort_by_cached_key(|r| (r.decision.subject(), r.id.clone()));
    Ok(pairs)
}

/// What holds for the whole set.
pub(super) fn facts(
    store: &Store,
    runs: &[RunId],
    choice: &ExportChoice,
    by_document: bool,
) -> Result<Facts, JobError> {
    let tasks = all_tasks(store)?;
    let by_id: HashMap<&TaskId, &Task> = tasks.iter().map(|t| (&t.task_id, t)).collect();
    let heads = runs
        .iter()
        .map(|run| head(store, run, &by_id, by_document))
        .collect::<Result<Vec<RunHead>, JobError>>()?;
    Ok(Facts {
        cleaning: cleaning(store)?,
        heads,
        documents: store.documents()?,
        bindings: choice.bindings.clone(),
        filter: choice.filter_text.clone(),
        decisions_sha256: Some(store.decisions_hash()?),
        success_steps: success_steps(store)?,
        agreement: agreement(store, runs)?,
        tasks,
        ..Facts::default()
    })
}

fn all_tasks(store: &Store) -> Result<Vec<Task>, JobError> {
    let mut tasks: Vec<Task> = Vec::new();
    loop {
        let page = store.tasks(tasks.last().map(|t| &t.task_id), 1_000)?;
        if page.is_empty() {
            return Ok(tasks);
        }
        tasks.extend(page);
    }
}

fn head(
    store: &Store,
    run: &RunId,
    tasks: &HashMap<&TaskId, &Task>,
    by_document: bool,
) -> Result<RunHead, JobError> {
    let rollout = store.rollout(run)?;
    let task = rollout.task.as_ref().and_then(|id| tasks.get(id));
    let mut documents: BTreeSet<String> = task
        .map(|t| t.requires.iter().map(|r| r.doc_id.clone()).collect())
        .unwrap_or_default();
    if by_document {
        let brought = store.steps(run)?.into_iter().flat_map(|s| s.documents);
        documents.extend(brought.map(|d| d.doc_id));
    }
    let first = store.step_heads(run, 0..REQUEST_STEPS, REQUEST_BYTES)?;
    let request = first.into_iter().find(|s| s.owner == Owner::User);
    Ok(RunHead {
        run: run.clone(),
        task: rollout.task.clone(),
        scenario: rollout
            .scenario
            .or_else(|| task.and_then(|t| t.scenario.clone())),
        documents: documents.into_iter().collect(),
        request: request.map(|s| s.preview).unwrap_or_default(),
    })
}

fn success_steps(store: &Store) -> Result<Vec<u64>, JobError> {
    let mut steps = Vec::new();
    store.each_run(&Filter::default(), |row| {
        if row.outcome == Outcome::Pass {
            steps.push(u64::from(row.steps));
        }
        Ok::<(), StoreError>(())
    })?;
    Ok(steps)
}

/// How far reviewers agree on the runs of the set, and on pairs: their own labels, before anything was settled.
fn agreement(store: &Store, runs: &[RunId]) -> Result<Value, JobError> {
    let names = runs.iter().map(|run| run.0.clone()).collect();
    let report = |ratings: &Ratings| agreement_report(ratings, AGREEMENT_SEED);
    let runs = report(&layer_ratings(store, Some(&names))?);
    let pairs = report(&pair_ratings(store)?);
    Ok(json!({
        "layers": {"statistics": runs.statistics, "items_differing": runs.disagreements.len(), "items_with_one_label": runs.dropped},
        "pairs": {"statistics": pairs.statistics, "items_differing": pairs.disagreements.len(), "items_with_one_label": pairs.dropped},
    }))
}

/// What the last check says about tasks, if the workspace has not grown since.
fn cleaning(store: &Store) -> Result<Option<Cleaning>, JobError> {
    let Some(checked) = fresh_check(store)? else {
        return Ok(None);
    };
    Ok(Some(Cleaning {
        rules: checked.rules,
        findings: findings_about_tasks(store)?,
    }))
}

/// Reads runs and pairs; the run read last is kept, since pairs of one run come one after the other.
pub(super) struct Source<'a> {
    store: &'a Store,
    cleaner: Cleaner,
    last: RefCell<Option<Arc<RunInput>>>,
}

impl<'a> Source<'a> {
    pub(super) fn new(store: &'a Store) -> Result<Self, JobError> {
        Ok(Self {
            store,
            cleaner: cleaner(store)?,
            last: RefCell::new(None),
        })
    }

    pub(super) fn run(&self, run: &RunId) -> Result<RunInput, SourceError> {
        Ok(self.read(run)?)
    }

    pub(super) fn pair(&self, record: DecisionRecord) -> Result<PairInput, SourceError> {
        let record = self.discreet(record);
        let Decision::Pair(pair) = &record.decision else {
            return Err("a record that is no pair".into());
        };
        let a = self.shared(&pair.a.at().run)?;
        let b = self.shared(&pair.b.at().run)?;
        Ok(PairInput { record, a, b })
    }

    /// A record without the secrets that a person may have typed into it: nobody is asked about those, and nobody trains on them.
    fn discreet(&self, mut record: DecisionRecord) -> DecisionRecord {
        for words in record.decision.words_mut() {
            if let Cow::Owned(masked) = self.cleaner.mask(words) {
                *words = masked;
            }
        }
        record
    }

    fn shared(&self, run: &RunId) -> Result<Arc<RunInput>, JobError> {
        if let Some(last) = &*self.last.borrow()
            && last.head.id == *run
        {
            return Ok(Arc::clone(last));
        }
        let read = Arc::new(self.read(run)?);
        *self.last.borrow_mut() = Some(Arc::clone(&read));
        Ok(read)
    }

    fn read(&self, run: &RunId) -> Result<RunInput, JobError> {
        let store = self.store;
        let mut head = store.rollout(run)?;
        let decisions: Vec<DecisionRecord> = store
            .history(run.as_str())?
            .into_iter()
            .filter_map(|(record, live)| live.then(|| self.discreet(record)))
            .collect();
        // A reviewer's word about the outcome goes before the file's.
        let said = decisions.iter().rev().find_map(|r| match r.decision {
            Decision::Outcome { outcome, .. } => Some((outcome, r.reviewer.clone())),
            _ => None,
        });
        if let Some((outcome, reviewer)) = said {
            head.outcome = outcome;
            head.outcome_source = Some(format!("reviewer:{reviewer}"));
        }
        let (steps, calls) = (store.steps(run)?, store.calls(run)?);
        let findings = findings_of(store, run)?;
        // The words of every finding that nobody said to keep: the export room decides which rows may leave, and no text
        // of the task list may say them.
        let guarded = |f: &&FindingState| {
            let sensitive = matches!(f.finding.kind, FindingKind::Secret | FindingKind::Personal);
            sensitive && f.action != Some(FindingAction::Keep)
        };
        let redact: Vec<FindingState> = findings.iter().filter(guarded).cloned().collect();
        let text = RunText {
            head: &head,
            steps: &steps,
            calls: &calls,
        };
        let redactions = self.cleaner.redactions(text, &redact);
        Ok(RunInput {
            calls,
            findings,
            redactions,
            rewards: store.rewards(run)?,
            verdict: verdict(store, run)?.map(|mut verdict| {
                verdict.note = self.cleaner.mask(&verdict.note).into_owned();
                verdict
            }),
            decisions,
            labels: store.foreign_labels(run)?,
            ..RunInput::new(head, steps)
        })
    }
}

fn verdict(store: &Store, run: &RunId) -> Result<Option<Verdict>, JobError> {
    Ok(store
        .verdict(run)?
        .and_then(|record| match record.decision {
            Decision::Verdict(v) | Decision::Adjudication(v) => Some(v),
            _ => None,
        }))
}
