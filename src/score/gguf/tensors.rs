//! Tensors of a GGUF file, dequantised one at a time.

use super::names::gguf_name;
use crate::score::error::ScoreError;
use crate::score::shape::{Family, Shape};
use crate::score::weights::{malformed, unreadable};
use candle_core::quantized::gguf_file::{Content, Value};
use candle_core::{Device, Tensor};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Rotary frequencies of one head, with room.
const MAX_FREQUENCIES: u64 = 1 << 16;

/// A GGUF file whose header was read.
#[derive(Debug)]
pub(in crate::score) struct GgufTensors {
    path: PathBuf,
    content: Content,
    family: Family,
    /// Rows of queries and keys are paired otherwise than in Hugging Face's files: heads of each.
    paired: Option<(usize, usize)>,
}

impl GgufTensors {
    pub(super) fn open(path: &Path) -> Result<Self, ScoreError> {
        let file = File::open(path).map_err(|e| unreadable(path, &e))?;
        let mut reader = std::io::BufReader::new(file);
        // Candle divides by an alignment that the file names; zero would take the whole program down.
        let read = std::panic::AssertUnwindSafe(|| Content::read(&mut reader));
        let content = std::panic::catch_unwind(read)
            .map_err(|_| malformed(path, "its header cannot be read; the file is damaged"))?
            .map_err(|e| refused(path, &e.to_string()))?;
        Ok(Self {
            path: path.to_owned(),
            content,
            family: Family::Llama,
            paired: None,
        })
    }

    /// Tells what the header's shape says about the order of rows.
    pub(super) fn for_family(mut self, family: Family, shape: &Shape) -> Self {
        self.family = family;
        // llama.cpp turns neighbouring rows for these, so its converter has moved them.
        let moved = matches!(family, Family::Llama | Family::Mistral | Family::SmolLm3);
        self.paired = moved.then_some((shape.heads, shape.kv_heads));
        self
    }

    pub(super) fn fields(&self) -> &HashMap<String, Value> {
        &self.content.metadata
    }

    /// Rows of a tensor by its GGUF name.
    pub(super) fn rows(&self, gguf: &str) -> Option<usize> {
        self.content
            .tensor_infos
            .get(gguf)?
            .shape
            .dims()
            .first()
            .copied()
    }

    pub(super) fn has(&self, gguf: &str) -> bool {
        self.content.tensor_infos.contains_key(gguf)
    }

    /// Divisors of the rotary frequencies, which Llama 3 files carry.
    pub(super) fn divisors(&self) -> Result<Option<Vec<f32>>, ScoreError> {
        let Some(info) = self.content.tensor_infos.get("rope_freqs.weight") else {
            return Ok(None);
        };
        if elements(info.shape.dims()) > MAX_FREQUENCIES {
            return Err(malformed(
                &self.path,
                "rope_freqs.weight has more values than a head",
            ));
        }
        Ok(Some(
            self.dequantised("rope_freqs.weight")?
                .flatten_all()?
                .to_vec1()?,
        ))
    }

    pub(in crate::score) fn shape(&self, name: &str) -> Option<Vec<usize>> {
        let info = self
            .content
            .tensor_infos
            .get(&gguf_name(self.family, name)?)?;
        Some(info.shape.dims().to_vec())
    }

    /// Reads a tensor by its Hugging Face name.
    pub(in crate::score) fn read(&self, name: &str) -> Result<Tensor, ScoreError> {
        let Some(gguf) = gguf_name(self.family, name) else {
            return Err(malformed(&self.path, &format!("no tensor {name}")));
        };
        let tensor = self.dequantised(&gguf)?;
        let heads = match self.paired {
            Some((heads, _)) if name.contains("self_attn.q_proj") => heads,
            Some((_, kv_heads)) if name.contains("self_attn.k_proj") => kv_heads,
            _ => return Ok(tensor),
        };
        unpaired(&tensor, heads)
    }

    fn dequantised(&self, gguf: &str) -> Result<Tensor, ScoreError> {
        let mut file = File::open(&self.path).map_err(|e| unreadable(&self.path, &e))?;
        let tensor = self.content.tensor(&mut file, gguf, &Device::Cpu);
        let tensor = tensor.map_err(|e| refused(&self.path, &format!("tensor {gguf}: {e}")))?;
        Ok(tensor.dequantize(&Device::Cpu)?)
    }

    pub(in crate::score) fn f32_bytes(&self) -> u64 {
        let tensors = self.content.tensor_infos.values();
        let bytes = tensors.map(|t| elements(t.shape.dims()).saturating_mul(4));
        bytes.fold(0, u64::saturating_add)
    }

    /// The type that most weights have: `q4_1`.
    pub(in crate::score) fn quantisation(&self) -> Option<String> {
        let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
        for tensor in self.content.tensor_infos.values() {
            let name = format!("{:?}", tensor.ggml_dtype).to_lowercase();
            let size = sizes.entry(name).or_default();
            *size = size.saturating_add(elements(tensor.shape.dims()));
        }
        sizes
            .into_iter()
            .max_by_key(|(_, n)| *n)
            .map(|(name, _)| name)
    }

    pub(in crate::score) fn hash(&self, hasher: &mut blake3::Hasher) -> Result<(), ScoreError> {
        let file = File::open(&self.path).map_err(|e| unreadable(&self.path, &e))?;
        hasher
            .update_reader(file)
            .map_err(|e| unreadable(&self.path, &e))?;
        Ok(())
    }
}

/// Files may claim any size; a product of them must not overflow.
fn elements(dims: &[usize]) -> u64 {
    dims.iter()
        .fold(1, |product: u64, n| product.saturating_mul(*n as u64))
}

/// Puts rows back that llama.cpp's converter laid out in turning pairs.
fn unpaired(tensor: &Tensor, heads: usize) -> Result<Tensor, ScoreError> {
    let shape = tensor.dims().to_vec();
    let rows = shape.first().copied().unwrap_or(0);
    let width: usize = shape.iter().skip(1).product();
    let pairs = tensor.reshape((heads, rows / heads / 2, 2, width))?;
    Ok(pairs.transpose(1, 2)?.contiguous()?.reshape(shape)?)
}

/// Says which quantisation it is that candle cannot read.
fn refused(path: &Path, why: &str) -> ScoreError {
    let why = why.lines().next().unwrap_or_default();
    let Some(number) = why.strip_prefix("unknown dtype for tensor ") else {
        return malformed(path, why);
    };
    ScoreError::Unsupported {
        what: format!("{}: quantisation {}", path.display(), type_name(number.trim())),
        hint: "F32, F16, BF16, Q4_0 to Q8_1 and Q2_K to Q8_K run here; take such a file of the same model".to_owned(),
    }
}

fn type_name(number: &str) -> String {
    let known = match number {
        "16" => "IQ2_XXS",
        "17" => "IQ2_XS",
        "18" => "IQ3_XXS",
        "19" => "IQ1_S",
        "20" => "IQ4_NL",
        "21" => "IQ3_S",
        "22" => "IQ2_S",
        "23" => "IQ4_XS",
        "29" => "IQ1_M",
        "34" => "TQ1_0",
        "35" => "TQ2_0",
        "39" => "MXFP4",
        _ => return format!("number {number}"),
    };
    known.to_owned()
}
