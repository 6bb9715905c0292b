//! The scorer: one loaded model with its tokenizer and its chat template.

use super::action::{ActionScore, Request};
use super::error::ScoreError;
use super::source::{ModelSource, Options};
use super::template::Template;
use crate::domain::{Binding, Progress};

/// One loaded model. One thread owns it.
#[derive(Debug)]
pub struct Scorer {
    binding: Binding,
    device: String,
    template: Template,
}

impl Scorer {
    /// Loads a model.
    pub fn open(_source: &ModelSource, _options: &Options) -> Result<Self, ScoreError> {
        Err(ScoreError::Unsupported {
            what: "scoring".to_owned(),
            hint: "it is being built".to_owned(),
        })
    }

    /// What every score of this model is bound to.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// Where it computes: `cpu`, `cuda:0`, `metal`, or the server's address.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// The model's chat template.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// Scores every action of a request; one result each, in order. Two sides of a pair belong in one
    /// request: they share the context's work, and TRL's prompt length depends on both.
    pub fn score(
        &mut self,
        request: &Request<'_>,
        progress: &Progress,
    ) -> Vec<Result<ActionScore, ScoreError>> {
        let _ = progress;
        request
            .actions
            .iter()
            .map(|_| Err(ScoreError::Cancelled))
            .collect()
    }
}
