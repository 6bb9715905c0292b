//! Units: what is read as one thing. A file, standard input, or a folder that holds one run in several files.
//! Walks folders; opens nothing but folders.

use super::beside::{Beside, is_beside};
use super::limits::{MAX_FILES, MAX_FOLDER_DEPTH};
use crate::domain::Skip;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What kind of thing a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitKind {
    /// One file.
    File,
    /// A folder that belongs together: a Harbor trial, an OpenHands conversation, a tau2 experiment.
    Folder,
    /// Standard input.
    Stdin,
}

/// What is read as one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Where it is.
    pub path: PathBuf,
    /// What the user calls it; goes into `Rollout::source`.
    pub name: String,
    /// What kind of thing it is.
    pub kind: UnitKind,
    /// Files of the same walk that speak of its runs.
    pub beside: Beside,
}

impl Unit {
    /// A unit that is one file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::new(path.into(), UnitKind::File)
    }

    fn new(path: PathBuf, kind: UnitKind) -> Self {
        let name = path.to_string_lossy().into_owned();
        Self {
            path,
            name,
            kind,
            beside: Beside::default(),
        }
    }
}

/// What a walk found.
#[derive(Debug, Clone, Default)]
pub struct Discovery {
    /// Units, sorted by name within each given path.
    pub units: Vec<Unit>,
    /// Paths that could not be walked.
    pub skips: Vec<Skip>,
}

/// Makes units out of paths: walks folders, keeps folders together that form one run; `-` is standard input.
pub fn discover(paths: &[PathBuf]) -> Discovery {
    let mut found = Discovery::default();
    let mut beside = Vec::new();
    let mut seen = HashSet::new();
    for path in paths {
        if path.as_os_str() == "-" {
            let stdin = Unit::new(path.clone(), UnitKind::Stdin);
            found.units.push(stdin);
        } else {
            if path.is_file() {
                beside.extend(siblings(path));
            }
            walk(path, 0, &mut seen, &mut found);
        }
    }
    let files = found.units.iter().map(|unit| &unit.path);
    beside.extend(files.filter(|path| is_beside(path)).cloned());
    let beside = Beside::of(beside, found.units.iter().map(|unit| unit.path.as_path()));
    for unit in &mut found.units {
        unit.beside = beside.clone();
    }
    found
}

/// Files next to one that the user named alone.
fn siblings(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or_else(|| Path::new(".")));
    let entries = entries.into_iter().flatten().flatten().take(MAX_FILES);
    let paths = entries.map(|e| e.path());
    // Whoever opens a pipe waits for its writer for ever.
    paths.filter(|p| is_beside(p) && p.is_file()).collect()
}

/// Walks a folder once, even if links lead back to it by many ways.
fn walk(path: &Path, depth: usize, seen: &mut HashSet<PathBuf>, found: &mut Discovery) {
    if depth > MAX_FOLDER_DEPTH {
        return skip(
            found,
            path,
            format!("more than {MAX_FOLDER_DEPTH} folders deep"),
        );
    }
    if path.is_file() {
        if found.units.len() >= MAX_FILES {
            return skip(
                found,
                path,
                format!("more than {MAX_FILES} files in one import"),
            );
        }
        return found.units.push(Unit::file(path));
    }
    // A pipe or a device is neither; asking it for its entries gives an error that misleads.
    if std::fs::metadata(path).is_ok_and(|m| !m.is_dir()) {
        let why = "not a regular file; hint: `-` reads standard input";
        return skip(found, path, why.to_owned());
    }
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => return skip(found, path, error.to_string()),
    };
    let own = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if !seen.insert(own) {
        return;
    }
    let mut children: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    children.retain(|path| !is_of_a_database(path));
    children.sort();
    if forms_one_run(path) {
        return found
            .units
            .push(Unit::new(path.to_owned(), UnitKind::Folder));
    }
    for child in children {
        walk(&child, depth + 1, seen, found);
    }
}

/// What SQLite keeps beside an open database is read with it.
fn is_of_a_database(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let base = name
        .strip_suffix("-wal")
        .or_else(|| name.strip_suffix("-shm"));
    base.is_some_and(|base| path.with_file_name(base).is_file())
}

/// A Harbor trial, or an OpenHands conversation with one file an event.
fn forms_one_run(path: &Path) -> bool {
    let has = |name: &str| path.join(name).exists();
    let is_trial = has("config.json") && has("agent") && (has("trial.log") || has("result.json"));
    is_trial
        || path.join("events").is_dir()
            && folder_members(path)
                .iter()
                .any(|m| m.starts_with("events/event-"))
}

/// Names in a folder, and the first names in its `events`; enough to know what it is.
pub(crate) fn folder_members(path: &Path) -> Vec<String> {
    const FIRST: usize = 64;
    let names = |path: &Path, before: &str, most: usize| -> Vec<String> {
        let entries = std::fs::read_dir(path)
            .into_iter()
            .flatten()
            .flatten()
            .take(most);
        entries
            .map(|e| format!("{before}{}", e.file_name().to_string_lossy()))
            .collect()
    };
    let mut members = names(path, "", 4096);
    members.extend(names(&path.join("events"), "events/", FIRST));
    members.sort();
    members
}

fn skip(found: &mut Discovery, path: &Path, reason: String) {
    found.skips.push(Skip {
        file: path.to_string_lossy().into_owned(),
        line: 0,
        reason,
    });
}
