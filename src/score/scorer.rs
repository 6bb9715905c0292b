//! The scorer: one loaded model with its tokenizer and its chat template.

use super::action::{ActionScore, Part, Request, TokenScore};
use super::decoder::Decoder;
use super::embedded::{self, Embedded};
use super::engine::tensors::Tensors;
use super::engine::{Branch, RowScore};
use super::error::ScoreError;
use super::folder::{self, Folder, Parts};
use super::prompt::{Plan, plan};
use super::source::{ModelSource, Options};
use super::template::Template;
use super::tokens::Tokens;
use crate::domain::{Binding, Progress};
use candle_core::{DType, Device};

/// Raised only when results change.
const NUMERICS: u32 = 1;

/// One loaded model. One thread owns it.
#[derive(Debug)]
pub struct Scorer {
    binding: Binding,
    device: String,
    template: Template,
    tokens: Tokens,
    decoder: Decoder<Tensors>,
    chunk: usize,
}

impl Scorer {
    /// Loads a model.
    pub fn open(source: &ModelSource, options: &Options) -> Result<Self, ScoreError> {
        let parts = match source {
            ModelSource::Folder(path) => {
                let name = path
                    .file_name()
                    .map_or_else(|| path.to_string_lossy(), |n| n.to_string_lossy());
                folder::open(&Folder(path.clone()), &name, options.template.as_deref())?
            }
            ModelSource::Embedded => {
                let mut parts =
                    folder::open(&Embedded, embedded::NAME, options.template.as_deref())?;
                parts.is_proxy = true;
                parts
            }
            ModelSource::Gguf(_) | ModelSource::Server { .. } => {
                return Err(ScoreError::Unsupported {
                    what: "this kind of model".to_owned(),
                    hint: "name a Hugging Face folder".to_owned(),
                });
            }
        };
        Self::load(parts, options)
    }

    fn load(parts: Parts, options: &Options) -> Result<Self, ScoreError> {
        let mut hasher = blake3::Hasher::new();
        // Two folders with the same weights and another config are two models.
        hasher.update(format!("{:?}", parts.shape).as_bytes());
        parts.weights.hash(&mut hasher)?;
        let engine = Tensors {
            device: Device::Cpu,
            dtype: DType::F32,
            eps: parts.shape.eps,
        };
        let decoder = Decoder::load(engine, parts.shape, &parts.weights)?;
        Ok(Self {
            binding: Binding {
                weights: short(&hasher.finalize()),
                tokenizer: short(&parts.tokens.hash()),
                template: short(&parts.template.hash()),
                dtype: "f32".to_owned(),
                numerics: NUMERICS,
                model: parts.name,
                is_proxy: parts.is_proxy,
            },
            device: "cpu".to_owned(),
            template: parts.template,
            tokens: parts.tokens,
            decoder,
            chunk: options.chunk.max(1),
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
        let plans = plan(request, &self.template, &self.tokens);
        plans
            .into_iter()
            .map(|p| p.and_then(|p| self.score_plan(p, progress)))
            .collect()
    }

    fn score_plan(&self, plan: Plan, progress: &Progress) -> Result<ActionScore, ScoreError> {
        let limit = self.decoder.shape().max_positions;
        if plan.ids.len() > limit {
            return Err(ScoreError::TooLong {
                tokens: plan.ids.len(),
                limit,
                hint: "score with a model of longer context: --model PATH".to_owned(),
            });
        }
        let mut segments = Vec::new();
        let mut scores: Vec<RowScore> = Vec::new();
        for start in (0..plan.ids.len()).step_by(self.chunk) {
            if progress.is_cancelled() {
                return Err(ScoreError::Cancelled);
            }
            let end = plan.ids.len().min(start + self.chunk);
            let past = segments.iter().map(|(s, n)| (s, *n)).collect();
            let branch = Branch {
                rows: 0..end - start,
                start,
                past,
            };
            let (rows, fresh) = self.decoder.forward(&plan.ids[start..end], &[branch])?;
            let wanted: Vec<(usize, u32)> = (start..end)
                .filter(|i| i + 1 >= plan.first && i + 1 < plan.ids.len())
                .map(|i| (i - start, plan.ids[i + 1]))
                .collect();
            scores.extend(self.decoder.score(&rows, &wanted)?);
            segments.extend(fresh.into_iter().map(|s| (s, end - start)));
            progress.add((end - start) as u64);
        }
        action_score(plan, &scores)
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

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// 128 bits of a hash are plenty to tell models apart, and fit a table.
fn short(hash: &blake3::Hash) -> String {
    hash.to_hex().chars().take(32).collect()
}
