//! Order of rollouts: hard constraints first, then success, evidence and cost inside what is allowed (S-71).
//!
//! There is no sum: a small bonus can never buy off a severe error.

use crate::domain::Reward;
use serde::Serialize;
use std::cmp::Ordering;

/// How a reward stands to the hard constraints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A forbidden side effect happened.
    Forbidden,
    /// Nobody checked for side effects.
    Unchecked,
    /// Checked, and none happened.
    Allowed,
}

/// Where a reward stands.
pub fn standing(reward: &Reward) -> Standing {
    match reward.side_effects.as_deref() {
        Some([]) => Standing::Allowed,
        Some(_) => Standing::Forbidden,
        None => Standing::Unchecked,
    }
}

/// Compares two rewards; `Greater` = the first is better. Only the next field decides what the earlier ones leave equal.
pub fn compare_rewards(a: &Reward, b: &Reward) -> Ordering {
    standing(a)
        .cmp(&standing(b))
        .then_with(|| known_first(a.result, b.result))
        .then_with(|| known_first(a.evidence, b.evidence))
        .then_with(|| known_first(b.cost, a.cost))
}

/// A missing value is not 0; it decides nothing.
fn known_first(a: Option<f64>, b: Option<f64>) -> Ordering {
    match (a, b) {
        (Some(x), Some(y)) => x.total_cmp(&y),
        (_, _) => Ordering::Equal,
    }
}

/// Sorts indices of rewards from best to worst; equal ones keep their order.
pub fn rank_rewards(rewards: &[Reward]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rewards.len()).collect();
    order.sort_by(|a, b| match (rewards.get(*a), rewards.get(*b)) {
        (Some(x), Some(y)) => compare_rewards(y, x),
        (_, _) => Ordering::Equal,
    });
    order
}

/// A component of a weighted reward.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedPart {
    /// Its name.
    pub name: String,
    /// Its weight.
    pub weight: f64,
    /// A verifier can check it.
    pub verifiable: bool,
}

/// Warns of weighted sums (S-66): verifiability and fit with the goal come first.
pub fn weight_warnings(parts: &[WeightedPart], has_hard_constraint: bool) -> Vec<String> {
    let mut out = Vec::new();
    if parts.len() > 1 && !has_hard_constraint {
        out.push("a weighted sum without a hard constraint lets a small bonus offset a severe error: forbid first, then optimise inside".to_owned());
    }
    for part in parts.iter().filter(|p| !p.verifiable) {
        out.push(format!(
            "`{}` cannot be verified: it invites guessing what the grader likes",
            part.name
        ));
    }
    if parts.len() > 3 {
        out.push(format!(
            "{} parts: complex weights hide what is rewarded; split the record, not the score",
            parts.len()
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reward(result: f64, effects: Option<&[&str]>, cost: f64) -> Reward {
        Reward {
            side_effects: effects.map(|e| e.iter().map(|s| (*s).to_owned()).collect()),
            cost: Some(cost),
            ..Reward::result("g", result)
        }
    }

    #[test]
    fn s71_success_with_a_forbidden_effect_ranks_below_failure_without() {
        let severe = reward(1.0, Some(&["deleted a record"]), 0.0);
        let honest = reward(0.0, Some(&[]), 9.0);
        let unchecked = reward(1.0, None, 0.0);
        assert_eq!(compare_rewards(&severe, &honest), Ordering::Less);
        assert_eq!(rank_rewards(&[severe, unchecked, honest]), [2, 1, 0]);
    }

    #[test]
    fn inside_what_is_allowed_success_comes_before_cost() {
        let cheap = reward(0.0, Some(&[]), 1.0);
        let dear = reward(1.0, Some(&[]), 5.0);
        let dearer = reward(1.0, Some(&[]), 6.0);
        assert_eq!(rank_rewards(&[cheap, dearer, dear]), [2, 1, 0]);
        let unknown = Reward {
            result: None,
            ..reward(0.0, Some(&[]), 1.0)
        };
        let known = reward(0.0, Some(&[]), 1.0);
        assert_eq!(compare_rewards(&unknown, &known), Ordering::Equal);
    }

    #[test]
    fn s66_a_weighted_sum_without_a_hard_constraint_warns() {
        let part = |name: &str, verifiable| WeightedPart {
            name: name.into(),
            weight: 0.5,
            verifiable,
        };
        let parts = [part("success", true), part("style", false)];
        assert_eq!(weight_warnings(&parts, false).len(), 2);
        assert_eq!(weight_warnings(&parts[..1], false).len(), 0);
        assert!(weight_warnings(&parts, true)[0].contains("style"));
    }
}
