//! Bytes of one file: unpacks gzip and zstd, turns UTF-16 into UTF-8 and tables into lines, keeps small files in memory and
//! spools the unpacked rest to a temporary file, so that every reader may read any stretch twice. Offsets are those
//! of the unpacked text.

mod bound;
mod spool;
mod utf16;

use super::database::{SessionLines, log_of};
use super::limits::MEMORY_BYTES;
use super::pieces::{Joined, Pieces};
use super::table::TableLines;
use bound::Bound;
pub(super) use bound::unpacked_limit;
use spool::Spool;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use utf16::Utf16;

/// As many first bytes tell how a file is packed.
const MAGIC: u64 = 16;

/// Reads and seeks.
pub(crate) trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

/// Bytes that can be read from any place, any number of times.
pub(crate) struct Source {
    body: Body,
    len: u64,
    notes: Vec<String>,
    damage: Option<String>,
}

enum Body {
    Memory(Vec<u8>),
    File(PathBuf),
    Spool(Spool),
}

impl Source {
    /// Opens a file.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::open_within(path, u64::MAX)
    }

    /// Opens a file that may unpack to `most` bytes.
    pub(crate) fn open_within(path: &Path, most: u64) -> io::Result<Self> {
        // Asked before opening: whoever opens a pipe waits for its writer for ever.
        if !std::fs::metadata(path)?.is_file() {
            let why = "not a file (a pipe, or a device); hint: `-` reads standard input";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut magic = Vec::new();
        (&mut file).take(MAGIC).read_to_end(&mut magic)?;
        file.seek(SeekFrom::Start(0))?;
        let unpacked = most.min(unpacked_limit(size));
        match Coat::of(&magic) {
            Coat::Plain if size > most => Err(too_large(most)),
            Coat::Plain if size > MEMORY_BYTES => Ok(Self {
                body: Body::File(path.to_owned()),
                len: size,
                notes: Vec::new(),
                damage: None,
            }),
            Coat::Plain => Self::bytes_of(file, size),
            Coat::Table => Self::table(file, unpacked),
            Coat::Database => match SessionLines::open(path)? {
                Some(lines) => {
                    let log = std::fs::metadata(log_of(path)).map_or(0, |m| m.len());
                    let most = most.min(unpacked_limit(size.saturating_add(log)));
                    Self::noted(lines, most, Coat::Database)
                }
                None => Self::bytes_of(file, size.min(MEMORY_BYTES)),
            },
            coat => Self::undressed(file, unpacked, coat),
        }
    }

    /// A whole small file that stands beside another one. `None` = it is not there, or no file of at most `most` bytes.
    pub(crate) fn small(path: &Path, most: u64) -> Option<Vec<u8>> {
        let source = Self::open_within(path, most).ok()?;
        source.read_at(0, usize::try_from(source.len).ok()?).ok()
    }

    /// Reads standard input to its end.
    pub(crate) fn stdin() -> io::Result<Self> {
        let plain = Self::gathered(Bound::stdin(io::stdin().lock()), u64::MAX)?;
        let mut magic = Vec::new();
        plain.reader(0)?.take(MAGIC).read_to_end(&mut magic)?;
        match Coat::of(&magic) {
            // A database is read in its place, with the log that stands beside it.
            Coat::Plain | Coat::Database => Ok(plain),
            Coat::Table => plain.as_table(unpacked_limit(plain.len)),
            coat => Self::undressed(plain.reader(0)?, unpacked_limit(plain.len), coat),
        }
    }

    /// Bytes that are at hand.
    pub(crate) fn memory(bytes: Vec<u8>) -> Self {
        Self {
            len: bytes.len() as u64,
            body: Body::Memory(bytes),
            notes: Vec::new(),
            damage: None,
        }
    }

    fn bytes_of(mut file: File, size: u64) -> io::Result<Self> {
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        // A file that grows meanwhile is read to the size it had, so that one reading is one state.
        (&mut file).take(size).read_to_end(&mut bytes)?;
        Ok(Self::memory(bytes))
    }

    fn undressed(reader: impl Read, limit: u64, coat: Coat) -> io::Result<Self> {
        let mut unpacked = match coat {
            Coat::Gzip => Self::gathered(flate2::read::MultiGzDecoder::new(reader), limit)?,
            Coat::Zstd => Self::gathered(zstd::Decoder::new(reader)?, limit)?,
            Coat::Utf16Le | Coat::Utf16Be => Self::gathered(
                Joined::new(Utf16::new(reader, coat == Coat::Utf16Le)),
                limit,
            )?,
            Coat::Plain | Coat::Table | Coat::Database => Self::gathered(reader, limit)?,
        };
        unpacked.notes.push(coat.note().to_owned());
        // What was packed may itself be a table, or text in UTF-16.
        let inner = unpacked.coat()?;
        let mut dressed = match inner {
            Coat::Utf16Le | Coat::Utf16Be if coat.is_packed() => {
                Self::undressed(unpacked.reader(0)?, limit, inner)?
            }
            Coat::Table if coat.is_packed() => unpacked.as_table(limit)?,
            _ => return Ok(unpacked),
        };
        dressed
            .notes
            .splice(0..0, std::mem::take(&mut unpacked.notes));
        dressed.damage = unpacked.damage.take().or(dressed.damage.take());
        Ok(dressed)
    }

    fn coat(&self) -> io::Result<Coat> {
        let mut magic = Vec::new();
        self.reader(0)?.take(MAGIC).read_to_end(&mut magic)?;
        Ok(Coat::of(&magic))
    }

    fn table(file: File, limit: u64) -> io::Result<Self> {
        Self::noted(TableLines::open(file)?, limit, Coat::Table)
    }

    fn noted(lines: impl Pieces, limit: u64, coat: Coat) -> io::Result<Self> {
        let mut source = Self::gathered(Joined::new(lines), limit)?;
        source.notes.push(coat.note().to_owned());
        Ok(source)
    }

    /// The table that these bytes are; its reader wants a file.
    fn as_table(&self, limit: u64) -> io::Result<Self> {
        let mut spool = Spool::new()?;
        io::copy(&mut self.reader(0)?, &mut spool)?;
        Self::table(spool.into_file()?, limit)
    }

    /// Keeps what a reader gives, up to `limit` bytes.
    pub(crate) fn gathered(reader: impl Read, limit: u64) -> io::Result<Self> {
        let (body, len, damage) = gather(reader, limit)?;
        Ok(Self {
            body,
            len,
            notes: Vec::new(),
            damage,
        })
    }

    /// A reader that can seek.
    pub(crate) fn seekable(&self) -> io::Result<Box<dyn ReadSeek + '_>> {
        Ok(match &self.body {
            Body::Memory(bytes) => Box::new(Cursor::new(bytes.as_slice())),
            Body::File(path) => Box::new(File::open(path)?),
            Body::Spool(spool) => Box::new(spool.reader(0)),
        })
    }

    /// How many bytes there are.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Why the packed file ends early; what it gave before that is here.
    pub(crate) fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// What was done before reading.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Reads from `offset` to the end.
    pub(crate) fn reader(&self, offset: u64) -> io::Result<Box<dyn Read + '_>> {
        let left = self.len.saturating_sub(offset);
        Ok(match &self.body {
            Body::Memory(bytes) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX);
                Box::new(Cursor::new(bytes.get(from..).unwrap_or_default()))
            }
            Body::File(path) => {
                let mut file = File::open(path)?;
                file.seek(SeekFrom::Start(offset))?;
                Box::new(file.take(left))
            }
            Body::Spool(spool) => Box::new(spool.reader(offset).take(left)),
        })
    }

    /// Reads a stretch.
    pub(crate) fn read_at(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(len.min(1 << 20));
        self.reader(offset)?
            .take(len as u64)
            .read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Opens the source for reading many stretches.
    pub(crate) fn stretches(&self) -> io::Result<Stretches<'_>> {
        Ok(match &self.body {
            Body::Memory(bytes) => Stretches::Memory(bytes),
            Body::File(path) => Stretches::File(Box::new(File::open(path)?), Vec::new()),
            Body::Spool(spool) => Stretches::File(Box::new(spool.reader(0)), Vec::new()),
        })
    }
}

/// Reads stretches from anywhere.
pub(crate) enum Stretches<'s> {
    Memory(&'s [u8]),
    File(Box<dyn ReadSeek + 's>, Vec<u8>),
}

impl Stretches<'_> {
    /// Bytes from `offset` on; fewer where the source ends.
    pub(crate) fn read(&mut self, offset: u64, len: usize) -> io::Result<&[u8]> {
        match self {
            Self::Memory(bytes) => {
                let from = usize::try_from(offset)
                    .unwrap_or(usize::MAX)
                    .min(bytes.len());
                let to = from.saturating_add(len).min(bytes.len());
                Ok(bytes.get(from..to).unwrap_or_default())
            }
            Self::File(file, buffer) => {
                buffer.clear();
                file.seek(SeekFrom::Start(offset))?;
                file.take(len as u64).read_to_end(buffer)?;
                Ok(buffer)
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Coat {
    Plain,
    Gzip,
    Utf16Le,
    Utf16Be,
    Table,
    Zstd,
    Database,
}

impl Coat {
    fn of(magic: &[u8]) -> Self {
        match magic {
            [0x1F, 0x8B, ..] => Self::Gzip,
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Self::Zstd,
            [b'P', b'A', b'R', b'1', ..] => Self::Table,
            b"SQLite format 3\0" => Self::Database,
            [0xFF, 0xFE, ..] => Self::Utf16Le,
            [0xFE, 0xFF, ..] => Self::Utf16Be,
            // Without a byte order mark: JSON starts with an ASCII character.
            [b'{' | b'[', 0, _, 0, ..] => Self::Utf16Le,
            [0, b'{' | b'[', 0, _, ..] => Self::Utf16Be,
            _ => Self::Plain,
        }
    }

    fn is_packed(self) -> bool {
        matches!(self, Self::Gzip | Self::Zstd)
    }

    fn note(self) -> &'static str {
        match self {
            Self::Gzip => "unpacked from gzip; offsets are those of the unpacked text",
            Self::Zstd => "unpacked from zstd; offsets are those of the unpacked text",
            Self::Utf16Le | Self::Utf16Be => {
                "turned from UTF-16 into UTF-8; offsets are those of the UTF-8 text"
            }
            Self::Table => {
                "turned from a parquet table into JSON lines; offsets are those of the lines"
            }
            Self::Database => {
                "turned from opencode's database into JSON lines, one a session and one a message; offsets are those of the lines"
            }
            Self::Plain => "",
        }
    }
}

/// Keeps what a reader gives: in memory while it is small, then in a temporary file. A packed file that breaks off
/// still gives what stands before the damage; the damage comes back beside it.
fn gather(mut reader: impl Read, limit: u64) -> io::Result<(Body, u64, Option<String>)> {
    let mut bytes = Vec::new();
    let memory = MEMORY_BYTES.min(limit);
    if let Err(error) = reader.by_ref().take(memory + 1).read_to_end(&mut bytes) {
        if bytes.is_empty() || bound::is_past(&error) {
            return Err(error);
        }
        let len = bytes.len() as u64;
        return Ok((Body::Memory(bytes), len, Some(broken_off(len, &error))));
    }
    let mut len = bytes.len() as u64;
    if len <= memory {
        return Ok((Body::Memory(bytes), len, None));
    }
    let mut spool = Spool::new()?;
    spool.write_all(&bytes)?;
    let mut rest = Watched {
        reader: reader.take(limit.saturating_sub(len)),
        error: None,
    };
    len += io::copy(&mut rest, &mut spool)?;
    if len >= limit {
        return Err(bound::bomb(limit));
    }
    let damage = rest.error.map(|error| broken_off(len, &error));
    Ok((Body::Spool(spool), len, damage))
}

fn too_large(most: u64) -> io::Error {
    let why = format!("more than {most} bytes");
    io::Error::new(io::ErrorKind::FileTooLarge, why)
}

fn broken_off(len: u64, error: &io::Error) -> String {
    format!(
        "the packed file is damaged behind byte {len} of its content ({error}); what stands before is kept"
    )
}

/// Ends where the reader fails, and keeps the reason, so that an error of the disk written to stays an error.
struct Watched<R> {
    reader: R,
    error: Option<io::Error>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.reader.read(out) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted && !bound::is_past(&error) => {
                self.error = Some(error);
                Ok(0)
            }
            other => other,
        }
    }
}
