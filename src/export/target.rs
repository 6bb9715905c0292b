//! What the model to be trained makes of a row: its template and tokenizer, asked through one function that
//! `jobs` ties to the scoring room. Export itself knows no template.

use crate::domain::ChatMessage;
use serde::Serialize;
use serde_json::Value;

/// A piece of rendered text and whether the loss counts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Segment {
    /// The text: a token where a tokenizer is given, else a message part.
    pub text: String,
    /// Who wrote it: an owner's word, or `markup`.
    pub owner: String,
    /// The loss counts it.
    pub trained: bool,
}

/// What the template and tokenizer make of one row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measured {
    /// Tokens before the target.
    pub prompt_tokens: u32,
    /// Tokens of the target, the stop token included.
    pub target_tokens: u32,
    /// What the template leaves out or changes, as the end of a sentence about it.
    pub drops: Vec<String>,
    /// What is worth knowing, and keeps no row out.
    pub notes: Vec<String>,
    /// Tokens of the target in order, for shading.
    pub segments: Vec<Segment>,
    /// Texts of the tokens before the target in order, for shading; empty = not asked for.
    pub prompt: Vec<String>,
}

/// Measures one row: prompt, target, tools.
pub type Measure<'a> =
    dyn Fn(&[ChatMessage], &ChatMessage, &[Value]) -> Result<Measured, String> + 'a;

/// The model to be trained.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// Its template marks what the assistant generates.
    pub has_generation_marks: bool,
    /// Asks its template and tokenizer.
    pub measure: &'a Measure<'a>,
}
