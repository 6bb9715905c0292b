//! Lines of a file of any size, one at a time, with offset and number. A line over the limit is told, not held.

use super::limits::MAX_VALUE_BYTES;
use super::source::Source;
use std::io::{self, Read};

const CHUNK: usize = 256 << 10;

/// Where a line stands and what it holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'l> {
    /// First byte in the file.
    pub(crate) offset: u64,
    /// Number, from 1.
    pub(crate) number: u64,
    /// Bytes without the line end; empty if the line is over the limit.
    pub(crate) bytes: &'l [u8],
    /// Length in the file, without the line end.
    pub(crate) len: u64,
    /// A line end follows: the writer had finished it.
    pub(crate) is_ended: bool,
}

impl Line<'_> {
    /// Longer than `MAX_VALUE_BYTES`.
    pub(crate) fn is_too_long(&self) -> bool {
        self.len > MAX_VALUE_BYTES as u64
    }
}

/// Hands out lines.
pub(crate) struct Lines<'s> {
    reader: Box<dyn Read + 's>,
    buffer: Vec<u8>,
    pos: usize,
    filled: usize,
    long: Vec<u8>,
    offset: u64,
    number: u64,
}

impl<'s> Lines<'s> {
    /// From the start of a file.
    pub(crate) fn new(source: &'s Source) -> io::Result<Self> {
        Ok(Self {
            reader: source.reader(0)?,
            buffer: vec![0; CHUNK],
            pos: 0,
            filled: 0,
            long: Vec::new(),
            offset: 0,
            number: 0,
        })
    }

    /// The next line; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.long.clear();
        let offset = self.offset;
        let mut len = 0_u64;
        let mut start;
        let is_ended = loop {
            if self.pos >= self.filled {
                self.filled = fill(&mut self.reader, &mut self.buffer)?;
                self.pos = 0;
                if self.filled == 0 {
                    start = 0;
                    break false;
                }
            }
            let ahead = self.buffer.get(self.pos..self.filled).unwrap_or_default();
            let stop = memchr::memchr(b'\n', ahead);
            let part = stop.unwrap_or(ahead.len());
            start = self.pos;
            len += part as u64;
            self.pos += part + usize::from(stop.is_some());
            if stop.is_some() {
                break true;
            }
            if len <= MAX_VALUE_BYTES as u64 {
                self.long.extend_from_slice(ahead);
            } else {
                self.long = Vec::new();
            }
        };
        if len == 0 && !is_ended {
            return Ok(None);
        }
        self.offset += len + u64::from(is_ended);
        self.number += 1;
        let tail_end = if is_ended { self.pos - 1 } else { start };
        let tail = self.buffer.get(start..tail_end).unwrap_or_default();
        let bytes = match (self.long.is_empty(), len > MAX_VALUE_BYTES as u64) {
            (_, true) => &[],
            (true, false) => tail,
            (false, false) => {
                self.long.extend_from_slice(tail);
                &self.long
            }
        };
        Ok(Some(Line {
            offset,
            number: self.number,
            bytes: bytes.strip_suffix(b"\r").unwrap_or(bytes),
            len,
            is_ended,
        }))
    }
}

fn fill(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}
