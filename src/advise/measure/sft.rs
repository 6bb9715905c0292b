//! Gates of supervised fine-tuning.

use super::{Measured, count, percent, share, to_go};
use crate::advise::facts::CohortFacts;
use crate::advise::rules::Rules;
use crate::domain::GateState;

pub(super) fn demonstrations(facts: &CohortFacts, rules: &Rules) -> Measured {
    let n = facts.demonstrations.reviewed;
    let aim = rules.threshold("train-demos");
    Measured {
        shown: Some(format!("{n} (aim at {aim})")),
        ..count(
            n,
            "reviewed runs and written sides",
            to_go(n, rules.threshold("F1"), "reviewed demonstrations"),
        )
    }
}

/// Every cell filled, and enough clarification and boundary demonstrations.
pub(super) fn coverage(facts: &CohortFacts, rules: &Rules) -> Measured {
    let d = &facts.demonstrations;
    let cells = [
        ("normal", d.normal),
        ("clarification", d.clarification),
        ("boundary", d.boundary),
        ("error recovery", d.recovery),
    ];
    let total: u32 = cells.iter().map(|(_, n)| n).sum();
    let (cell, careful) = (rules.threshold("F2-cell"), rules.threshold("F2"));
    let threshold = Some(format!(
        "{cell} in each cell, clarification and boundary >= {}",
        percent(careful)
    ));
    let source = "reviewed runs and written sides";
    if total == 0 {
        return Measured {
            missing: "demonstrations told apart by kind".to_owned(),
            threshold,
            source,
            ..Measured::default()
        };
    }
    let held = f64::from(d.clarification + d.boundary) / f64::from(total);
    let mut missing: Vec<String> = cells
        .iter()
        .map(|(name, n)| to_go(*n, cell, &format!("{name} demonstrations")))
        .filter(|m| !m.is_empty())
        .collect();
    if held < careful {
        missing.push(format!("clarification and boundary are {}", percent(held)));
    }
    let shown: Vec<String> = cells
        .iter()
        .map(|(name, n)| format!("{name} {n}"))
        .collect();
    Measured {
        value: Some(held),
        shown: Some(shown.join(", ")),
        state: Some(if missing.is_empty() {
            GateState::Pass
        } else {
            GateState::Fail
        }),
        threshold,
        missing: missing.join("; "),
        source,
    }
}

pub(super) fn length_kept(facts: &CohortFacts, _: &Rules) -> Measured {
    let ratio = facts.demonstrations.length_ratio;
    Measured {
        value: ratio,
        shown: ratio.map(|r| format!("{r:.2}")),
        missing: "selected demonstrations beside all successes".to_owned(),
        source: "lengths of runs",
        ..Measured::default()
    }
}

pub(super) fn ownership(facts: &CohortFacts, _: &Rules) -> Measured {
    let d = &facts.demonstrations;
    let open = d.reviewed.saturating_sub(d.owned);
    let missing = if open == 0 {
        "reviewed demonstrations".to_owned()
    } else {
        format!("owners in {open} demonstrations")
    };
    share(
        d.owned.into(),
        d.reviewed.into(),
        "owners of steps",
        missing,
    )
}

pub(super) fn current_tools(facts: &CohortFacts, _: &Rules) -> Measured {
    let d = &facts.demonstrations;
    let open = d.reviewed.saturating_sub(d.current);
    let missing = if open == 0 {
        "reviewed demonstrations".to_owned()
    } else {
        format!("{open} demonstrations to record anew")
    };
    share(
        d.current.into(),
        d.reviewed.into(),
        "versions of runs",
        missing,
    )
}

/// The recorded number of independent tasks.
pub(super) fn evaluation_tasks(facts: &CohortFacts, rules: &Rules) -> Measured {
    let source = "recorded by a person";
    let Some(fact) = facts.recorded.get("evaluation-set") else {
        return Measured {
            missing: "evaluation set: not recorded".to_owned(),
            source,
            ..Measured::default()
        };
    };
    let digits: String = fact.value.chars().filter(char::is_ascii_digit).collect();
    match digits.parse::<u32>() {
        Ok(n) => count(
            n,
            source,
            to_go(n, rules.threshold("F6"), "independent tasks"),
        ),
        Err(_) => Measured {
            shown: Some(fact.value.clone()),
            missing: "the number of independent tasks".to_owned(),
            source,
            ..Measured::default()
        },
    }
}
