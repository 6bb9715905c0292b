//! Means, medians, intervals and corrections.

use super::Chance;
use serde::{Deserialize, Serialize};

/// A 95% interval (or whatever level its maker says).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Arithmetic mean; nothing for an empty list.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Standard deviation with divisor n.
pub fn population_std(values: &[f64]) -> Option<f64> {
    squares(values).map(|s| (s / values.len() as f64).sqrt())
}

/// Standard deviation with divisor n − 1 (Bessel); nothing below two values.
pub fn sample_std(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    squares(values).map(|s| (s / (values.len() - 1) as f64).sqrt())
}

fn squares(values: &[f64]) -> Option<f64> {
    let centre = mean(values)?;
    Some(values.iter().map(|v| (v - centre).powi(2)).sum())
}

/// Median; nothing for an empty list.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Median absolute deviation from the median.
pub fn mad(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let away: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    median(&away)
}

/// Quantile by linear interpolation between order statistics (R's type 7).
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = q.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = sorted.get(floor_index(place))?;
    let above = sorted.get(floor_index(place.ceil()))?;
    Some(below + (above - below) * place.fract())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place inside a list: finite, not negative, below its length"
)]
fn floor_index(place: f64) -> usize {
    place as usize
}

/// Wilson's 95% interval of a share.
pub fn wilson(hits: u32, trials: u32) -> Interval {
    if trials == 0 {
        return Interval {
            low: 0.0,
            high: 1.0,
        };
    }
    let (n, z) = (f64::from(trials), 1.959_963_984_540_054);
    let p = f64::from(hits) / n;
    let centre = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    Interval {
        low: ((centre - half) / scale).max(0.0),
        high: ((centre + half) / scale).min(1.0),
    }
}

/// Percentile bootstrap over `n` items: `statistic` sees the drawn indices and may be undefined for some draws.
pub fn bootstrap(
    n: usize,
    draws: usize,
    level: f64,
    seed: u64,
    mut statistic: impl FnMut(&[usize]) -> Option<f64>,
) -> Option<Interval> {
    let mut chance = Chance::new(seed);
    let mut picked = vec![0; n];
    let mut seen = Vec::with_capacity(draws);
    for _ in 0..draws {
        for slot in &mut picked {
            *slot = chance.below(n);
        }
        seen.extend(statistic(&picked));
    }
    let tail = (1.0 - level) / 2.0;
    Some(Interval {
        low: quantile(&seen, tail)?,
        high: quantile(&seen, 1.0 - tail)?,
    })
}

/// Holm's step-down correction; answers stand in the order of the questions.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let m = p.len();
    let mut out = vec![1.0; m];
    let mut floor = 0.0_f64;
    for (rank, i) in ascending(p).into_iter().enumerate() {
        floor = floor.max(p[i] * (m - rank) as f64).min(1.0);
        out[i] = floor;
    }
    out
}

/// Benjamini–Hochberg q-values; answers stand in the order of the questions.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let m = p.len();
    let mut out = vec![1.0; m];
    let mut ceiling = 1.0_f64;
    for (rank, i) in ascending(p).into_iter().enumerate().rev() {
        ceiling = ceiling.min(p[i] * m as f64 / (rank + 1) as f64);
        out[i] = ceiling;
    }
    out
}

fn ascending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    order
}

/// Spearman's rank correlation with mean ranks for ties; nothing where a side does not vary.
pub fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() || a.len() < 2 {
        return None;
    }
    pearson(&ranks(a), &ranks(b))
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let order = ascending(values);
    let mut out = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let same = order[start..]
            .iter()
            .take_while(|i| values[**i] == values[order[start]])
            .count();
        let rank = start as f64 + (same as f64 + 1.0) / 2.0;
        for i in &order[start..start + same] {
            out[*i] = rank;
        }
        start += same;
    }
    out
}

fn pearson(a: &[f64], b: &[f64]) -> Option<f64> {
    let (ma, mb) = (mean(a)?, mean(b)?);
    let dot: f64 = a.iter().zip(b).map(|(x, y)| (x - ma) * (y - mb)).sum();
    let scale = (squares(a)? * squares(b)?).sqrt();
    (scale > 0.0).then(|| dot / scale)
}

#[cfg(test)]
mod tests {
    use super::super::close;
    use super::*;

    #[test]
    fn wilson_gives_the_published_intervals() {
        // SCIENCE part 4, G1: 10/20 [0.30, 0.70], 15/30 [0.33, 0.67], 20/40 [0.35, 0.65]; acceptance plan: 0 of 100 → 3.7%, of 50 → 7.1%.
        for (hits, n, low, high) in [
            (10, 20, 0.30, 0.70),
            (15, 30, 0.33, 0.67),
            (20, 40, 0.35, 0.65),
            (0, 100, 0.0, 0.037),
            (0, 50, 0.0, 0.0713),
        ] {
            let got = wilson(hits, n);
            assert!(close(got.low, low, 5e-3), "{hits}/{n} low {}", got.low);
            assert!(close(got.high, high, 5e-3), "{hits}/{n} high {}", got.high);
        }
        assert!(close(wilson(0, 100).high, 0.037, 5e-4));
        assert!(close(wilson(0, 50).high, 0.0714, 5e-4));
    }

    #[test]
    fn corrections_match_r() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") = 0.03 0.06 0.06 0.02; "BH" = 0.02 0.04 0.04 0.02.
        let p = [0.01, 0.04, 0.03, 0.005];
        for (got, want) in holm(&p).iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!(close(*got, want, 1e-12));
        }
        for (got, want) in benjamini_hochberg(&p).iter().zip([0.02, 0.04, 0.04, 0.02]) {
            assert!(close(*got, want, 1e-12));
        }
    }

    #[test]
    fn spearman_handles_order_and_ties() {
        // By hand: d = (1,1,1,1,0), rho = 1 − 6·4/(5·24) = 0.8.
        let rho = spearman(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 1.0, 4.0, 3.0, 5.0]).unwrap();
        assert!(close(rho, 0.8, 1e-12));
        assert_eq!(spearman(&[1.0, 1.0], &[1.0, 2.0]), None);
    }

    #[test]
    fn median_and_mad_by_hand() {
        let values = [1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0];
        assert_eq!(median(&values), Some(2.0));
        assert_eq!(mad(&values), Some(1.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn bootstrap_repeats_with_its_seed_and_brackets_the_mean() {
        let values: Vec<f64> = (0..50).map(f64::from).collect();
        let run = || {
            bootstrap(values.len(), 500, 0.95, 3, |picked| {
                mean(&picked.iter().map(|i| values[*i]).collect::<Vec<_>>())
            })
        };
        assert_eq!(run(), run());
        let got = run().unwrap();
        assert!(got.low < 24.5 && 24.5 < got.high);
        assert!(got.high - got.low < 12.0);
    }
}
