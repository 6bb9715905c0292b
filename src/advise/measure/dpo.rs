//! Gates of preference optimisation.

use super::{Measured, count, percent, share, to_go};
use crate::advise::facts::{CohortFacts, PairFact};
use crate::advise::rules::Rules;
use crate::domain::GateState;
use crate::stats::{binomial_two_sided, sign_test};

const SOURCE: &str = "decided pairs";

pub(super) fn same_request(facts: &CohortFacts, _: &Rules) -> Measured {
    of_pairs(
        &facts.pairs,
        facts.pairs.same_request,
        "pairs with another context on each side",
    )
}

pub(super) fn reasoned(facts: &CohortFacts, _: &Rules) -> Measured {
    of_pairs(
        &facts.pairs,
        facts.pairs.reasoned,
        "pairs without reason or standard version",
    )
}

pub(super) fn on_policy(facts: &CohortFacts, _: &Rules) -> Measured {
    of_pairs(
        &facts.pairs,
        facts.pairs.on_policy,
        "rejected sides from elsewhere",
    )
}

pub(super) fn chosen_quality(facts: &CohortFacts, _: &Rules) -> Measured {
    of_pairs(
        &facts.pairs,
        facts.pairs.chosen_reviewed,
        "chosen sides not reviewed as demonstrations",
    )
}

pub(super) fn pairs(facts: &CohortFacts, rules: &Rules) -> Measured {
    let n = facts.pairs.preferred;
    let aim = rules.threshold("train-pairs");
    Measured {
        shown: Some(format!("{n} (pilot; {aim} to train)")),
        ..count(n, SOURCE, to_go(n, rules.threshold("D3"), "decided pairs"))
    }
}

/// Enough labelled twice, agreeing, and no side favoured.
pub(super) fn double_labelled(facts: &CohortFacts, rules: &Rules) -> Measured {
    let p = &facts.pairs;
    let (share_needed, agree_needed) = (rules.threshold("D4"), rules.threshold("D4-agreement"));
    let threshold = Some(format!(
        "{} labelled twice, agreement >= {agree_needed}, left choice balanced (p > {})",
        percent(share_needed),
        rules.threshold("D4-side-p")
    ));
    if p.preferred == 0 || p.decided_twice == 0 {
        return Measured {
            missing: "pairs decided by a second reviewer".to_owned(),
            threshold,
            source: SOURCE,
            ..Measured::default()
        };
    }
    let twice = f64::from(p.decided_twice) / f64::from(p.preferred);
    let side_p = binomial_two_sided(p.left_chosen.min(p.side_known), p.side_known, 0.5);
    let agreement = p.agreement.unwrap_or(0.0);
    let mut missing = Vec::new();
    if twice < share_needed {
        missing.push(to_go(
            p.decided_twice,
            (share_needed * f64::from(p.preferred)).ceil(),
            "pairs labelled twice",
        ));
    }
    if agreement < agree_needed {
        missing.push(format!("agreement is {agreement:.2}"));
    }
    if side_p <= rules.threshold("D4-side-p") {
        missing.push(format!(
            "left was chosen {} of {} times (p {side_p:.3})",
            p.left_chosen, p.side_known
        ));
    }
    Measured {
        value: Some(twice),
        shown: Some(format!(
            "{} labelled twice, agreement {agreement:.2}, side p {side_p:.2}",
            percent(twice)
        )),
        state: Some(if missing.is_empty() {
            GateState::Pass
        } else {
            GateState::Fail
        }),
        threshold,
        missing: missing.join("; "),
        source: SOURCE,
    }
}

/// The longer side is not chosen too often: share inside the band, or no significant difference.
pub(super) fn length_balance(facts: &CohortFacts, rules: &Rules) -> Measured {
    let p = &facts.pairs;
    let total = p.chosen_longer + p.rejected_longer;
    let (low, high, level) = (
        rules.threshold("D5-low"),
        rules.threshold("D5-high"),
        rules.threshold("D5-p"),
    );
    let threshold = Some(format!(
        "{}-{} or sign test p > {level}",
        percent(low),
        percent(high)
    ));
    if total == 0 {
        return Measured {
            missing: "pairs whose sides differ in length".to_owned(),
            threshold,
            source: SOURCE,
            ..Measured::default()
        };
    }
    let longer = f64::from(p.chosen_longer) / f64::from(total);
    let test = sign_test(p.chosen_longer, p.rejected_longer);
    let holds = (low..=high).contains(&longer) || test > level;
    Measured {
        value: Some(f64::from(u8::from(holds))),
        shown: Some(format!(
            "chosen longer in {} of {total} (p {test:.4})",
            p.chosen_longer
        )),
        threshold,
        missing: if holds {
            String::new()
        } else {
            "a length-matched sample".to_owned()
        },
        source: SOURCE,
        ..Measured::default()
    }
}

pub(super) fn near_identical(facts: &CohortFacts, _: &Rules) -> Measured {
    let wanted = facts.recorded.get("near-identical").filter(|r| r.holds());
    match (facts.pairs.near_identical, wanted) {
        (Some(n), Some(fact)) if n > 0 => Measured {
            shown: Some(format!(
                "{n}, wanted by {}: {}",
                fact.reviewer, fact.evidence
            )),
            ..count(0, "pairs and recorded facts", String::new())
        },
        (Some(n), _) => {
            let missing = if n == 0 {
                String::new()
            } else {
                format!("{n} near-identical pairs to settle")
            };
            count(n, SOURCE, missing)
        }
        (None, _) => Measured {
            missing: "a similarity check of the pairs".to_owned(),
            source: SOURCE,
            ..Measured::default()
        },
    }
}

fn of_pairs(pairs: &PairFact, hits: u32, what: &str) -> Measured {
    let open = pairs.preferred.saturating_sub(hits);
    let missing = match (pairs.preferred, open) {
        (0, _) => "decided pairs".to_owned(),
        (_, 0) => String::new(),
        (_, n) => format!("{n} {what}"),
    };
    share(hits.into(), pairs.preferred.into(), SOURCE, missing)
}
