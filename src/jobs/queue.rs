//! The queue of a workspace: which runs are to be labelled, drawn at random from a stored seed.

use super::JobError;
use crate::domain::{DecisionRecord, Filter};
use crate::store::{Store, StoreError};
use crate::triage::{Done, Queue, QueuePlan, draw_queue};
use serde::{Deserialize, Serialize};

/// Kind under which the queue is kept.
const KIND: &str = "queue";
/// Live decisions read at a time.
const PAGE: u32 = 1_000;
/// How far down the queue a label still counts as drawn: nobody is made to take one item at a time.
const WITHIN_REACH: usize = 25;

/// What a queue is drawn from; kept, so that every reviewer draws from the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueueSpec {
    /// The filter as typed.
    pub filter: String,
    /// How it is drawn.
    pub plan: QueuePlan,
    /// Who takes part; with none named each reviewer gets everything.
    pub reviewers: Vec<String>,
}

/// The queue that is kept, if there is one.
pub fn queue_spec(store: &Store) -> Result<Option<QueueSpec>, JobError> {
    Ok(store.result(KIND, "workspace", "current")?)
}

/// Keeps a queue.
pub fn keep_queue(store: &mut Store, spec: &QueueSpec, now_us: i64) -> Result<(), JobError> {
    Ok(store.put_result(KIND, "workspace", "current", now_us, spec)?)
}

/// Draws what is left for a reviewer; `filter` is the parsed form of the queue's own.
pub fn draw(
    store: &Store,
    spec: &QueueSpec,
    filter: &Filter,
    reviewer: &str,
    now_us: i64,
) -> Result<Queue, JobError> {
    let mut subjects = Vec::new();
    store.each_run(filter, |row| {
        subjects.push(row.id.0);
        Ok::<(), StoreError>(())
    })?;
    let done = labels(store)?;
    Ok(draw_queue(
        &subjects,
        reviewer,
        &spec.reviewers,
        &done,
        &spec.plan,
        now_us,
    ))
}

/// Whether a label of this run counts as drawn at random: it is among the reviewer's next ones.
pub fn is_drawn(queue: &Queue, run: &str) -> bool {
    queue
        .items
        .iter()
        .take(WITHIN_REACH)
        .any(|i| i.subject == run)
}

fn labels(store: &Store) -> Result<Vec<Done>, JobError> {
    let mut done = Vec::new();
    let mut page: Vec<DecisionRecord> = Vec::new();
    loop {
        page = store.live("verdict", page.last().map(|r| &r.id), PAGE)?;
        if page.is_empty() {
            return Ok(done);
        }
        done.extend(page.iter().map(|record| Done {
            subject: record.decision.subject(),
            reviewer: record.reviewer.clone(),
            at_us: record.at_us,
        }));
    }
}
