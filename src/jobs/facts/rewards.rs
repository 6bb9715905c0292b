//! Rewards and graders of a cohort.

use super::{CohortRuns, Failure, count};
use crate::advise::RewardFact;
use crate::domain::{Reward, RewardStatus, Step, StepKind};
use crate::jobs::{Audit, JobError};
use crate::store::Store;
use crate::triage::{Fault, tool_fault};
use std::collections::BTreeSet;

pub(super) fn rewards(
    store: &Store,
    audits: &[Audit],
    cohort: &CohortRuns,
    failures: &[Failure<'_>],
) -> Result<RewardFact, JobError> {
    let mut fact = RewardFact {
        rollouts: count(cohort.rows.len()),
        all_tools_failed: count(failures.iter().filter(|f| all_down(&f.facts.steps)).count()),
        tool_failed: count(failures.iter().filter(|f| spoilt(f)).count()),
        ..RewardFact::default()
    };
    let mut graders: BTreeSet<(String, Option<String>)> = BTreeSet::new();
    for row in &cohort.rows {
        let rewards = store.rewards(&row.id)?;
        let has = |test: &dyn Fn(&Reward) -> bool| u32::from(rewards.iter().any(test));
        let usable = |r: &Reward| r.status == RewardStatus::Ok && r.result.is_some();
        let told = |r: &Reward| r.status != RewardStatus::Missing;
        let named = rewards.iter().filter(|r| told(r));
        graders.extend(named.map(|r| (r.grader.clone(), r.version.clone())));
        fact.used |= rewards.iter().any(told);
        fact.missing += u32::from(!rewards.iter().any(told));
        fact.contaminated += has(&|r| {
            matches!(
                r.status,
                RewardStatus::Contaminated | RewardStatus::Untrusted
            )
        });
        fact.isolated += has(&|r| usable(r) && r.isolated == Some(true));
        fact.four_fields += has(&|r| {
            usable(r) && r.evidence.is_some() && r.side_effects.is_some() && r.cost.is_some()
        });
    }
    for (grader, version) in graders {
        audited(&mut fact, audits, grader, version.as_deref());
    }
    Ok(fact)
}

/// Adds what the hack suite showed of one grader, by its newest audit. Another version of it is another grader.
fn audited(fact: &mut RewardFact, audits: &[Audit], grader: String, version: Option<&str>) {
    let is_meant = |a: &&Audit| {
        a.stands_for == grader && (version.is_none() || a.version.as_deref() == version)
    };
    let Some(audit) = audits.iter().rfind(is_meant) else {
        fact.not_audited.push(match version {
            Some(version) => format!("{grader} {version}"),
            None => grader,
        });
        return;
    };
    let report = &audit.report;
    fact.hack_cases += report.hacks;
    fact.fooled += report.fooled;
    fact.controls += report.controls;
    fact.refused += report.refused;
    fact.broke += report.errors;
}

/// Every tool result failed for the system's own reasons.
fn all_down(steps: &[Step]) -> bool {
    let mut faults = steps
        .iter()
        .filter(|s| s.kind == StepKind::Observation)
        .map(tool_fault)
        .peekable();
    faults.peek().is_some() && faults.all(|f| f.is_some_and(Fault::is_environment))
}

/// A tool broke down just before the decisive step.
fn spoilt(failure: &Failure<'_>) -> bool {
    let steps = &failure.facts.steps;
    let at = failure.facts.decisive.unwrap_or(u32::MAX);
    let before = steps.iter().rev().filter(|s| s.index <= at);
    let last = before.into_iter().find(|s| s.kind == StepKind::Observation);
    last.and_then(tool_fault).is_some_and(Fault::is_environment)
}
