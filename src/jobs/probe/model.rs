//! What a probe asks of a model. The scorer answers it; tests answer by hand.

use crate::domain::{Binding, ChatMessage, Progress};
use crate::score::{ActionScore, Request, ScoreError, Scorer};
use crate::triage::Context;

/// A model that can be asked how likely actions are.
pub trait ProbeModel {
    /// What its scores are bound to.
    fn binding(&self) -> &Binding;

    /// Where it computes.
    fn device(&self) -> &str;

    /// Tokens of context and action that it was made for.
    fn window(&self) -> usize;

    /// Tokens of a bare text.
    fn count(&self, text: &str) -> Result<usize, ScoreError>;

    /// Scores actions after one context, in order; nothing is ever cut.
    fn score(
        &mut self,
        context: &Context,
        actions: &[ChatMessage],
        now_us: Option<i64>,
        progress: &Progress,
    ) -> Result<Vec<ActionScore>, ScoreError>;
}

impl ProbeModel for Scorer {
    fn binding(&self) -> &Binding {
        Self::binding(self)
    }

    fn device(&self) -> &str {
        Self::device(self)
    }

    fn window(&self) -> usize {
        Self::window(self)
    }

    fn count(&self, text: &str) -> Result<usize, ScoreError> {
        Self::count(self, text)
    }

    fn score(
        &mut self,
        context: &Context,
        actions: &[ChatMessage],
        now_us: Option<i64>,
        progress: &Progress,
    ) -> Result<Vec<ActionScore>, ScoreError> {
        let request = Request {
            context: &context.messages,
            tools: &context.tools,
            actions,
            now_us,
        };
        Self::score(self, &request, progress).into_iter().collect()
    }
}
