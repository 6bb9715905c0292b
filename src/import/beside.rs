//! Files that stand beside runs and speak of them: failure labels (AgentRx), annotations of spans (Phoenix), reports
//! of a grader (SWE-bench). They are found by name in a walk, read once when a run first asks, and joined by id and by
//! where they lie. What they say is `Index`'s matter.

mod index;

use super::limits::{MAX_SIDE_BYTES, MAX_SIDE_FILES, MAX_SIDE_TOTAL_BYTES};
use super::parse::{Flaws, decode, parse};
use super::source::Source;
pub(crate) use index::{Failures, Index, Origin, Placed, Verdict};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// What a file's name says where it speaks of other files' runs.
const NAMES: &[&str] = &[
    "label",
    "annotation",
    "ground_truth",
    "report",
    "swebench_eval",
];

/// The file may speak of runs in other files.
pub(crate) fn is_beside(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_lowercase();
    let is_json = name.ends_with(".json") || name.ends_with(".jsonl");
    // Many programs call their runs results; those of SWE-agent stand with its predictions.
    let is_results = || name == "results.json" && path.with_file_name("preds.json").exists();
    is_json && (NAMES.iter().any(|part| name.contains(part)) || is_results())
}

/// When a file was last written, microseconds UTC.
pub fn modified_us(meta: &std::fs::Metadata) -> i64 {
    let since = meta
        .modified()
        .ok()
        .and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok())
        .unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// A path by which places can be compared: the user may name one relative to the other.
pub(crate) fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The files beside a unit; all units of one walk share them.
#[derive(Clone, Default)]
pub struct Beside(Arc<Files>);

#[derive(Default)]
struct Files {
    paths: Vec<PathBuf>,
    /// Units of the walk whose file name another unit has too, by name and path.
    twins: Vec<(OsString, PathBuf)>,
    /// Files beyond the limit.
    too_many: usize,
    index: OnceLock<Index>,
    stamp: OnceLock<(u64, i64)>,
}

impl PartialEq for Beside {
    fn eq(&self, other: &Self) -> bool {
        self.0.paths == other.0.paths
    }
}

impl Eq for Beside {}

impl std::fmt::Debug for Beside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.0.paths).finish()
    }
}

impl Beside {
    /// The files at `paths` beside the units at `units`.
    pub(crate) fn of<'u>(mut paths: Vec<PathBuf>, units: impl Iterator<Item = &'u Path>) -> Self {
        paths.sort();
        paths.dedup();
        let too_many = paths.len().saturating_sub(MAX_SIDE_FILES);
        paths.truncate(MAX_SIDE_FILES);
        let twins = if paths.is_empty() {
            Vec::new()
        } else {
            twins(units)
        };
        Self(Arc::new(Files {
            paths,
            twins,
            too_many,
            index: OnceLock::new(),
            stamp: OnceLock::new(),
        }))
    }

    /// There are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.paths.is_empty()
    }

    /// Their bytes and the time of the newest, microseconds UTC: what they say of a run may have changed while its file has not.
    pub fn stamp(&self) -> (u64, i64) {
        *self.0.stamp.get_or_init(|| {
            let metas = self
                .0
                .paths
                .iter()
                .filter_map(|p| std::fs::metadata(p).ok());
            metas.fold((0, 0), |(size, newest), meta| {
                (size + meta.len(), newest.max(modified_us(&meta)))
            })
        })
    }

    /// What they say, read when first asked.
    pub(crate) fn index(&self) -> &Index {
        self.0.index.get_or_init(|| {
            let mut index = Index::default();
            index.leave_out(self.0.too_many, || {
                format!("more than {MAX_SIDE_FILES} such files in one import")
            });
            let mut left = MAX_SIDE_TOTAL_BYTES;
            for path in &self.0.paths {
                match read(path, left, &mut index) {
                    Ok(len) => left = left.saturating_sub(len),
                    Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                        index.leave_out(1, || format!("{}: {error}", path.display()));
                    }
                    // Read as a unit of its own it is told.
                    Err(_) => {}
                }
            }
            index
        })
    }

    /// Of the files that name a run by its id, those that can mean this one: each evaluation folder of a walk may hold a run
    /// of that id, and a report next to one of them says nothing of the others. So the nearest ones count, and none
    /// that has a run with this one's file name nearer to itself. `run` is the whole path of the run's file.
    pub(crate) fn nearest<'i, T>(
        &self,
        run: &Path,
        all: impl Iterator<Item = &'i Placed<T>>,
    ) -> Vec<&'i T> {
        let folder = run.parent().unwrap_or(run);
        let shared = |placed: &&Placed<T>| {
            let pairs = folder.components().zip(placed.origin.folder.components());
            pairs.take_while(|(a, b)| a == b).count()
        };
        let near: Vec<(usize, &Placed<T>)> = all
            .map(|placed| (shared(&placed), placed))
            .filter(|(shared, placed)| !self.is_of_another(run, &placed.origin.folder, *shared))
            .collect();
        let most = near.iter().map(|(shared, _)| *shared).max();
        let nearest = near.iter().filter(|(shared, _)| Some(*shared) == most);
        nearest.map(|(_, placed)| &placed.what).collect()
    }

    /// On the way from where the run's and the file's paths part to the file, another unit has the run's name.
    fn is_of_another(&self, run: &Path, file: &Path, shared: usize) -> bool {
        let own: PathBuf = file.components().take(shared + 1).collect();
        let Some(name) = run
            .file_name()
            .filter(|_| own.components().count() > shared)
        else {
            return false;
        };
        let twins = &self.0.twins;
        let at = twins.partition_point(|(n, path)| (n.as_os_str(), path) < (name, &own));
        let next = twins.get(at);
        next.is_some_and(|(n, path)| n == name && path.starts_with(&own))
    }
}

fn twins<'u>(units: impl Iterator<Item = &'u Path>) -> Vec<(OsString, PathBuf)> {
    let named = units.filter_map(|path| Some((path.file_name()?.to_owned(), path)));
    let mut named: Vec<(OsString, &Path)> = named.collect();
    named.sort();
    let groups = named.chunk_by(|(a, _), (b, _)| a == b);
    let twins = groups.filter(|group| group.len() > 1).flatten();
    let mut twins: Vec<_> = twins
        .map(|(name, path)| (name.clone(), whole(path)))
        .collect();
    twins.sort();
    twins
}

/// Reads a file of at most `left` bytes and says how many it had.
fn read(path: &Path, left: u64, index: &mut Index) -> io::Result<u64> {
    let source = Source::open_within(path, MAX_SIDE_BYTES.min(left))?;
    let len = usize::try_from(source.len()).unwrap_or(0);
    let bytes = source.read_at(0, len)?;
    let origin = Arc::new(Origin::of(path));
    let text = decode(&bytes, &mut Flaws::default());
    if let Ok(node) = parse(&text, &mut Flaws::default()) {
        index.take(&origin, &node);
        return Ok(source.len());
    }
    for line in text.lines() {
        if let Ok(node) = parse(line, &mut Flaws::default()) {
            index.take(&origin, &node);
        }
    }
    Ok(source.len())
}
