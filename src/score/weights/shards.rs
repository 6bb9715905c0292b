//! Safetensors files, one or many shards, checked against what their headers claim.

use super::{malformed, unreadable};
use crate::score::error::ScoreError;
use candle_core::{DType, Device, Tensor};
use safetensors::Dtype;
use safetensors::tensor::Metadata;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes of a header; the safetensors format's own limit.
const MAX_HEADER: u64 = 100_000_000;

/// Where the bytes are.
#[derive(Debug, Clone)]
pub(in crate::score) enum Blob {
    File(PathBuf),
    Memory(&'static [u8]),
}

#[derive(Debug)]
struct Entry {
    shard: usize,
    dtype: Dtype,
    shape: Vec<usize>,
    start: u64,
    bytes: usize,
}

/// All tensors of all shards by name.
#[derive(Debug)]
pub(super) struct Shards {
    shards: Vec<Blob>,
    entries: BTreeMap<String, Entry>,
    origin: PathBuf,
}

impl Shards {
    /// Opens one file.
    pub(super) fn open(blob: Blob, origin: &Path) -> Result<Self, ScoreError> {
        let mut shards = Self {
            shards: Vec::new(),
            entries: BTreeMap::new(),
            origin: origin.to_owned(),
        };
        shards.add(blob)?;
        Ok(shards)
    }

    /// Opens every shard that the index names, and checks that the shards hold what it promises.
    pub(super) fn open_sharded(folder: &Path, index: &Path) -> Result<Self, ScoreError> {
        let json = crate::score::folder::read_json(index)?;
        let Some(map) = json["weight_map"].as_object() else {
            return Err(malformed(index, "no weight_map"));
        };
        let mut names: Vec<&str> = map.values().filter_map(|v| v.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let mut shards = Self {
            shards: Vec::new(),
            entries: BTreeMap::new(),
            origin: folder.to_owned(),
        };
        for name in names {
            let is_plain = Path::new(name).components().count() == 1 && !name.starts_with("..");
            if !is_plain {
                return Err(malformed(
                    index,
                    &format!("shard name {name:?} leaves the folder"),
                ));
            }
            shards.add(Blob::File(folder.join(name)))?;
        }
        match map.keys().find(|name| !shards.entries.contains_key(*name)) {
            Some(name) => Err(malformed(index, &format!("tensor {name} is in no shard"))),
            None => Ok(shards),
        }
    }

    fn add(&mut self, blob: Blob) -> Result<(), ScoreError> {
        let path = match &blob {
            Blob::File(path) => path.clone(),
            Blob::Memory(_) => self.origin.clone(),
        };
        let (metadata, data_start) = read_header(&blob, &path)?;
        for (name, info) in metadata.tensors() {
            let entry = Entry {
                shard: self.shards.len(),
                dtype: info.dtype,
                shape: info.shape.clone(),
                start: data_start + info.data_offsets.0 as u64,
                bytes: info.data_offsets.1 - info.data_offsets.0,
            };
            if self.entries.insert(name.clone(), entry).is_some() {
                return Err(malformed(
                    &path,
                    &format!("tensor {name} stands in two shards"),
                ));
            }
        }
        self.shards.push(blob);
        Ok(())
    }

    /// Bytes of all tensors once they are F32.
    pub(super) fn f32_bytes(&self) -> u64 {
        let elements = |e: &Entry| e.shape.iter().map(|n| *n as u64).product::<u64>();
        self.entries.values().map(|e| 4 * elements(e)).sum()
    }

    pub(super) fn shape(&self, name: &str) -> Option<Vec<usize>> {
        self.entries.get(name).map(|e| e.shape.clone())
    }

    /// Reads a tensor as F32.
    pub(super) fn read(&self, name: &str) -> Result<Tensor, ScoreError> {
        let Some(entry) = self.entries.get(name) else {
            return Err(malformed(&self.origin, &format!("no tensor {name}")));
        };
        let kind = candle_dtype(entry.dtype, name)?;
        let bytes = read_range(&self.shards[entry.shard], entry.start, entry.bytes)?;
        let tensor = Tensor::from_raw_buffer(&bytes, kind, &entry.shape, &Device::Cpu)?;
        Ok(tensor.to_dtype(DType::F32)?)
    }

    /// Hash of every byte of the weights files.
    pub(super) fn hash(&self, hasher: &mut blake3::Hasher) -> Result<(), ScoreError> {
        for shard in &self.shards {
            match shard {
                Blob::Memory(bytes) => {
                    hasher.update(bytes);
                }
                Blob::File(path) => {
                    let file = File::open(path).map_err(|e| unreadable(path, &e))?;
                    hasher
                        .update_reader(file)
                        .map_err(|e| unreadable(path, &e))?;
                }
            }
        }
        Ok(())
    }
}

fn candle_dtype(dtype: Dtype, name: &str) -> Result<DType, ScoreError> {
    match dtype {
        Dtype::F32 => Ok(DType::F32),
        Dtype::F16 => Ok(DType::F16),
        Dtype::BF16 => Ok(DType::BF16),
        Dtype::F64 => Ok(DType::F64),
        other => Err(ScoreError::Unsupported {
            what: format!("tensor {name} of type {other:?}"),
            hint:
                "F32, F16 and BF16 safetensors run here; take the unquantised model or a GGUF file"
                    .to_owned(),
        }),
    }
}

fn read_header(blob: &Blob, path: &Path) -> Result<(Metadata, u64), ScoreError> {
    let total = match blob {
        Blob::Memory(bytes) => bytes.len() as u64,
        Blob::File(path) => {
            let file = File::open(path).map_err(|e| unreadable(path, &e))?;
            file.metadata().map_err(|e| unreadable(path, &e))?.len()
        }
    };
    let too_short = || malformed(path, "not a safetensors file: it is too short");
    if total < 8 {
        return Err(too_short());
    }
    let length = read_range(blob, 0, 8)?;
    let length = length
        .try_into()
        .map(u64::from_le_bytes)
        .map_err(|_| too_short())?;
    if length > MAX_HEADER || length > total - 8 {
        return Err(malformed(
            path,
            &format!("header claims {length} bytes of {total}"),
        ));
    }
    let size = usize::try_from(length).map_err(|_| too_short())?;
    let header = read_range(blob, 8, size)?;
    let metadata: Metadata =
        serde_json::from_slice(&header).map_err(|e| malformed(path, &format!("header: {e}")))?;
    let wanted = 8 + length + metadata.data_len() as u64;
    if wanted != total {
        return Err(malformed(
            path,
            &format!("{total} bytes, its header describes {wanted}; the file is cut or damaged"),
        ));
    }
    Ok((metadata, 8 + length))
}

fn read_range(blob: &Blob, start: u64, bytes: usize) -> Result<Vec<u8>, ScoreError> {
    match blob {
        Blob::Memory(all) => {
            let start = usize::try_from(start).unwrap_or(usize::MAX);
            let part = start.checked_add(bytes).and_then(|end| all.get(start..end));
            part.map(<[u8]>::to_vec)
                .ok_or_else(|| malformed(Path::new("embedded model"), "it is cut"))
        }
        Blob::File(path) => {
            let mut file = File::open(path).map_err(|e| unreadable(path, &e))?;
            file.seek(SeekFrom::Start(start))
                .map_err(|e| unreadable(path, &e))?;
            let mut out = vec![0; bytes];
            file.read_exact(&mut out)
                .map_err(|e| unreadable(path, &e))?;
            Ok(out)
        }
    }
}
