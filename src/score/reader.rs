//! A model's template and tokenizer without its weights: what a row becomes before anything is computed. Export asks it
//! whether a row fits and whether the template can say it.

use super::action::Request;
use super::embedded::Embedded;
use super::error::ScoreError;
use super::folder::{self, Folder, Language};
use super::gguf;
use super::prompt::{Plan, plan, token_text};
use super::scorer::short;
use super::source::ModelSource;
use crate::domain::ChatMessage;
use serde_json::Value;
use std::path::Path;

/// Template and tokenizer.
pub struct Reader(Language);

/// What one row becomes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// Tokens before the action, as TRL counts them.
    pub prompt_tokens: usize,
    /// Texts of the tokens that TRL trains: the action, the stop token and the template's tail.
    pub action: Vec<String>,
    /// What the template leaves out or changes.
    pub drops: Vec<String>,
    /// Everything else worth knowing.
    pub notes: Vec<String>,
}

/// Hash of a model's weights, as scores are bound to it; every byte of them is read.
pub fn weights_hash(source: &ModelSource) -> Result<String, ScoreError> {
    let parts = match source {
        ModelSource::Folder(path) => {
            folder::open(&Folder(path.clone()), &source.to_string(), None)?
        }
        ModelSource::Gguf(path) => gguf::open(path, None)?,
        ModelSource::Embedded => folder::open(&Embedded, &source.to_string(), None)?,
        ModelSource::Server { .. } => return Err(elsewhere("a server's weights")),
    };
    Ok(short(&parts.weights_hash()?))
}

fn elsewhere(what: &str) -> ScoreError {
    ScoreError::Unsupported {
        what: what.to_owned(),
        hint: "name the model's folder or GGUF file".to_owned(),
    }
}

impl Reader {
    /// Opens the small files of a model. `template` replaces its own.
    pub fn open(source: &ModelSource, template: Option<&Path>) -> Result<Self, ScoreError> {
        let own = template.map(folder::read_template).transpose()?;
        let own = own.as_deref();
        match source {
            ModelSource::Folder(path) => folder::open_language(&Folder(path.clone()), own),
            ModelSource::Gguf(path) => gguf::open_language(path, own),
            ModelSource::Embedded => folder::open_language(&Embedded, own),
            ModelSource::Server { .. } => Err(elsewhere("a server's template")),
        }
        .map(Self)
    }

    /// Hash of the tokenizer, as scores are bound to it.
    pub fn tokenizer(&self) -> String {
        short(&self.0.tokens.hash())
    }

    /// Hash of the template, as scores are bound to it.
    pub fn template(&self) -> String {
        short(&self.0.template.hash())
    }

    /// The template marks what the assistant generates.
    pub fn has_generation_marks(&self) -> bool {
        let source = self.0.template.source();
        let opens = |at: usize| {
            source
                .get(at + 2..)
                .map(|rest| rest.trim_start_matches('-').trim_start())
        };
        source
            .match_indices("{%")
            .any(|(at, _)| opens(at).is_some_and(|rest| rest.starts_with("generation")))
    }

    /// Renders and tokenises one row.
    pub fn read(
        &self,
        context: &[ChatMessage],
        action: &ChatMessage,
        tools: &[Value],
    ) -> Result<Reading, ScoreError> {
        let plan = self.plan(context, action, tools)?;
        let (drops, notes) = plan
            .warnings
            .into_iter()
            .partition(|w| w.starts_with("the chat template"));
        Ok(Reading {
            prompt_tokens: plan.first,
            action: plan.texts,
            drops,
            notes,
        })
    }

    /// Texts of the tokens before the action, for eyes: what only conditions it.
    pub fn prompt_tokens(
        &self,
        context: &[ChatMessage],
        action: &ChatMessage,
        tools: &[Value],
    ) -> Result<Vec<String>, ScoreError> {
        let plan = self.plan(context, action, tools)?;
        let spans = self.0.tokens.encode(&plan.text)?.spans;
        Ok((0..plan.first)
            .map(|i| token_text(&plan.text, &spans, i))
            .collect())
    }

    fn plan(
        &self,
        context: &[ChatMessage],
        action: &ChatMessage,
        tools: &[Value],
    ) -> Result<Plan, ScoreError> {
        let actions = std::slice::from_ref(action);
        let request = Request {
            context,
            tools,
            actions,
            now_us: None,
        };
        let planned = plan(&request, &self.0.template, &self.0.tokens).pop();
        planned.unwrap_or_else(|| Err(ScoreError::Action("nothing to read".to_owned())))
    }
}
