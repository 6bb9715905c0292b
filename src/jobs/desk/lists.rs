//! Lists that stand on whole tables: queues, groups, agreement.

use super::pages::{Group, GroupMember, Queue};
use super::reply::Answer;
use crate::domain::{Filter, RunId};
use crate::jobs::{JobError, QueueSpec, draw, keep_queue, layer_ratings, queue_spec};
use crate::reward::{Convention, advantages};
use crate::store::{RunRow, Store, StoreError};
use crate::triage::{AgreementReport, QueuePlan, agreement_report, parse_filter};
use std::collections::{BTreeMap, HashMap};

/// Kind under which filters are kept by name.
pub(super) const QUEUE: &str = "saved-filter";
/// Groups that are shown at the most.
const MAX_GROUPS: usize = 2_000;
/// Seed of the intervals: the same labels give the same numbers.
const SEED: u64 = 1;

/// Name and filter of each queue.
pub(super) fn queues(store: &Store) -> Result<Vec<(String, String)>, JobError> {
    let kept: Vec<(String, String, i64, String)> = store.results(QUEUE, None)?;
    Ok(kept
        .into_iter()
        .filter(|(_, _, _, filter)| !filter.is_empty())
        .map(|(name, _, _, filter)| (name, filter))
        .collect())
}

/// Groups of at least two rollouts, by the log's group, else by task.
pub(super) fn groups(store: &Store) -> Result<Vec<Group>, JobError> {
    let mut found: BTreeMap<String, Vec<GroupMember>> = BTreeMap::new();
    store.each_run(&Filter::default(), |row| {
        if let Some(name) = row.group.clone().or_else(|| row.task.clone()) {
            found.entry(name).or_default().push(member(row));
        }
        Ok::<(), StoreError>(())
    })?;
    let several = found.into_iter().filter(|(_, members)| members.len() > 1);
    Ok(several
        .take(MAX_GROUPS)
        .map(|(name, members)| group(name, members))
        .collect())
}

fn member(row: RunRow) -> GroupMember {
    GroupMember {
        run: row.id,
        seq: row.seq,
        outcome: row.outcome,
        reward: row.reward_result,
        status: row.reward_status,
        steps: row.steps,
        calls: row.calls,
    }
}

fn group(name: String, members: Vec<GroupMember>) -> Group {
    // A contaminated or untrusted reward counts as missing: it must not move the others (S-52).
    let rewards: Vec<Option<f64>> = members
        .iter()
        .map(|m| m.reward.filter(|_| m.status == "ok"))
        .collect();
    Group {
        advantages: advantages(&rewards, Convention::Population, None).map_err(|e| e.to_string()),
        name,
        members,
    }
}

/// Agreement of the reviewers on the layer of each run.
pub(super) fn agreement(store: &Store) -> Result<AgreementReport, JobError> {
    Ok(agreement_report(&layer_ratings(store, None)?, SEED))
}

/// What the reviewer labels next, drawn at random from the workspace's stored seed; drawn once if nobody has.
pub(super) fn queue(store: &mut Store, reviewer: &str, now_us: i64) -> Result<Answer, JobError> {
    let spec = match queue_spec(store)? {
        Some(spec) => spec,
        None => {
            let spec = first_spec(now_us);
            if !store.is_read_only() {
                keep_queue(store, &spec, now_us)?;
            }
            spec
        }
    };
    let filter = match parse_filter(&spec.filter, Some(reviewer)) {
        Ok(filter) => filter,
        Err(error) => return Ok(Answer::failed("drawing the queue", &error)),
    };
    let drawn = draw(store, &spec, &filter, reviewer, now_us)?;
    let seq_of: HashMap<RunId, i64> = store
        .run_names()?
        .into_iter()
        .map(|(seq, run, _)| (run, seq))
        .collect();
    let items = drawn.items.iter().filter_map(|item| {
        let run = RunId(item.subject.clone());
        seq_of.get(&run).map(|seq| (*seq, run))
    });
    Ok(Answer::Queue(Queue {
        items: items.collect(),
        done: drawn.done,
        total: drawn.total,
        filter: spec.filter,
    }))
}

/// Failures in an order that nobody chose; the time of the first draw makes the seed, which is kept.
fn first_spec(now_us: i64) -> QueueSpec {
    QueueSpec {
        filter: "outcome:fail".to_owned(),
        plan: QueuePlan {
            // Short enough to be typed.
            seed: u64::try_from(now_us).unwrap_or(0) / 1_000 % 1_000_000,
            ..QueuePlan::default()
        },
        reviewers: Vec::new(),
    }
}
