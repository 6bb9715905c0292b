//! Walks JSON of any size without building a tree: finds where values begin and end, in bounded memory.
//! It knows brackets, quotes and commas and nothing else; whether a value is good JSON is for `parse.rs`.

use std::io::{self, Read};

const CHUNK: usize = 256 << 10;

/// Why a walk ends early.
#[derive(Debug)]
pub(crate) enum Lost {
    /// The file just ends.
    Cut,
    /// Brackets do not match here.
    Broken(&'static str),
    /// A value is longer than the limit.
    TooLong,
    /// The disk says no.
    Io(io::Error),
}

impl From<io::Error> for Lost {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cut => f.write_str("the file ends in the middle of a value"),
            Self::Broken(what) => write!(f, "not JSON here: {what}"),
            Self::TooLong => f.write_str("the value is longer than the limit"),
            Self::Io(error) => write!(f, "{error}"),
        }
    }
}

/// Reads forward, knows offset and line.
pub(crate) struct Scanner<R> {
    reader: R,
    buffer: Vec<u8>,
    pos: usize,
    len: usize,
    base: u64,
    line: u64,
}

impl<R: Read> Scanner<R> {
    /// Starts at `offset`, which is on `line`.
    pub(crate) fn new(reader: R, offset: u64, line: u64) -> Self {
        Self {
            reader,
            buffer: vec![0; CHUNK],
            pos: 0,
            len: 0,
            base: offset,
            line,
        }
    }

    /// Byte that comes next.
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.pos as u64
    }

    /// Line of the byte that comes next.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    fn ahead(&mut self) -> io::Result<&[u8]> {
        if self.pos >= self.len {
            self.base += self.len as u64;
            self.pos = 0;
            self.len = loop {
                match self.reader.read(&mut self.buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    other => break other?,
                }
            };
        }
        Ok(self.buffer.get(self.pos..self.len).unwrap_or_default())
    }

    /// Next byte that is no space (a byte order mark counts as space); stays in place.
    pub(crate) fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            let (mut used, mut lines, mut found) = (0, 0, None);
            let ahead = self.ahead()?;
            if ahead.is_empty() {
                return Ok(None);
            }
            for &byte in ahead {
                match byte {
                    b'\n' => lines += 1,
                    b' ' | b'\t' | b'\r' | 0xEF | 0xBB | 0xBF => {}
                    other => {
                        found = Some(other);
                        break;
                    }
                }
                used += 1;
            }
            self.pos += used;
            self.line += lines;
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// Steps over one byte that `peek` has shown.
    pub(crate) fn bump(&mut self) {
        self.pos += 1;
    }

    /// Steps over one value; its bytes go into `keep`, up to `limit` of them (`None`: they go nowhere).
    /// A longer value is stepped over whole, so that reading can go on behind it.
    pub(crate) fn value(&mut self, keep: Option<&mut Vec<u8>>, limit: usize) -> Result<(), Lost> {
        let mut sink = Keep {
            keep,
            limit,
            is_over: false,
        };
        match self.peek()? {
            None => return Err(Lost::Cut),
            Some(b'{' | b'[') => self.nested(&mut sink)?,
            Some(b'"') => {
                sink.take(b"\"");
                self.bump();
                self.text(&mut sink)?;
            }
            Some(b'}' | b']' | b',' | b':') => return Err(Lost::Broken("a value is missing")),
            Some(_) => self.scalar(&mut sink)?,
        }
        if sink.is_over {
            return Err(Lost::TooLong);
        }
        Ok(())
    }

    fn nested(&mut self, sink: &mut Keep<'_>) -> Result<(), Lost> {
        let mut depth = 0_u64;
        loop {
            let ahead = self.ahead()?;
            if ahead.is_empty() {
                return Err(Lost::Cut);
            }
            let (mut used, mut lines) = (0, 0);
            let (mut in_text, mut is_done) = (false, false);
            for &byte in ahead {
                used += 1;
                match byte {
                    b'"' => {
                        in_text = true;
                        break;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            is_done = true;
                            break;
                        }
                    }
                    b'\n' => lines += 1,
                    _ => {}
                }
            }
            sink.take(ahead.get(..used).unwrap_or_default());
            self.pos += used;
            self.line += lines;
            if is_done {
                return Ok(());
            }
            if in_text {
                self.text(sink)?;
            }
        }
    }

    /// The rest of a text whose opening quote is behind us.
    fn text(&mut self, sink: &mut Keep<'_>) -> Result<(), Lost> {
        let mut is_escaped = false;
        loop {
            let ahead = self.ahead()?;
            let Some(&first) = ahead.first() else {
                return Err(Lost::Cut);
            };
            if is_escaped {
                sink.take(&[first]);
                self.line += u64::from(first == b'\n');
                self.pos += 1;
                is_escaped = false;
                continue;
            }
            let stop = memchr::memchr2(b'"', b'\\', ahead);
            let used = stop.map_or(ahead.len(), |at| at + 1);
            let taken = ahead.get(..used).unwrap_or_default();
            let last = taken.last().copied();
            sink.take(taken);
            let lines = memchr::memchr_iter(b'\n', taken).count() as u64;
            self.line += lines;
            self.pos += used;
            match (stop, last) {
                (Some(_), Some(b'"')) => return Ok(()),
                (Some(_), _) => is_escaped = true,
                (None, _) => {}
            }
        }
    }

    fn scalar(&mut self, sink: &mut Keep<'_>) -> Result<(), Lost> {
        let is_end = |b: &u8| {
            matches!(
                b,
                b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'{' | b'[' | b':'
            )
        };
        let mut taken = 0_usize;
        loop {
            let ahead = self.ahead()?;
            if ahead.is_empty() {
                return if taken == 0 { Err(Lost::Cut) } else { Ok(()) };
            }
            let used = ahead.iter().position(is_end);
            let part = ahead.get(..used.unwrap_or(ahead.len())).unwrap_or_default();
            sink.take(part);
            taken += part.len();
            self.pos += part.len();
            if used.is_some() {
                return Ok(());
            }
        }
    }
}

struct Keep<'k> {
    keep: Option<&'k mut Vec<u8>>,
    limit: usize,
    is_over: bool,
}

impl Keep<'_> {
    fn take(&mut self, bytes: &[u8]) {
        let Some(keep) = &mut self.keep else { return };
        if self.is_over || keep.len() + bytes.len() > self.limit {
            self.is_over = true;
            keep.clear();
        } else {
            keep.extend_from_slice(bytes);
        }
    }
}
