//! UTF-16 as UTF-8, while it is read. Whoever opens a file says which byte comes first.

use crate::import::pieces::Pieces;
use std::io::{self, Read};

/// Turns UTF-16 into UTF-8 while reading. A half pair becomes U+FFFD.
pub(super) struct Utf16<R> {
    reader: R,
    is_little: bool,
    raw: Vec<u8>,
}

impl<R: Read> Utf16<R> {
    pub(super) fn new(reader: R, is_little: bool) -> Self {
        Self {
            reader,
            is_little,
            raw: Vec::new(),
        }
    }

    fn unit(&self, pair: &[u8]) -> u16 {
        match (pair, self.is_little) {
            (&[a, b], true) => u16::from_le_bytes([a, b]),
            (&[a, b], false) => u16::from_be_bytes([a, b]),
            _ => 0xFFFD,
        }
    }
}

impl<R: Read> Pieces for Utf16<R> {
    fn piece(&mut self) -> io::Result<String> {
        const CHUNK: u64 = 64 << 10;
        let before = self.raw.len();
        self.reader
            .by_ref()
            .take(CHUNK)
            .read_to_end(&mut self.raw)?;
        let is_end = self.raw.len() == before;
        let units: Vec<u16> = self
            .raw
            .chunks_exact(2)
            .map(|pair| self.unit(pair))
            .collect();
        let is_high = |u: &u16| (0xD800..0xDC00).contains(u);
        let hold = usize::from(!is_end && units.last().is_some_and(is_high));
        let whole = units.len() - hold;
        let units = units.get(..whole).unwrap_or_default();
        let decoded = char::decode_utf16(units.iter().copied());
        let text: String = decoded
            .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        self.raw.drain(..whole * 2);
        if is_end {
            self.raw.clear();
        }
        Ok(text)
    }
}
