//! Gates of agent RL.

use super::{Measured, percent, recorded, share};
use crate::advise::facts::CohortFacts;
use crate::advise::rules::Rules;
use crate::domain::{GateState, Layer};

/// Rewards come from an isolated verifier in four fields; a recorded verifier counts where logs do not say.
pub(super) fn verifier(facts: &CohortFacts, rules: &Rules) -> Measured {
    let r = &facts.rewards;
    let graded = r.rollouts.saturating_sub(r.missing);
    let fact = recorded("verifier", facts);
    if graded == 0 || r.isolated == 0 && fact.value.is_some() {
        return fact;
    }
    let isolated = f64::from(r.isolated) / f64::from(graded);
    let fields = f64::from(r.four_fields) / f64::from(graded);
    let held = isolated.min(fields);
    let missing = if held >= rules.threshold("R2") {
        String::new()
    } else {
        format!(
            "{} rewards without an isolated verifier, {} without their four fields",
            graded.saturating_sub(r.isolated),
            graded.saturating_sub(r.four_fields)
        )
    };
    Measured {
        value: Some(held),
        shown: Some(format!(
            "{} isolated, {} with four fields",
            percent(isolated),
            percent(fields)
        )),
        missing,
        source: "rewards",
        ..Measured::default()
    }
}

pub(super) fn behaviour_logprobs(facts: &CohortFacts, _: &Rules) -> Measured {
    let r = &facts.rollouts;
    let missing = "token ids and log-probs from the serving endpoint".to_owned();
    let whole = r.action_tokens.max(u64::from(facts.runs > 0));
    let mut measured = share(r.with_logprob, whole, "calls", missing);
    if r.action_tokens == 0 && facts.runs > 0 {
        measured.shown = Some("0% of action tokens".to_owned());
    }
    measured
}

pub(super) fn mixed_groups(facts: &CohortFacts, rules: &Rules) -> Measured {
    let r = &facts.rollouts;
    let missing = format!(
        "{} probe rollouts per task, on tasks of middle difficulty",
        rules.threshold("R4-group")
    );
    share(
        r.mixed.into(),
        r.groups.into(),
        "groups of rollouts",
        missing,
    )
}

pub(super) fn headroom(facts: &CohortFacts, _: &Rules) -> Measured {
    let a = &facts.attempts;
    let gap = a.pass_at_8.zip(a.pass_at_1).map(|(k, one)| k - one);
    Measured {
        value: gap,
        shown: a
            .pass_at_8
            .zip(a.pass_at_1)
            .map(|(k, one)| format!("pass@1 {one:.2}, pass@8 {k:.2}")),
        missing: "8 rollouts of each task, some of them solved".to_owned(),
        source: "groups of rollouts",
        ..Measured::default()
    }
}

pub(super) fn tool_failure(facts: &CohortFacts, _: &Rules) -> Measured {
    let r = &facts.rewards;
    let spoilt = r.tool_failed.max(r.all_tools_failed);
    let whole = r.rollouts.max(facts.runs);
    let missing = if spoilt == 0 {
        "rollouts".to_owned()
    } else {
        format!("{spoilt} rollouts to run again once the tools work")
    };
    share(
        spoilt.into(),
        whole.into(),
        "status of tool results",
        missing,
    )
}

pub(super) fn missing_reward(facts: &CohortFacts, _: &Rules) -> Measured {
    let r = &facts.rewards;
    let missing = format!("{} rewards (missing is not 0)", r.missing);
    share(r.missing.into(), r.rollouts.into(), "rewards", missing)
}

pub(super) fn group_contract(facts: &CohortFacts, _: &Rules) -> Measured {
    let r = &facts.rollouts;
    let missing = "groups that share question, initial state and grader version".to_owned();
    share(
        r.equal_contract.into(),
        r.groups.into(),
        "groups of rollouts",
        missing,
    )
}

pub(super) fn prefix(facts: &CohortFacts, _: &Rules) -> Measured {
    let r = &facts.rollouts;
    let source = "token ids of calls";
    if r.one_row_a_call {
        return Measured {
            value: Some(1.0),
            shown: Some("one row a call".to_owned()),
            source,
            ..Measured::default()
        };
    }
    share(
        r.prefix_kept,
        r.continued_calls,
        source,
        "calls with token ids that continue the ones before".to_owned(),
    )
}

pub(super) fn strategy_share(facts: &CohortFacts, _: &Rules) -> Measured {
    let slice: Vec<_> = facts
        .labels
        .iter()
        .filter(|l| l.layer == Layer::Model && l.proven)
        .collect();
    let tagged = slice
        .iter()
        .filter(|l| l.cause.as_deref() == Some("strategy"))
        .count();
    let missing = "behaviour failures with sub-cause `strategy`".to_owned();
    let mut measured = share(tagged as u64, slice.len() as u64, "verdicts", missing);
    if slice.is_empty() {
        measured.state = Some(GateState::Unmeasured);
    }
    measured
}
