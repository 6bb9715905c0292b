//! Content-addressed texts: hash → perhaps compressed bytes.

use super::StoreError;
use super::parcel::PackedText;
use rusqlite::{Connection, OptionalExtension, params};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::Read;
use zstd::bulk::{Compressor, Decompressor};

/// Shorter texts are kept as they are: a frame header would eat the gain.
const PACK_FROM: usize = 200;
/// Fast enough to keep up with the parser.
const LEVEL: i32 = 1;
/// Recent hashes kept in memory, about 40 MB at the most; forgetting costs one index look-up.
const KNOWN_MAX: usize = 400_000;

/// First 16 bytes of BLAKE3: collisions are out of reach, and the index stays half as large.
pub(super) type Hash = [u8; 16];

/// Hashes a hash: its first bytes are as good as any.
#[derive(Default)]
pub(super) struct Already(u64);

impl Hasher for Already {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 = u64::from_le_bytes(*first);
        }
    }

    // The length that stands before an array's bytes says nothing.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Returns the address of a text.
pub(super) fn address(bytes: &[u8]) -> Hash {
    let mut out = [0; 16];
    out.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
    out
}

thread_local! {
    /// Making a context costs more than packing a short text, so each thread keeps its own two.
    static CONTEXTS: RefCell<Option<(Compressor<'static>, Decompressor<'static>)>> = const { RefCell::new(None) };
}

fn with_contexts<T>(
    work: impl FnOnce(&mut Compressor<'static>, &mut Decompressor<'static>) -> std::io::Result<T>,
) -> std::io::Result<T> {
    CONTEXTS.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = Some((Compressor::new(LEVEL)?, Decompressor::new()?));
        }
        match slot {
            Some((pack, unpack)) => work(pack, unpack),
            None => Err(std::io::Error::other("no compression context")),
        }
    })
}

/// Packs bytes if that makes them smaller.
pub(super) fn pack(bytes: &[u8]) -> (bool, Vec<u8>) {
    if bytes.len() >= PACK_FROM
        && let Ok(packed) = with_contexts(|pack, _| pack.compress(bytes))
        && packed.len() < bytes.len()
    {
        return (true, packed);
    }
    (false, bytes.to_vec())
}

/// Undoes `pack`.
pub(super) fn unpack(packed: bool, data: Vec<u8>, size: usize) -> Result<Vec<u8>, StoreError> {
    if !packed {
        return Ok(data);
    }
    with_contexts(|_, unpack| unpack.decompress(&data, size)).map_err(unreadable)
}

/// Writes texts once and remembers the recent ones.
#[derive(Default)]
pub(super) struct Writer {
    known: HashMap<Hash, i64, BuildHasherDefault<Already>>,
    /// Bytes handed in.
    pub(super) bytes_in: u64,
    /// Bytes of texts that were new.
    pub(super) bytes_new: u64,
}

impl Writer {
    /// Returns the text's row, writing it if it is new.
    pub(super) fn put(&mut self, db: &Connection, text: PackedText) -> Result<i64, StoreError> {
        self.bytes_in += text.size as u64;
        if let Some(id) = self.known.get(&text.hash) {
            return Ok(*id);
        }
        let id = match insert(db, &text)? {
            Some(id) => {
                self.bytes_new += text.size as u64;
                id
            }
            None => find(db, &text.hash)?,
        };
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        self.known.insert(text.hash, id);
        Ok(id)
    }

    /// Forgets everything: a transaction was rolled back, so rows may be gone.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }
}

fn find(db: &Connection, hash: &Hash) -> Result<i64, StoreError> {
    let mut query = db.prepare_cached("SELECT id FROM body WHERE hash = ?1")?;
    query
        .query_row([hash.as_slice()], |row| row.get(0))
        .optional()?
        .ok_or_else(|| unreadable("its packed form was handed over before and is not in the file"))
}

/// Most texts are new, so they are not looked for before; nothing comes back where one was here.
fn insert(db: &Connection, text: &PackedText) -> Result<Option<i64>, StoreError> {
    let Some((packed, data)) = &text.data else {
        return Ok(None);
    };
    let sql = "INSERT INTO body (hash, size, packed, data) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
    let mut query = db.prepare_cached(sql)?;
    let values = params![text.hash.as_slice(), text.size as i64, packed, data];
    Ok((query.execute(values)? > 0).then(|| db.last_insert_rowid()))
}

/// Reads at most `limit` bytes from the start of a text without unpacking the rest.
pub(super) fn start(packed: bool, data: &[u8], limit: usize) -> Result<String, StoreError> {
    let mut bytes = Vec::with_capacity(limit.min(64 * 1024));
    if packed {
        let decoder = zstd::stream::read::Decoder::new(data).map_err(unreadable)?;
        decoder
            .take(limit as u64)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
    } else {
        bytes.extend_from_slice(&data[..data.len().min(limit)]);
    }
    // The cut may fall inside a character.
    let valid = match std::str::from_utf8(&bytes) {
        Ok(_) => bytes.len(),
        Err(e) => e.valid_up_to(),
    };
    bytes.truncate(valid);
    String::from_utf8(bytes).map_err(unreadable)
}

fn unreadable(why: impl ToString) -> StoreError {
    StoreError::unreadable("text", why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_inside_a_character_keeps_the_characters_before_it() {
        let text = "旧政策".repeat(200);
        let (packed, data) = pack(text.as_bytes());
        assert!(packed);
        // Seven bytes are two characters of three bytes and one byte of a third.
        assert_eq!(start(packed, &data, 7).unwrap(), "旧政");
        assert_eq!(start(false, "旧政策".as_bytes(), 7).unwrap(), "旧政");
    }

    #[test]
    fn one_text_is_one_row() {
        let store = crate::store::Store::in_memory().unwrap();
        let mut writer = Writer::default();
        let text = || PackedText {
            hash: address(b"same"),
            size: 4,
            data: Some(pack(b"same")),
        };
        let first = writer.put(&store.db, text()).unwrap();
        writer.forget();
        assert_eq!(writer.put(&store.db, text()).unwrap(), first);
        assert_eq!((writer.bytes_in, writer.bytes_new), (8, 4));
    }
}
