//! A Hugging Face folder, or the same files inside the program: config, tokenizer, template, weights.

use super::error::ScoreError;
use super::shape::{Shape, token_ids};
use super::template::Template;
use super::tokens::Tokens;
use super::weights::{Blob, Weights, unreadable};
use serde_json::{Map, Value};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of a JSON or template file; the largest tokenizer.json we know has 33 MB.
const MAX_JSON_BYTES: u64 = 256 << 20;

/// Everything a scorer is made from.
#[derive(Debug)]
pub(super) struct Parts {
    pub name: String,
    pub is_proxy: bool,
    pub shape: Shape,
    pub language: Language,
    pub weights: Weights,
}

impl Parts {
    /// Hash of weights and shape: two folders with the same weights and another config are two models.
    pub(super) fn weights_hash(&self) -> Result<blake3::Hash, ScoreError> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{:?}", self.shape).as_bytes());
        self.weights.hash(&mut hasher)?;
        Ok(hasher.finalize())
    }
}

/// How messages become tokens.
#[derive(Debug)]
pub(super) struct Language {
    pub tokens: Tokens,
    pub template: Template,
}

/// Where a model's small files come from.
pub(super) trait Files {
    /// Returns a file's bytes, or nothing when there is no such file.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, ScoreError>;
    /// What messages call it.
    fn path(&self, name: &str) -> PathBuf;
    /// Opens the weights.
    fn weights(&self) -> Result<Weights, ScoreError>;
}

/// A folder on disk.
#[derive(Debug)]
pub(super) struct Folder(pub PathBuf);

impl Files for Folder {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, ScoreError> {
        let path = self.0.join(name);
        if path.is_file() {
            read_bounded(&path).map(Some)
        } else {
            Ok(None)
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn weights(&self) -> Result<Weights, ScoreError> {
        let index = self.0.join("model.safetensors.index.json");
        let single = self.0.join("model.safetensors");
        if single.is_file() {
            Weights::open(Blob::File(single.clone()), &single)
        } else if index.is_file() {
            Weights::open_sharded(&self.0, &index)
        } else {
            Err(ScoreError::File {
                path: single,
                why: "no weights".to_owned(),
                hint: "the folder needs model.safetensors, or model.safetensors.index.json with its shards".to_owned(),
            })
        }
    }
}

/// Reads a model from its files. `template` replaces the model's own.
pub(super) fn open(
    files: &dyn Files,
    name: &str,
    template: Option<&str>,
) -> Result<Parts, ScoreError> {
    let config = required_json(files, "config.json")?;
    let shape = Shape::from_config(&files.path("config.json"), &config)?;
    Ok(Parts {
        name: name.to_owned(),
        is_proxy: false,
        language: language(files, template, &shape.stop_ids, Some(shape.vocab))?,
        weights: files.weights()?,
        shape,
    })
}

/// Reads tokenizer and template alone, for a model that runs elsewhere.
pub(super) fn open_language(
    files: &dyn Files,
    template: Option<&str>,
) -> Result<Language, ScoreError> {
    let config = json(files, "config.json")?.unwrap_or(Value::Null);
    let vocab = config["vocab_size"]
        .as_u64()
        .and_then(|n| usize::try_from(n).ok());
    language(files, template, &token_ids(&config["eos_token_id"]), vocab)
}

fn language(
    files: &dyn Files,
    template: Option<&str>,
    stop_ids: &[u32],
    vocab: Option<usize>,
) -> Result<Language, ScoreError> {
    let settings = json(files, "tokenizer_config.json")?.unwrap_or(Value::Null);
    let generation = json(files, "generation_config.json")?.unwrap_or(Value::Null);
    let stop_ids = [stop_ids, &token_ids(&generation["eos_token_id"])].concat();
    let special = special_tokens(files, &settings)?;
    let (source, tool_source) = match template {
        Some(source) => (source.to_owned(), None),
        None => chat_template(files, &settings)?,
    };
    let path = files.path("tokenizer.json");
    let Some(bytes) = files.read("tokenizer.json")? else {
        return Err(ScoreError::File {
            path,
            why: "no such file".to_owned(),
            hint: "save the tokenizer with transformers' save_pretrained; it writes tokenizer.json"
                .to_owned(),
        });
    };
    let eos = special.get("eos_token").and_then(Value::as_str);
    Ok(Language {
        tokens: Tokens::from_json(&path, &bytes, &settings, eos, &stop_ids, vocab)?,
        template: Template::new(&source, tool_source.as_deref(), special)?,
    })
}

/// Finds the template, in its own file or in the tokenizer's config, and the tool-use variant.
fn chat_template(
    files: &dyn Files,
    settings: &Value,
) -> Result<(String, Option<String>), ScoreError> {
    let file = |name: &str| -> Result<Option<String>, ScoreError> {
        files
            .read(name)?
            .map(|bytes| text(&bytes, &files.path(name)))
            .transpose()
    };
    let inner = match json(files, "chat_template.json")? {
        Some(own) => own["chat_template"].clone(),
        None => settings["chat_template"].clone(),
    };
    let by_name = |name: &str| match &inner {
        Value::Array(list) => {
            let found = list.iter().find(|t| t["name"] == name);
            found
                .and_then(|t| t["template"].as_str())
                .map(str::to_owned)
        }
        Value::Object(map) => map.get(name).and_then(Value::as_str).map(str::to_owned),
        Value::String(text) if name == "default" => Some(text.clone()),
        _ => None,
    };
    let own = file("chat_template.jinja")?.or_else(|| by_name("default"));
    let tools = file("additional_chat_templates/tool_use.jinja")?.or_else(|| by_name("tool_use"));
    match (own, tools) {
        (Some(own), tools) => Ok((own, tools)),
        (None, Some(tools)) => Ok((tools, None)),
        (None, None) => Err(ScoreError::Template(format!(
            "{} has none; a base model cannot be scored on chat messages without one; hint: give a template file",
            files.path("chat_template.jinja").display()
        ))),
    }
}

/// Reads a template that the user gives.
pub(super) fn read_template(path: &Path) -> Result<String, ScoreError> {
    text(&read_bounded(path)?, path)
}

/// The special tokens that templates may name, as plain text.
fn special_tokens(files: &dyn Files, settings: &Value) -> Result<Map<String, Value>, ScoreError> {
    let names = [
        "bos_token",
        "eos_token",
        "unk_token",
        "sep_token",
        "pad_token",
        "cls_token",
        "mask_token",
    ];
    let map = json(files, "special_tokens_map.json")?.unwrap_or(Value::Null);
    let mut out = Map::new();
    for name in names {
        let content = |v: &Value| v.as_str().or(v["content"].as_str()).map(str::to_owned);
        if let Some(token) = content(&settings[name]).or_else(|| content(&map[name])) {
            out.insert(name.to_owned(), Value::String(token));
        }
    }
    Ok(out)
}

fn json(files: &dyn Files, name: &str) -> Result<Option<Value>, ScoreError> {
    let Some(bytes) = files.read(name)? else {
        return Ok(None);
    };
    let parsed = serde_json::from_slice(&bytes);
    parsed.map(Some).map_err(|e| ScoreError::Malformed {
        path: files.path(name),
        why: e.to_string(),
    })
}

fn required_json(files: &dyn Files, name: &str) -> Result<Value, ScoreError> {
    json(files, name)?.ok_or_else(|| ScoreError::File {
        path: files.path(name),
        why: "no such file".to_owned(),
        hint: "a model folder holds config.json, tokenizer.json and *.safetensors".to_owned(),
    })
}

fn text(bytes: &[u8], path: &Path) -> Result<String, ScoreError> {
    let text = std::str::from_utf8(bytes);
    text.map(str::to_owned).map_err(|e| ScoreError::Malformed {
        path: path.to_owned(),
        why: e.to_string(),
    })
}

/// Reads a JSON file of bounded size.
pub(super) fn read_json(path: &Path) -> Result<Value, ScoreError> {
    let bytes = read_bounded(path)?;
    let parsed = serde_json::from_slice(&bytes);
    parsed.map_err(|e| ScoreError::Malformed {
        path: path.to_owned(),
        why: e.to_string(),
    })
}

fn read_bounded(path: &Path) -> Result<Vec<u8>, ScoreError> {
    let file = std::fs::File::open(path).map_err(|e| unreadable(path, &e))?;
    let mut bytes = Vec::new();
    let read = file.take(MAX_JSON_BYTES + 1).read_to_end(&mut bytes);
    let read = read.map_err(|e| unreadable(path, &e))?;
    if read as u64 > MAX_JSON_BYTES {
        let why = format!("more than {} MiB", MAX_JSON_BYTES >> 20);
        return Err(ScoreError::Malformed {
            path: path.to_owned(),
            why,
        });
    }
    Ok(bytes)
}
