//! The scorer: one loaded model with its tokenizer and its chat template.

use super::action::{ActionScore, Part, Request, TokenScore};
use super::device::Place;
use super::embedded::{self, Embedded};
use super::engine::RowScore;
use super::error::ScoreError;
use super::folder::{self, Folder, Language, Parts};
use super::gguf;
use super::memory;
use super::prompt::{Plan, plan};
use super::runner::{Run, Work};
use super::server::Client;
use super::source::{ModelSource, Options};
use super::template::Template;
use super::weights::Weights;
use crate::domain::{Binding, Progress};

/// Raised only when results change.
const NUMERICS: u32 = 1;

/// One loaded model. One thread owns it.
pub struct Scorer {
    binding: Binding,
    device: String,
    language: Language,
    run: Box<dyn Run>,
    max_positions: usize,
    /// Token numbers below this are the model's.
    vocab: usize,
}

impl Scorer {
    /// Loads a model.
    pub fn open(source: &ModelSource, options: &Options) -> Result<Self, ScoreError> {
        let own = options
            .template
            .as_deref()
            .map(folder::read_template)
            .transpose()?;
        let own = own.as_deref();
        let parts = match source {
            ModelSource::Folder(path) => {
                folder::open(&Folder(path.clone()), &source.to_string(), own)?
            }
            ModelSource::Gguf(path) => gguf::open(path, own)?,
            ModelSource::Embedded => {
                let parts = folder::open(&Embedded, embedded::NAME, own)?;
                Parts {
                    is_proxy: true,
                    ..parts
                }
            }
            ModelSource::Server { url, name } => return Self::connect(url, name, options, own),
        };
        Self::load(parts, options)
    }

    fn load(parts: Parts, options: &Options) -> Result<Self, ScoreError> {
        let weights = parts.weights_hash()?;
        let chunk = options.chunk.max(1);
        let place = Place::find(options.device, options.precision)?;
        let bytes = place.weight_bytes(&parts.shape, parts.weights.f32_bytes());
        let fit = memory::plan(&parts.shape, bytes, chunk, options.max_memory_mib)?;
        let (max_positions, vocab) = (parts.shape.max_positions, parts.shape.vocab);
        Ok(Self {
            binding: Binding {
                weights: short(&weights),
                tokenizer: short(&parts.language.tokens.hash()),
                template: short(&parts.language.template.hash()),
                dtype: numbers(&place, &parts.weights),
                numerics: NUMERICS,
                model: parts.name,
                is_proxy: parts.is_proxy,
            },
            run: place.load(parts.shape, &parts.weights, chunk, fit)?,
            device: place.name,
            language: parts.language,
            max_positions,
            vocab,
        })
    }

    /// A model that runs elsewhere; its tokenizer and template are here.
    fn connect(
        url: &str,
        name: &str,
        options: &Options,
        template: Option<&str>,
    ) -> Result<Self, ScoreError> {
        let Some(path) = &options.tokenizer else {
            return Err(ScoreError::Server {
                url: url.to_owned(),
                why: "its tokenizer is not known here; hint: name the model's folder or GGUF file as the tokenizer (no weights are needed)".to_owned(),
            });
        };
        let language = if path.is_dir() {
            folder::open_language(&Folder(path.clone()), template)?
        } else {
            gguf::open_language(path, template)?
        };
        let source = ModelSource::Server {
            url: url.to_owned(),
            name: name.to_owned(),
        };
        Ok(Self {
            binding: Binding {
                // Nobody can hash weights that are elsewhere; address and name stand for them.
                weights: source.to_string(),
                tokenizer: short(&language.tokens.hash()),
                template: short(&language.template.hash()),
                dtype: "server".to_owned(),
                numerics: NUMERICS,
                model: source.to_string(),
                is_proxy: false,
            },
            device: url.to_owned(),
            run: Box::new(Client::new(url, name, options.api_key.clone())?),
            max_positions: usize::MAX,
            vocab: usize::MAX,
            language,
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

    /// Computed here with fewer bits than F32; `self_check` tells what that does.
    pub fn is_approximate(&self) -> bool {
        let dtype = self.binding.dtype.rsplit('-').next().unwrap_or_default();
        ["bf16", "f16", "int8"].contains(&dtype)
    }

    /// Tokens that went through the model so far, and those that were known.
    pub fn work(&self) -> Work {
        self.run.work()
    }

    /// Tokens of a bare text, without anything that the template puts around it.
    pub fn count(&self, text: &str) -> Result<usize, ScoreError> {
        Ok(self.language.tokens.encode(text)?.ids.len())
    }

    /// Tokens of context and action that fit the model.
    pub fn window(&self) -> usize {
        self.max_positions
    }

    /// The model's chat template.
    pub fn template(&self) -> &Template {
        &self.language.template
    }

    /// Scores every action of a request; one result each, in order. Two sides of a pair belong in one
    /// request: they share the context's work, and TRL's prompt length depends on both. `progress`
    /// is only asked whether to stop; `work` tells how many tokens were done.
    pub fn score(
        &mut self,
        request: &Request<'_>,
        progress: &Progress,
    ) -> Vec<Result<ActionScore, ScoreError>> {
        let mut plans = plan(request, &self.language.template, &self.language.tokens);
        for plan in &mut plans {
            let Ok(tokens) = plan.as_ref().map(|p| p.ids.len()) else {
                continue;
            };
            match self.past_window(tokens) {
                Ok(warning) => plan
                    .iter_mut()
                    .for_each(|p| p.warnings.extend(warning.clone())),
                Err(error) => *plan = Err(error),
            }
        }
        let fit: Vec<&Plan> = plans.iter().flatten().collect();
        let mut scores = self.run.run(&fit, progress).into_iter();
        let mut finish = |plan: Plan| {
            let scores = scores.next().unwrap_or(Err(ScoreError::Cancelled))?;
            action_score(plan, &scores)
        };
        plans
            .into_iter()
            .map(|plan| plan.and_then(&mut finish))
            .collect()
    }

    /// Log-probs of tokens exactly as a log holds them, behind the prompt's tokens: nothing is rendered or tokenised anew.
    pub fn rescore(
        &mut self,
        prompt: &[u32],
        written: &[u32],
        progress: &Progress,
    ) -> Result<Vec<f64>, ScoreError> {
        if prompt.is_empty() || written.is_empty() {
            return Err(ScoreError::Action("no tokens are logged for it".to_owned()));
        }
        let ids = [prompt, written].concat();
        if let Some(id) = ids.iter().find(|id| **id as usize >= self.vocab) {
            return Err(ScoreError::Action(format!(
                "its token {id} is not among this model's {}: another tokenizer wrote it",
                self.vocab
            )));
        }
        self.past_window(ids.len())?;
        let plan = Plan {
            text: String::new(),
            first: prompt.len(),
            own: prompt.len(),
            owned_end: ids.len(),
            texts: vec![String::new(); written.len()],
            parts: vec![Part::Text; written.len()],
            bytes: 0,
            warnings: Vec::new(),
            ids,
        };
        let rows = self.run.run(&[&plan], progress).pop();
        let rows = rows.unwrap_or(Err(ScoreError::Cancelled))?;
        Ok(rows.iter().map(|row| f64::from(row.logp)).collect())
    }

    /// Nothing is ever cut. Trainers compute past the window too, so their numbers are matched with a
    /// warning; the embedded proxy has nothing to say there and refuses.
    fn past_window(&self, tokens: usize) -> Result<Option<String>, ScoreError> {
        let limit = self.max_positions;
        if tokens <= limit {
            return Ok(None);
        }
        if self.binding.is_proxy {
            return Err(ScoreError::TooLong {
                tokens,
                limit,
                hint: "score with a model of longer context: --model PATH".to_owned(),
            });
        }
        Ok(Some(format!(
            "{tokens} tokens reach past the {limit} that this model was trained on; take a model of longer context"
        )))
    }
}

impl std::fmt::Debug for Scorer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scorer")
            .field("binding", &self.binding)
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}

fn action_score(plan: Plan, scores: &[RowScore]) -> Result<ActionScore, ScoreError> {
    if let Some(at) = scores.iter().position(|s| !s.logp.is_finite()) {
        return Err(ScoreError::NotFinite {
            at: plan.first + at,
        });
    }
    let token = |(i, score): (usize, &RowScore)| TokenScore {
        id: plan.ids[plan.first + i],
        text: plan.texts[i].clone(),
        logp: score.logp,
        entropy: score.entropy,
        rank: score.rank,
        part: plan.parts[i],
    };
    let per_token: Vec<TokenScore> = scores.iter().enumerate().map(token).collect();
    let owned = || per_token.iter().filter(|t| t.part != Part::Tail);
    Ok(ActionScore {
        logp_sum: owned().map(|t| f64::from(t.logp)).sum(),
        logp_sum_trl: per_token.iter().map(|t| f64::from(t.logp)).sum(),
        tokens: count(owned().count()),
        bytes: count(plan.bytes),
        prompt_tokens: count(plan.own),
        warnings: plan.warnings,
        per_token,
    })
}

/// `f32`, `bf16`, and for quantised files what the weights were before: `gguf-q4_1-f32`.
fn numbers(place: &Place, weights: &Weights) -> String {
    match weights.quantisation() {
        Some(kind) => format!("gguf-{kind}-{}", place.precision()),
        None => place.precision().to_owned(),
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// 128 bits of a hash are plenty to tell models apart, and fit a table.
pub(super) fn short(hash: &blake3::Hash) -> String {
    hash.to_hex().chars().take(32).collect()
}
