//! Lists that stand on whole tables: queues, groups, agreement.

use super::pages::{AgreementPage, Dispute, FindingRow, Findings, Queue, RewardPage};
use super::reply::Answer;
use crate::domain::{Decision, DecisionRecord, Filter, FindingState, Progress, RunId};
use crate::jobs::{
    GroupOptions, JobError, QueueSpec, audits, draw, findings as all_findings, fresh_check,
    keep_queue, last_check, layer_ratings, queue_spec, reward_groups,
};
use crate::store::Store;
use crate::triage::{QueuePlan, agreement_report, parse_filter};
use std::collections::HashMap;

/// Kind under which filters are kept by name.
pub(super) const QUEUE: &str = "saved-filter";
/// Groups that are shown at the most: each is read step by step.
const MAX_GROUPS: usize = 300;
/// Runs of those groups that are read.
const MAX_MEMBERS: usize = 2_000;
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

/// Groups and audits, as `triagent rewards` shows them.
pub(super) fn rewards(store: &Store, progress: &Progress) -> Result<RewardPage, JobError> {
    let wanted = GroupOptions {
        limit: MAX_GROUPS,
        members: MAX_MEMBERS,
        ..GroupOptions::default()
    };
    let groups = reward_groups(store, &Filter::default(), wanted, progress)?;
    let mut kept = audits(store)?;
    kept.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    Ok(RewardPage {
        groups,
        audits: kept.into_iter().map(|(_, audit)| audit).collect(),
    })
}

/// Findings, those about tasks first, then by run.
pub(super) fn findings(store: &Store) -> Result<Findings, JobError> {
    let seq_of: HashMap<RunId, i64> = store
        .run_names()?
        .into_iter()
        .map(|(seq, run, _)| (run, seq))
        .collect();
    let row = |state: FindingState| FindingRow {
        seq: state
            .finding
            .place
            .as_ref()
            .and_then(|place| seq_of.get(&place.run).copied()),
        state,
    };
    Ok(Findings {
        is_fresh: fresh_check(store)?.is_some(),
        was_checked: last_check(store)?.is_some(),
        rows: all_findings(store)?.into_iter().map(row).collect(),
    })
}

/// Agreement of the reviewers on the layer of each run.
pub(super) fn agreement(store: &Store) -> Result<AgreementPage, JobError> {
    let report = agreement_report(&layer_ratings(store, None)?, SEED);
    let mut labels: HashMap<RunId, Vec<DecisionRecord>> = HashMap::new();
    for record in store.own("verdict")? {
        if let Decision::Verdict(verdict) = &record.decision {
            labels.entry(verdict.run.clone()).or_default().push(record);
        }
    }
    let mut disputes = Vec::new();
    for one in &report.disagreements {
        let run = RunId::from(one.item.as_str());
        let settled = store.live_on("adjudication", run.as_str())?.pop();
        disputes.push(Dispute {
            seq: store.run_row(&run)?.seq,
            labels: labels.remove(&run).unwrap_or_default(),
            settled: settled.and_then(|record| match record.decision {
                Decision::Adjudication(verdict) => Some((verdict.layer, record.reviewer)),
                _ => None,
            }),
            run,
        });
    }
    disputes.sort_by_key(|dispute| dispute.settled.is_some());
    Ok(AgreementPage { report, disputes })
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
