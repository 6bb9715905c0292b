//! Which model to score with, and how.

use super::error::ScoreError;
use std::fmt;
use std::path::{Path, PathBuf};

/// Where the model comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelSource {
    /// The very small model inside the program.
    Embedded,
    /// A Hugging Face folder: config.json, tokenizer.json, safetensors.
    Folder(PathBuf),
    /// One GGUF file.
    Gguf(PathBuf),
    /// A model behind an OpenAI-compatible completions server that echoes log-probs.
    Server {
        /// Base address, up to and including `/v1`.
        url: String,
        /// Model name there.
        name: String,
    },
}

impl ModelSource {
    /// Reads what people type after `--model`; nothing means the embedded model.
    pub fn parse(text: Option<&str>) -> Result<Self, ScoreError> {
        let Some(text) = text else {
            return Ok(Self::Embedded);
        };
        if text.starts_with("http://") || text.starts_with("https://") {
            return Self::parse_server(text);
        }
        let path = Path::new(text);
        if path.is_dir() {
            return Ok(Self::Folder(path.to_owned()));
        }
        if path.is_file() {
            return Ok(Self::Gguf(path.to_owned()));
        }
        Err(ScoreError::File {
            path: path.to_owned(),
            why: "no such file or folder".to_owned(),
            hint: "name a Hugging Face folder, a GGUF file or http://HOST:PORT/v1#NAME".to_owned(),
        })
    }

    fn parse_server(text: &str) -> Result<Self, ScoreError> {
        match text.split_once('#') {
            Some((url, name)) if !name.is_empty() => Ok(Self::Server {
                url: url.trim_end_matches('/').to_owned(),
                name: name.to_owned(),
            }),
            _ => Err(ScoreError::Server {
                url: text.to_owned(),
                why: "no model name; write http://HOST:PORT/v1#NAME".to_owned(),
            }),
        }
    }
}

/// What the model is called on screen.
impl fmt::Display for ModelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("embedded proxy"),
            Self::Folder(path) | Self::Gguf(path) => {
                let name = path.file_name().unwrap_or(path.as_os_str());
                f.write_str(&name.to_string_lossy())
            }
            Self::Server { url, name } => write!(f, "{name} at {url}"),
        }
    }
}

/// Where to compute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// A GPU where this build and this machine have one, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// A CUDA card by number.
    Cuda(usize),
    /// Apple's GPU.
    Metal,
}

impl DeviceChoice {
    /// Reads `auto`, `cpu`, `cuda`, `cuda:N` or `metal`.
    pub fn parse(text: &str) -> Result<Self, ScoreError> {
        let wrong = || ScoreError::Device {
            device: text.to_owned(),
            why: "not one of auto, cpu, cuda:N, metal".to_owned(),
        };
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            "metal" => Ok(Self::Metal),
            other => {
                let number = other.strip_prefix("cuda:").ok_or_else(wrong)?;
                number.parse().map(Self::Cuda).map_err(|_| wrong())
            }
        }
    }
}

/// How exactly to compute. Everything but `F32` is marked in the binding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Precision {
    /// F32 on the CPU, the weights' own 16 bits on a GPU.
    #[default]
    Auto,
    /// The reference.
    F32,
    /// 16 bits; sums and log-softmax stay in F32. On a CPU it saves memory, not time.
    Bf16,
    /// 16 bits; sums and log-softmax stay in F32.
    F16,
    /// The CPU's fast mode: matrix products of 8 bits, all else F32. Approximate.
    Int8,
}

impl Precision {
    /// Reads `auto`, `f32`, `bf16`, `f16` or `int8`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Self::Auto),
            "f32" => Some(Self::F32),
            "bf16" => Some(Self::Bf16),
            "f16" => Some(Self::F16),
            "int8" => Some(Self::Int8),
            _ => None,
        }
    }
}

/// A secret; it is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(pub String);

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// How to score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Where to compute.
    pub device: DeviceChoice,
    /// How exactly to compute.
    pub precision: Precision,
    /// Use this chat template file instead of the model's own; it changes the binding.
    pub template: Option<PathBuf>,
    /// Folder or GGUF file with the tokenizer and the chat template of a server's model.
    pub tokenizer: Option<PathBuf>,
    /// Sent to a scoring server as a bearer token.
    pub api_key: Option<ApiKey>,
    /// Prompt tokens in one pass; smaller needs less memory, results stay the same.
    pub chunk: usize,
    /// Bound on weights, prefix cache and working memory together; 0 = what the machine has free.
    pub max_memory_mib: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            device: DeviceChoice::Auto,
            precision: Precision::Auto,
            template: None,
            tokenizer: None,
            api_key: None,
            chunk: 512,
            max_memory_mib: 0,
        }
    }
}
