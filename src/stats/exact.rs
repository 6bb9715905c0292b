//! Exact tests: no normal approximation, so small counts are told as they are.

/// Past this many non-zero effects all sign patterns are too many to visit.
const MAX_SIGN_FLIP: usize = 20;

/// Slack for comparing sums that should be equal but were added in another order.
const TIE_SLACK: f64 = 1e-9;

/// Two-sided exact binomial test: sum of all outcomes that are no likelier than the one seen.
pub fn binomial_two_sided(hits: u32, trials: u32, p: f64) -> f64 {
    if trials == 0 {
        return 1.0;
    }
    let seen = log_binomial(hits, trials, p);
    let total: f64 = (0..=trials)
        .map(|k| log_binomial(k, trials, p))
        .filter(|l| *l <= seen + 1e-7)
        .map(f64::exp)
        .sum();
    total.min(1.0)
}

/// Two-sided exact sign test of `wins` against `losses`; ties do not enter.
pub fn sign_test(wins: u32, losses: u32) -> f64 {
    binomial_two_sided(wins, wins.saturating_add(losses), 0.5)
}

/// Exact McNemar test on the pairs that changed: `fixed` and `broken`.
pub fn mcnemar(fixed: u32, broken: u32) -> f64 {
    sign_test(fixed, broken)
}

/// Exact two-sided sign-flip test that the effects centre on 0.
///
/// Returns nothing where there are more effects than can be enumerated.
pub fn sign_flip(effects: &[f64]) -> Option<f64> {
    let n = effects.len();
    if n == 0 || n > MAX_SIGN_FLIP || effects.iter().any(|e| !e.is_finite()) {
        return None;
    }
    let seen = effects.iter().sum::<f64>().abs();
    let slack = TIE_SLACK * effects.iter().map(|e| e.abs()).sum::<f64>().max(1.0);
    let patterns = 1_u32 << n;
    let as_extreme = (0..patterns)
        .filter(|mask| flipped_sum(effects, *mask).abs() >= seen - slack)
        .count();
    Some(as_extreme as f64 / f64::from(patterns))
}

fn flipped_sum(effects: &[f64], mask: u32) -> f64 {
    effects
        .iter()
        .enumerate()
        .map(|(i, e)| if mask >> i & 1 == 1 { -e } else { *e })
        .sum()
}

fn log_binomial(k: u32, n: u32, p: f64) -> f64 {
    let (kf, rest) = (f64::from(k), f64::from(n - k));
    let term = |count: f64, log: f64| if count == 0.0 { 0.0 } else { count * log };
    log_choose(n, k) + term(kf, p.ln()) + term(rest, (1.0 - p).ln())
}

fn log_choose(n: u32, k: u32) -> f64 {
    let k = k.min(n - k);
    (1..=k)
        .map(|i| (f64::from(n - k + i) / f64::from(i)).ln())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::super::close;
    use super::*;

    #[test]
    fn sign_test_gives_the_published_values() {
        // SCIENCE part 5, "Length": exact two-sided sign test.
        let table = [
            (60, 40, 0.0569, 1e-4),
            (65, 35, 0.0035, 1e-4),
            (18, 7, 0.0433, 1e-4),
            (33, 17, 0.0328, 1e-4),
            (8, 2, 0.109, 1e-3),
        ];
        for (wins, losses, p, tolerance) in table {
            assert!(
                close(sign_test(wins, losses), p, tolerance),
                "{wins}/{losses}"
            );
        }
    }

    #[test]
    fn mcnemar_gives_the_published_values() {
        // SCIENCE part 4, acceptance plan: fixed/broken.
        for (fixed, broken, p) in [(9, 2, 0.065), (12, 3, 0.035), (15, 5, 0.041)] {
            assert!(close(mcnemar(fixed, broken), p, 5e-4), "{fixed}/{broken}");
        }
        assert!(close(mcnemar(0, 0), 1.0, 0.0));
    }

    #[test]
    fn smallest_sign_flip_p_is_two_over_all_patterns() {
        // SCIENCE part 3 step 5: 6 cells 0.031, 8 cells 0.0078, 12 cells 0.00049.
        for (cells, p) in [(6, 2.0 / 64.0), (8, 2.0 / 256.0), (12, 2.0 / 4096.0)] {
            let got = sign_flip(&vec![4.1; cells]).unwrap();
            assert!(close(got, p, 1e-12), "{cells} cells: {got}");
        }
        assert_eq!(sign_flip(&[]), None);
        assert_eq!(sign_flip(&[f64::NAN]), None);
    }

    #[test]
    fn binomial_with_an_uneven_coin_matches_r() {
        // R: binom.test(2, 10, 0.5)$p.value = 0.109375; binom.test(7, 20, 0.2)$p.value = 0.1014 (sum of likelier-or-equal tails).
        assert!(close(binomial_two_sided(2, 10, 0.5), 0.109375, 1e-9));
        let by_hand: f64 = {
            let pmf = |k: i32| {
                let choose = (1..=k).fold(1.0, |c, i| c * f64::from(20 - k + i) / f64::from(i));
                choose * 0.2_f64.powi(k) * 0.8_f64.powi(20 - k)
            };
            let seen = pmf(7);
            (0..=20)
                .map(pmf)
                .filter(|q| *q <= seen * (1.0 + 1e-7))
                .sum()
        };
        assert!(close(binomial_two_sided(7, 20, 0.2), by_hand, 1e-9));
    }
}
