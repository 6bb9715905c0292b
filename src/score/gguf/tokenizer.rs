//! The tokenizer of a GGUF file, rebuilt from its vocabulary, merges and scores.

use super::{Header, as_number, as_text};
use crate::score::error::ScoreError;
use candle_core::quantized::gguf_file::Value;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::normalizers::{NFC, Prepend, Replace, Sequence as Normalizers};
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::tokenizer::SplitDelimiterBehavior;
use tokenizers::{AddedToken, Tokenizer};

/// What a token is, as GGUF numbers it.
const UNKNOWN: i64 = 2;
const CONTROL: i64 = 3;
const USER_DEFINED: i64 = 4;

const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

type Result<T> = std::result::Result<T, ScoreError>;

/// Builds the tokenizer and hashes what it was built from.
pub(super) fn build(header: &Header<'_>) -> Result<(Tokenizer, blake3::Hash)> {
    let vocabulary = Vocabulary::read(header)?;
    let tokenizer = match header.text("tokenizer.ggml.model").as_deref() {
        Some("gpt2") => byte_level(header, &vocabulary)?,
        Some("llama") => sentence_piece(header, &vocabulary)?,
        other => {
            return Err(ScoreError::Unsupported {
                what: format!("tokenizer {:?} in a GGUF file", other.unwrap_or("none")),
                hint: "take the model's Hugging Face folder instead".to_owned(),
            });
        }
    };
    Ok((
        with_added(header, tokenizer, &vocabulary)?,
        vocabulary.hash(header),
    ))
}

struct Vocabulary {
    tokens: Vec<String>,
    kinds: Vec<i64>,
    scores: Vec<f32>,
    merges: Vec<String>,
}

impl Vocabulary {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "scores are F32 in the file"
    )]
    fn read(header: &Header<'_>) -> Result<Self> {
        let score = |v: &Value| as_number(v).map(|x| x as f32);
        let vocabulary = Self {
            tokens: header.all("tokenizer.ggml.tokens", as_text)?,
            kinds: header.all("tokenizer.ggml.token_type", integer)?,
            scores: header.all("tokenizer.ggml.scores", score)?,
            merges: header.all("tokenizer.ggml.merges", as_text)?,
        };
        if vocabulary.tokens.is_empty() {
            return header.wrong("no tokenizer.ggml.tokens");
        }
        Ok(vocabulary)
    }

    fn kind(&self, id: usize) -> i64 {
        self.kinds.get(id).copied().unwrap_or(1)
    }

    fn ids(&self) -> Vocab {
        let id = |i: usize| u32::try_from(i).unwrap_or(u32::MAX);
        self.tokens
            .iter()
            .enumerate()
            .map(|(i, token)| (token.clone(), id(i)))
            .collect()
    }

    fn hash(&self, header: &Header<'_>) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        for text in self.tokens.iter().chain(&self.merges) {
            hasher.update(text.as_bytes()).update(&[0]);
        }
        for (kind, score) in self
            .kinds
            .iter()
            .zip(self.scores.iter().chain(std::iter::repeat(&0.0)))
        {
            hasher
                .update(&kind.to_le_bytes())
                .update(&score.to_le_bytes());
        }
        let pre = header.text("tokenizer.ggml.pre").unwrap_or_default();
        hasher.update(pre.as_bytes()).finalize()
    }
}

fn byte_level(header: &Header<'_>, vocabulary: &Vocabulary) -> Result<Tokenizer> {
    let pre = header
        .text("tokenizer.ggml.pre")
        .unwrap_or_else(|| "default".to_owned());
    let merges = vocabulary.merges.iter().filter_map(|m| m.split_once(' '));
    let merges = merges.map(|(a, b)| (a.to_owned(), b.to_owned())).collect();
    // Tokens of the vocabulary win over merges in the families that were made with tiktoken.
    let whole = matches!(
        pre.as_str(),
        "llama-bpe" | "llama3" | "llama-v3" | "tekken" | "lfm2"
    );
    let model = BPE::builder()
        .vocab_and_merges(vocabulary.ids(), merges)
        .ignore_merges(whole)
        .build();
    let mut tokenizer = Tokenizer::new(header.made(model)?);
    tokenizer.with_pre_tokenizer(Some(pre_tokenizer(header, &pre)?));
    if pre.contains("qwen") {
        header.made(tokenizer.with_normalizer(Some(NFC)).map(|_| ()))?;
    }
    tokenizer.with_decoder(Some(ByteLevel::new(false, false, false)));
    Ok(tokenizer)
}

/// How text is cut before merging, by the name that llama.cpp gives it.
fn pre_tokenizer(header: &Header<'_>, pre: &str) -> Result<PreTokenizerWrapper> {
    let bytes = || PreTokenizerWrapper::from(ByteLevel::new(false, false, false));
    let split = |pattern: &str| {
        let pattern = SplitPattern::Regex(pattern.to_owned());
        header.made(Split::new(pattern, SplitDelimiterBehavior::Isolated, false))
    };
    let steps: Vec<PreTokenizerWrapper> = match pre {
        "default" | "gpt-2" | "gpt2" | "mpt" | "olmo" => vec![split(GPT2)?.into(), bytes()],
        "smollm" | "starcoder" | "refact" | "command-r" | "codeshell" | "exaone" => {
            vec![Digits::new(true).into(), split(GPT2)?.into(), bytes()]
        }
        "llama-bpe" | "llama3" | "llama-v3" | "smaug-bpe" | "dbrx" | "lfm2" => {
            vec![split(LLAMA3)?.into(), bytes()]
        }
        "qwen2" | "deepseek-r1-qwen" | "stablelm2" | "hunyuan" => {
            vec![split(QWEN2)?.into(), bytes()]
        }
        "tekken" => vec![split(TEKKEN)?.into(), bytes()],
        other => {
            return Err(ScoreError::Unsupported {
                what: format!("pre-tokenizer {other:?} in a GGUF file"),
                hint: "take the model's Hugging Face folder instead".to_owned(),
            });
        }
    };
    Ok(Sequence::new(steps).into())
}

fn sentence_piece(header: &Header<'_>, vocabulary: &Vocabulary) -> Result<Tokenizer> {
    let unknown = vocabulary.kinds.iter().position(|k| *k == UNKNOWN);
    let unknown = unknown.and_then(|id| vocabulary.tokens.get(id)).cloned();
    let mut model = BPE::builder()
        .vocab_and_merges(vocabulary.ids(), merges_from_scores(vocabulary))
        .byte_fallback(true)
        .fuse_unk(true);
    if let Some(unknown) = unknown {
        model = model.unk_token(unknown);
    }
    let mut tokenizer = Tokenizer::new(header.made(model.build())?);
    let mut steps = Vec::new();
    if header
        .flag("tokenizer.ggml.add_space_prefix")
        .unwrap_or(true)
    {
        steps.push(Prepend::new("\u{2581}".to_owned()).into());
    }
    steps.push(header.made(Replace::new(" ", "\u{2581}"))?.into());
    header.made(
        tokenizer
            .with_normalizer(Some(Normalizers::new(steps)))
            .map(|_| ()),
    )?;
    Ok(tokenizer)
}

/// Every cut of a token in two known ones is a merge; the best score goes first.
fn merges_from_scores(vocabulary: &Vocabulary) -> Vec<(String, String)> {
    let ids = vocabulary.ids();
    let mut ranked = Vec::new();
    for (id, token) in vocabulary.tokens.iter().enumerate() {
        let score = vocabulary.scores.get(id).copied().unwrap_or(0.0);
        for (at, _) in token.char_indices().skip(1) {
            let (left, right) = token.split_at(at);
            if let (Some(a), Some(b)) = (ids.get(left), ids.get(right)) {
                ranked.push((score, *a, *b, left.to_owned(), right.to_owned()));
            }
        }
    }
    ranked.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
    ranked
        .into_iter()
        .map(|(_, _, _, left, right)| (left, right))
        .collect()
}

/// Control and user-defined tokens are matched before anything else.
fn with_added(
    header: &Header<'_>,
    mut tokenizer: Tokenizer,
    vocabulary: &Vocabulary,
) -> Result<Tokenizer> {
    let of_kind = |wanted: i64| {
        let is = move |id: &usize| vocabulary.kind(*id) == wanted;
        (0..vocabulary.tokens.len())
            .filter(is)
            .map(|id| vocabulary.tokens[id].clone())
    };
    let special = of_kind(CONTROL).map(|t| AddedToken::from(t, true).normalized(false));
    header.made(tokenizer.add_special_tokens(special))?;
    let own = of_kind(USER_DEFINED).map(|t| AddedToken::from(t, false).normalized(false));
    header.made(tokenizer.add_tokens(own))?;
    Ok(tokenizer)
}

fn integer(value: &Value) -> Option<i64> {
    as_number(value).map(|n| {
        #[expect(clippy::cast_possible_truncation, reason = "token kinds are small")]
        let n = n as i64;
        n
    })
}

impl Header<'_> {
    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.fields.get(key).and_then(as_text)
    }

    fn flag(&self, key: &str) -> Option<bool> {
        match self.fields.get(key) {
            Some(Value::Bool(flag)) => Some(*flag),
            _ => None,
        }
    }

    pub(super) fn list(&self, key: &str) -> &[Value] {
        match self.fields.get(key) {
            Some(Value::Array(list)) => list,
            _ => &[],
        }
    }

    /// A list whose every entry is of one kind; one that is not would shift all after it.
    fn all<T>(&self, key: &str, read: impl Fn(&Value) -> Option<T>) -> Result<Vec<T>> {
        let list = self.list(key).iter().map(read).collect::<Option<Vec<T>>>();
        list.map_or_else(
            || self.wrong(&format!("{key} holds entries of several kinds")),
            Ok,
        )
    }

    fn made<T>(&self, result: tokenizers::Result<T>) -> Result<T> {
        result.or_else(|e| self.wrong(&format!("tokenizer: {e}")))
    }
}

#[cfg(test)]
mod tests {
    use crate::score::gguf::{GgufTensors, Header};
    use std::path::Path;

    /// A BPE of the `tokenizers` crate whose merge ranks became SentencePiece scores; its own ids are
    /// the reference (`tests/score/make_gguf.py`).
    #[test]
    fn merges_rebuilt_from_scores_tokenise_like_the_merges() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/score/models/gguf");
        let path = folder.join("sentencepiece.gguf");
        let tensors = GgufTensors::open(&path).unwrap();
        let header = Header {
            path: &path,
            fields: tensors.fields(),
            arch: "llama".to_owned(),
        };
        let (tokenizer, _) = super::build(&header).unwrap();
        let reference = std::fs::read(folder.join("reference.json")).unwrap();
        let reference: serde_json::Value = serde_json::from_slice(&reference).unwrap();
        let cases = reference["sentencepiece"].as_array().unwrap();
        assert!(!cases.is_empty());
        for case in cases {
            let text = case["text"].as_str().unwrap();
            let ids = tokenizer.encode(text, false).unwrap().get_ids().to_vec();
            assert_eq!(serde_json::json!(ids), case["ids"], "{text:?}");
        }
    }
}
