//! Values in BLOB columns: heads, calls, scores, results. One flag byte, the size, then JSON, perhaps compressed.
//!
//! Heads and calls are short and say the same field names each time, so they are packed with a dictionary that knows those: a
//! third of the bytes in half the time.

use super::StoreError;
use super::bodies;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use zstd::bulk::{Compressor, Decompressor};

/// Trained on this project's own samples by scripts/make_blob_dictionary.py. It never changes: workspaces are packed with it.
const DICTIONARY: &[u8] = include_bytes!("../../assets/schema/blobs-1.dict");
/// Shorter values are kept as they are.
const PACK_FROM: usize = 64;
/// Longer values fill a frame with words of their own.
const DICTIONARY_UP_TO: usize = 64 << 10;
const LEVEL: i32 = 1;

/// How the JSON is kept.
const PLAIN: u8 = 0;
const PACKED: u8 = 1;
const PACKED_BY_DICTIONARY: u8 = 2;

type Contexts = (Compressor<'static>, Decompressor<'static>);

thread_local! {
    static CONTEXTS: RefCell<Option<Contexts>> = const { RefCell::new(None) };
}

fn with_contexts<T>(work: impl FnOnce(&mut Contexts) -> std::io::Result<T>) -> std::io::Result<T> {
    CONTEXTS.with_borrow_mut(|slot| {
        if let Some(contexts) = slot {
            return work(contexts);
        }
        work(slot.insert((
            Compressor::with_dictionary(LEVEL, DICTIONARY)?,
            Decompressor::with_dictionary(DICTIONARY)?,
        )))
    })
}

/// Packs a value.
pub(super) fn pack<T: Serialize>(value: &T) -> Result<Vec<u8>, StoreError> {
    let json = serde_json::to_vec(value).map_err(|e| StoreError::unreadable("value", e))?;
    let (flag, data) = pack_bytes(&json);
    let mut out = Vec::with_capacity(data.len() + 9);
    out.push(flag);
    out.extend_from_slice(&(json.len() as u64).to_le_bytes());
    out.extend_from_slice(&data);
    Ok(out)
}

fn pack_bytes(json: &[u8]) -> (u8, Vec<u8>) {
    if json.len() > DICTIONARY_UP_TO {
        let (packed, data) = bodies::pack(json);
        return (if packed { PACKED } else { PLAIN }, data);
    }
    if json.len() >= PACK_FROM
        && let Ok(data) = with_contexts(|(pack, _)| pack.compress(json))
        && data.len() < json.len()
    {
        return (PACKED_BY_DICTIONARY, data);
    }
    (PLAIN, json.to_vec())
}

/// Undoes `pack`.
pub(super) fn unpack<T: DeserializeOwned>(
    what: &'static str,
    blob: &[u8],
) -> Result<T, StoreError> {
    let broken = || StoreError::unreadable(what, "too short");
    let (flag, rest) = blob.split_first().ok_or_else(broken)?;
    let (size, data) = rest.split_first_chunk::<8>().ok_or_else(broken)?;
    let size = usize::try_from(u64::from_le_bytes(*size)).unwrap_or(0);
    let json = match *flag {
        PACKED_BY_DICTIONARY => with_contexts(|(_, unpack)| unpack.decompress(data, size))
            .map_err(|e| StoreError::unreadable(what, e))?,
        flag => bodies::unpack(flag == PACKED, data.to_vec(), size)?,
    };
    serde_json::from_slice(&json).map_err(|e| StoreError::unreadable(what, e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn values_of_every_size_come_back_and_those_of_before_the_dictionary_too() {
        let texts = [0, 3, 60, 70, 500, 70_000].map(|n| "旧policy ".repeat(n));
        for value in texts.map(|text| json!({"id": null, "text": text})) {
            let back: Value = unpack("value", &pack(&value).unwrap()).unwrap();
            assert_eq!(back, value);
            // By hand: what the first two schema versions wrote.
            let json = serde_json::to_vec(&value).unwrap();
            let (packed, data) = bodies::pack(&json);
            let mut old = vec![u8::from(packed)];
            old.extend((json.len() as u64).to_le_bytes());
            old.extend(data);
            assert_eq!(unpack::<Value>("value", &old).unwrap(), value);
        }
    }

    #[test]
    fn a_head_packs_far_better_than_without_the_dictionary() {
        let head = crate::domain::Rollout::new("run-7", "openai-chat", "logs/a.jsonl");
        let json = serde_json::to_vec(&head).unwrap();
        let (_, plain) = bodies::pack(&json);
        assert!(pack(&head).unwrap().len() * 2 < plain.len());
    }

    #[test]
    fn damage_is_an_error_with_its_subject() {
        let mut blob = pack(&json!({"text": "policy ".repeat(50)})).unwrap();
        blob.truncate(blob.len() - 3);
        for damaged in [&blob[..], &blob[..4], &[]] {
            let error = unpack::<Value>("run", damaged).unwrap_err();
            assert!(error.to_string().contains("run"), "{error}");
        }
    }
}
