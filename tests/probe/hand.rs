//! A model that answers by hand: two strings of equal length whose margin a function of the context decides.

use triagent::domain::{Binding, ChatMessage, Progress};
use triagent::jobs::ProbeModel;
use triagent::score::{ActionScore, Part, ScoreError, TokenScore};
use triagent::triage::Context;

pub(super) struct ByHand<F> {
    pub(super) margin: F,
    pub(super) asked: usize,
    /// Contexts after which it stops, as if somebody had killed it.
    pub(super) stops_after: usize,
    /// Characters that fit.
    pub(super) window: usize,
    binding: Binding,
}

impl<F: FnMut(&str, &[ChatMessage]) -> f64> ByHand<F> {
    pub(super) fn new(margin: F) -> Self {
        Self {
            margin,
            asked: 0,
            stops_after: usize::MAX,
            window: usize::MAX,
            binding: Binding {
                weights: "by-hand".into(),
                tokenizer: "words".into(),
                template: "none".into(),
                dtype: "f32".into(),
                numerics: 1,
                model: "by hand".into(),
                is_proxy: true,
            },
        }
    }
}

/// Everything that a context says, tools included.
pub(super) fn said(context: &Context) -> String {
    let messages = context.messages.iter().filter_map(|m| m.content.clone());
    let tools = context.tools.iter().map(ToString::to_string);
    messages.chain(tools).collect::<Vec<_>>().join("\n")
}

impl<F: FnMut(&str, &[ChatMessage]) -> f64> ProbeModel for ByHand<F> {
    fn binding(&self) -> &Binding {
        &self.binding
    }

    fn device(&self) -> &str {
        "hand"
    }

    fn window(&self) -> usize {
        self.window
    }

    fn count(&self, text: &str) -> Result<usize, ScoreError> {
        Ok(text.chars().count())
    }

    fn score(
        &mut self,
        context: &Context,
        actions: &[ChatMessage],
        _: Option<i64>,
        progress: &Progress,
    ) -> Result<Vec<ActionScore>, ScoreError> {
        if self.asked >= self.stops_after {
            return Err(ScoreError::Cancelled);
        }
        let text = said(context);
        self.asked += 1;
        progress.add(10);
        let margin = (self.margin)(&text, actions);
        // The recorded action comes first; ℓ(y⁻) = −10 everywhere.
        let logp = |i: usize| if i == 0 { -10.0 } else { margin - 10.0 };
        Ok((0..actions.len())
            .map(|i| action(i, logp(i), text.len()))
            .collect())
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "log-probs written by hand are small"
)]
fn action(i: usize, logp: f64, prompt: usize) -> ActionScore {
    let token = |id: u32, text: &str, logp: f64, part| TokenScore {
        id,
        text: text.into(),
        logp: logp as f32,
        entropy: Some(0.0),
        rank: Some(0),
        part,
    };
    let id = u32::try_from(i).unwrap();
    ActionScore {
        logp_sum: logp,
        logp_sum_trl: logp,
        tokens: 2,
        bytes: 20,
        prompt_tokens: u32::try_from(prompt).unwrap(),
        per_token: vec![
            token(id, "twenty bytes of text", logp, Part::Text),
            token(99, "<end>", 0.0, Part::Stop),
        ],
        warnings: vec![],
    }
}
