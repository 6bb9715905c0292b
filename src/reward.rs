//! Rewards judged: relative signal, group health, graders and what fools them. Facts in, conclusions out.
//!
//! Trains nothing and runs no command; a user's grader is run by `sandbox`, and its answer judged here.

mod advantage;
mod audit;
mod grader;
mod group;
mod importance;
mod rank;

pub use advantage::{Advantages, Convention, MISSING_FOR_UPDATE, Signal, advantages};
pub use audit::{AuditReport, AuditRow, Hack, HackCase, audit, hack_suite};
pub use grader::{
    Check, Grade, GradeCase, GradeStep, RuleGrader, built_in_graders, grade_case, read_graders,
};
pub use group::{
    GroupCheck, GroupMember, GroupReport, GroupsSummary, group_report, mixed_share, pass_at_k,
    summarise_groups,
};
pub use importance::{ImportanceReport, TokenPair, importance};
pub use rank::{Standing, WeightedPart, compare_rewards, rank_rewards, standing, weight_warnings};

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
    /// Members that cannot be compared (S-64).
    #[error(
        "group {group}: members differ in {part}: {values}\nhint: compare only rollouts of one question, one initial state and one grader version"
    )]
    Contract {
        /// The group.
        group: String,
        /// Which part of the contract.
        part: &'static str,
        /// The differing values.
        values: String,
    },
    /// A grader file that cannot be read.
    #[error("grader file: {0}\nhint: compare it with assets/graders.toml")]
    GraderFile(String),
    /// No run to make hack cases of.
    #[error("no run to build a hack suite from\nhint: import failed runs with their final answers")]
    NoHackCase,
    /// A grader that answers nothing.
    #[error(
        "the grader failed on every case; the first time: {0}\nhint: it reads one case as JSON and prints {{\"result\": 0 or 1}}; try it by hand"
    )]
    GraderFailed(String),
    /// No behaviour log-probs.
    #[error(
        "no call carries behaviour log-probs that could be compared\nhint: let the serving endpoint log token ids and log-probs"
    )]
    NothingLogged,
}
