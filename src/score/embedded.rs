//! The very small model inside the program, so that everything runs offline at once.
//!
//! It speaks for itself, never for the policy that a log records; every score of it says so.

use super::error::ScoreError;
use super::folder::Files;
use super::weights::{Blob, Weights};
use std::path::{Path, PathBuf};

const FILES: [(&str, &[u8]); 4] = [
    (
        "config.json",
        include_bytes!("../../assets/proxy/config.json"),
    ),
    (
        "tokenizer.json",
        include_bytes!("../../assets/proxy/tokenizer.json"),
    ),
    (
        "tokenizer_config.json",
        include_bytes!("../../assets/proxy/tokenizer_config.json"),
    ),
    (
        "chat_template.jinja",
        include_bytes!("../../assets/proxy/chat_template.jinja"),
    ),
];
const WEIGHTS: &[u8] = include_bytes!("../../assets/proxy/model.safetensors");

/// What the embedded model is called on screen.
pub(super) const NAME: &str = "embedded proxy";

/// The files of the embedded model.
#[derive(Debug)]
pub(super) struct Embedded;

impl Files for Embedded {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, ScoreError> {
        let found = FILES.iter().find(|(file, _)| *file == name);
        Ok(found.map(|(_, bytes)| bytes.to_vec()))
    }

    fn path(&self, name: &str) -> PathBuf {
        Path::new("embedded").join(name)
    }

    fn weights(&self) -> Result<Weights, ScoreError> {
        Weights::open(Blob::Memory(WEIGHTS), &self.path("model.safetensors"))
    }
}
