//! Scores of a sample as rewards: letters as Inspect's own reducers read them, numbers and bools as they are. Lists
//! and tables have no single number, so only their details are kept.

use crate::domain::{Outcome, Reward, RewardStatus};
use crate::import::extra::bounded;
use crate::import::json::{Kind, Node};

/// All scores, and the outcome where they agree.
pub(super) fn rewards(sample: &Node<'_>) -> (Vec<Reward>, Outcome) {
    let scores = sample.get("scores").map_or(&[][..], Node::members);
    let mut rewards: Vec<Reward> = scores
        .iter()
        .map(|(name, score)| reward(name, score))
        .collect();
    // Before 2024-08 a sample had one score without a name.
    rewards.extend(sample.get("score").map(|score| reward("score", score)));
    let results: Vec<f64> = rewards.iter().filter_map(|r| r.result).collect();
    let outcome = if results.is_empty() {
        Outcome::Unknown
    } else if results.iter().all(|r| *r >= 1.0) {
        Outcome::Pass
    } else if results.iter().all(|r| *r <= 0.0) {
        Outcome::Fail
    } else {
        Outcome::Unknown
    };
    (rewards, outcome)
}

fn reward(name: &str, score: &Node<'_>) -> Reward {
    let result = score.get("value").and_then(number);
    let mut reward = result.map_or_else(
        || Reward::missing(name),
        |value| Reward::result(name, value),
    );
    reward.detail = bounded(score);
    if result.is_none() && score.get("value").is_some() {
        // Something was graded, only not as one number.
        reward.status = RewardStatus::Ok;
    }
    reward
}

/// `C`orrect, `P`artial, `I`ncorrect, `N`o answer.
fn number(value: &Node<'_>) -> Option<f64> {
    match &value.kind {
        Kind::Text(text) => match text.as_ref() {
            "C" => Some(1.0),
            "P" => Some(0.5),
            "I" | "N" => Some(0.0),
            other => other.trim().parse().ok().filter(|n: &f64| n.is_finite()),
        },
        Kind::Number(_) | Kind::Bool(_) => value.as_f64(),
        _ => None,
    }
}
