//! Whether calls continue one another, token by token (S-25 to S-28). Token ids are compared, never text: a text
//! that was tokenised again is another row.

use super::input::RunInput;
use crate::domain::step::words;
use crate::domain::{Adopted, Call};
use serde::Serialize;

/// How several calls become rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Combine {
    /// One call, one row.
    PerCall,
    /// Calls join as long as each prompt begins with exactly the tokens before it.
    #[default]
    ExactPrefix,
}

words!(Combine { PerCall => "per-call", ExactPrefix => "exact-prefix" });

/// One training row of exact tokens.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TokenRow {
    /// Calls in it, by index.
    pub calls: Vec<u32>,
    /// Tokens before the first generated one.
    pub prompt_ids: Vec<u32>,
    /// Everything after it.
    pub response_ids: Vec<u32>,
    /// 1 = the model generated it; 0 = a tool, the harness or the template put it there.
    pub mask: Vec<u8>,
    /// Behaviour log-probs: 0.0 where the mask is 0; `None` when one generated token has none.
    pub logprobs: Option<Vec<f64>>,
    /// Why this row does not continue the one before.
    pub broke: Option<&'static str>,
}

/// Joins calls into rows. Calls without exact ids are left out by the caller's own reason.
pub fn token_rows(calls: &[&Call], combine: Combine) -> Vec<TokenRow> {
    let mut rows: Vec<TokenRow> = Vec::new();
    for call in calls {
        let (Some(prompt), Some(response)) = (&call.prompt_token_ids, &call.completion_token_ids)
        else {
            continue;
        };
        let broke = match rows.last() {
            Some(_) if combine == Combine::PerCall => Some("per-call"),
            Some(last) => continues(last, prompt),
            None => None,
        };
        if broke.is_some() || rows.is_empty() {
            rows.push(TokenRow {
                prompt_ids: prompt.clone(),
                logprobs: Some(Vec::new()),
                broke: broke.filter(|_| combine == Combine::ExactPrefix),
                ..TokenRow::default()
            });
        }
        if let Some(row) = rows.last_mut() {
            extend(row, call, prompt, response);
        }
    }
    rows
}

/// Why a prompt does not begin with all that is known; nothing when it does.
fn continues(row: &TokenRow, prompt: &[u32]) -> Option<&'static str> {
    let known = row.prompt_ids.iter().chain(&row.response_ids);
    let length = row.prompt_ids.len() + row.response_ids.len();
    if prompt.len() < length {
        return Some("the prompt is shorter than what came before it: the context was rewritten");
    }
    let same = known.zip(prompt).all(|(a, b)| a == b);
    (!same).then_some("the prompt's tokens are not the ones that were generated: text was tokenised again or edited")
}

fn extend(row: &mut TokenRow, call: &Call, prompt: &[u32], response: &[u32]) {
    let known = row.prompt_ids.len() + row.response_ids.len();
    let between = prompt.get(known..).unwrap_or(&[]);
    row.calls.push(call.index);
    row.response_ids.extend_from_slice(between);
    row.mask.extend(between.iter().map(|_| 0));
    row.response_ids.extend_from_slice(response);
    row.mask.extend(response.iter().map(|_| 1));
    let logged = call.logprobs.as_ref().filter(|l| l.len() == response.len());
    row.logprobs = match (row.logprobs.take(), logged) {
        (Some(mut all), Some(logged)) if logged.iter().all(|l| l.is_finite()) => {
            all.extend(between.iter().map(|_| 0.0));
            all.extend_from_slice(logged);
            Some(all)
        }
        _ => None,
    };
}

/// What a run's tokens allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TokenState {
    /// Every call that went on has exact ids of prompt and answer.
    pub(crate) complete: bool,
    /// Calls that did not continue the tokens before them.
    pub(crate) breaks: u64,
}

pub(crate) fn token_state(run: &RunInput) -> TokenState {
    let adopted = adopted(run);
    let exact = |c: &&&Call| c.prompt_token_ids.is_some() && c.completion_token_ids.is_some();
    let complete = !adopted.is_empty() && adopted.iter().filter(exact).count() == adopted.len();
    let rows = token_rows(&adopted, Combine::ExactPrefix);
    TokenState {
        complete,
        breaks: rows.iter().filter(|r| r.broke.is_some()).count() as u64,
    }
}

/// Calls that the harness went on with, as far as the log says.
pub(crate) fn adopted(run: &RunInput) -> Vec<&Call> {
    run.calls
        .iter()
        .filter(|c| c.adopted != Adopted::No && c.error.is_none())
        .collect()
}
