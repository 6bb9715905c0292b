//! Group-relative advantages under every convention in use. Relative signal only: nothing is trained here (S-59, S-87).

use super::RewardError;
use crate::stats::{mean, population_std, sample_std};
use serde::{Deserialize, Serialize};

/// How a group's rewards become advantages (S-58). The seed's ±1 is not what the trainers print, so it is always named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Convention {
    /// (r − mean) / std with divisor n.
    Population,
    /// (r − mean) / std with divisor n − 1.
    Sample,
    /// As TRL: sample std + 1e-4.
    Trl,
    /// As verl: sample std + 1e-6; a group of one keeps its reward.
    Verl,
    /// Group mean, sample std over all groups + 1e-4 (TRL's `batch`).
    Batch,
    /// r − mean, undivided (TRL's `none`).
    None,
    /// r − mean, as Dr. GRPO; its loss also drops the length normaliser.
    DrGrpo,
    /// r − mean of the others.
    Rloo,
}

impl Convention {
    /// All conventions with their words.
    pub const ALL: &'static [(Self, &'static str)] = &[
        (Self::Population, "population"),
        (Self::Sample, "sample"),
        (Self::Trl, "trl"),
        (Self::Verl, "verl"),
        (Self::Batch, "batch"),
        (Self::None, "none"),
        (Self::DrGrpo, "dr-grpo"),
        (Self::Rloo, "rloo"),
    ];

    /// The word on the command line.
    pub fn word(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(c, _)| *c == self)
            .map_or("", |(_, word)| word)
    }

    /// Reads the word back.
    pub fn from_word(word: &str) -> Result<Self, RewardError> {
        Self::ALL
            .iter()
            .find(|(_, w)| *w == word)
            .map(|(c, _)| *c)
            .ok_or_else(|| RewardError::UnknownConvention(word.to_owned()))
    }

    /// The formula in words, shown beside every result.
    pub fn formula(self) -> &'static str {
        match self {
            Self::Population => "(r - mean) / population std (divisor n), no epsilon",
            Self::Sample => "(r - mean) / sample std (divisor n-1), no epsilon",
            Self::Trl => {
                "(r - mean) / (sample std (divisor n-1) + 1e-4), as TRL scale_rewards=group"
            }
            Self::Verl => "(r - mean) / (sample std (divisor n-1) + 1e-6), as verl",
            Self::Batch => {
                "(r - group mean) / (sample std over the batch + 1e-4), as TRL scale_rewards=batch"
            }
            Self::None => "r - mean, no division, as TRL scale_rewards=none",
            Self::DrGrpo => {
                "r - mean, no division; the loss also drops the length normaliser (Dr. GRPO)"
            }
            Self::Rloo => "r - mean of the other members (RLOO)",
        }
    }

    fn epsilon(self) -> f64 {
        match self {
            Self::Trl | Self::Batch => 1e-4,
            Self::Verl => 1e-6,
            Self::Population | Self::Sample | Self::None | Self::DrGrpo | Self::Rloo => 0.0,
        }
    }
}

/// Whether a group tells its members apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// Rewards differ.
    Relative,
    /// All known rewards are equal.
    NoRelativeSignal,
    /// No reward is known.
    NoReward,
}

impl Signal {
    /// What to say about it. It says nothing about other loss terms' gradients, which may well exist (S-60).
    pub fn words(self) -> &'static str {
        match self {
            Self::Relative => "relative signal",
            Self::NoRelativeSignal => {
                "no distinguishing relative signal: all rewards of the group are equal; other loss terms (KL, entropy, SFT) may still have gradients"
            }
            Self::NoReward => "no reward is known: missing is not 0",
        }
    }
}

/// A group's advantages and how they were made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advantages {
    /// Mean of the known rewards.
    pub mean: Option<f64>,
    /// The standard deviation that the convention divides by, before epsilon; population's where it divides by none.
    pub std: Option<f64>,
    /// Added to the divisor.
    pub epsilon: f64,
    /// The convention.
    pub convention: Convention,
    /// The formula in words.
    pub formula: String,
    /// One per reward; `None` where the reward is missing.
    pub advantages: Vec<Option<f64>>,
    /// Whether the group tells its members apart.
    pub signal: Signal,
    /// The same in words.
    pub signal_words: String,
    /// Positions (from 1) of missing rewards.
    pub missing_rewards: Vec<usize>,
    /// What a full GRPO update still needs.
    pub missing: Vec<String>,
}

/// What standardised rewards still lack before anything is trained (S-59; TRAINING B2).
pub const MISSING_FOR_UPDATE: &[&str] = &[
    "action mask (which tokens the model wrote; tool and environment tokens 0)",
    "behaviour log-probs per token, at the sampling temperature",
    "current log-probs per token, with gradient",
    "probability ratio",
    "clipping range",
    "regulariser (reference log-probs if beta > 0)",
    "loss normalisation (per token, sequence, rollout or batch)",
    "optimiser step",
    "fresh rollouts after each update",
];

/// Turns one group's rewards into advantages; `None` is a missing reward, which is not 0.
///
/// `batch` holds the rewards of all groups and counts only for [`Convention::Batch`]; without it the group is the batch.
pub fn advantages(
    rewards: &[Option<f64>],
    convention: Convention,
    batch: Option<&[f64]>,
) -> Result<Advantages, RewardError> {
    let known = finite(rewards)?;
    let centre = mean(&known);
    let std = spread(&known, convention, batch)?;
    let signal = match (
        known.first(),
        known.iter().all(|r| Some(r) == known.first()),
    ) {
        (None, _) => Signal::NoReward,
        (Some(_), true) => Signal::NoRelativeSignal,
        (Some(_), false) => Signal::Relative,
    };
    let one = |r: f64| advantage(r, &known, std, convention, signal);
    let positions = rewards.iter().zip(1..);
    Ok(Advantages {
        mean: centre,
        std,
        epsilon: convention.epsilon(),
        convention,
        formula: convention.formula().to_owned(),
        advantages: rewards.iter().map(|r| r.map(one)).collect(),
        signal,
        signal_words: words(signal, known.len(), rewards.len() - known.len()),
        missing_rewards: positions
            .filter(|(r, _)| r.is_none())
            .map(|(_, i)| i)
            .collect(),
        missing: MISSING_FOR_UPDATE.iter().map(|m| (*m).to_owned()).collect(),
    })
}

/// Equal rewards beside missing ones are not "all equal": what is missing could have told the members apart.
fn words(signal: Signal, known: usize, missing: usize) -> String {
    if signal != Signal::NoRelativeSignal || missing == 0 {
        return signal.words().to_owned();
    }
    let equal = if known == 1 {
        "only one reward is known, so there is nothing to compare it with"
    } else {
        "all known rewards of the group are equal"
    };
    format!(
        "no distinguishing relative signal: {equal}; {missing} of {} are missing, which is not 0",
        known + missing
    )
}

fn finite(rewards: &[Option<f64>]) -> Result<Vec<f64>, RewardError> {
    let bad = rewards
        .iter()
        .zip(1..)
        .find(|(r, _)| r.is_some_and(|v| !v.is_finite()));
    match bad {
        Some((value, at)) => Err(RewardError::NotANumber {
            at,
            value: value.map_or_else(String::new, |v| v.to_string()),
        }),
        None => Ok(rewards.iter().flatten().copied().collect()),
    }
}

fn spread(
    known: &[f64],
    convention: Convention,
    batch: Option<&[f64]>,
) -> Result<Option<f64>, RewardError> {
    let short = |needed| RewardError::TooFew {
        convention: convention.word(),
        needed,
        got: known.len(),
    };
    match convention {
        Convention::Population | Convention::None | Convention::DrGrpo => Ok(population_std(known)),
        // verl gives a one-member group mean 0 and std 1 (REQUIREMENTS, numeric fixtures).
        Convention::Verl if known.len() == 1 => Ok(Some(1.0)),
        Convention::Batch => Ok(sample_std(batch.unwrap_or(known)).or(Some(0.0))),
        Convention::Sample | Convention::Trl | Convention::Verl | Convention::Rloo => {
            if known.len() == 1 {
                return Err(short(2));
            }
            Ok(sample_std(known))
        }
    }
}

fn advantage(
    r: f64,
    known: &[f64],
    std: Option<f64>,
    convention: Convention,
    signal: Signal,
) -> f64 {
    let size = known.len() as f64;
    let centre = mean(known).unwrap_or(0.0);
    if convention == Convention::Verl && known.len() == 1 {
        return r / (1.0 + convention.epsilon());
    }
    // Exactly 0, whatever rounding the mean went through.
    if signal != Signal::Relative {
        return 0.0;
    }
    let away = r - centre;
    match convention {
        Convention::None | Convention::DrGrpo => away,
        Convention::Rloo => away * size / (size - 1.0),
        Convention::Population
        | Convention::Sample
        | Convention::Trl
        | Convention::Verl
        | Convention::Batch => {
            let divisor = std.unwrap_or(0.0) + convention.epsilon();
            if divisor == 0.0 { 0.0 } else { away / divisor }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table prints six decimals and cuts some of them instead of rounding.
    const TABLE: f64 = 1e-6;

    fn run(rewards: &[f64], convention: Convention) -> Advantages {
        let rewards: Vec<Option<f64>> = rewards.iter().copied().map(Some).collect();
        advantages(&rewards, convention, None).unwrap()
    }

    fn check(rewards: &[f64], convention: Convention, mean: f64, std: f64, expected: &[f64]) {
        let got = run(rewards, convention);
        assert!((got.mean.unwrap() - mean).abs() < TABLE, "{rewards:?} mean");
        assert!(
            (got.std.unwrap() - std).abs() < TABLE,
            "{rewards:?} std {:?}",
            got.std
        );
        for (a, e) in got.advantages.iter().zip(expected) {
            assert!(
                (a.unwrap() - e).abs() < TABLE,
                "{rewards:?} {:?}",
                got.advantages
            );
        }
    }

    #[test]
    fn s57_the_seeds_example_is_exact() {
        // Seed A5, Q091: [0,0,1,1] → mean 0.5, population std 0.5, [-1,-1,1,1].
        let got = run(&[0.0, 0.0, 1.0, 1.0], Convention::Population);
        assert_eq!((got.mean, got.std), (Some(0.5), Some(0.5)));
        assert_eq!(got.advantages, [-1.0, -1.0, 1.0, 1.0].map(Some));
    }

    #[test]
    fn s58_vectors_of_the_requirements_table() {
        // REQUIREMENTS, numeric fixtures: population, and sample + 1e-4 (TRL).
        let p = Convention::Population;
        check(
            &[0., 0., 0., 1.],
            p,
            0.25,
            0.433013,
            &[-0.577350, -0.577350, -0.577350, 1.732051],
        );
        check(
            &[0., 1., 1., 1.],
            p,
            0.75,
            0.433013,
            &[-1.732051, 0.577350, 0.577350, 0.577350],
        );
        check(
            &[0., 0.5, 1., 1.],
            p,
            0.625,
            0.414578,
            &[-1.507557, -0.301511, 0.904534, 0.904534],
        );
        let t = Convention::Trl;
        check(
            &[0., 0., 1., 1.],
            t,
            0.5,
            0.577350,
            &[-0.865875, -0.865875, 0.865875, 0.865875],
        );
        check(
            &[0., 0., 0., 1.],
            t,
            0.25,
            0.5,
            &[-0.499900, -0.499900, -0.499900, 1.499700],
        );
        check(
            &[0., 1., 1., 1.],
            t,
            0.75,
            0.5,
            &[-1.499700, 0.499900, 0.499900, 0.499900],
        );
        check(
            &[0., 0.5, 1., 1.],
            t,
            0.625,
            0.478714,
            &[-1.305309, -0.261062, 0.783186, 0.783186],
        );
    }

    #[test]
    fn s58_what_trl_printed() {
        // TRAINING A1, recorded from TRL 1.16.0: four decimals.
        let close = |got: Advantages, want: [f64; 4]| {
            for (a, e) in got.advantages.iter().zip(want) {
                assert!((a.unwrap() - e).abs() < 6e-5, "{:?}", got.advantages);
            }
        };
        let r = [0.43, 0.45, 0.36, 0.42];
        close(run(&r, Convention::Trl), [0.3863, 0.9014, -1.4164, 0.1288]);
        close(
            run(&[0., 1., 2., 3.], Convention::Trl),
            [-1.1618, -0.3873, 0.3873, 1.1618],
        );
        close(
            run(&[0., 1., 2., 3.], Convention::None),
            [-1.5, -0.5, 0.5, 1.5],
        );
    }

    #[test]
    fn batch_divides_by_the_spread_of_all_groups() {
        // By hand: rewards 0 1 | 0 0 → sample variance of {0,1,0,0} = (3·(1/4)² + (3/4)²)/3 = 0.25.
        let group = [Some(0.0), Some(1.0)];
        let got = advantages(&group, Convention::Batch, Some(&[0.0, 1.0, 0.0, 0.0])).unwrap();
        let want = 0.5 / (0.5 + 1e-4);
        assert!((got.advantages[1].unwrap() - want).abs() < 1e-12);
    }

    #[test]
    fn rloo_dr_grpo_and_verl_by_hand() {
        // RLOO: r − mean of the others = G/(G−1)·(r − mean); for [0,0,1,1] ±(2/3).
        let rloo = run(&[0., 0., 1., 1.], Convention::Rloo);
        assert!((rloo.advantages[3].unwrap() - 2.0 / 3.0).abs() < 1e-12);
        let dr = run(&[0., 0., 1., 1.], Convention::DrGrpo);
        assert_eq!(dr.advantages, [-0.5, -0.5, 0.5, 0.5].map(Some));
        let verl = run(&[0., 0., 1., 1.], Convention::Verl);
        let want = 0.5 / (3.0_f64.recip().sqrt() + 1e-6);
        assert!((verl.advantages[3].unwrap() - want).abs() < 1e-9);
        // verl: a group of one has mean 0, std 1.
        let one = run(&[0.7], Convention::Verl);
        assert!((one.advantages[0].unwrap() - 0.7).abs() < 1e-5);
    }

    #[test]
    fn s60_equal_groups_have_no_relative_signal_and_never_a_zero_gradient() {
        for convention in Convention::ALL.iter().map(|(c, _)| *c) {
            for rewards in [[0.0; 4], [0.1; 4], [1.0; 4]] {
                let got = run(&rewards, convention);
                assert_eq!(got.signal, Signal::NoRelativeSignal);
                assert_eq!(got.advantages, [Some(0.0); 4]);
                assert!(got.signal_words.contains("may still have gradients"));
                assert!(!got.signal_words.contains("gradient is zero"));
            }
        }
    }

    #[test]
    fn missing_is_not_zero() {
        let got = advantages(&[Some(0.0), None, Some(1.0)], Convention::Population, None).unwrap();
        assert_eq!(got.advantages, [Some(-1.0), None, Some(1.0)]);
        assert_eq!(got.missing_rewards, [2]);
        let none = advantages(&[None, None], Convention::Trl, None).unwrap();
        assert_eq!((none.signal, none.mean), (Signal::NoReward, None));
        // A group is not "all equal" while one of its rewards is unknown.
        let words = |rewards: &[Option<f64>]| {
            let got = advantages(rewards, Convention::Population, None).unwrap();
            got.signal_words
        };
        assert!(words(&[Some(1.0), None]).contains("only one reward is known"));
        assert!(words(&[Some(1.0), None, Some(1.0)]).contains("1 of 3 are missing"));
        assert!(words(&[Some(1.0), Some(1.0)]).contains("all rewards of the group are equal"));
    }

    #[test]
    fn s59_every_result_says_what_an_update_still_needs() {
        let words = run(&[0.0, 1.0], Convention::Trl).missing.join(" ");
        for needed in [
            "action mask",
            "behaviour",
            "current",
            "ratio",
            "clip",
            "regulariser",
            "normalisation",
            "optimiser",
        ] {
            assert!(words.contains(needed), "{needed}");
        }
    }

    #[test]
    fn refusals_say_what_to_do() {
        assert!(advantages(&[Some(1.0)], Convention::Trl, None).is_err());
        assert!(advantages(&[Some(f64::NAN)], Convention::Trl, None).is_err());
        assert!(
            Convention::from_word("bessel")
                .unwrap_err()
                .to_string()
                .contains("hint")
        );
    }
}
