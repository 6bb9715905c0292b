//! Tokens, log-probs and groups of a cohort.

use super::{CohortRuns, Ground};
use crate::advise::RolloutFact;
use crate::domain::{Call, RewardStatus};
use crate::jobs::JobError;
use crate::store::{RunRow, Store};
use std::collections::BTreeMap;

pub(super) fn rollouts(ground: &Ground<'_>, cohort: &CohortRuns) -> Result<RolloutFact, JobError> {
    let store = ground.store;
    let mut fact = RolloutFact::default();
    for row in &cohort.rows {
        tokens(&mut fact, &store.calls(&row.id)?);
    }
    groups(&mut fact, ground, cohort)?;
    Ok(fact)
}

fn tokens(fact: &mut RolloutFact, calls: &[Call]) {
    for call in calls {
        let ids = call.completion_token_ids.as_ref().map(Vec::len);
        let logged = call.logprobs.as_ref().map_or(0, Vec::len);
        let made = ids.map(|n| n as u64).or(call.usage.output).unwrap_or(0);
        fact.action_tokens += made;
        // A list of another length belongs to other tokens.
        if ids == Some(logged) {
            fact.with_logprob += made;
        }
    }
    for pair in calls.windows(2) {
        let [before, after] = pair else { continue };
        let (Some(prompt), Some(answer), Some(next)) = (
            &before.prompt_token_ids,
            &before.completion_token_ids,
            &after.prompt_token_ids,
        ) else {
            continue;
        };
        fact.continued_calls += 1;
        let kept = next.len() >= prompt.len() + answer.len()
            && next.starts_with(prompt)
            && next[prompt.len()..].starts_with(answer);
        fact.prefix_kept += u64::from(kept);
    }
}

fn groups(
    fact: &mut RolloutFact,
    ground: &Ground<'_>,
    cohort: &CohortRuns,
) -> Result<(), JobError> {
    let least = ground.rules.threshold("R4-group");
    let mut groups: BTreeMap<&str, Vec<&RunRow>> = BTreeMap::new();
    for row in &cohort.rows {
        if let Some(group) = &row.group {
            groups.entry(group).or_default().push(row);
        }
    }
    for rows in groups.values().filter(|rows| rows.len() as f64 >= least) {
        fact.groups += 1;
        let usable = |r: &&&RunRow| r.reward_status == RewardStatus::Ok.word();
        let results: Vec<f64> = rows
            .iter()
            .filter(usable)
            .filter_map(|r| r.reward_result)
            .collect();
        fact.mixed += u32::from(results.windows(2).any(|w| w[0] != w[1]));
        fact.equal_contract += u32::from(is_one_contract(ground.store, rows)?);
    }
    Ok(())
}

/// Members share question and grader version; a state hash counts where the log has one (S-64).
fn is_one_contract(store: &Store, rows: &[&RunRow]) -> Result<bool, JobError> {
    let mut contracts = Vec::new();
    for row in rows {
        let rewards = store.rewards(&row.id)?;
        let grader = rewards
            .last()
            .map(|r| (r.grader.clone(), r.version.clone()));
        let state = store.rollout(&row.id)?.extra.get("state_hash").cloned();
        contracts.push((row.task.clone(), grader, state));
    }
    Ok(contracts.windows(2).all(|w| w[0] == w[1]))
}
