//! The model that an export is for: a bare name, or files whose template and tokenizer then judge every row.
//!
//! It computes nothing with the weights; it only hashes them, so that the manifest names them as scores do.

use super::super::JobError;
use crate::domain::{ChatMessage, Owner};
use crate::export::{Bindings, Measured, Options, Segment, Target};
use crate::score::{ModelSource, Reader, ScoreError, weights_hash};
use serde_json::Value;
use std::path::Path;

/// Beginning of a warning about what a template leaves out or changes.
const TEMPLATE: &str = "the chat template ";

/// A model to be trained.
#[derive(Default)]
pub struct ExportModel {
    name: Option<String>,
    reader: Option<Reader>,
}

impl ExportModel {
    /// Takes what people type after `--model`: a folder, a GGUF file, or just a name.
    pub fn open(named: Option<&str>) -> Result<Self, JobError> {
        let Some(named) = named else {
            return Ok(Self::default());
        };
        if !is_path(named) {
            return Ok(Self {
                name: Some(named.to_owned()),
                reader: None,
            });
        }
        let source = ModelSource::parse(Some(named))?;
        Ok(Self {
            name: Some(full_name(&source)?),
            reader: Some(Reader::open(&source, None)?),
        })
    }

    /// What the manifest is bound to, the reference policy beside it; files of a reference are hashed too.
    pub fn bindings(&self, reference: Option<&str>) -> Result<Bindings, JobError> {
        let reference = match reference {
            Some(path) if is_path(path) => Some(full_name(&ModelSource::parse(Some(path))?)?),
            other => other.map(str::to_owned),
        };
        Ok(Bindings {
            model: self.name.clone(),
            tokenizer: self.reader.as_ref().map(Reader::tokenizer),
            template: self.reader.as_ref().map(Reader::template),
            reference,
            ..Bindings::default()
        })
    }

    /// Does the work with options that ask this model about every row. `shade` also tells the tokens of the prompt,
    /// which only a preview needs.
    pub fn judging<R>(
        &self,
        options: Options<'_>,
        shade: bool,
        work: impl FnOnce(&Options<'_>) -> R,
    ) -> R {
        let Some(reader) = &self.reader else {
            return work(&options);
        };
        let measure = move |p: &[ChatMessage], a: &ChatMessage, t: &[Value]| {
            measure(reader, p, a, t, shade).map_err(|e| e.to_string())
        };
        work(&Options {
            target: Some(Target {
                has_generation_marks: reader.has_generation_marks(),
                measure: &measure,
            }),
            ..options
        })
    }
}

/// Files, or what can only mean a file.
fn is_path(named: &str) -> bool {
    let looks = [".", "/", "~"].iter().any(|start| named.starts_with(start));
    looks || named.ends_with(".gguf") || Path::new(named).exists()
}

/// The name with the hash of the weights. Where they lie is no part of it: a set is the same on every machine.
fn full_name(source: &ModelSource) -> Result<String, JobError> {
    match weights_hash(source) {
        Ok(hash) => Ok(format!("{source} (weights {hash})")),
        // A tokenizer alone is enough to judge rows; then the name must do.
        Err(ScoreError::File { .. }) => Ok(source.to_string()),
        Err(other) => Err(other.into()),
    }
}

fn measure(
    reader: &Reader,
    prompt: &[ChatMessage],
    target: &ChatMessage,
    tools: &[Value],
    shade: bool,
) -> Result<Measured, ScoreError> {
    let reading = reader.read(prompt, target, tools)?;
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let own = |text: String| Segment {
        text,
        owner: Owner::Model.word().to_owned(),
        trained: true,
    };
    let before = if shade {
        reader.prompt_tokens(prompt, target, tools)?
    } else {
        Vec::new()
    };
    let bare = |what: String| {
        what.strip_prefix(TEMPLATE)
            .map_or(what.clone(), str::to_owned)
    };
    Ok(Measured {
        prompt_tokens: count(reading.prompt_tokens),
        target_tokens: count(reading.action.len()),
        segments: reading.action.into_iter().map(own).collect(),
        prompt: before,
        drops: reading.drops.into_iter().map(bare).collect(),
        notes: reading.notes,
    })
}
