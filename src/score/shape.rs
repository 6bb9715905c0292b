//! The shape of a decoder, read from config.json and checked before a byte of weights is touched.
//!
//! One description covers all families; what differs between them is data, not code.

use super::error::ScoreError;
use super::rope::{RopeKind, Rotation};
use serde_json::Value;
use std::path::Path;

/// Bounds on what a config may claim; past the largest published models by far.
const MAX_WIDTH: usize = 1 << 17;
const MAX_LAYERS: usize = 1024;
const MAX_VOCAB: usize = 1 << 22;
const MAX_POSITIONS: usize = 1 << 24;

/// Families that the decoder runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Llama,
    Mistral,
    Qwen2,
    Qwen3,
    SmolLm3,
    Phi3,
    Gemma3,
}

impl Family {
    const KNOWN: &'static str = "llama, mistral, qwen2, qwen3, smollm3, phi3, gemma3_text";

    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "llama" => Self::Llama,
            "mistral" => Self::Mistral,
            "qwen2" => Self::Qwen2,
            "qwen3" => Self::Qwen3,
            "smollm3" => Self::SmolLm3,
            "phi3" => Self::Phi3,
            "gemma3" | "gemma3_text" => Self::Gemma3,
            _ => return None,
        })
    }

    /// Reads the family's name from a config or a GGUF header.
    pub(super) fn parse(name: &str) -> Result<Self, ScoreError> {
        Self::from_name(name).ok_or_else(|| ScoreError::Unsupported {
            what: format!("architecture {name:?}"),
            hint: format!(
                "these run here: {}; others can be scored through a server: --model http://HOST:PORT/v1#NAME",
                Self::KNOWN
            ),
        })
    }

    /// Base of the rotation when the config names none.
    pub(super) fn default_theta(self) -> f64 {
        match self {
            Self::SmolLm3 => 2_000_000.0,
            Self::Gemma3 => 1_000_000.0,
            _ => 10_000.0,
        }
    }
}

/// Gate of the feed-forward part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activation {
    Silu,
    GeluTanh,
}

impl Activation {
    pub(super) fn parse(name: &str) -> Result<Self, ScoreError> {
        match name {
            "silu" | "swish" => Ok(Self::Silu),
            "gelu_pytorch_tanh" | "gelu_new" => Ok(Self::GeluTanh),
            other => Err(ScoreError::Unsupported {
                what: format!("activation {other:?}"),
                hint: "silu and gelu_pytorch_tanh run here".to_owned(),
            }),
        }
    }
}

/// What differs from layer to layer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LayerShape {
    /// Sees only so many last positions, itself included.
    pub window: Option<usize>,
    /// Which of the rotations it uses; none for layers without positions.
    pub rotation: Option<usize>,
}

/// The shape of a decoder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    pub family: Family,
    pub vocab: usize,
    pub hidden: usize,
    pub inner: usize,
    pub heads: usize,
    pub kv_heads: usize,
    pub head_dim: usize,
    pub eps: f32,
    pub max_positions: usize,
    pub activation: Activation,
    /// Scores are multiplied by this before softmax.
    pub attention_scale: f32,
    /// Embeddings are multiplied by this.
    pub embedding_scale: Option<f32>,
    /// Norm weights are stored as offsets from one.
    pub norm_offset: bool,
    pub rotations: Vec<Rotation>,
    pub layers: Vec<LayerShape>,
    pub stop_ids: Vec<u32>,
}

impl Shape {
    /// Query heads that share one key/value head.
    pub(super) fn group(&self) -> usize {
        self.heads / self.kv_heads
    }

    /// Keys and values of one token in F32, all layers.
    pub(super) fn kv_bytes_per_token(&self) -> u64 {
        (8 * self.layers.len() * self.kv_heads * self.head_dim.next_multiple_of(8)) as u64
    }

    /// Reads config.json.
    pub(super) fn from_config(path: &Path, config: &Value) -> Result<Self, ScoreError> {
        let reader = Reader { path, config };
        let family = Family::parse(&reader.text("model_type")?)?;
        if family == Family::Gemma3 && config.get("text_config").is_some() {
            let inner = &config["text_config"];
            return Self::from_fields(
                family,
                &Reader {
                    path,
                    config: inner,
                },
            );
        }
        Self::from_fields(family, &reader)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the model computes in F32")]
    fn from_fields(family: Family, r: &Reader<'_>) -> Result<Self, ScoreError> {
        let hidden = r.size("hidden_size", MAX_WIDTH)?;
        let heads = r.size("num_attention_heads", MAX_WIDTH)?;
        let kv_heads = r.size_or("num_key_value_heads", heads, MAX_WIDTH)?;
        let head_dim = match family {
            Family::Qwen3 => r.size_or("head_dim", 128, MAX_WIDTH)?,
            Family::Gemma3 => r.size_or("head_dim", 256, MAX_WIDTH)?,
            _ => r.size_or("head_dim", hidden / heads.max(1), MAX_WIDTH)?,
        };
        let count = r.size("num_hidden_layers", MAX_LAYERS)?;
        let max_positions = r.size("max_position_embeddings", MAX_POSITIONS)?;
        let act = if family == Family::Gemma3 {
            "hidden_activation"
        } else {
            "hidden_act"
        };
        let default_act = if family == Family::Gemma3 {
            "gelu_pytorch_tanh"
        } else {
            "silu"
        };
        let (rotations, local) = r.rotations(family, head_dim, max_positions)?;
        let gemma = family == Family::Gemma3;
        r.refuse_softcap()?;
        let shape = Self {
            family,
            vocab: r.size("vocab_size", MAX_VOCAB)?,
            hidden,
            inner: r.size("intermediate_size", 4 * MAX_WIDTH)?,
            heads,
            kv_heads,
            head_dim,
            eps: r.number("rms_norm_eps").unwrap_or(1e-6) as f32,
            max_positions,
            activation: Activation::parse(r.config[act].as_str().unwrap_or(default_act))?,
            attention_scale: {
                let scalar = r.number("query_pre_attn_scalar").filter(|_| gemma);
                (1.0 / scalar.unwrap_or(head_dim as f64).sqrt()) as f32
            },
            embedding_scale: gemma.then(|| (hidden as f32).sqrt()),
            norm_offset: gemma,
            rotations,
            layers: r.layers(family, count, local)?,
            stop_ids: token_ids(&r.config["eos_token_id"]),
        };
        shape.check(r.path)?;
        Ok(shape)
    }

    pub(super) fn check(&self, path: &Path) -> Result<(), ScoreError> {
        let wrong = |why: String| {
            Err(ScoreError::Malformed {
                path: path.to_owned(),
                why,
            })
        };
        if !self.heads.is_multiple_of(self.kv_heads) {
            return wrong(format!(
                "{} heads do not divide by {} key/value heads",
                self.heads, self.kv_heads
            ));
        }
        if !self.head_dim.is_multiple_of(2) {
            return wrong(format!("head_dim {} is odd", self.head_dim));
        }
        if !(self.eps > 0.0 && self.eps < 1.0) {
            return wrong(format!("rms_norm_eps {} is not between 0 and 1", self.eps));
        }
        Ok(())
    }
}

/// Reads `7` or `[7, 9]`.
pub(super) fn token_ids(value: &Value) -> Vec<u32> {
    let one = |v: &Value| v.as_u64().and_then(|id| u32::try_from(id).ok());
    match value {
        Value::Array(ids) => ids.iter().filter_map(one).collect(),
        other => one(other).into_iter().collect(),
    }
}

struct Reader<'a> {
    path: &'a Path,
    config: &'a Value,
}

impl Reader<'_> {
    fn wrong<T>(&self, why: String) -> Result<T, ScoreError> {
        Err(ScoreError::Malformed {
            path: self.path.to_owned(),
            why,
        })
    }

    fn text(&self, key: &str) -> Result<String, ScoreError> {
        match self.config[key].as_str() {
            Some(text) => Ok(text.to_owned()),
            None => self.wrong(format!("no {key}")),
        }
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.config[key].as_f64()
    }

    fn size(&self, key: &str, most: usize) -> Result<usize, ScoreError> {
        match self.config[key]
            .as_u64()
            .and_then(|n| usize::try_from(n).ok())
        {
            Some(n) if (1..=most).contains(&n) => Ok(n),
            Some(n) => self.wrong(format!("{key} {n} is not between 1 and {most}")),
            None => self.wrong(format!("{key} is missing or no whole number")),
        }
    }

    fn size_or(&self, key: &str, default: usize, most: usize) -> Result<usize, ScoreError> {
        if self.config[key].is_null() {
            Ok(default)
        } else {
            self.size(key, most)
        }
    }

    fn refuse_softcap(&self) -> Result<(), ScoreError> {
        for key in ["final_logit_softcapping", "attn_logit_softcapping"] {
            if !self.config[key].is_null() {
                return Err(ScoreError::Unsupported {
                    what: format!("{key} in {}", self.path.display()),
                    hint: "score this model through a server: --model http://HOST:PORT/v1#NAME"
                        .to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Returns the rotations and, where windowed layers have their own, its index.
    fn rotations(
        &self,
        family: Family,
        head_dim: usize,
        max_positions: usize,
    ) -> Result<(Vec<Rotation>, usize), ScoreError> {
        let rope = match &self.config["rope_parameters"] {
            Value::Null => &self.config["rope_scaling"],
            new => new,
        };
        let theta = self.number("rope_theta");
        let partial = self.number("partial_rotary_factor");
        let read = |rope: &Value, theta: f64| -> Result<Rotation, ScoreError> {
            let kind = RopeKind::parse(rope, max_positions)?;
            let theta = rope["rope_theta"].as_f64().unwrap_or(theta);
            let part = rope["partial_rotary_factor"]
                .as_f64()
                .or(partial)
                .unwrap_or(1.0);
            Rotation::new(kind, theta, head_dim, part).map_err(|why| ScoreError::Malformed {
                path: self.path.to_owned(),
                why,
            })
        };
        let theta = theta.unwrap_or(family.default_theta());
        if family != Family::Gemma3 {
            return Ok((vec![read(rope, theta)?], 0));
        }
        let local_theta = self.number("rope_local_base_freq").unwrap_or(10_000.0);
        // New configs name both kinds of layer; in old ones the scaling is the global layers'.
        let (full, local) = match rope.get("full_attention") {
            Some(full) => (full, &rope["sliding_attention"]),
            None => (rope, &Value::Null),
        };
        Ok((vec![read(full, theta)?, read(local, local_theta)?], 1))
    }

    fn layers(
        &self,
        family: Family,
        count: usize,
        local: usize,
    ) -> Result<Vec<LayerShape>, ScoreError> {
        let window = self.window(family)?;
        let kinds = self.config["layer_types"].as_array();
        if kinds.is_some_and(|k| k.len() < count) {
            return self.wrong(format!("layer_types has fewer than {count} entries"));
        }
        let layer = |i: usize| {
            let slides = match kinds {
                Some(kinds) => kinds[i] == "sliding_attention",
                None => self.slides(family, i),
            };
            let rotation = if slides { local } else { 0 };
            LayerShape {
                window: window.filter(|_| slides),
                rotation: self.has_rope(family, i).then_some(rotation),
            }
        };
        Ok((0..count).map(layer).collect())
    }

    fn window(&self, family: Family) -> Result<Option<usize>, ScoreError> {
        let used = self.config["use_sliding_window"].as_bool();
        let optional = matches!(family, Family::Qwen2 | Family::Qwen3 | Family::SmolLm3);
        if self.config["sliding_window"].is_null() || (optional && used != Some(true)) {
            return Ok(None);
        }
        self.size("sliding_window", MAX_POSITIONS).map(Some)
    }

    /// Which layers slide where the config does not list them.
    fn slides(&self, family: Family, layer: usize) -> bool {
        match family {
            Family::Mistral | Family::Phi3 => true,
            Family::Qwen2 | Family::Qwen3 => {
                layer as f64 >= self.number("max_window_layers").unwrap_or(28.0)
            }
            Family::Gemma3 => {
                let pattern = self.config["sliding_window_pattern"].as_u64().unwrap_or(6);
                pattern > 0 && !(layer as u64 + 1).is_multiple_of(pattern)
            }
            Family::SmolLm3 => !self.has_rope(family, layer),
            Family::Llama => false,
        }
    }

    fn has_rope(&self, family: Family, layer: usize) -> bool {
        if family != Family::SmolLm3 {
            return true;
        }
        match self.config["no_rope_layers"].as_array() {
            // The list says 1 where a layer does rotate.
            Some(list) => list.get(layer).and_then(Value::as_u64) != Some(0),
            None => {
                let every = self.config["no_rope_layer_interval"].as_u64().unwrap_or(4);
                every == 0 || !(layer as u64 + 1).is_multiple_of(every)
            }
        }
    }
}
