//! One decoder for all families: embed, layers, norm, head.

use super::engine::{Branch, Engine, Heads, RowScore, Use, View};
use super::error::ScoreError;
use super::shape::{Family, Shape};
use super::weights::Weights;
use candle_core::Tensor;

/// A loaded model on one engine.
#[derive(Debug)]
pub(super) struct Decoder<E: Engine> {
    engine: E,
    shape: Shape,
    embedding: E::Matrix,
    layers: Vec<Layer<E>>,
    norm: E::Norm,
    /// None when the embedding is the head as well.
    head: Option<E::Matrix>,
}

#[derive(Debug)]
struct Layer<E: Engine> {
    before_attention: E::Norm,
    qkv: E::Matrix,
    q_norm: Option<E::Norm>,
    k_norm: Option<E::Norm>,
    out: E::Matrix,
    after_attention: Option<E::Norm>,
    before_inner: E::Norm,
    gate_up: E::Matrix,
    down: E::Matrix,
    after_inner: Option<E::Norm>,
}

impl<E: Engine> Decoder<E> {
    /// Loads all weights.
    pub(super) fn load(engine: E, shape: Shape, weights: &Weights) -> Result<Self, ScoreError> {
        let loader = Loader::new(&shape, weights);
        let embedding = loader.read("embed_tokens.weight", &[shape.vocab, shape.hidden])?;
        let head = loader.head()?;
        let layers = (0..shape.layers.len()).map(|i| loader.layer(&engine, i));
        Ok(Self {
            embedding: {
                let of = if head.is_some() {
                    Use::Embedding
                } else {
                    Use::Tied
                };
                engine.matrix(vec![embedding], Vec::new(), of)?
            },
            layers: layers.collect::<Result<_, _>>()?,
            norm: engine.norm_weights(&loader.norm("norm.weight", shape.hidden)?)?,
            head: head
                .map(|h| engine.matrix(vec![h], Vec::new(), Use::Head))
                .transpose()?,
            engine,
            shape,
        })
    }

    pub(super) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Runs rows through all layers; returns them normed, and a segment of keys and values a branch.
    pub(super) fn forward(
        &self,
        ids: &[u32],
        branches: &[Branch<'_, E::Segment>],
    ) -> Result<(E::Rows, Vec<E::Segment>), ScoreError> {
        let engine = &self.engine;
        let mut fresh: Vec<_> = branches
            .iter()
            .map(|b| engine.segment(b.rows.len()))
            .collect();
        let turns = engine.turns(&self.shape, branches)?;
        let mut rows = engine.embed(&self.embedding, ids, self.shape.embedding_scale)?;
        for (i, layer) in self.layers.iter().enumerate() {
            let heads = self.heads(i, layer);
            let qkv = engine.linear(&engine.norm(&rows, &layer.before_attention)?, &layer.qkv)?;
            let seen = engine.attend(qkv, &heads, &turns, branches, &mut fresh)?;
            let mut out = engine.linear(&seen, &layer.out)?;
            if let Some(norm) = &layer.after_attention {
                out = engine.norm(&out, norm)?;
            }
            rows = engine.add(rows, &out)?;
            let inner = engine.linear(&engine.norm(&rows, &layer.before_inner)?, &layer.gate_up)?;
            let inner = engine.gate(inner, self.shape.activation)?;
            let mut out = engine.linear(&inner, &layer.down)?;
            if let Some(norm) = &layer.after_inner {
                out = engine.norm(&out, norm)?;
            }
            rows = engine.add(rows, &out)?;
        }
        Ok((engine.norm(&rows, &self.norm)?, fresh))
    }

    /// Scores the wanted tokens: (row, token that follows it).
    pub(super) fn score(
        &self,
        rows: &E::Rows,
        wanted: &[(usize, u32)],
    ) -> Result<Vec<RowScore>, ScoreError> {
        let head = self.head.as_ref().unwrap_or(&self.embedding);
        self.engine.head(rows, wanted, head)
    }

    fn heads<'a>(&'a self, i: usize, layer: &'a Layer<E>) -> Heads<'a, E> {
        let of_layer = &self.shape.layers[i];
        Heads {
            shape: &self.shape,
            view: View {
                layer: i,
                window: of_layer.window,
            },
            rotation: of_layer.rotation,
            q_norm: layer.q_norm.as_ref(),
            k_norm: layer.k_norm.as_ref(),
        }
    }
}

/// Finds tensors under the names that each family uses.
struct Loader<'a> {
    shape: &'a Shape,
    weights: &'a Weights,
    prefix: &'static str,
}

impl<'a> Loader<'a> {
    fn new(shape: &'a Shape, weights: &'a Weights) -> Self {
        // Models cut out of multimodal ones keep a longer prefix; bare `…Model` saves have none.
        let prefixes = [
            "model.",
            "model.language_model.",
            "language_model.model.",
            "",
        ];
        let has = |p: &&&str| weights.has(&format!("{p}embed_tokens.weight"));
        let prefix = prefixes.iter().find(has).copied().unwrap_or("model.");
        Self {
            shape,
            weights,
            prefix,
        }
    }

    fn read(&self, name: &str, shape: &[usize]) -> Result<Tensor, ScoreError> {
        self.weights.get(&format!("{}{name}", self.prefix), shape)
    }

    /// The head is looked for, not believed: configs say `tie_word_embeddings` wrongly or not at all.
    fn head(&self) -> Result<Option<Tensor>, ScoreError> {
        let names = ["lm_head.weight", "language_model.lm_head.weight"];
        let Some(name) = names.iter().find(|n| self.weights.has(n)) else {
            return Ok(None);
        };
        let shape = [self.shape.vocab, self.shape.hidden];
        self.weights.get(name, &shape).map(Some)
    }

    fn norm(&self, name: &str, width: usize) -> Result<Tensor, ScoreError> {
        let weights = self.read(name, &[width])?;
        Ok(if self.shape.norm_offset {
            (weights + 1.0)?
        } else {
            weights
        })
    }

    fn optional_norm(&self, name: &str, width: usize) -> Result<Option<Tensor>, ScoreError> {
        let there = self.weights.has(&format!("{}{name}", self.prefix));
        there.then(|| self.norm(name, width)).transpose()
    }

    /// Reads one matrix from its parts, or already stacked.
    fn stacked<E: Engine>(
        &self,
        engine: &E,
        at: &str,
        whole: &str,
        parts: &[(&str, usize)],
        width: usize,
        of: Use,
    ) -> Result<E::Matrix, ScoreError> {
        if self
            .weights
            .has(&format!("{}{at}{whole}.weight", self.prefix))
        {
            let rows = parts.iter().map(|p| p.1).sum();
            let all = self.read(&format!("{at}{whole}.weight"), &[rows, width])?;
            return engine.matrix(vec![all], Vec::new(), of);
        }
        let read = |(part, rows): &(&str, usize)| {
            self.read(&format!("{at}{part}.weight"), &[*rows, width])
        };
        let weights = parts.iter().map(read).collect::<Result<_, _>>()?;
        let has_bias = |(part, _): &(&str, usize)| {
            self.weights.has(&format!("{}{at}{part}.bias", self.prefix))
        };
        let mut biases = Vec::new();
        if parts.iter().any(has_bias) {
            for (part, rows) in parts {
                biases.push(self.read(&format!("{at}{part}.bias"), &[*rows])?);
            }
        }
        engine.matrix(weights, biases, of)
    }

    fn layer<E: Engine>(&self, engine: &E, i: usize) -> Result<Layer<E>, ScoreError> {
        let s = self.shape;
        let at = format!("layers.{i}.");
        let norm = |name: &str| engine.norm_weights(&self.norm(&format!("{at}{name}"), s.hidden)?);
        let head_norm = |name: &str| -> Result<Option<E::Norm>, ScoreError> {
            let weights = self.optional_norm(&format!("{at}self_attn.{name}"), s.head_dim)?;
            weights.map(|w| engine.norm_weights(&w)).transpose()
        };
        let (q, kv) = (s.heads * s.head_dim, s.kv_heads * s.head_dim);
        let qkv = [
            ("self_attn.q_proj", q),
            ("self_attn.k_proj", kv),
            ("self_attn.v_proj", kv),
        ];
        let gate_up = [("mlp.gate_proj", s.inner), ("mlp.up_proj", s.inner)];
        let gemma = s.family == Family::Gemma3;
        let after = |name: &str| gemma.then(|| norm(name)).transpose();
        Ok(Layer {
            before_attention: norm("input_layernorm.weight")?,
            qkv: self.stacked(
                engine,
                &at,
                "self_attn.qkv_proj",
                &qkv,
                s.hidden,
                Use::Attention,
            )?,
            q_norm: head_norm("q_norm.weight")?,
            k_norm: head_norm("k_norm.weight")?,
            out: self.stacked(
                engine,
                &at,
                "",
                &[("self_attn.o_proj", s.hidden)],
                q,
                Use::Attention,
            )?,
            after_attention: after("post_attention_layernorm.weight")?,
            before_inner: norm(before_inner(s.family))?,
            gate_up: self.stacked(
                engine,
                &at,
                "mlp.gate_up_proj",
                &gate_up,
                s.hidden,
                Use::Inner,
            )?,
            down: self.stacked(
                engine,
                &at,
                "",
                &[("mlp.down_proj", s.hidden)],
                s.inner,
                Use::Inner,
            )?,
            after_inner: after("post_feedforward_layernorm.weight")?,
        })
    }
}

/// Gemma norms both sides of each part, and its second norm has the name of others' third.
fn before_inner(family: Family) -> &'static str {
    match family {
        Family::Gemma3 => "pre_feedforward_layernorm.weight",
        _ => "post_attention_layernorm.weight",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::engine::panels::Panels;
    use crate::score::engine::tensors::Tensors;
    use crate::score::folder::{Files, Folder, read_json};
    use candle_core::{DType, Device};
    use std::path::Path;

    fn load<E: Engine>(name: &str, engine: impl Fn(f32) -> E) -> Decoder<E> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/score/models");
        let config = root.join(name).join("config.json");
        let shape = Shape::from_config(&config, &read_json(&config).unwrap()).unwrap();
        let weights = Folder(root.join(name.split('-').next().unwrap()))
            .weights()
            .unwrap();
        Decoder::load(engine(shape.eps), shape, &weights).unwrap()
    }

    /// A prefix in two segments, one of them cut short, and two branches behind it.
    fn scores<E: Engine>(decoder: &Decoder<E>) -> Vec<RowScore> {
        let ids: Vec<u32> = (0..90).map(|i| (i * 37 + 11) % 300).collect();
        let (_, first) = decoder
            .forward(
                &ids[..40],
                &[Branch {
                    rows: 0..40,
                    start: 0,
                    past: Vec::new(),
                }],
            )
            .unwrap();
        let past = vec![(&first[0], 0..33)];
        let (_, second) = decoder
            .forward(
                &ids[40..60],
                &[Branch {
                    rows: 0..20,
                    start: 33,
                    past,
                }],
            )
            .unwrap();
        let past = || vec![(&first[0], 0..33), (&second[0], 0..20)];
        let branches = [
            Branch {
                rows: 0..13,
                start: 53,
                past: past(),
            },
            Branch {
                rows: 13..30,
                start: 53,
                past: past(),
            },
        ];
        let (rows, _) = decoder.forward(&ids[60..90], &branches).unwrap();
        let wanted: Vec<(usize, u32)> = (0..30).map(|i| (i, ids[(i * 7 + 3) % 90])).collect();
        decoder.score(&rows, &wanted).unwrap()
    }

    /// The CPU's own kernels against candle's operations; the rotations, norms, windows and biases of
    /// all families are in these.
    #[test]
    fn both_engines_agree() {
        for name in [
            "llama",
            "qwen2-window",
            "qwen2-yarn",
            "qwen3",
            "phi3",
            "gemma3",
        ] {
            let own = scores(&load(name, Panels::new));
            let candle = |dtype| {
                move |eps| Tensors {
                    device: Device::Cpu,
                    dtype,
                    eps,
                }
            };
            let theirs = scores(&load(name, candle(DType::F32)));
            let rounded = scores(&load(name, candle(DType::BF16)));
            for ((a, b), c) in own.iter().zip(&theirs).zip(&rounded) {
                assert!((a.logp - b.logp).abs() < 1e-4, "{name}: {a:?} and {b:?}");
                assert!(
                    (a.entropy.unwrap() - b.entropy.unwrap()).abs() < 1e-4,
                    "{name}: {a:?} and {b:?}"
                );
                assert_eq!(a.rank, b.rank, "{name}");
                // Sixteen bits are near, and not the same.
                assert!((a.logp - c.logp).abs() < 0.5, "{name}: {a:?} and {c:?}");
            }
            assert_ne!(own, rounded, "{name}");
        }
    }
}
