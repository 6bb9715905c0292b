//! The tokenizer: text to numbers, always prompt and action together.

use super::error::ScoreError;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use tokenizers::{AddedToken, Tokenizer};

/// Text as tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Encoded {
    pub ids: Vec<u32>,
    /// Bytes of the text that each token covers.
    pub spans: Vec<Range<usize>>,
}

/// A tokenizer and the tokens that end a turn.
#[derive(Debug)]
pub(super) struct Tokens {
    tokenizer: Tokenizer,
    stops: BTreeSet<u32>,
    special: BTreeSet<u32>,
    hash: blake3::Hash,
    vocab: usize,
}

impl Tokens {
    /// Reads tokenizer.json, with what tokenizer_config.json adds to it.
    pub(super) fn from_json(
        path: &Path,
        bytes: &[u8],
        settings: &Value,
        eos: Option<&str>,
        stop_ids: &[u32],
        vocab: Option<usize>,
    ) -> Result<Self, ScoreError> {
        let wrong = |why: String| ScoreError::Malformed {
            path: path.to_owned(),
            why,
        };
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|e| wrong(e.to_string()))?;
        add_missing(&mut tokenizer, settings).map_err(wrong)?;
        let hash = blake3::Hasher::new()
            .update(bytes)
            .update(settings["added_tokens_decoder"].to_string().as_bytes())
            .finalize();
        Self::new(tokenizer, hash, eos, stop_ids, vocab).map_err(wrong)
    }

    /// Wraps a tokenizer that is complete.
    pub(super) fn new(
        mut tokenizer: Tokenizer,
        hash: blake3::Hash,
        eos: Option<&str>,
        stop_ids: &[u32],
        vocab: Option<usize>,
    ) -> Result<Self, String> {
        // A length limit stored with the tokenizer would cut conversations silently.
        tokenizer.with_truncation(None).map_err(|e| e.to_string())?;
        tokenizer.with_padding(None);
        let special = tokenizer.get_added_tokens_decoder();
        let special = special
            .iter()
            .filter(|(_, t)| t.special)
            .map(|(id, _)| *id)
            .collect();
        let mut stops: BTreeSet<u32> = stop_ids.iter().copied().collect();
        stops.extend(eos.and_then(|eos| tokenizer.token_to_id(eos)));
        Ok(Self {
            tokenizer,
            stops,
            special,
            hash,
            vocab: vocab.unwrap_or(usize::MAX),
        })
    }

    pub(super) fn hash(&self) -> blake3::Hash {
        self.hash
    }

    /// Tokenises rendered text; nothing is added, nothing is cut.
    pub(super) fn encode(&self, text: &str) -> Result<Encoded, ScoreError> {
        let encoding = self.tokenizer.encode(text, false);
        let encoding = encoding
            .map_err(|e| ScoreError::Action(format!("the tokenizer refuses the text: {e}")))?;
        let ids = encoding.get_ids().to_vec();
        if let Some(id) = ids.iter().find(|id| **id as usize >= self.vocab) {
            let token = self.tokenizer.id_to_token(*id).unwrap_or_default();
            let why = format!(
                "token {token:?} ({id}) is outside the model's vocabulary of {}; tokenizer and weights do not belong together",
                self.vocab
            );
            return Err(ScoreError::Action(why));
        }
        let spans = encoding.get_offsets().iter().map(|(a, b)| *a..*b).collect();
        Ok(Encoded { ids, spans })
    }

    /// Position of the token that ends the turn, if one does.
    pub(super) fn stop_at(&self, ids: &[u32]) -> Option<usize> {
        let last = |set: &BTreeSet<u32>| ids.iter().rposition(|id| set.contains(id));
        last(&self.stops).or_else(|| last(&self.special))
    }
}

/// Adds the tokens that only tokenizer_config.json lists; transformers does the same.
fn add_missing(tokenizer: &mut Tokenizer, settings: &Value) -> Result<(), String> {
    let Some(listed) = settings["added_tokens_decoder"].as_object() else {
        return Ok(());
    };
    let mut listed: Vec<(u32, &Value)> = listed
        .iter()
        .filter_map(|(id, token)| Some((id.parse().ok()?, token)))
        .collect();
    listed.sort_by_key(|(id, _)| *id);
    for (id, token) in listed {
        let Some(content) = token["content"].as_str() else {
            continue;
        };
        if tokenizer.token_to_id(content).is_some() {
            continue;
        }
        let flag = |key: &str| token[key].as_bool().unwrap_or(false);
        let added = AddedToken::from(content, flag("special"))
            .single_word(flag("single_word"))
            .lstrip(flag("lstrip"))
            .rstrip(flag("rstrip"))
            .normalized(flag("normalized"));
        tokenizer.add_tokens([added]).map_err(|e| e.to_string())?;
        if tokenizer.token_to_id(content) != Some(id) {
            return Err(format!(
                "added token {content:?} cannot get its number {id}"
            ));
        }
    }
    Ok(())
}
