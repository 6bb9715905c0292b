//! Weights by the names that Hugging Face gives them, from safetensors or from GGUF, always checked.
//!
//! Tensors are read one at a time, so a model is never in memory twice.

mod shards;

pub(super) use shards::Blob;

use super::error::ScoreError;
use super::gguf::GgufTensors;
use candle_core::Tensor;
use shards::Shards;
use std::path::{Path, PathBuf};

/// All tensors of a model.
#[derive(Debug)]
pub(super) struct Weights {
    source: Source,
    origin: PathBuf,
}

#[derive(Debug)]
enum Source {
    Shards(Shards),
    Gguf(GgufTensors),
}

impl Weights {
    /// Opens one safetensors file.
    pub(super) fn open(blob: Blob, origin: &Path) -> Result<Self, ScoreError> {
        let source = Source::Shards(Shards::open(blob, origin)?);
        Ok(Self {
            source,
            origin: origin.to_owned(),
        })
    }

    /// Opens every shard that an index names.
    pub(super) fn open_sharded(folder: &Path, index: &Path) -> Result<Self, ScoreError> {
        let source = Source::Shards(Shards::open_sharded(folder, index)?);
        Ok(Self {
            source,
            origin: folder.to_owned(),
        })
    }

    /// Takes the tensors of a GGUF file.
    pub(super) fn from_gguf(tensors: GgufTensors, origin: &Path) -> Self {
        Self {
            source: Source::Gguf(tensors),
            origin: origin.to_owned(),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.shape(name).is_some()
    }

    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        match &self.source {
            Source::Shards(shards) => shards.shape(name),
            Source::Gguf(tensors) => tensors.shape(name),
        }
    }

    /// Bytes of all tensors once they are F32.
    pub(super) fn f32_bytes(&self) -> u64 {
        match &self.source {
            Source::Shards(shards) => shards.f32_bytes(),
            Source::Gguf(tensors) => tensors.f32_bytes(),
        }
    }

    /// What the weights were stored as, where that is not plain floats.
    pub(super) fn quantisation(&self) -> Option<String> {
        match &self.source {
            Source::Shards(_) => None,
            Source::Gguf(tensors) => tensors.quantisation(),
        }
    }

    /// Reads a tensor as F32, checks its shape and that every value is finite.
    pub(super) fn get(&self, name: &str, shape: &[usize]) -> Result<Tensor, ScoreError> {
        let Some(stored) = self.shape(name) else {
            return Err(malformed(&self.origin, &format!("no tensor {name}")));
        };
        if stored != shape {
            let why = format!("tensor {name} is {stored:?}, the model's config asks for {shape:?}");
            return Err(malformed(&self.origin, &why));
        }
        let tensor = match &self.source {
            Source::Shards(shards) => shards.read(name)?,
            Source::Gguf(tensors) => tensors.read(name)?,
        };
        // A sum is not finite when a value is not; only an enormous one overflows, so look twice.
        let sum = tensor.abs()?.sum_all()?.to_scalar::<f32>()?;
        if !sum.is_finite() && !all_finite(&tensor)? {
            let why = format!("tensor {name} holds NaN or infinity; fetch the model again");
            return Err(malformed(&self.origin, &why));
        }
        Ok(tensor)
    }

    /// Hashes every byte of the weights files.
    pub(super) fn hash(&self, hasher: &mut blake3::Hasher) -> Result<(), ScoreError> {
        match &self.source {
            Source::Shards(shards) => shards.hash(hasher),
            Source::Gguf(tensors) => tensors.hash(hasher),
        }
    }
}

fn all_finite(tensor: &Tensor) -> Result<bool, ScoreError> {
    Ok(tensor
        .flatten_all()?
        .to_vec1::<f32>()?
        .iter()
        .all(|x| x.is_finite()))
}

pub(super) fn malformed(path: &Path, why: &str) -> ScoreError {
    ScoreError::Malformed {
        path: path.to_owned(),
        why: why.to_owned(),
    }
}

pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> ScoreError {
    ScoreError::File {
        path: path.to_owned(),
        why: error.to_string(),
        hint: "a model is a folder with config.json, tokenizer.json and *.safetensors, or one GGUF file".to_owned(),
    }
}
