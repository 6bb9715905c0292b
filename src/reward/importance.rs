//! On-policy checks (TRAINING B3): recorded behaviour log-probs against re-scored ones, on model tokens only.

use super::RewardError;
use crate::stats::{mean, quantile};
use serde::Serialize;

/// Ratios outside this band are what PPO's clip would cut.
const CLIP: (f64, f64) = (0.8, 1.2);

/// Between engines with the same weights 4-7% of tokens leave this band (TRL#4159, #7269).
const ENGINE_BAND: (f64, f64) = (0.9, 1.1);

/// More than this share outside the engine band is not engine noise. Our judgement.
const ENGINE_SHARE: f64 = 0.10;

/// A mean ratio below this speaks of another temperature or cut-off sampling. Our judgement.
const SHIFTED: f64 = 0.95;

/// One call's tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenPair<'a> {
    /// Recorded behaviour log-probs.
    pub recorded: &'a [f64],
    /// Re-scored log-probs of the same tokens.
    pub rescored: &'a [f64],
    /// Policy version at use less policy version at sampling, where versions are numbers.
    pub staleness: Option<i64>,
}

/// What the comparison shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImportanceReport {
    /// Tokens compared.
    pub tokens: usize,
    /// Calls compared.
    pub calls: usize,
    /// Calls whose numbers of tokens differ: re-tokenised.
    pub length_mismatch: usize,
    /// Mean |q − b|.
    pub mean_abs: f64,
    /// Largest |q − b|.
    pub max_abs: f64,
    /// Quantiles of exp(q − b): 1%, 5%, 50%, 95%, 99%.
    pub ratio_quantiles: [f64; 5],
    /// Mean ratio.
    pub ratio_mean: f64,
    /// Pearson's correlation of recorded and re-scored; none where one of them does not vary.
    pub correlation: Option<f64>,
    /// Share of tokens outside the clip range.
    pub outside_clip: f64,
    /// Share of tokens outside 0.9-1.1.
    pub outside_engine_band: f64,
    /// Mean over calls of exp(mean(q − b)): the geometric mean ratio.
    pub sequence_ratio: f64,
    /// KL(behaviour ‖ now), the k3 estimate.
    pub kl: f64,
    /// Effective sample size over calls, as a share.
    pub effective_share: f64,
    /// Largest staleness.
    pub staleness: Option<i64>,
    /// As near as two engines with the same weights are.
    pub passes: bool,
    /// How to read it.
    pub reading: Vec<String>,
}

/// Compares recorded with re-scored log-probs. `is_policy` = the re-scored weights are the policy's.
pub fn importance(pairs: &[TokenPair], is_policy: bool) -> Result<ImportanceReport, RewardError> {
    let same: Vec<&TokenPair> = pairs
        .iter()
        .filter(|p| p.recorded.len() == p.rescored.len() && !p.recorded.is_empty())
        .collect();
    let length_mismatch = pairs
        .iter()
        .filter(|p| p.recorded.len() != p.rescored.len())
        .count();
    let gaps: Vec<Vec<f64>> = same.iter().map(|p| gaps(p)).collect();
    let all: Vec<f64> = gaps.iter().flatten().copied().collect();
    if all.is_empty() {
        return Err(RewardError::NothingLogged);
    }
    let ratios: Vec<f64> = all.iter().map(|d| d.exp()).collect();
    let sequence: Vec<f64> = gaps.iter().filter_map(|g| mean(g)).map(f64::exp).collect();
    let weights: Vec<f64> = gaps.iter().map(|g| g.iter().sum::<f64>().exp()).collect();
    let outside = |band: (f64, f64)| {
        let out = ratios
            .iter()
            .filter(|r| **r < band.0 || **r > band.1)
            .count();
        out as f64 / ratios.len() as f64
    };
    let k3: Vec<f64> = all.iter().map(|d| d.exp() - d - 1.0).collect();
    let mut report = ImportanceReport {
        tokens: all.len(),
        calls: same.len(),
        length_mismatch,
        mean_abs: mean(&all.iter().map(|d| d.abs()).collect::<Vec<_>>()).unwrap_or(0.0),
        max_abs: all.iter().map(|d| d.abs()).fold(0.0, f64::max),
        ratio_quantiles: [0.01, 0.05, 0.5, 0.95, 0.99].map(|q| quantile(&ratios, q).unwrap_or(1.0)),
        ratio_mean: mean(&ratios).unwrap_or(1.0),
        correlation: correlation(&same),
        outside_clip: outside(CLIP),
        outside_engine_band: outside(ENGINE_BAND),
        sequence_ratio: mean(&sequence).unwrap_or(1.0),
        kl: mean(&k3).unwrap_or(0.0),
        effective_share: effective_share(&weights),
        staleness: pairs.iter().filter_map(|p| p.staleness).max(),
        passes: false,
        reading: Vec::new(),
    };
    report.passes = report.outside_engine_band <= ENGINE_SHARE && length_mismatch == 0;
    report.reading = reading(&report, is_policy);
    Ok(report)
}

fn gaps(pair: &TokenPair) -> Vec<f64> {
    let both = pair.rescored.iter().zip(pair.recorded);
    both.map(|(q, b)| q - b).filter(|d| d.is_finite()).collect()
}

fn correlation(pairs: &[&TokenPair]) -> Option<f64> {
    let both = pairs.iter().flat_map(|p| p.recorded.iter().zip(p.rescored));
    let finite: Vec<(f64, f64)> = both
        .map(|(b, q)| (*b, *q))
        .filter(|(b, q)| b.is_finite() && q.is_finite())
        .collect();
    let (recorded, rescored): (Vec<f64>, Vec<f64>) = finite.iter().copied().unzip();
    let (mean_b, mean_q) = (mean(&recorded)?, mean(&rescored)?);
    let (mut bq, mut bb, mut qq) = (0.0, 0.0, 0.0);
    for (b, q) in &finite {
        bq += (b - mean_b) * (q - mean_q);
        bb += (b - mean_b).powi(2);
        qq += (q - mean_q).powi(2);
    }
    (bb > 0.0 && qq > 0.0).then(|| bq / (bb * qq).sqrt())
}

/// (Σw)²/Σw² over the number of calls.
fn effective_share(weights: &[f64]) -> f64 {
    let sum: f64 = weights.iter().sum();
    let squares: f64 = weights.iter().map(|w| w * w).sum();
    if squares == 0.0 || !squares.is_finite() {
        return 0.0;
    }
    sum * sum / squares / weights.len() as f64
}

fn reading(report: &ImportanceReport, is_policy: bool) -> Vec<String> {
    let mut out = Vec::new();
    if !is_policy {
        out.push("the re-scored weights are not the recorded policy: these numbers describe the local model, not drift of the policy".to_owned());
    }
    if report.length_mismatch > 0 {
        out.push(format!(
            "{} calls have another number of tokens: re-tokenised, left out",
            report.length_mismatch
        ));
    }
    if report.ratio_mean < SHIFTED {
        out.push(
            "ratios lie below 1 throughout: cut-off sampling (top-p, top-k) or another temperature"
                .to_owned(),
        );
    }
    if report.outside_engine_band > ENGINE_SHARE {
        out.push(format!(
            "{:.1}% of tokens leave 0.9-1.1; 4-7% is usual between engines with the same weights",
            report.outside_engine_band * 100.0
        ));
    }
    if report.staleness.is_some_and(|s| s > 0) {
        out.push(format!(
            "sampled up to {} policy versions ago",
            report.staleness.unwrap_or(0)
        ));
    }
    if out.is_empty() {
        out.push("within what two engines with the same weights differ by".to_owned());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair<'a>(recorded: &'a [f64], rescored: &'a [f64]) -> TokenPair<'a> {
        TokenPair {
            recorded,
            rescored,
            staleness: None,
        }
    }

    #[test]
    fn b3_by_hand() {
        // d = ln 2 and −ln 2: mean |d| = ln 2; ratios 2 and 1/2; k3 mean = (2 − ln2 − 1 + 1/2 + ln2 − 1)/2 = 1/4.
        let ln2 = 2.0_f64.ln();
        let r = importance(&[pair(&[-1.0, -1.0], &[-1.0 + ln2, -1.0 - ln2])], true).unwrap();
        assert!((r.mean_abs - ln2).abs() < 1e-12 && (r.max_abs - ln2).abs() < 1e-12);
        assert!((r.kl - 0.25).abs() < 1e-12 && (r.ratio_mean - 1.25).abs() < 1e-12);
        assert!((r.sequence_ratio - 1.0).abs() < 1e-12);
        assert!((r.outside_clip - 1.0).abs() < 1e-12);
        // The recorded ones do not vary. Of (−1, −2) and (−1, −3) both fall together: 1.
        assert_eq!((r.correlation, r.passes), (None, false));
        let falls = importance(&[pair(&[-1.0, -2.0], &[-1.0, -3.0])], true).unwrap();
        assert!((falls.correlation.unwrap() - 1.0).abs() < 1e-12);
        // Two calls with weights 2 and 1: (3)²/5/2 = 0.9.
        let two = importance(
            &[pair(&[-1.0], &[-1.0 + ln2]), pair(&[-1.0], &[-1.0])],
            true,
        )
        .unwrap();
        assert!((two.effective_share - 0.9).abs() < 1e-12);
    }

    #[test]
    fn equal_log_probs_read_as_on_policy_and_a_proxy_says_so() {
        let same = importance(&[pair(&[-1.0, -2.0], &[-1.0, -2.0])], true).unwrap();
        assert_eq!((same.kl, same.outside_clip), (0.0, 0.0));
        assert!(same.reading[0].contains("within") && same.passes);
        let proxy = importance(&[pair(&[-1.0], &[-1.0])], false).unwrap();
        assert!(proxy.reading[0].contains("not the recorded policy"));
    }

    #[test]
    fn retokenised_calls_are_left_out_and_nothing_logged_is_an_error() {
        let odd = importance(
            &[pair(&[-1.0], &[-1.0, -1.0]), pair(&[-1.0], &[-1.0])],
            true,
        )
        .unwrap();
        assert_eq!((odd.calls, odd.length_mismatch), (1, 1));
        assert_eq!(importance(&[], true), Err(RewardError::NothingLogged));
    }
}
