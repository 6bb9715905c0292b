//! Gates that come before any method: outcomes, labels, system share, grader, cheaper lever, stability, split.

use super::{Measured, count, percent, share, to_go};
use crate::advise::facts::{CohortFacts, RecordedFact, RewardFact};
use crate::advise::rules::Rules;
use crate::advise::shares::{Draw, drawn, shares};
use crate::domain::GateState;

pub(super) fn outcome_known(facts: &CohortFacts, _: &Rules) -> Measured {
    let unknown = facts.runs.saturating_sub(facts.outcome_known);
    let missing = match (facts.runs, unknown) {
        (0, _) => "runs: the cohort is empty".to_owned(),
        (_, 0) => String::new(),
        (_, n) => format!("pass or fail of {}", crate::text::plural(n.into(), "run")),
    };
    share(
        facts.outcome_known.into(),
        facts.runs.into(),
        "logs and reviewers",
        missing,
    )
}

pub(super) fn labelled_failures(facts: &CohortFacts, rules: &Rules) -> Measured {
    let n = labelled(facts);
    count(
        n,
        "verdicts",
        to_go(n, rules.threshold("G1a"), "labelled failures"),
    )
}

pub(super) fn labelled_share(facts: &CohortFacts, rules: &Rules) -> Measured {
    let n = labelled(facts);
    let needed = (rules.threshold("G1b") * f64::from(facts.failures)).ceil();
    let missing = if facts.failures == 0 {
        "failures: none in this cohort".to_owned()
    } else {
        to_go(n, needed, "of the failures labelled")
    };
    share(
        n.min(facts.failures).into(),
        facts.failures.into(),
        "verdicts",
        missing,
    )
}

pub(super) fn agreement(facts: &CohortFacts, rules: &Rules) -> Measured {
    let a = &facts.agreement;
    let threshold = format!(
        "alpha >= {}, or all differences settled",
        rules.threshold("G1c")
    );
    let settled = a.labelled_twice > 0 && a.unsettled == 0;
    let passes = a.alpha.is_some_and(|v| v >= rules.threshold("G1c"));
    let shown = match (a.alpha, a.labelled_twice) {
        (_, 0) => None,
        (Some(v), n) => Some(format!(
            "alpha {v:.3} on {n} failures labelled twice, {} unsettled",
            a.unsettled
        )),
        (None, n) => Some(format!(
            "alpha undefined on {n} failures labelled twice, {} unsettled",
            a.unsettled
        )),
    };
    let (state, missing) = match (a.labelled_twice, passes || settled) {
        (0, _) => (
            GateState::Unmeasured,
            "a second reviewer's labels".to_owned(),
        ),
        (_, true) => (GateState::Pass, String::new()),
        (_, false) => (
            GateState::Fail,
            format!("{} differing labels to settle", a.unsettled),
        ),
    };
    Measured {
        value: a.alpha,
        shown,
        state: Some(state),
        threshold: Some(threshold),
        missing,
        source: "verdicts of two or more reviewers",
    }
}

pub(super) fn system_share(facts: &CohortFacts, _: &Rules) -> Measured {
    let shares = shares(facts);
    let source = "verdicts";
    let Some(s) = shares.system else {
        return Measured {
            missing: "labelled failures that count".to_owned(),
            source,
            ..Measured::default()
        };
    };
    let (low, high) = ((s.low * 100.0).round(), (s.high * 100.0).round());
    let interval = match drawn(facts) {
        Draw::Census | Draw::Random => format!("[{low:.0}-{high:.0}%]"),
        Draw::ByHand => "[no interval: all picked by hand]".to_owned(),
    };
    Measured {
        value: Some(s.share),
        shown: Some(format!(
            "{} {interval} ({} of {})",
            percent(s.share),
            s.count,
            shares.n
        )),
        missing: "fixes of the system's own faults, then the same tasks again".to_owned(),
        source,
        ..Measured::default()
    }
}

/// Hack suite rejected in full, and contaminated rewards below the threshold.
pub(super) fn grader_health(facts: &CohortFacts, rules: &Rules) -> Measured {
    let r = &facts.rewards;
    let source = "rewards and the hack suite";
    let limit = rules.threshold("G3");
    let threshold = Some(format!(
        "hack suite 100% rejected, contaminated < {}",
        percent(limit)
    ));
    if !r.used {
        return Measured {
            shown: Some("no reward or automatic grader is used".to_owned()),
            state: Some(GateState::NotApplicable),
            threshold,
            source,
            ..Measured::default()
        };
    }
    let spoilt = r.contaminated.max(r.all_tools_failed);
    let contaminated = if r.rollouts == 0 {
        0.0
    } else {
        f64::from(spoilt) / f64::from(r.rollouts)
    };
    let rejected = r.hack_cases.saturating_sub(r.fooled);
    let refuses_all = r.controls > 0 && r.refused == r.controls;
    let missing = grader_gaps(r, contaminated >= limit, spoilt);
    let open = r.hack_cases == 0 || r.broke > 0 || !r.not_audited.is_empty();
    let state = match (contaminated >= limit || r.fooled > 0 || refuses_all, open) {
        (true, _) => GateState::Fail,
        (false, true) => GateState::Unmeasured,
        (false, false) => GateState::Pass,
    };
    let audit = match r.hack_cases {
        0 => "no hack suite run".to_owned(),
        n => format!("{rejected} of {n} hack cases rejected"),
    };
    Measured {
        value: Some(contaminated),
        shown: Some(format!("{audit}, {} contaminated", percent(contaminated))),
        state: Some(state),
        threshold,
        missing: missing.join("; "),
        source,
    }
}

fn grader_gaps(r: &RewardFact, is_contaminated: bool, spoilt: u32) -> Vec<String> {
    let mut missing = Vec::new();
    if is_contaminated {
        missing.push(format!(
            "{spoilt} of {} rewards are contaminated",
            r.rollouts
        ));
    }
    if r.fooled > 0 {
        missing.push(format!(
            "{} of {} hack cases fool the grader",
            r.fooled, r.hack_cases
        ));
    }
    if r.controls > 0 && r.refused == r.controls {
        missing.push(format!("it refuses all {} good runs", r.controls));
    }
    if r.broke > 0 {
        missing.push(format!("the grader failed on {} cases", r.broke));
    }
    match r.not_audited.as_slice() {
        [] if r.hack_cases == 0 => missing.push("a hack suite shown to the grader".to_owned()),
        [] => {}
        names => missing.push(format!("a hack suite shown to {}", names.join(", "))),
    }
    missing
}

pub(super) fn cheaper_lever(facts: &CohortFacts, _: &Rules) -> Measured {
    let recorded = facts
        .recorded
        .get("prompt-trial")
        .is_some_and(RecordedFact::holds);
    let n = facts.levers_compared + u32::from(recorded);
    let missing = if n == 0 {
        "a prompt, skill, memory or tool-text change compared on the same tasks"
    } else {
        ""
    };
    count(n, "changes and recorded facts", missing.to_owned())
}

pub(super) fn stable_failures(facts: &CohortFacts, rules: &Rules) -> Measured {
    let a = &facts.attempts;
    if a.repeated == 0 {
        return Measured {
            missing: "tasks run at least three times".to_owned(),
            source: "repeated rollouts",
            ..Measured::default()
        };
    }
    Measured {
        shown: Some(format!("{} of {} repeated", a.stable, a.repeated)),
        ..count(
            a.stable,
            "repeated rollouts",
            to_go(a.stable, rules.threshold("G5"), "failures that repeat"),
        )
    }
}

pub(super) fn split_clean(facts: &CohortFacts, _: &Rules) -> Measured {
    let source = "split and leak check";
    let Some(split) = &facts.split else {
        return Measured {
            missing: "a split and its leak check".to_owned(),
            source,
            ..Measured::default()
        };
    };
    let (s, d) = (split.straddling, split.unresolved_duplicates);
    let missing = if s + d == 0 {
        String::new()
    } else {
        format!("{s} near-duplicates stand on two sides, {d} more to settle")
    };
    Measured {
        shown: Some(format!(
            "{s} near-duplicates straddle the split, {d} more are open"
        )),
        ..count(s + d, source, missing)
    }
}

/// Labelled failures, unproven and undetermined ones included: they are looked at, only not counted in the shares.
fn labelled(facts: &CohortFacts) -> u32 {
    u32::try_from(facts.labels.len()).unwrap_or(u32::MAX)
}
