//! Joins a run with what files beside it say: a grader's report becomes a reward, an annotator's failures become
//! labels of their own source. A join must be certain; what could mean another run is left alone.

use super::beside::{Failures, Verdict};
use super::out::Halt;
use super::run::Run;
use crate::domain::{ForeignLabel, Outcome, Reward, Rollout};
use serde_json::{Value, json};
use std::path::Path;

const GRADER: &str = "swe-bench";

/// Sends on what is known of the run that is about to end.
pub(crate) fn tell(run: &mut Run<'_, '_>) -> Result<(), Halt> {
    let beside = run.out.beside();
    if beside.is_empty() {
        return Ok(());
    }
    let index = beside.index();
    if let Some(note) = index.left_out() {
        run.out.note(note);
    }
    let place = run.out.place().to_owned();
    let task = run.head.task.as_ref().map(|t| t.0.clone());
    if let Some(task) = task
        && let Some(all) = index.verdicts.get(&task)
        && is_graded_by_swe_bench(&run.head)
        && !run.has_reward_of(GRADER)
    {
        judge(run, &task, &beside.nearest(&place, all.iter()))?;
    }
    for id in names(&run.head) {
        let all = index.failures.get(&id).into_iter().flatten();
        let all = all.filter(|placed| speaks_of(&placed.what, &run.head));
        for failures in beside.nearest(&place, all) {
            failed(run, failures)?;
        }
    }
    Ok(())
}

/// Takes the verdict on which all reports agree.
fn judge(run: &mut Run<'_, '_>, task: &str, verdicts: &[&Verdict]) -> Result<(), Halt> {
    let Some(first) = verdicts.first() else {
        return Ok(());
    };
    if verdicts.iter().any(|v| v.resolved != first.resolved) {
        run.out.note(format!(
            "{} reports do not agree on {task}: none is joined; hint: import the run with one of them",
            verdicts.len()
        ));
        return Ok(());
    }
    graded(run, first)
}

fn is_graded_by_swe_bench(head: &Rollout) -> bool {
    matches!(
        head.format.as_str(),
        "swe-agent" | "mini-swe-agent" | "openhands"
    )
}

fn graded(run: &mut Run<'_, '_>, verdict: &Verdict) -> Result<(), Halt> {
    let mut reward = match verdict.resolved {
        Some(yes) => Reward::result(GRADER, f64::from(u8::from(yes))),
        None => Reward::missing(GRADER),
    };
    reward.detail = verdict.detail.clone();
    if let Some(yes) = verdict.resolved {
        run.head.outcome = if yes { Outcome::Pass } else { Outcome::Fail };
        run.head.outcome_source = Some("file:report".to_owned());
    }
    run.reward(reward)
}

/// Names by which a label may call the run.
fn names(head: &Rollout) -> Vec<String> {
    const SURE: usize = 8;
    let stem = Path::new(&head.source).file_stem();
    let mut names = vec![head.id.0.clone()];
    names.extend(stem.map(|s| s.to_string_lossy().into_owned()));
    // Short names such as `3` say nothing without their data set.
    names.retain(|name| name.chars().count() >= SURE);
    if head.format == "tau-bench" {
        let number = head.task.as_ref().and_then(|t| t.0.rsplit('-').next());
        names.extend(number.map(str::to_owned));
    }
    names.dedup();
    names
}

/// AgentRx counts tau-bench's trajectories by task, and labels only failed ones of the family that its file names.
fn speaks_of(failures: &Failures, head: &Rollout) -> bool {
    if head.format != "tau-bench" {
        return true;
    }
    let file = failures.file.to_lowercase();
    let family = head.family.as_ref().map(|f| f.to_lowercase());
    let is_family = family.is_some_and(|f| file.contains(&f));
    is_family && head.outcome == Outcome::Fail
}

fn failed(run: &mut Run<'_, '_>, failures: &Failures) -> Result<(), Halt> {
    let record = &failures.record;
    let root = record.pointer("/root_cause/failure_id");
    let list = record.get("failures").and_then(Value::as_array);
    for failure in list.into_iter().flatten() {
        let text = |key: &str| failure.get(key).and_then(Value::as_str).unwrap_or("");
        let is_root = root.is_some() && failure.get("failure_id") == root;
        let place = failure.get("step_number").and_then(Value::as_u64);
        let label = ForeignLabel {
            source: "agentrx".to_owned(),
            step: place.and_then(|n| step_at(run, n)),
            category: text("failure_category").to_owned(),
            reason: text("step_reason").to_owned(),
            detail: json!({
                "file": failures.file,
                "failure": failure,
                "is_root_cause": is_root,
                "root_cause": record.get("root_cause"),
                "failure_summary": record.get("failure_summary"),
            }),
        };
        run.label(label)?;
    }
    Ok(())
}

/// AgentRx counts tau-bench's messages from 1. How it counts elsewhere is not known; then no step is named.
fn step_at(run: &Run<'_, '_>, number: u64) -> Option<u32> {
    if run.head.format != "tau-bench" {
        return None;
    }
    let place = usize::try_from(number.checked_sub(1)?).ok()?;
    run.step_of_message(place)
}
