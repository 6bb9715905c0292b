//! Bias in pair decisions: the side that stood left, the longer side, and re-shows with sides swapped.

use crate::domain::{Choice, Side};
use crate::stats::{binomial_two_sided, median, sign_test};
use serde::Serialize;

/// What is needed of one decided pair.
#[derive(Debug, Clone, PartialEq)]
pub struct PairTrace {
    /// Who decided.
    pub reviewer: String,
    /// What.
    pub choice: Choice,
    /// Side that stood left; nothing where no screen was used.
    pub left: Option<Side>,
    /// Length of `a`, in characters.
    pub length_a: u32,
    /// Length of `b`.
    pub length_b: u32,
}

/// Bias of a set of decisions.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BiasReport {
    /// Decisions with a preference and a known left side.
    pub sided: u32,
    /// Of those, left was chosen.
    pub left_chosen: u32,
    /// Exact binomial p.
    pub side_p: f64,
    /// Chosen side longer.
    pub chosen_longer: u32,
    /// Rejected side longer.
    pub rejected_longer: u32,
    /// Exact sign test p.
    pub length_p: f64,
    /// Median length of chosen over rejected.
    pub length_ratio: Option<f64>,
}

/// A pair decided twice, the second time with sides swapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SwapCheck {
    /// The same candidate won.
    Steady,
    /// Another one did: it counts as a tie, not as a coin flip.
    Tie,
}

/// Reports bias; one reviewer's decisions or everybody's.
pub fn pair_bias<'a>(traces: impl IntoIterator<Item = &'a PairTrace>) -> BiasReport {
    let mut out = BiasReport::default();
    let mut ratios = Vec::new();
    for trace in traces {
        let Some(side) = trace.choice.preferred() else {
            continue;
        };
        if let Some(left) = trace.left {
            out.sided += 1;
            out.left_chosen += u32::from(left == side);
        }
        let (chosen, rejected) = match side {
            Side::A => (trace.length_a, trace.length_b),
            Side::B => (trace.length_b, trace.length_a),
        };
        out.chosen_longer += u32::from(chosen > rejected);
        out.rejected_longer += u32::from(rejected > chosen);
        ratios.extend((rejected > 0).then(|| f64::from(chosen) / f64::from(rejected)));
    }
    out.side_p = binomial_two_sided(out.left_chosen, out.sided, 0.5);
    out.length_p = sign_test(out.chosen_longer, out.rejected_longer);
    out.length_ratio = median(&ratios);
    out
}

/// Compares two decisions of one reviewer on one pair, the second with sides swapped.
pub fn swap_check(first: Choice, second: Choice) -> SwapCheck {
    if first == second {
        SwapCheck::Steady
    } else {
        SwapCheck::Tie
    }
}
