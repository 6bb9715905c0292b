//! How far two sets of log-probs are apart: a faster mode from F32, or a recorded policy from ours.
//!
//! It measures; which distance is too far is said once, here, and every figure is given with it.

use super::action::{ActionScore, Request};
use super::error::ScoreError;
use super::scorer::Scorer;
use super::source::{DeviceChoice, ModelSource, Options, Precision};
use crate::domain::{ChatMessage, Progress, Role};
use serde::Serialize;

/// A mode whose margins move by more than this may turn a preference around.
pub const MAX_MARGIN_ERROR: f64 = 1.0;
/// Ratios of one engine to another with the same weights: outside are a few per cent of tokens (TRL#4159).
const USUAL_RATIO: std::ops::RangeInclusive<f64> = 0.9..=1.1;
/// More tokens than this outside the usual range: other weights, temperature, template or tokens.
pub const MAX_UNUSUAL: f64 = 0.10;

/// A mode against F32 on fixed conversations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SelfCheck {
    /// What was checked.
    pub mode: String,
    /// Tokens compared.
    pub tokens: usize,
    /// Mean distance of a token's log-prob, in nats.
    pub mean: f64,
    /// Largest distance of a token's log-prob.
    pub max: f64,
    /// Largest distance of an action's sum.
    pub max_sum: f64,
    /// Largest distance of a margin between two actions of one request.
    pub max_margin: f64,
    /// No margin moved by more than `MAX_MARGIN_ERROR`.
    pub passes: bool,
}

/// Recorded log-probs of a policy against ours of the same tokens (q − b, q ours, b recorded).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Behaviour {
    /// Tokens compared; those without a finite log-prob on both sides are left out.
    pub tokens: usize,
    /// Tokens left out.
    pub left_out: usize,
    /// Mean |q − b|.
    pub mean: f64,
    /// Largest |q − b|.
    pub max: f64,
    /// Pearson's correlation; none for constant lists.
    pub correlation: Option<f64>,
    /// Mean of e^(q − b); its systematic fall below 1 is the mass that truncated sampling kept.
    pub ratio_mean: f64,
    /// Median of e^(q − b).
    pub ratio_median: f64,
    /// Share of tokens whose ratio lies outside 0.9 to 1.1.
    pub unusual: f64,
    /// KL(behaviour‖now) as the mean of e^d − d − 1.
    pub kl: f64,
    /// Effective share of samples: (Σw)² / (n Σw²).
    pub effective: f64,
    /// As near as two engines with the same weights are.
    pub passes: bool,
}

/// Compares log-probs token by token; `None` when nothing can be compared.
pub fn behaviour(recorded: &[f64], ours: &[f64]) -> Option<Behaviour> {
    let pairs: Vec<(f64, f64)> = recorded.iter().copied().zip(ours.iter().copied()).collect();
    let usable = |(b, q): &(f64, f64)| b.is_finite() && q.is_finite();
    let kept: Vec<(f64, f64)> = pairs.iter().copied().filter(usable).collect();
    if kept.is_empty() {
        return None;
    }
    let n = kept.len() as f64;
    let distances: Vec<f64> = kept.iter().map(|(b, q)| q - b).collect();
    let mut ratios: Vec<f64> = distances.iter().map(|d| d.exp()).collect();
    let (sum, squares) = ratios
        .iter()
        .fold((0.0, 0.0), |(s, q), w| (s + w, q + w * w));
    let unusual = ratios.iter().filter(|w| !USUAL_RATIO.contains(w)).count() as f64 / n;
    ratios.sort_by(f64::total_cmp);
    Some(Behaviour {
        tokens: kept.len(),
        left_out: recorded.len().max(ours.len()) - kept.len(),
        mean: distances.iter().map(|d| d.abs()).sum::<f64>() / n,
        max: distances.iter().fold(0.0, |most, d| d.abs().max(most)),
        correlation: correlation(&kept),
        ratio_mean: sum / n,
        ratio_median: median(&ratios),
        unusual,
        kl: distances.iter().map(|d| d.exp() - d - 1.0).sum::<f64>() / n,
        effective: sum * sum / (n * squares),
        passes: unusual <= MAX_UNUSUAL && recorded.len() == ours.len(),
    })
}

fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    } else {
        sorted[middle]
    }
}

fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let n = pairs.len() as f64;
    let mean_x = pairs.iter().map(|p| p.0).sum::<f64>() / n;
    let mean_y = pairs.iter().map(|p| p.1).sum::<f64>() / n;
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        xy += (x - mean_x) * (y - mean_y);
        xx += (x - mean_x).powi(2);
        yy += (y - mean_y).powi(2);
    }
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
}

/// Scores fixed conversations in F32 on the CPU and in the chosen mode, one model at a time.
pub fn self_check(
    source: &ModelSource,
    options: &Options,
    progress: &Progress,
) -> Result<SelfCheck, ScoreError> {
    if let ModelSource::Server { url, .. } = source {
        return Err(ScoreError::Server {
            url: url.clone(),
            why: "its F32 cannot be asked for; compare it with the folder of the same model"
                .to_owned(),
        });
    }
    let exact = Options {
        device: DeviceChoice::Cpu,
        precision: Precision::F32,
        ..options.clone()
    };
    let reference = fixed_scores(Scorer::open(source, &exact)?, progress)?;
    let scorer = Scorer::open(source, options)?;
    let mode = format!("{} on {}", scorer.binding().dtype, scorer.device());
    Ok(compare(mode, &reference, &fixed_scores(scorer, progress)?))
}

type Actions = Vec<ActionScore>;

fn fixed_scores(mut scorer: Scorer, progress: &Progress) -> Result<Vec<Actions>, ScoreError> {
    let score = |(context, actions): (Vec<ChatMessage>, Vec<ChatMessage>)| {
        let request = Request {
            context: &context,
            tools: &[],
            actions: &actions,
            now_us: None,
        };
        scorer.score(&request, progress).into_iter().collect()
    };
    conversations().into_iter().map(score).collect()
}

fn compare(mode: String, exact: &[Actions], other: &[Actions]) -> SelfCheck {
    let mut check = SelfCheck {
        mode,
        tokens: 0,
        mean: 0.0,
        max: 0.0,
        max_sum: 0.0,
        max_margin: 0.0,
        passes: true,
    };
    for (exact, other) in exact.iter().zip(other) {
        for (a, b) in exact.iter().zip(other) {
            for (x, y) in a.per_token.iter().zip(&b.per_token) {
                let off = f64::from(x.logp - y.logp).abs();
                check.tokens += 1;
                check.mean += off;
                check.max = check.max.max(off);
            }
            check.max_sum = check.max_sum.max((a.logp_sum - b.logp_sum).abs());
        }
        let margins = |actions: &Actions| -> Vec<f64> {
            actions
                .windows(2)
                .map(|pair| pair[0].logp_sum - pair[1].logp_sum)
                .collect()
        };
        for (x, y) in margins(exact).into_iter().zip(margins(other)) {
            check.max_margin = check.max_margin.max((x - y).abs());
        }
    }
    check.mean /= check.tokens.max(1) as f64;
    check.passes = check.max_margin <= MAX_MARGIN_ERROR;
    check
}

/// Pairs of answers as they come in agent logs: right and wrong, short and long, English and Chinese.
fn conversations() -> Vec<(Vec<ChatMessage>, Vec<ChatMessage>)> {
    let texts: [(&str, [&str; 2]); 3] = [
        (
            "Our policy v1 (2024) allowed refunds within 14 days. Policy v2, valid from 2026-01-01, allows 30 days, \
             for members only. I bought it on 2026-02-01 and I am a member. Can I return it after 20 days?",
            [
                "Yes. Under policy v2, valid from 2026-01-01, members may return within 30 days.",
                "No. Refunds are only possible within 14 days.",
            ],
        ),
        (
            "旧政策规定十四天内可以退款；新政策自2026年1月1日起生效，会员三十天内可以退款。我是会员，二十天后还能退吗？",
            [
                "可以。根据2026年1月1日起生效的新政策，会员在三十天内可以退款。",
                "不可以，只有十四天。",
            ],
        ),
        (
            "What is the capital of France?",
            [
                "{\"name\": \"search\", \"arguments\": {\"query\": \"capital of France\"}}",
                "The capital of France is Paris.",
            ],
        ),
    ];
    let pair = |(question, answers): (&str, [&str; 2])| {
        let answers = answers
            .iter()
            .map(|a| ChatMessage::text(Role::Assistant, *a));
        (
            vec![ChatMessage::text(Role::User, question)],
            answers.collect(),
        )
    };
    texts.into_iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: d = (0, ln 2), so ratios 1 and 2, mean 1.5; k3 = (0 + 2 − ln 2 − 1) / 2; effective
    /// share (1 + 2)² / (2 · (1 + 4)) = 0.9.
    #[test]
    fn behaviour_figures_by_hand() {
        let ln2 = std::f64::consts::LN_2;
        let got = behaviour(&[-1.0, -2.0, f64::NEG_INFINITY], &[-1.0, -2.0 + ln2, -1.0]).unwrap();
        assert_eq!((got.tokens, got.left_out), (2, 1));
        assert!((got.mean - ln2 / 2.0).abs() < 1e-12 && (got.max - ln2).abs() < 1e-12);
        assert!((got.ratio_mean - 1.5).abs() < 1e-12 && (got.ratio_median - 1.5).abs() < 1e-12);
        assert!((got.kl - (1.0 - ln2) / 2.0).abs() < 1e-12);
        assert!((got.effective - 0.9).abs() < 1e-12);
        assert_eq!((got.unusual, got.passes), (0.5, false));
        assert!((got.correlation.unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn equal_lists_pass_and_unequal_lengths_do_not() {
        let same = behaviour(&[-1.0, -0.5, -3.0], &[-1.0, -0.5, -3.0]).unwrap();
        assert!(same.passes && same.kl == 0.0 && same.effective == 1.0);
        assert!(!behaviour(&[-1.0, -0.5], &[-1.0]).unwrap().passes);
        assert_eq!(behaviour(&[], &[]), None);
        assert_eq!(behaviour(&[-1.0], &[f64::NAN]), None);
        assert_eq!(
            behaviour(&[-1.0, -1.0], &[-1.0, -2.0]).unwrap().correlation,
            None
        );
    }

    #[test]
    fn f32_against_itself_does_not_drift() {
        let options = Options {
            device: DeviceChoice::Cpu,
            precision: Precision::F32,
            ..Options::default()
        };
        let check = self_check(&ModelSource::Embedded, &options, &Progress::default()).unwrap();
        assert!(check.tokens > 20 && check.max == 0.0 && check.max_margin == 0.0 && check.passes);
    }
}
