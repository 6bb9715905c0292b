//! Zip archives, zstd members (method 93) included. Of members with one name the last wins. An archive whose
//! directory is missing, because its writer died, is read by the headers that stand before each member.

use super::limits::MAX_FILES;
use super::source::{ReadSeek, Source, unpacked_limit};
use std::io::{self, Read, Seek, SeekFrom};

/// A member: its name and where its packed bytes stand.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) name: String,
    method: u16,
    at: u64,
    packed: u64,
}

/// An open archive.
pub(crate) struct Archive<'s> {
    source: &'s Source,
    /// Members in the order of the archive, names distinct.
    pub(crate) members: Vec<Member>,
    /// The directory at the end is missing.
    pub(crate) is_cut: bool,
}

const STORED: u16 = 0;
const DEFLATE: u16 = 8;
const ZSTD: u16 = 93;

impl<'s> Archive<'s> {
    /// Lists the members.
    pub(crate) fn open(source: &'s Source) -> io::Result<Self> {
        let listed = directory(source.seekable()?);
        let (all, is_cut) = match listed {
            Ok(members) => (members, false),
            Err(_) => (by_headers(source)?, true),
        };
        let mut members: Vec<Member> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for member in all.into_iter().rev() {
            if seen.insert(member.name.clone()) {
                members.push(member);
            }
        }
        members.reverse();
        Ok(Self {
            source,
            members,
            is_cut,
        })
    }

    /// A member by name.
    pub(crate) fn find(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|m| m.name == name)
    }

    /// Unpacks a member.
    pub(crate) fn read(&self, member: &Member) -> io::Result<Source> {
        let packed = self.source.reader(member.at)?.take(member.packed);
        let most = unpacked_limit(member.packed);
        match member.method {
            STORED => Source::gathered(packed, most),
            DEFLATE => Source::gathered(flate2::read::DeflateDecoder::new(packed), most),
            ZSTD => Source::gathered(zstd::Decoder::new(packed)?, most),
            other => Err(io::Error::other(format!(
                "packed with method {other}, which triagent cannot unpack"
            ))),
        }
    }
}

fn directory(reader: Box<dyn ReadSeek + '_>) -> io::Result<Vec<Member>> {
    let mut zip = zip::ZipArchive::new(reader).map_err(io::Error::other)?;
    if zip.len() > MAX_FILES {
        return Err(io::Error::other(format!("more than {MAX_FILES} members")));
    }
    let mut members = Vec::with_capacity(zip.len());
    for index in 0..zip.len() {
        let file = zip.by_index_raw(index).map_err(io::Error::other)?;
        #[expect(
            deprecated,
            reason = "the number is what the archive says, known to the crate or not"
        )]
        let method = file.compression().to_u16();
        members.push(Member {
            name: String::from_utf8_lossy(file.name_raw()).into_owned(),
            method,
            at: file.data_start().unwrap_or(0),
            packed: file.compressed_size(),
        });
    }
    Ok(members)
}

/// Walks from header to header. A member whose size stands only behind it ends the walk.
fn by_headers(source: &Source) -> io::Result<Vec<Member>> {
    const HEADER: u64 = 30;
    const SIZE_BEHIND: u16 = 8;
    let mut members = Vec::new();
    let mut at = 0;
    let mut reader = source.seekable()?;
    while members.len() < MAX_FILES {
        let mut head = [0_u8; 30];
        reader.seek(SeekFrom::Start(at))?;
        if reader.read_exact(&mut head).is_err() || !head.starts_with(b"PK\x03\x04") {
            break;
        }
        let short = |i: usize| u16::from_le_bytes([byte(&head, i), byte(&head, i + 1)]);
        let long = |i: usize| u64::from(short(i)) | (u64::from(short(i + 2)) << 16);
        let (name_len, extra_len) = (u64::from(short(26)), u64::from(short(28)));
        let mut name = Vec::new();
        reader.by_ref().take(name_len).read_to_end(&mut name)?;
        let start = at + HEADER + name_len + extra_len;
        let packed = long(18);
        if short(6) & SIZE_BEHIND != 0 || start + packed > source.len() {
            break;
        }
        members.push(Member {
            name: String::from_utf8_lossy(&name).into_owned(),
            method: short(8),
            at: start,
            packed,
        });
        at = start + packed;
    }
    Ok(members)
}

fn byte(head: &[u8], at: usize) -> u8 {
    head.get(at).copied().unwrap_or(0)
}
