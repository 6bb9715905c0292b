//! Groups of rollouts with everything that the reward room judges them by, read from the store.
//!
//! Counts only. Whether rewards can be compared, and what equal ones mean, is the reward room's word.

use super::JobError;
use super::cohort::cohort_of;
use crate::domain::chat::visible_before;
use crate::domain::{Adopted, Call, Filter, Owner, Progress, Reward, RewardStatus, Step, StepKind};
use crate::reward::{
    Convention, GroupMember, GroupReport, GroupsSummary, group_report, summarise_groups,
};
use crate::store::{RunRow, Store, StoreError};
use crate::triage::{Fault, tool_fault};
use serde::Serialize;
use std::collections::BTreeMap;

/// Where a log names the state that its environment started in.
const STATE: &str = "state_hash";

/// A group, judged or refused.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedGroup {
    /// Its name: the log's group, else the task.
    pub group: String,
    /// The task of its first member.
    pub task: Option<String>,
    /// Versions that its members share, where the task made the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cohort: Option<String>,
    /// Its members' runs.
    pub runs: Vec<String>,
    /// Row key of its first member.
    #[serde(skip)]
    pub seq: i64,
    /// What its rewards say; nothing where they cannot be compared.
    pub report: Option<GroupReport>,
    /// Why they cannot (S-64).
    pub refused: Option<String>,
}

/// All groups, and what they say together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedGroups {
    /// Groups of at least two rollouts, by name.
    pub groups: Vec<JudgedGroup>,
    /// Taken together; refused groups do not count.
    pub summary: GroupsSummary,
    /// Runs that stand alone.
    pub alone: usize,
    /// Groups past the limit.
    pub not_read: usize,
}

/// How to judge groups.
#[derive(Debug, Clone, Copy)]
pub struct GroupOptions {
    /// How rewards become advantages.
    pub convention: Convention,
    /// The k of pass@k.
    pub k: u32,
    /// Groups at the most.
    pub limit: usize,
    /// Their runs at the most, for each is read whole.
    pub members: usize,
}

impl Default for GroupOptions {
    fn default() -> Self {
        Self {
            convention: Convention::Population,
            k: 8,
            limit: usize::MAX,
            members: usize::MAX,
        }
    }
}

/// The group's name, and its members' versions where only the task makes it a group.
type Key = (String, Option<String>);

/// Judges the groups of the runs that pass a filter.
pub fn reward_groups(
    store: &Store,
    filter: &Filter,
    options: GroupOptions,
    progress: &Progress,
) -> Result<JudgedGroups, JobError> {
    let GroupOptions {
        convention,
        k,
        limit,
        members,
    } = options;
    let mut found: BTreeMap<Key, Vec<RunRow>> = BTreeMap::new();
    store.each_run(filter, |row| {
        if let Some(key) = key(&row) {
            found.entry(key).or_default().push(row);
        }
        Ok::<(), StoreError>(())
    })?;
    let alone = found.values().filter(|rows| rows.len() < 2).count();
    found.retain(|_, rows| rows.len() > 1);
    let mut room = members;
    let fits = |(_, rows): &(Key, Vec<RunRow>)| {
        let fits = rows.len() <= room;
        room = room.saturating_sub(rows.len());
        fits
    };
    let all = found.len();
    let found: Vec<(Key, Vec<RunRow>)> = found.into_iter().take(limit).take_while(fits).collect();
    let not_read = all - found.len();
    progress.set_total(found.iter().map(|(_, rows)| rows.len() as u64).sum());
    let mut read = Vec::new();
    for (key, rows) in found {
        let mut members = Vec::new();
        for row in &rows {
            if progress.is_cancelled() {
                return Err(JobError::Cancelled);
            }
            members.push(member(store, row)?);
            progress.add(1);
        }
        read.push((key, rows, name_questions(members)));
    }
    // Only groups that count make up the batch; a refused one may be graded on another scale.
    let counts = |(key, _, members): &&(Key, Vec<RunRow>, Vec<GroupMember>)| {
        group_report(&key.0, members.clone(), Convention::Population, None).is_ok()
    };
    let batch: Vec<f64> = read
        .iter()
        .filter(counts)
        .flat_map(|(_, _, members)| usable(members))
        .collect();
    let groups: Vec<JudgedGroup> = read
        .into_iter()
        .map(|(key, rows, members)| judge(key, &rows, members, convention, &batch))
        .collect();
    let known: Vec<Vec<f64>> = groups
        .iter()
        .filter_map(|g| g.report.as_ref())
        .map(|r| usable(&r.members).collect())
        .collect();
    Ok(JudgedGroups {
        summary: summarise_groups(&known, k),
        groups,
        alone,
        not_read,
    })
}

/// Rollouts under other versions were not sampled for one comparison, unless the log says so.
fn key(row: &RunRow) -> Option<Key> {
    match (&row.group, &row.task) {
        (Some(group), _) => Some((group.clone(), None)),
        (None, Some(task)) => Some((task.clone(), Some(cohort_of(row).name()))),
        (None, None) => None,
    }
}

fn judge(
    (group, cohort): Key,
    rows: &[RunRow],
    members: Vec<GroupMember>,
    convention: Convention,
    batch: &[f64],
) -> JudgedGroup {
    let judged = group_report(&group, members, convention, Some(batch));
    let (report, refused) = match judged {
        Ok(report) => (Some(report), None),
        Err(error) => (None, Some(error.to_string())),
    };
    JudgedGroup {
        task: rows.iter().find_map(|r| r.task.clone()),
        runs: rows.iter().map(|r| r.id.0.clone()).collect(),
        seq: rows.first().map_or(0, |r| r.seq),
        group,
        cohort,
        report,
        refused,
    }
}

fn usable(members: &[GroupMember]) -> impl Iterator<Item = f64> {
    members
        .iter()
        .filter(|m| m.status == RewardStatus::Ok)
        .filter_map(|m| m.reward)
}

/// One member, and the words that its task and its first request are known by.
struct Asked {
    member: GroupMember,
    task: Option<String>,
    request: String,
    is_talk: bool,
}

/// Where the user goes on talking, another program may have played the user, and its first words differ by chance: there the task
/// names the question. Elsewhere the request does, together with the task.
fn name_questions(asked: Vec<Asked>) -> Vec<GroupMember> {
    let by_task = asked.iter().all(|a| a.task.is_some()) && asked.iter().any(|a| a.is_talk);
    let name = |a: Asked| {
        let task = a.task.as_deref().unwrap_or("no task");
        GroupMember {
            question: if by_task {
                format!("task {task}")
            } else {
                format!("task {task}, request {}", a.request)
            },
            ..a.member
        }
    };
    asked.into_iter().map(name).collect()
}

fn member(store: &Store, row: &RunRow) -> Result<Asked, JobError> {
    let head = store.rollout(&row.id)?;
    let steps = store.steps(&row.id)?;
    let calls = store.calls(&row.id)?;
    let reward = chosen(store.rewards(&row.id)?, row);
    let own = |s: &&Step| s.owner == Owner::Model && s.is_in_context();
    let chars: usize = steps
        .iter()
        .filter(own)
        .map(|s| s.text.chars().count())
        .sum();
    let results: Vec<Option<Fault>> = steps
        .iter()
        .filter(|s| s.kind == StepKind::Observation)
        .map(tool_fault)
        .collect();
    let state = head.extra.get(STATE).map(|v| match v.as_str() {
        Some(text) => text.to_owned(),
        None => v.to_string(),
    });
    let (request, is_talk) = request(&steps);
    Ok(Asked {
        member: GroupMember {
            run: row.id.0.clone(),
            question: String::new(),
            initial_state: state,
            grader: reward.as_ref().map_or_else(String::new, grader),
            reward: reward.as_ref().and_then(|r| r.result),
            status: reward.map_or(RewardStatus::Missing, |r| r.status),
            output_chars: chars as u64,
            output_tokens: tokens(&calls),
            calls: count(calls.iter().filter(|c| taken(c)).count()),
            tool_results: count(results.len()),
            tool_failures: count(
                results
                    .iter()
                    .flatten()
                    .filter(|f| f.is_environment())
                    .count(),
            ),
        },
        task: row.task.clone(),
        request,
        is_talk,
    })
}

/// The reward that stands in the run's row; a run may carry several.
fn chosen(mut rewards: Vec<Reward>, row: &RunRow) -> Option<Reward> {
    let shown = |r: &Reward| r.result == row.reward_result && r.status.word() == row.reward_status;
    match rewards.iter().position(shown) {
        Some(at) => Some(rewards.swap_remove(at)),
        None => rewards.pop(),
    }
}

fn grader(reward: &Reward) -> String {
    match &reward.version {
        Some(version) => format!("{} {version}", reward.grader),
        None => reward.grader.clone(),
    }
}

/// A retry that the harness threw away is not part of what was graded.
fn taken(call: &Call) -> bool {
    call.adopted != Adopted::No
}

/// Tokens that the model wrote; nothing where one call that was taken does not tell.
fn tokens(calls: &[Call]) -> Option<u64> {
    let of = |c: &Call| {
        let ids = c.completion_token_ids.as_ref().map(|t| t.len() as u64);
        ids.or(c.usage.output)
    };
    let all: Option<Vec<u64>> = calls.iter().filter(|c| taken(c)).map(of).collect();
    all.filter(|t| !t.is_empty()).map(|t| t.iter().sum())
}

/// Hash of what the user asked before the model first spoke, and whether the user spoke again.
fn request(steps: &[Step]) -> (String, bool) {
    let is_model = |s: &&Step| s.owner == Owner::Model && s.is_in_context();
    let first = steps.iter().find(is_model).map_or(u32::MAX, |s| s.index);
    let mut hasher = blake3::Hasher::new();
    let asked = visible_before(steps, first);
    for step in asked.iter().filter(|s| s.owner == Owner::User) {
        hasher.update(step.text.trim().as_bytes());
        hasher.update(&[0]);
    }
    let hash: String = hasher.finalize().to_hex().chars().take(12).collect();
    let again = steps
        .iter()
        .any(|s| s.owner == Owner::User && s.index > first && s.is_in_context());
    (hash, again)
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
