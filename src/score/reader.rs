//! A model's template and tokenizer without its weights: what a row becomes before anything is computed. Export asks it
//! whether a row fits and whether the template can say it.

use super::action::Request;
use super::embedded::Embedded;
use super::error::ScoreError;
use super::folder::{self, Folder, Language};
use super::gguf;
use super::prompt::plan;
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

impl Reader {
    /// Opens the small files of a model. `template` replaces its own.
    pub fn open(source: &ModelSource, template: Option<&Path>) -> Result<Self, ScoreError> {
        let own = template.map(folder::read_template).transpose()?;
        let own = own.as_deref();
        match source {
            ModelSource::Folder(path) => folder::open_language(&Folder(path.clone()), own),
            ModelSource::Gguf(path) => gguf::open_language(path, own),
            ModelSource::Embedded => folder::open_language(&Embedded, own),
            ModelSource::Server { .. } => Err(ScoreError::Unsupported {
                what: "a server's template".to_owned(),
                hint: "name the model's folder or GGUF file; no weights are needed".to_owned(),
            }),
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
        let actions = std::slice::from_ref(action);
        let request = Request {
            context,
            tools,
            actions,
            now_us: None,
        };
        let planned = plan(&request, &self.0.template, &self.0.tokens).pop();
        let plan =
            planned.unwrap_or_else(|| Err(ScoreError::Action("nothing to read".to_owned())))?;
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
}
