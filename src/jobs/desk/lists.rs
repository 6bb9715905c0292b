//! Lists that stand on whole tables: queues, groups, agreement.

use super::pages::{Group, GroupMember};
use crate::domain::{Decision, Filter};
use crate::jobs::JobError;
use crate::reward::{Convention, advantages};
use crate::store::{RunRow, Store, StoreError};
use crate::triage::{AgreementReport, Ratings, agreement_report};
use std::collections::BTreeMap;

/// Kind under which filters are kept.
pub(super) const QUEUE: &str = "queue";
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
    let records = store.own("verdict")?;
    let labels: Vec<(String, String, &str)> = records
        .into_iter()
        .filter_map(|record| match record.decision {
            Decision::Verdict(v) => Some((v.run.0, record.reviewer, v.layer.word())),
            _ => None,
        })
        .collect();
    let borrowed = labels
        .iter()
        .map(|(run, who, layer)| (run.as_str(), who.as_str(), *layer));
    Ok(agreement_report(&Ratings::from_labels(borrowed), SEED))
}
