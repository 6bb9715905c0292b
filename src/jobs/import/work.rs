//! A unit of work and its mark: size and time of the file, by which a later import sees that nothing changed.

use crate::import::{Unit, UnitKind};
use crate::store::SourceMark;

/// A unit that will be read.
pub(super) struct Work {
    pub(super) unit: Unit,
    /// Taken before reading: a file that grows meanwhile is seen as changed by the next import.
    pub(super) mark: Option<SourceMark>,
    pub(super) bytes: u64,
}

impl Work {
    pub(super) fn new(unit: Unit) -> Self {
        let mark = mark_of(&unit);
        let bytes = mark.as_ref().map_or(0, |m| m.size);
        Self { unit, mark, bytes }
    }
}

/// Files in a folder unit that are looked at for its mark.
const MAX_MARKED_FILES: usize = 10_000;

fn mark_of(unit: &Unit) -> Option<SourceMark> {
    let (size, mtime_us) = match unit.kind {
        UnitKind::Stdin => return None,
        UnitKind::File => marks(&std::fs::metadata(&unit.path).ok()?),
        UnitKind::Folder => folder_marks(&unit.path)?,
    };
    Some(SourceMark {
        path: unit.name.clone(),
        size,
        mtime_us,
    })
}

fn marks(meta: &std::fs::Metadata) -> (u64, i64) {
    let since = meta
        .modified()
        .ok()
        .and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok())
        .unwrap_or_default();
    (
        meta.len(),
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
    )
}

fn folder_marks(folder: &std::path::Path) -> Option<(u64, i64)> {
    let mut open = vec![folder.to_path_buf()];
    let (mut size, mut newest, mut files) = (0, 0, 0);
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).ok()?.flatten() {
            let meta = entry.metadata().ok()?;
            if meta.is_dir() {
                open.push(entry.path());
                continue;
            }
            let (bytes, at) = marks(&meta);
            size += bytes;
            newest = newest.max(at);
            files += 1;
            if files > MAX_MARKED_FILES {
                return None;
            }
        }
    }
    Some((size, newest))
}
