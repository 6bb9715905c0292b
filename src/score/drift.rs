//! How far a faster mode is from F32, on fixed conversations. (A recorded policy against ours is `reward::importance`.)

use super::action::{ActionScore, Request};
use super::error::ScoreError;
use super::scorer::Scorer;
use super::source::{DeviceChoice, ModelSource, Options, Precision};
use crate::domain::{ChatMessage, Progress, Role};
use serde::Serialize;

/// A mode whose margins move by more than this may turn a preference around.
pub const MAX_MARGIN_ERROR: f64 = 1.0;

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
