//! The part of a server's answer that is needed, read straight into its shape, every list bounded.
//!
//! All else is passed over unread: as a tree of values, JSON takes forty times the room of its text.

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::marker::PhantomData;

/// Most answers in one: more than a request has prompts.
const MAX_CHOICES: usize = 64;
/// Most places of one prompt: more than any model reads.
const MAX_PLACES: usize = 1 << 21;

/// What a completions server answers.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Answer {
    pub choices: List<Choice, MAX_CHOICES>,
    pub usage: Option<Usage>,
}

/// Counts of the whole request.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    pub prompt_tokens: Option<u64>,
}

/// The answer to one prompt.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    pub index: Option<u64>,
    pub logprobs: Option<LogProbs>,
}

/// Lists with an item for each token of the prompt, and perhaps of what was generated.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LogProbs {
    pub token_logprobs: Option<List<Option<f64>, MAX_PLACES>>,
    pub tokens: Option<List<Option<String>, MAX_PLACES>>,
    pub top_logprobs: Option<List<Option<Top>, MAX_PLACES>>,
}

/// A list of at most `MAX` items.
#[derive(Debug)]
pub(super) struct List<T, const MAX: usize>(pub Vec<T>);

/// The likeliest of the tokens that are told of one place.
#[derive(Debug)]
pub(super) struct Top(pub Option<String>);

impl<T, const MAX: usize> Default for List<T, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for List<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(Items(PhantomData))
    }
}

struct Items<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for Items<T, MAX> {
    type Value = List<T, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MAX}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut out = Vec::new();
        while let Some(item) = items.next_element()? {
            if out.len() == MAX {
                return Err(A::Error::invalid_length(MAX + 1, &self));
            }
            out.push(item);
        }
        Ok(List(out))
    }
}

impl<'de> Deserialize<'de> for Top {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Likeliest)
    }
}

struct Likeliest;

impl<'de> Visitor<'de> for Likeliest {
    type Value = Top;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tokens with their log-probs")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut told: A) -> Result<Top, A::Error> {
        let mut best: Option<(String, f64)> = None;
        while let Some((token, logp)) = told.next_entry::<String, Option<f64>>()? {
            let logp = logp.unwrap_or(f64::NEG_INFINITY);
            if best.as_ref().is_none_or(|(_, other)| logp > *other) {
                best = Some((token, logp));
            }
        }
        Ok(Top(best.map(|(token, _)| token)))
    }
}
