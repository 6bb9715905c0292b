//! The bytes that a run or a step was read from, unpacked as they were read: of a file, of a member of an archive, of
//! a file in a folder. Only what an import has noted is opened; it reads no run.

use super::archive::Archive;
use super::limits::MAX_VALUE_BYTES;
use super::source::Source;
use crate::domain::SourceSpan;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Reads the bytes at `span` of the log at `path`. `member` is the file in the folder, or the member of the archive,
/// that the run's head names. In a folder of events, and in a sample that is split, the span's line says which part.
pub fn read_raw(path: &Path, member: Option<&str>, span: SourceSpan) -> io::Result<Vec<u8>> {
    let len = usize::try_from(span.len).unwrap_or(usize::MAX);
    if path.is_dir() {
        let file = match member {
            Some(member) => inside(path, member)?,
            None => event_file(path, span)?,
        };
        return Source::open(&file)?.read_at(span.offset, len);
    }
    let source = Source::open(path)?;
    let Some(member) = member else {
        return source.read_at(span.offset, len);
    };
    let archive = Archive::open(&source)?;
    let name = match member.strip_suffix("/sample.json") {
        Some(sample) if span.line > 0 => format!("{sample}/events/{}.json", span.line - 1),
        _ => member.to_owned(),
    };
    let found = archive
        .find(&name)
        .ok_or_else(|| missing(&format!("{name} is not in the archive")))?;
    archive
        .read(found)?
        .read_at(span.offset, len.min(MAX_VALUE_BYTES))
}

/// A file in the folder, and nowhere else.
fn inside(folder: &Path, member: &str) -> io::Result<PathBuf> {
    let member = Path::new(member);
    let is_inside = member
        .components()
        .all(|c| matches!(c, Component::Normal(_)));
    if is_inside {
        Ok(folder.join(member))
    } else {
        Err(missing("the file is not in the folder"))
    }
}

fn event_file(folder: &Path, span: SourceSpan) -> io::Result<PathBuf> {
    let number = span.line.saturating_sub(1);
    let events = folder.join("events");
    let is_it = |path: &PathBuf| event_number(path) == Some(number);
    std::fs::read_dir(&events)?
        .flatten()
        .map(|entry| entry.path())
        .find(is_it)
        .ok_or_else(|| missing(&format!("event {number} is not in {}", events.display())))
}

/// The number in `event-00012-….json`.
pub(crate) fn event_number(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_string_lossy();
    let rest = name.strip_prefix("event-")?;
    rest.split(['-', '.']).next()?.parse().ok()
}

fn missing(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, why.to_owned())
}
