//! How far a change is: holdout and bad cases first, then holes, regressions and cost, then a small rollout (S-79).

use super::acceptance::{Comparison, MARGINS, Outcome};
use serde::{Deserialize, Serialize};

/// What is known about a change's acceptance; nothing is assumed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StageFacts {
    /// The training score rose. Shown, and never enough (S-82).
    pub training_score_rose: bool,
    /// Held-out tasks, before and after.
    pub holdout: Option<Comparison>,
    /// The fixed list of bad cases, before and after.
    pub bad_cases: Option<Comparison>,
    /// Hack cases that still fool the grader.
    pub hack_holes: Option<u32>,
    /// Forbidden side effects seen after the change.
    pub side_effects: Option<u32>,
    /// Other abilities: change of their score, −0.03 = three points worse.
    pub abilities: Option<f64>,
    /// Cost per task: relative change.
    pub cost: Option<f64>,
    /// The small rollout went well.
    pub rollout_fine: Option<bool>,
}

/// Where a change stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Something forbids it: go back.
    RollBack,
    /// Held-out tasks and bad cases come first.
    Holdout,
    /// Then reward holes, regressions and cost.
    Guards,
    /// Then a small rollout.
    SmallRollout,
    /// All of it held.
    Accepted,
}

/// Returns where a change stands and what is needed to go on.
pub fn stage(facts: &StageFacts) -> (Stage, String) {
    if let Some(why) = forbids(facts) {
        return (Stage::RollBack, why);
    }
    let compared = facts.holdout.as_ref().zip(facts.bad_cases.as_ref());
    let Some((holdout, bad)) = compared else {
        let alone = if facts.training_score_rose {
            "a higher training score alone unlocks nothing; "
        } else {
            ""
        };
        return (
            Stage::Holdout,
            format!("{alone}compare held-out tasks and the list of bad cases"),
        );
    };
    if holdout.outcome != Outcome::Better && bad.outcome != Outcome::Better {
        return (
            Stage::Holdout,
            format!(
                "no improvement is shown: holdout {}; bad cases {}",
                holdout.words, bad.words
            ),
        );
    }
    let open = open_guards(facts);
    if !open.is_empty() {
        return (
            Stage::Guards,
            format!("still to measure: {}", open.join(", ")),
        );
    }
    match facts.rollout_fine {
        Some(true) => (Stage::Accepted, "all of it held".to_owned()),
        Some(false) | None => (
            Stage::SmallRollout,
            "a small rollout, with the way back at hand".to_owned(),
        ),
    }
}

fn forbids(facts: &StageFacts) -> Option<String> {
    let worse = |c: &Option<Comparison>| c.as_ref().is_some_and(|c| c.outcome == Outcome::Worse);
    let (ability, cost) = MARGINS;
    let reasons = [
        (
            facts.side_effects.is_some_and(|n| n > 0),
            "a forbidden side effect happened".to_owned(),
        ),
        (worse(&facts.holdout), "held-out tasks got worse".to_owned()),
        (worse(&facts.bad_cases), "bad cases got worse".to_owned()),
        (
            facts.hack_holes.is_some_and(|n| n > 0),
            "hack cases fool the grader".to_owned(),
        ),
        (
            facts.abilities.is_some_and(|d| d < -ability),
            format!(
                "other abilities lost more than {:.0} points",
                ability * 100.0
            ),
        ),
        (
            facts.cost.is_some_and(|d| d > cost),
            format!("cost rose by more than {:.0}%", cost * 100.0),
        ),
        (
            facts.rollout_fine == Some(false),
            "the small rollout went wrong".to_owned(),
        ),
    ];
    reasons
        .into_iter()
        .find(|(holds, _)| *holds)
        .map(|(_, why)| why)
}

fn open_guards(facts: &StageFacts) -> Vec<&'static str> {
    let all = [
        (facts.hack_holes.is_none(), "reward holes"),
        (facts.side_effects.is_none(), "forbidden side effects"),
        (facts.abilities.is_none(), "other abilities"),
        (facts.cost.is_none(), "cost"),
    ];
    all.into_iter()
        .filter(|(open, _)| *open)
        .map(|(_, what)| what)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{PairedCounts, compare_paired};
    use super::*;

    fn compared(fixed: u32, broken: u32) -> Option<Comparison> {
        Some(compare_paired(
            PairedCounts {
                both_right: 20,
                fixed,
                broken,
                both_wrong: 20,
            },
            0.05,
        ))
    }

    #[test]
    fn s79_a_training_score_alone_unlocks_nothing_and_the_order_holds() {
        let mut facts = StageFacts {
            training_score_rose: true,
            ..StageFacts::default()
        };
        let (at, why) = stage(&facts);
        assert_eq!(at, Stage::Holdout);
        assert!(why.contains("alone unlocks nothing"));
        facts.rollout_fine = Some(true);
        assert_eq!(stage(&facts).0, Stage::Holdout);
        (facts.holdout, facts.bad_cases) = (compared(12, 3), compared(5, 4));
        assert_eq!(stage(&facts).0, Stage::Guards);
        (
            facts.hack_holes,
            facts.side_effects,
            facts.abilities,
            facts.cost,
        ) = (Some(0), Some(0), Some(-0.01), Some(0.05));
        assert_eq!(stage(&facts).0, Stage::Accepted);
        facts.rollout_fine = None;
        assert_eq!(stage(&facts).0, Stage::SmallRollout);
    }

    #[test]
    fn anything_forbidden_goes_back_whatever_else_rose() {
        let fine = StageFacts {
            holdout: compared(15, 5),
            bad_cases: compared(15, 5),
            ..StageFacts::default()
        };
        let broken: [fn(&mut StageFacts); 5] = [
            |f| f.side_effects = Some(1),
            |f| f.hack_holes = Some(1),
            |f| f.abilities = Some(-0.03),
            |f| f.cost = Some(0.2),
            |f| f.rollout_fine = Some(false),
        ];
        for break_it in broken {
            let mut facts = fine.clone();
            break_it(&mut facts);
            assert_eq!(stage(&facts).0, Stage::RollBack);
        }
        let worse = StageFacts {
            holdout: compared(5, 15),
            ..fine
        };
        assert_eq!(stage(&worse).0, Stage::RollBack);
    }
}
