//! GGUF files: dequantised weights, row order, rotary divisors and both kinds of tokenizer.

use crate::score::models::{agree, fixtures, reference};
use serde_json::Value;
use triagent::score::{ModelSource, Options, ScoreError, Scorer};

fn open(name: &str) -> Scorer {
    let path = fixtures().join("gguf").join(name);
    Scorer::open(&ModelSource::Gguf(path), &Options::default()).unwrap()
}

fn gguf_reference() -> Value {
    let text = std::fs::read_to_string(fixtures().join("gguf/reference.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// transformers reads the same file and computes in F32.
#[test]
fn quantised_weights_score_as_in_transformers() {
    let expected = gguf_reference();
    let requests = &reference()["requests"];
    for (name, dtype) in [
        ("llama-q8_0", "gguf-q8_0-f32"),
        ("qwen2-q4_1", "gguf-q4_1-f32"),
    ] {
        let mut scorer = open(&format!("{name}.gguf"));
        assert_eq!(scorer.binding().dtype, dtype);
        agree(name, &mut scorer, requests, &expected["models"][name]);
    }
}

/// The folder's config says `llama3`, the file carries divisors: the same model either way.
#[test]
fn rotary_divisors_do_what_llama3_scaling_does() {
    let reference = reference();
    let expected = &reference["models"]["llama-llama3"]["results"];
    agree(
        "llama3-f16",
        &mut open("llama3-f16.gguf"),
        &reference["requests"],
        expected,
    );
}

/// A file of a quantisation that candle cannot read is named, with what to do.
#[test]
fn an_unknown_quantisation_is_refused_by_name() {
    let bytes = std::fs::read(fixtures().join("gguf/llama3-f16.gguf")).unwrap();
    // In the header a tensor's name is followed by: dimensions (u32), two sizes (u64), type (u32).
    let name = b"blk.0.attn_q.weight";
    let at = bytes.windows(name.len()).position(|w| w == name).unwrap() + name.len() + 4 + 16;
    let mut changed = bytes.clone();
    changed[at..at + 4].copy_from_slice(&39_u32.to_le_bytes());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.gguf");
    std::fs::write(&path, changed).unwrap();
    let error = Scorer::open(&ModelSource::Gguf(path), &Options::default()).unwrap_err();
    assert!(matches!(error, ScoreError::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("MXFP4"), "{error}");
}

/// Bytes at random places changed or cut off: an error, never a crash, never endless memory.
#[test]
fn damaged_files_end_in_an_error_or_in_numbers() {
    let bytes = std::fs::read(fixtures().join("gguf/qwen2-q4_1.gguf")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.gguf");
    let mut state = 7_u64;
    for round in 0..60 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let at = usize::try_from(state >> 33).unwrap() % 12_000;
        let mut changed = bytes.clone();
        if round % 3 == 0 {
            changed.truncate(at);
        } else {
            changed[at] ^= u8::try_from(state >> 56).unwrap() | 1;
        }
        std::fs::write(&path, changed).unwrap();
        let _ = Scorer::open(&ModelSource::Gguf(path.clone()), &Options::default());
    }
}
