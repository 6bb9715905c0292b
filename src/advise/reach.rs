//! Is the corrected action within the policy's reach? Only where the scored weights are the policy's (SCIENCE part 4).

use serde::Serialize;

/// What a log-prob of the corrected action says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reach {
    /// Its probability: a lower bound, since other wordings may be right too.
    pub p: f64,
    /// Samples needed to see it about once; infinite where p is 0.
    pub samples_to_see: f64,
    /// Too rare to be sampled.
    pub out_of_reach: bool,
    /// In reach, and below the recorded action.
    pub below: bool,
    /// Chance that a group holds both right and wrong.
    pub mixed_share: f64,
}

/// Reads the log-probs of the corrected action's verified forms and of the recorded action, in nats.
pub fn reach(corrected: &[f64], recorded: f64, samples: f64, group: f64) -> Option<Reach> {
    let log_p = log_sum_exp(corrected)?.min(0.0);
    let p = log_p.exp();
    let out_of_reach = p * samples < 1.0;
    Some(Reach {
        p,
        samples_to_see: 1.0 / p,
        out_of_reach,
        below: !out_of_reach && log_p < recorded,
        mixed_share: 1.0 - p.powf(group) - (1.0 - p).powf(group),
    })
}

fn log_sum_exp(values: &[f64]) -> Option<f64> {
    let top = values
        .iter()
        .copied()
        .filter(|v| !v.is_nan())
        .reduce(f64::max)?;
    if top == f64::NEG_INFINITY {
        return Some(top);
    }
    let sum: f64 = values
        .iter()
        .filter(|v| !v.is_nan())
        .map(|v| (v - top).exp())
        .sum();
    Some(top + sum.ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reach_by_hand() {
        // p = 1e-3: 1 − (1−p)^8 = 0.8 % (TRAINING B4); 1/p = 1000 samples; 64 samples are too few.
        let rare = reach(&[1e-3_f64.ln()], -1.0, 64.0, 8.0).unwrap();
        assert!((rare.samples_to_see - 1000.0).abs() < 1e-6);
        assert!(rare.out_of_reach && !rare.below);
        assert!((rare.mixed_share - 0.008).abs() < 1e-4);
        // Two verified forms add up: 0.03 + 0.02 = 0.05, in reach, below a recorded 0.5. Mixed at 8: 0.337 (SCIENCE R4).
        let two = reach(&[0.03_f64.ln(), 0.02_f64.ln()], 0.5_f64.ln(), 64.0, 8.0).unwrap();
        assert!((two.p - 0.05).abs() < 1e-12);
        assert!(!two.out_of_reach && two.below);
        assert!((two.mixed_share - 0.337).abs() < 5e-4);
        assert_eq!(reach(&[], -1.0, 64.0, 8.0), None);
    }
}
