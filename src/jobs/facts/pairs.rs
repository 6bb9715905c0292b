//! Decided pairs of a cohort, and what scored log-probs say about the corrected actions.

use super::similar::similarity;
use super::{CohortRuns, Ground, count};
use crate::advise::{PairFact, ReachFact, reach as judge};
use crate::domain::chat::decision_at;
use crate::domain::{Candidate, Outcome, Pair, Score, ScoreSubject, Side};
use crate::jobs::JobError;
use crate::store::Store;
use std::collections::BTreeMap;

pub(super) fn pairs(ground: &Ground<'_>, cohort: &CohortRuns) -> Result<PairFact, JobError> {
    let store = ground.store;
    let mut fact = PairFact::default();
    let similar = ground.rules.threshold("D7-similar");
    let mut near = 0;
    let mut choices: BTreeMap<String, Vec<crate::domain::Choice>> = BTreeMap::new();
    for (record, pair) in ground.pairs_of(cohort) {
        choices
            .entry(record.decision.subject())
            .or_default()
            .push(pair.choice);
        let Some(preferred) = pair.choice.preferred() else {
            continue;
        };
        let (chosen, rejected) = sides(pair, preferred);
        fact.preferred += 1;
        // The hash was compared when the pair was saved; a pair without one never was.
        fact.same_request += u32::from(!pair.context_hash.is_empty());
        fact.reasoned += u32::from(!pair.reason.trim().is_empty() && pair.standard.is_some());
        fact.side_known += u32::from(pair.left.is_some());
        fact.left_chosen += u32::from(pair.left == Some(preferred));
        fact.on_policy += u32::from(!rejected.is_human() && cohort.holds(&rejected.at().run));
        fact.both_recorded += u32::from(!chosen.is_human() && !rejected.is_human());
        fact.chosen_reviewed += u32::from(is_reviewed(store, chosen)?);
        let (good, bad) = (words(store, chosen)?, words(store, rejected)?);
        let (a, b) = (good.len(), bad.len());
        near += u32::from(similarity(&good, &bad, similar) > similar);
        fact.chosen_longer += u32::from(a > b);
        fact.rejected_longer += u32::from(b > a);
    }
    let twice: Vec<_> = choices.values().filter(|c| c.len() > 1).collect();
    let agree = twice
        .iter()
        .filter(|c| c.iter().all(|x| *x == c[0]))
        .count();
    fact.near_identical = (fact.preferred > 0).then_some(near);
    fact.decided_twice = count(twice.len());
    fact.agreement = (!twice.is_empty()).then(|| agree as f64 / twice.len() as f64);
    Ok(fact)
}

fn sides(pair: &Pair, preferred: Side) -> (&Candidate, &Candidate) {
    match preferred {
        Side::A => (&pair.a, &pair.b),
        Side::B => (&pair.b, &pair.a),
    }
}

/// Written by a reviewer, or of a run that a reviewer or grader let pass.
fn is_reviewed(store: &Store, chosen: &Candidate) -> Result<bool, JobError> {
    if chosen.is_human() {
        return Ok(true);
    }
    Ok(store.run_row(&chosen.at().run)?.outcome == Outcome::Pass)
}

/// What a side says and calls.
fn words(store: &Store, side: &Candidate) -> Result<String, JobError> {
    let message = match side {
        Candidate::Human { message, .. } => Some(message.clone()),
        Candidate::Recorded { at } => decision_at(&store.steps(&at.run)?, at.step),
    };
    let mut out = String::new();
    if let Some(message) = message {
        out.push_str(message.content.as_deref().unwrap_or(""));
        for call in &message.tool_calls {
            out.push_str(&call.name);
            out.push_str(&call.arguments);
        }
    }
    Ok(out)
}

/// Scores of preferred sides against rejected ones, from the policy's own weights where they were scored.
pub(super) fn reach(ground: &Ground<'_>, cohort: &CohortRuns) -> Result<ReachFact, JobError> {
    let rules = &ground.rules;
    let (samples, group) = (
        rules.threshold("reach-samples"),
        rules.threshold("reach-group"),
    );
    let mut policy = ReachFact {
        is_policy: true,
        ..ReachFact::default()
    };
    let mut proxy = ReachFact::default();
    let (mut mixed_policy, mut mixed_proxy) = (Vec::new(), Vec::new());
    for (record, pair) in ground.pairs_of(cohort) {
        let Some(preferred) = pair.choice.preferred() else {
            continue;
        };
        let scores = ground.store.scores_of_pair(&record.id)?;
        let Some((chosen, rejected)) = both(&scores, preferred) else {
            continue;
        };
        let Some(found) = judge(&[chosen.logp_sum], rejected.logp_sum, samples, group) else {
            continue;
        };
        let (fact, mixed) = if is_policy(chosen, cohort) {
            (&mut policy, &mut mixed_policy)
        } else {
            (&mut proxy, &mut mixed_proxy)
        };
        fact.scored += 1;
        fact.out_of_reach += u32::from(found.out_of_reach);
        fact.below += u32::from(found.below);
        mixed.push(found.mixed_share);
    }
    policy.mixed_share = crate::stats::mean(&mixed_policy);
    proxy.mixed_share = crate::stats::mean(&mixed_proxy);
    Ok(if policy.scored > 0 { policy } else { proxy })
}

/// Both sides under one binding: scores of different bindings never mix.
fn both(scores: &[Score], preferred: Side) -> Option<(&Score, &Score)> {
    let is = |score: &Score, wanted: Side| matches!(&score.subject, ScoreSubject::PairSide { side, .. } if *side == wanted);
    let other = match preferred {
        Side::A => Side::B,
        Side::B => Side::A,
    };
    // The policy's own binding before a proxy's.
    let mut chosen: Vec<&Score> = scores.iter().filter(|s| is(s, preferred)).collect();
    chosen.sort_by_key(|s| s.binding.is_proxy);
    chosen.into_iter().find_map(|c| {
        let rejected = scores
            .iter()
            .find(|s| is(s, other) && s.binding == c.binding)?;
        Some((c, rejected))
    })
}

/// The scored weights are the ones that the log names: by hash, or by the name of their folder.
fn is_policy(score: &Score, cohort: &CohortRuns) -> bool {
    let binding = &score.binding;
    let named = cohort.cohort.checkpoint.as_deref();
    !binding.is_proxy && named.is_some_and(|c| c == binding.weights || c == binding.model)
}
