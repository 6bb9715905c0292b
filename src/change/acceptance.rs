//! How a change is accepted: a plan declared before results are seen, and exact tests on the same tasks before and after.

use crate::domain::ChangedThing;
use crate::stats::{Interval, mcnemar, wilson};
use serde::{Deserialize, Serialize};

/// Fewest held-out tasks, and how many to aim at.
const HOLDOUT: (u32, u32) = (30, 100);

/// Margin of non-inferiority for other abilities, in points, and of cost. Our judgement.
pub(super) const MARGINS: (f64, f64) = (0.02, 0.10);

/// A plan, declared before anybody looks at results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptancePlan {
    /// What was changed.
    pub thing: ChangedThing,
    /// The pre-declared primary metrics.
    pub primary: Vec<Metric>,
    /// What must not get worse.
    pub guards: Vec<String>,
    /// In which order things are compared (S-79).
    pub order: Vec<String>,
    /// When to go back, and to what.
    pub rollback: String,
    /// What the numbers can and cannot show.
    pub notes: Vec<String>,
}

/// A metric of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// How it is counted.
    pub counts: String,
}

/// Same tasks before and after.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairedCounts {
    /// Right before and after.
    pub both_right: u32,
    /// Wrong before, right after.
    pub fixed: u32,
    /// Right before, wrong after.
    pub broken: u32,
    /// Wrong before and after.
    pub both_wrong: u32,
}

/// What a comparison shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// More fixed than broken, beyond chance.
    Better,
    /// More broken than fixed, beyond chance.
    Worse,
    /// Chance could have done it.
    NotShown,
    /// Too few tasks to say anything.
    TooFew,
}

/// A comparison with its numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The counts.
    pub counts: PairedCounts,
    /// Share right before, with Wilson interval.
    pub before: (f64, Interval),
    /// Share right after, with Wilson interval.
    pub after: (f64, Interval),
    /// Exact McNemar p.
    pub p: f64,
    /// What it shows.
    pub outcome: Outcome,
    /// In one line.
    pub words: String,
}

/// Returns the plan for a kind of change.
pub fn acceptance_plan(thing: ChangedThing) -> AcceptancePlan {
    let (low, aim) = HOLDOUT;
    let mut guards = vec![
        "forbidden side effects: none".to_owned(),
        format!(
            "other abilities: not more than {:.0} points worse",
            MARGINS.0 * 100.0
        ),
        format!(
            "cost per task: not more than {:.0}% higher",
            MARGINS.1 * 100.0
        ),
        "hack suite: 100% rejected".to_owned(),
    ];
    if thing == ChangedThing::Tool {
        guards.push("steps per task and share of regressions: enriching tool texts cost +67% steps and broke 16.7% of cases (2602.14878)".to_owned());
    }
    let mut notes = vec![
        "same tasks before and after: exact McNemar on fixed and broken".to_owned(),
        format!("no forbidden effect in 100 runs still allows {:.1}%, in 50 runs {:.1}%", effects_bound(100) * 100.0, effects_bound(50) * 100.0),
        "a gap of 3 points needs about 1,000 questions at 80% power; cluster errors by group (2411.00640)".to_owned(),
    ];
    if thing == ChangedThing::Parameters {
        notes.push("a random-reward run can lift some models by 21.4 points (2506.10947): keep a control or a second model family".to_owned());
    }
    AcceptancePlan {
        thing,
        primary: primary(thing),
        guards,
        order: vec![
            format!("holdout by group (at least {low}, aim at {aim} tasks) and the fixed list of bad cases"),
            "reward holes, regressions of other abilities, cost".to_owned(),
            "small rollout; a higher training score alone never unlocks it".to_owned(),
        ],
        rollback: "previous artefact by its hash; trigger: any forbidden effect, or a primary metric below its old interval".to_owned(),
        notes,
    }
}

/// S-56: recall of the valid version and condition errors are reported apart.
fn primary(thing: ChangedThing) -> Vec<Metric> {
    let all: &[(&str, &str)] = match thing {
        ChangedThing::Index => &[(
            "recall of the valid version",
            "tasks whose required version was retrieved",
        )],
        ChangedThing::Context => &[(
            "date and conditions visible",
            "decisions with date and conditions in the prompt",
        )],
        ChangedThing::Tool => &[
            ("right tool", "decisions with the right tool"),
            ("steps", "steps per task"),
        ],
        ChangedThing::Parameters => &[
            (
                "condition errors",
                "answers that miss a condition although it was in view",
            ),
            (
                "right clarifications",
                "answers that ask when a condition is unknown",
            ),
        ],
        ChangedThing::Prompt | ChangedThing::Skill | ChangedThing::Memory => &[(
            "tasks solved",
            "same tasks solved, failures and regressions listed",
        )],
        ChangedThing::Harness => &[("tasks solved", "same tasks solved under both harnesses")],
        ChangedThing::Grader => &[
            ("hack cases rejected", "hack suite"),
            (
                "right answers kept",
                "reviewed right answers that still pass",
            ),
        ],
        ChangedThing::Environment => &[("tool failures", "rollouts without a tool failure")],
    };
    let metric = |(name, counts): &(&str, &str)| Metric {
        name: (*name).to_owned(),
        counts: (*counts).to_owned(),
    };
    all.iter().map(metric).collect()
}

/// Compares the same tasks before and after.
pub fn compare_paired(counts: PairedCounts, level: f64) -> Comparison {
    let n = counts.both_right + counts.fixed + counts.broken + counts.both_wrong;
    let share = |hits: u32| {
        let value = if n == 0 {
            0.0
        } else {
            f64::from(hits) / f64::from(n)
        };
        (value, wilson(hits, n))
    };
    let p = mcnemar(counts.fixed, counts.broken);
    let outcome = match (n < HOLDOUT.0, p < level, counts.fixed > counts.broken) {
        (true, _, _) => Outcome::TooFew,
        (false, false, _) => Outcome::NotShown,
        (false, true, true) => Outcome::Better,
        (false, true, false) => Outcome::Worse,
    };
    let words = match outcome {
        Outcome::Better => format!(
            "better: {} fixed, {} broken (p {p:.3})",
            counts.fixed, counts.broken
        ),
        Outcome::Worse => format!(
            "worse: {} fixed, {} broken (p {p:.3})",
            counts.fixed, counts.broken
        ),
        Outcome::NotShown => format!(
            "not shown: {} fixed, {} broken (p {p:.3})",
            counts.fixed, counts.broken
        ),
        Outcome::TooFew => format!("too few: {n} tasks, {} needed", HOLDOUT.0),
    };
    Comparison {
        counts,
        before: share(counts.both_right + counts.broken),
        after: share(counts.both_right + counts.fixed),
        p,
        outcome,
        words,
    }
}

/// Upper end of what zero forbidden effects in `runs` still allow.
pub fn effects_bound(runs: u32) -> f64 {
    wilson(0, runs).high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mcnemar_values_of_science_part_4() {
        for (fixed, broken, p, outcome) in [
            (9, 2, 0.065, Outcome::NotShown),
            (12, 3, 0.035, Outcome::Better),
            (15, 5, 0.041, Outcome::Better),
            (5, 15, 0.041, Outcome::Worse),
        ] {
            let counts = PairedCounts {
                both_right: 20,
                fixed,
                broken,
                both_wrong: 20,
            };
            let got = compare_paired(counts, 0.05);
            assert!((got.p - p).abs() < 5e-4, "{fixed}/{broken}: {}", got.p);
            assert_eq!(got.outcome, outcome, "{fixed}/{broken}");
        }
        let few = compare_paired(
            PairedCounts {
                fixed: 9,
                ..PairedCounts::default()
            },
            0.05,
        );
        assert_eq!(few.outcome, Outcome::TooFew);
    }

    #[test]
    fn zero_effects_still_allow_some() {
        // SCIENCE part 4: 3.7% (n = 100, Wilson), 7.1% (n = 50).
        assert!((effects_bound(100) - 0.037).abs() < 5e-4);
        assert!((effects_bound(50) - 0.071).abs() < 5e-4);
        let notes = acceptance_plan(ChangedThing::Index).notes.join(" ");
        assert!(notes.contains("3.7%") && notes.contains("7.1%"), "{notes}");
    }

    #[test]
    fn s56_index_and_behaviour_have_their_own_metric_and_s79_the_order_holds() {
        let index = acceptance_plan(ChangedThing::Index);
        let weights = acceptance_plan(ChangedThing::Parameters);
        assert!(index.primary[0].name.contains("recall"));
        assert!(weights.primary[0].name.contains("condition errors"));
        assert!(index.order[0].contains("holdout") && index.order[2].contains("rollout"));
        for thing in ChangedThing::ALL {
            let plan = acceptance_plan(*thing);
            assert!(
                !plan.primary.is_empty() && plan.rollback.contains("hash"),
                "{thing}"
            );
        }
        assert!(
            acceptance_plan(ChangedThing::Tool)
                .guards
                .iter()
                .any(|g| g.contains("steps"))
        );
    }
}
