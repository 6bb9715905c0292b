//! A unit of work and its mark: size and time of the file, by which a later import sees that nothing changed.

use crate::import::{Unit, UnitKind, modified_us};
use crate::store::SourceMark;
use std::path::Path;

/// A unit that will be read.
pub(super) struct Work {
    pub(super) unit: Unit,
    /// Taken before reading: a file that grows meanwhile is seen as changed by the next import.
    pub(super) mark: Option<SourceMark>,
    pub(super) bytes: u64,
}

impl Work {
    pub(super) fn new(unit: Unit) -> Self {
        let own = own_marks(&unit);
        // What stands beside the file speaks of its runs too.
        let (beside, newest) = unit.beside.stamp();
        let mark = own.map(|(size, at)| SourceMark {
            path: unit.name.clone(),
            size: size + beside,
            mtime_us: at.max(newest),
        });
        let bytes = own.map_or(0, |(size, _)| size);
        Self { unit, mark, bytes }
    }
}

/// Files in a folder unit that are looked at for its mark.
const MAX_MARKED_FILES: usize = 10_000;

fn own_marks(unit: &Unit) -> Option<(u64, i64)> {
    match unit.kind {
        UnitKind::Stdin => None,
        UnitKind::File => file_marks(&unit.path),
        UnitKind::Folder => folder_marks(&unit.path),
    }
}

/// A database's newest rows stand in a log beside it, and the file itself changes later.
fn file_marks(path: &Path) -> Option<(u64, i64)> {
    let (size, at) = marks(&std::fs::metadata(path).ok()?);
    let log = path.extension().is_some_and(|e| e == "db").then(|| {
        let log = std::fs::metadata(path.with_extension("db-wal"));
        log.map_or((0, 0), |meta| marks(&meta))
    });
    let (more, later) = log.unwrap_or_default();
    Some((size + more, at.max(later)))
}

fn marks(meta: &std::fs::Metadata) -> (u64, i64) {
    (meta.len(), modified_us(meta))
}

fn folder_marks(folder: &Path) -> Option<(u64, i64)> {
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
