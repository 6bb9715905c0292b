//! GGUF files: shape, tokenizer and chat template from the header, tensors dequantised to F32.

mod names;
mod tensors;
mod tokenizer;

pub(super) use tensors::GgufTensors;

use super::error::ScoreError;
use super::folder::{Language, Parts};
use super::rope::{RopeKind, Rotation};
use super::shape::{Activation, Family, LayerShape, Shape};
use super::template::Template;
use super::tokens::Tokens;
use super::weights::{Weights, malformed};
use candle_core::quantized::gguf_file::Value;
use serde_json::{Map, Value as Json};
use std::collections::HashMap;
use std::path::Path;

/// The header's fields.
pub(super) struct Header<'a> {
    path: &'a Path,
    fields: &'a HashMap<String, Value>,
    arch: String,
}

/// Reads a model from a GGUF file. `template` replaces the file's own.
pub(super) fn open(path: &Path, template: Option<&str>) -> Result<Parts, ScoreError> {
    let tensors = GgufTensors::open(path)?;
    let header = Header::new(path, &tensors)?;
    let family = Family::parse(&header.arch)?;
    let shape = header.shape(family, &tensors)?;
    let name = path
        .file_stem()
        .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    Ok(Parts {
        name,
        is_proxy: false,
        language: header.language(template, &shape.stop_ids, Some(shape.vocab))?,
        weights: Weights::from_gguf(tensors.for_family(family, &shape), path),
        shape,
    })
}

/// Reads tokenizer and template alone, for a model that runs elsewhere.
pub(super) fn open_language(path: &Path, template: Option<&str>) -> Result<Language, ScoreError> {
    let tensors = GgufTensors::open(path)?;
    let header = Header::new(path, &tensors)?;
    header.language(
        template,
        &header.stop_ids(),
        tensors.rows("token_embd.weight"),
    )
}

impl<'a> Header<'a> {
    fn new(path: &'a Path, tensors: &'a GgufTensors) -> Result<Self, ScoreError> {
        let fields = tensors.fields();
        let arch = fields.get("general.architecture").and_then(as_text);
        let arch = arch.ok_or_else(|| malformed(path, "no general.architecture"))?;
        Ok(Self { path, fields, arch })
    }

    fn language(
        &self,
        template: Option<&str>,
        stop_ids: &[u32],
        vocab: Option<usize>,
    ) -> Result<Language, ScoreError> {
        let special = self.special_tokens();
        let (source, tool_source) = match template {
            Some(source) => (source.to_owned(), None),
            None => (
                self.template()?,
                self.text("tokenizer.chat_template.tool_use"),
            ),
        };
        let eos = special.get("eos_token").and_then(Json::as_str);
        let (tokenizer, hash) = tokenizer::build(self)?;
        let tokens = Tokens::new(tokenizer, hash, eos, stop_ids, vocab);
        Ok(Language {
            tokens: tokens.map_err(|why| malformed(self.path, &why))?,
            template: Template::new(&source, tool_source.as_deref(), special)?,
        })
    }

    /// Ends of a text and of a turn.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "token numbers"
    )]
    fn stop_ids(&self) -> Vec<u32> {
        let keys = ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"];
        let ids = keys
            .iter()
            .filter_map(|key| self.fields.get(*key).and_then(as_number));
        ids.map(|id| id as u32).collect()
    }

    fn wrong<T>(&self, why: &str) -> Result<T, ScoreError> {
        Err(malformed(self.path, why))
    }

    /// A field of this architecture: `llama.block_count`.
    fn own(&self, key: &str) -> Option<&Value> {
        self.fields.get(&format!("{}.{key}", self.arch))
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.own(key).and_then(as_number)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bounds are checked first"
    )]
    fn size(&self, key: &str) -> Result<usize, ScoreError> {
        match self.number(key) {
            Some(n) if (1.0..=16_777_216.0).contains(&n) => Ok(n as usize),
            Some(n) => self.wrong(&format!("{}.{key} {n} is out of bounds", self.arch)),
            None => self.wrong(&format!(
                "no {}.{key}, or it differs from layer to layer",
                self.arch
            )),
        }
    }

    fn size_or(&self, key: &str, default: usize) -> Result<usize, ScoreError> {
        if self.own(key).is_some() {
            self.size(key)
        } else {
            Ok(default)
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the model computes in F32")]
    fn shape(&self, family: Family, tensors: &GgufTensors) -> Result<Shape, ScoreError> {
        let hidden = self.size("embedding_length")?;
        let heads = self.size("attention.head_count")?;
        let head_dim = self.size_or("attention.key_length", hidden / heads)?;
        let gemma = family == Family::Gemma3;
        let Some(vocab) = tensors.rows("token_embd.weight") else {
            return self.wrong("no tensor token_embd.weight");
        };
        let shape = Shape {
            family,
            vocab,
            hidden,
            inner: self.size("feed_forward_length")?,
            heads,
            kv_heads: self.size_or("attention.head_count_kv", heads)?,
            head_dim,
            eps: self
                .number("attention.layer_norm_rms_epsilon")
                .unwrap_or(1e-6) as f32,
            max_positions: self.size("context_length")?,
            activation: if gemma {
                Activation::GeluTanh
            } else {
                Activation::Silu
            },
            attention_scale: (1.0 / (head_dim as f64).sqrt()) as f32,
            embedding_scale: gemma.then(|| (hidden as f32).sqrt()),
            // Converters have added the one already.
            norm_offset: false,
            rotations: self.rotations(family, head_dim, tensors)?,
            layers: self.layers(family)?,
            stop_ids: self.stop_ids(),
        };
        shape.check(self.path)?;
        Ok(shape)
    }

    fn rotations(
        &self,
        family: Family,
        head_dim: usize,
        tensors: &GgufTensors,
    ) -> Result<Vec<Rotation>, ScoreError> {
        let theta = self
            .number("rope.freq_base")
            .unwrap_or(family.default_theta());
        let part = self
            .number("rope.dimension_count")
            .map_or(1.0, |n| n / head_dim as f64);
        let make = |kind: RopeKind, theta: f64| {
            Rotation::new(kind, theta, head_dim, part).map_err(|why| malformed(self.path, &why))
        };
        if tensors.has("rope_factors_long.weight") {
            return Err(ScoreError::Unsupported {
                what: "longrope scaling in a GGUF file".to_owned(),
                hint: "take the model's 4k variant, or score through a server: --model http://HOST:PORT/v1#NAME".to_owned(),
            });
        }
        let global = match tensors.divisors()? {
            Some(by) => RopeKind::Divisors(by),
            None => self.scaling()?,
        };
        let mut all = vec![make(global, theta)?];
        if family == Family::Gemma3 {
            all.push(make(RopeKind::Plain, 10_000.0)?);
        }
        Ok(all)
    }

    fn scaling(&self) -> Result<RopeKind, ScoreError> {
        let kind = self.own("rope.scaling.type").and_then(as_text);
        let mut rope = Map::new();
        rope.insert(
            "rope_type".to_owned(),
            Json::from(kind.unwrap_or_else(|| "default".to_owned())),
        );
        let mut take = |ours: &str, theirs: &str| {
            if let Some(n) = self.number(theirs) {
                rope.insert(ours.to_owned(), Json::from(n));
            }
        };
        take("factor", "rope.scaling.factor");
        take(
            "original_max_position_embeddings",
            "rope.scaling.original_context_length",
        );
        take("attention_factor", "rope.scaling.attn_factor");
        RopeKind::parse(&Json::Object(rope), self.size("context_length")?)
    }

    /// What a header does not say is what llama.cpp assumes for the family.
    fn layers(&self, family: Family) -> Result<Vec<LayerShape>, ScoreError> {
        let count = self.size("block_count")?;
        if count > 1024 {
            return self.wrong(&format!("{count} layers"));
        }
        let window = self.size_or("attention.sliding_window", 0)?;
        let window = (window > 0).then_some(window);
        let layer = |i: usize| {
            let slides = match family {
                Family::Gemma3 => !(i + 1).is_multiple_of(6),
                Family::Phi3 => true,
                _ => false,
            };
            let rotates = family != Family::SmolLm3 || !(i + 1).is_multiple_of(4);
            let rotation = usize::from(slides && family == Family::Gemma3);
            LayerShape {
                window: window.filter(|_| slides),
                rotation: rotates.then_some(rotation),
            }
        };
        Ok((0..count).map(layer).collect())
    }

    fn token(&self, id_key: &str) -> Option<String> {
        let id = self.fields.get(id_key).and_then(as_number)?;
        let tokens = self.list("tokenizer.ggml.tokens");
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an index; get() checks it"
        )]
        tokens.get(id as usize).and_then(as_text)
    }

    fn special_tokens(&self) -> Map<String, Json> {
        let names = [
            ("bos_token", "tokenizer.ggml.bos_token_id"),
            ("eos_token", "tokenizer.ggml.eos_token_id"),
            ("unk_token", "tokenizer.ggml.unknown_token_id"),
            ("pad_token", "tokenizer.ggml.padding_token_id"),
        ];
        let known = names
            .into_iter()
            .filter_map(|(name, key)| Some((name, self.token(key)?)));
        known
            .map(|(name, token)| (name.to_owned(), Json::from(token)))
            .collect()
    }

    fn template(&self) -> Result<String, ScoreError> {
        let found = self.fields.get("tokenizer.chat_template").and_then(as_text);
        found.ok_or_else(|| {
            ScoreError::Template(format!(
                "{} has none; hint: give a template file",
                self.path.display()
            ))
        })
    }
}

fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::F32(x) => Some(f64::from(*x)),
        Value::F64(x) => Some(*x),
        Value::I8(n) => Some(f64::from(*n)),
        Value::I16(n) => Some(f64::from(*n)),
        Value::I32(n) => Some(f64::from(*n)),
        Value::I64(n) => Some(*n as f64),
        Value::U8(n) => Some(f64::from(*n)),
        Value::U16(n) => Some(f64::from(*n)),
        Value::U32(n) => Some(f64::from(*n)),
        Value::U64(n) => Some(*n as f64),
        Value::Array(list) => {
            // One number a layer; one number for all where they agree.
            let numbers: Vec<f64> = list.iter().filter_map(as_number).collect();
            let first = *numbers.first()?;
            (numbers.len() == list.len() && numbers.iter().all(|n| *n == first)).then_some(first)
        }
        Value::Bool(_) | Value::String(_) => None,
    }
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}
