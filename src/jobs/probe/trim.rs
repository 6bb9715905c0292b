//! Two actions compared where they differ: the common beginning is cut, the sums run to the token that ends the turn.

use crate::score::{ActionScore, Part, TokenScore};
use crate::triage::CellScore;
use serde::{Deserialize, Serialize};

/// What one context says about both actions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::jobs) struct Answer {
    /// Log-probs.
    pub(in crate::jobs) score: CellScore,
    /// Bytes of the main corrected form after the cut.
    pub(in crate::jobs) corrected_bytes: u32,
    /// Bytes of the recorded action after the cut.
    pub(in crate::jobs) recorded_bytes: u32,
    /// Tokens before the actions.
    pub(in crate::jobs) prompt_tokens: u32,
    /// What the template left out or changed.
    pub(in crate::jobs) unlike: Vec<String>,
}

/// Compares the recorded action with the verified forms of the corrected one, the main form first.
///
/// Nothing where there is no form or nothing differs.
pub(in crate::jobs) fn compare(recorded: &ActionScore, forms: &[ActionScore]) -> Option<Answer> {
    let main = forms.first()?;
    let shared = forms.iter().map(|f| common(recorded, f)).min()?;
    if forms
        .iter()
        .any(|f| owned(f).count() == shared || owned(recorded).count() == shared)
    {
        return None;
    }
    let all = std::iter::once(recorded).chain(forms);
    let mut unlike: Vec<String> = all
        .flat_map(ActionScore::unlike_the_record)
        .map(str::to_owned)
        .collect();
    unlike.sort();
    unlike.dedup();
    let sums: Vec<f64> = forms.iter().map(|f| rest(f, shared)).collect();
    Some(Answer {
        score: CellScore {
            corrected: log_sum_exp(&sums),
            recorded: rest(recorded, shared),
        },
        corrected_bytes: bytes_left(main, shared),
        recorded_bytes: bytes_left(recorded, shared),
        prompt_tokens: recorded.prompt_tokens,
        unlike,
    })
}

/// Tokens that the model writes, the stop token included.
fn owned(action: &ActionScore) -> impl Iterator<Item = &TokenScore> {
    action.per_token.iter().filter(|t| t.part != Part::Tail)
}

fn common(a: &ActionScore, b: &ActionScore) -> usize {
    owned(a)
        .zip(owned(b))
        .take_while(|(x, y)| x.id == y.id)
        .count()
}

fn rest(action: &ActionScore, shared: usize) -> f64 {
    owned(action).skip(shared).map(|t| f64::from(t.logp)).sum()
}

fn bytes_left(action: &ActionScore, shared: usize) -> u32 {
    // Later tokens of a character that is cut in several show as U+FFFD; its first token shows all of it.
    let cut = owned(action)
        .take(shared)
        .filter(|t| t.text != "\u{FFFD}")
        .map(|t| t.text.len());
    let cut = u32::try_from(cut.sum::<usize>()).unwrap_or(u32::MAX);
    action.bytes.saturating_sub(cut)
}

fn log_sum_exp(values: &[f64]) -> f64 {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + values.iter().map(|v| (v - top).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(tokens: &[(u32, &str, f32)]) -> ActionScore {
        let token = |(id, text, logp): &(u32, &str, f32)| TokenScore {
            id: *id,
            text: (*text).to_owned(),
            logp: *logp,
            entropy: Some(0.0),
            rank: Some(0),
            part: match *text {
                "<end>" => Part::Stop,
                "\n" => Part::Tail,
                _ => Part::Text,
            },
        };
        let per_token: Vec<TokenScore> = tokens.iter().map(token).collect();
        let text = per_token.iter().filter(|t| t.part == Part::Text);
        ActionScore {
            logp_sum: 0.0,
            logp_sum_trl: 0.0,
            tokens: 0,
            bytes: u32::try_from(text.map(|t| t.text.len()).sum::<usize>()).unwrap(),
            prompt_tokens: 9,
            warnings: vec![],
            per_token,
        }
    }

    #[test]
    fn the_common_beginning_and_the_tail_do_not_count() {
        let recorded = action(&[
            (1, "Up to ", -0.5),
            (2, "120", -2.0),
            (9, "<end>", -0.1),
            (10, "\n", -7.0),
        ]);
        let corrected = action(&[
            (1, "Up to ", -0.5),
            (3, "150 EUR", -3.0),
            (9, "<end>", -0.2),
            (10, "\n", -7.0),
        ]);
        let answer = compare(&recorded, std::slice::from_ref(&corrected)).unwrap();
        assert!((answer.score.recorded + 2.1).abs() < 1e-6);
        assert!((answer.score.corrected + 3.2).abs() < 1e-6);
        assert_eq!((answer.recorded_bytes, answer.corrected_bytes), (3, 7));
        assert_eq!(compare(&recorded, std::slice::from_ref(&recorded)), None);
        assert_eq!(compare(&recorded, &[]), None);
    }

    #[test]
    fn verified_forms_add_up() {
        // By hand: ln(e^-3 + e^-3) = -3 + ln 2.
        let recorded = action(&[(2, "a", -1.0), (9, "<end>", 0.0)]);
        let forms = [3, 4].map(|id| action(&[(id, "b", -3.0), (9, "<end>", 0.0)]));
        let answer = compare(&recorded, &forms).unwrap();
        assert!((answer.score.corrected - (2.0_f64.ln() - 3.0)).abs() < 1e-6);
    }
}
