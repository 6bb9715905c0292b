//! Names for what has none in the file: short hashes of content, the same on every import.

use std::collections::HashMap;

/// Twelve hex digits of a hash over all parts.
pub(crate) fn mint(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().chars().take(12).collect()
}

/// Tells equal names of one file apart: the second `a` is `a-2`. Equal samples are real samples.
#[derive(Default)]
pub(crate) struct Twins(HashMap<String, u32>);

impl Twins {
    /// The name, or the name with its number.
    pub(crate) fn name(&mut self, name: String) -> String {
        let count = self.0.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 {
            name
        } else {
            format!("{name}-{count}")
        }
    }
}
