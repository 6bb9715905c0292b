//! Rewards judged: relative signal, group health, graders and what fools them. Facts in, conclusions out.
//!
//! Trains nothing and runs no command; a user's grader is run by `sandbox`, and its answer judged here.

mod advantage;

pub use advantage::{Advantages, Convention, MISSING_FOR_UPDATE, Signal, advantages};

/// What a reward calculation refuses, and what to do about it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RewardError {
    /// A value that is no reward.
    #[error(
        "reward {at} is `{value}`: not a number\nhint: write a number, or `_` where the reward is missing"
    )]
    NotANumber {
        /// Which one, from 1.
        at: usize,
        /// What was written.
        value: String,
    },
    /// Too few rewards for the convention.
    #[error(
        "{convention} needs at least {needed} rewards in a group, got {got}\nhint: sample more rollouts of the same task"
    )]
    TooFew {
        /// The convention's word.
        convention: &'static str,
        /// How many it needs.
        needed: usize,
        /// How many there were.
        got: usize,
    },
    /// A convention that nobody knows.
    #[error(
        "unknown convention `{0}`\nhint: population, sample, trl, verl, batch, none, dr-grpo or rloo"
    )]
    UnknownConvention(String),
}
