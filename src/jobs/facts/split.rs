//! The split and its leaks, as an export would make it by default (gate G6); nothing where `triagent check` has not looked.

use super::{CohortRuns, Ground, count};
use crate::advise::SplitFact;
use crate::domain::{FindingAction, FindingKind, TaskId};
use crate::export::{Plan, RunHead, SplitOptions};
use crate::jobs::JobError;
use crate::jobs::check::{findings_about_tasks, fresh_check};
use crate::store::Store;
use std::collections::HashSet;

/// Task pairs that the last check found nearly equal and nobody has called different; nothing where the workspace has grown since.
pub(super) fn open_duplicates(store: &Store) -> Result<Option<Vec<(TaskId, TaskId)>>, JobError> {
    if fresh_check(store)?.is_none() {
        return Ok(None);
    }
    let open = findings_about_tasks(store)?.into_iter().filter(|s| {
        s.finding.kind == FindingKind::Duplicate && s.action != Some(FindingAction::Keep)
    });
    Ok(Some(
        open.filter_map(|s| match s.finding.tasks.as_slice() {
            [a, b, ..] => Some((a.clone(), b.clone())),
            _ => None,
        })
        .collect(),
    ))
}

pub(super) fn split(ground: &Ground<'_>, cohort: &CohortRuns) -> Option<SplitFact> {
    let all = ground.duplicates.as_ref()?;
    let heads: Vec<RunHead> = cohort
        .rows
        .iter()
        .map(|row| RunHead {
            run: row.id.clone(),
            task: row.task.as_deref().map(TaskId::from),
            scenario: row.scenario.clone(),
            documents: Vec::new(),
            request: String::new(),
        })
        .collect();
    let own: HashSet<&TaskId> = heads.iter().filter_map(|h| h.task.as_ref()).collect();
    let near: Vec<(TaskId, TaskId)> = all
        .iter()
        .filter(|(a, b)| own.contains(a) && own.contains(b))
        .cloned()
        .collect();
    let plan = Plan::new(&heads, &SplitOptions::default(), &near);
    let straddling = plan.straddling.len();
    Some(SplitFact {
        straddling: count(straddling),
        unresolved_duplicates: count(near.len() - straddling),
    })
}
