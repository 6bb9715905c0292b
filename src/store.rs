//! The only room with a key to the disk: one SQLite file, append-only decisions, views for what is current.
//!
//! It keeps and finds; it judges nothing. Rules live in the pure rooms.

mod blobs;
mod board;
mod bodies;
mod bundle;
mod decisions;
mod facets;
mod health;
mod intake;
mod parcel;
mod query;
mod read;
mod registers;
mod results;
mod runs;
mod schema;
mod scores;
mod search;

pub use board::Beginning;
pub use bundle::{BundleReport, MergeReport};
pub use decisions::{Act, Undone};
pub use facets::FacetCount;
pub use health::Health;
pub use intake::{Intake, IntakeCounts, SourceMark};
pub use parcel::{Packer, Parcel};
pub use read::StepHead;
pub use runs::{Page, RunRow};
pub use search::{Hit, IndexState};

use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// Folder that holds a workspace.
pub const FOLDER: &str = ".triagent";
/// File in that folder.
pub const FILE: &str = "workspace.db";
/// How long a second writer waits before it gives up with a clear error.
const BUSY_WAIT: Duration = Duration::from_secs(5);

/// What can go wrong at the disk.
#[derive(Debug, Error)]
pub enum StoreError {
    /// No workspace at that place.
    #[error("no workspace at {}; `triagent import PATH` makes one here", .0.display())]
    NotFound(PathBuf),
    /// A newer triagent wrote the file.
    #[error(
        "workspace has schema {found}, this program knows {known}; update triagent, nothing was changed"
    )]
    NewerSchema {
        /// In the file.
        found: i64,
        /// Newest known.
        known: i64,
    },
    /// Opened for reading only.
    #[error("workspace is open for reading only; nothing was written")]
    ReadOnly,
    /// An SQLite file of another program.
    #[error("file is a database of another program, not a triagent workspace; nothing was changed")]
    Foreign,
    /// Another process holds the write lock.
    #[error("another program is writing to this workspace and did not finish in 5 s; try again")]
    Busy,
    /// No room on the disk.
    #[error("disk is full; what was saved before is safe, free some room and try again")]
    Full,
    /// Not a database, or damaged.
    #[error("workspace file is damaged or not a triagent workspace ({0}); run `triagent doctor`")]
    Damaged(String),
    /// No run has that name.
    #[error("no run is called {0:?}; `triagent list runs` shows the names")]
    NoSuchRun(String),
    /// Several runs begin like that.
    #[error("{prefix:?} begins {count} run names ({examples}); type more of it")]
    Ambiguous {
        /// What was typed.
        prefix: String,
        /// How many match.
        count: usize,
        /// Some of them.
        examples: String,
    },
    /// A stored value cannot be read back.
    #[error("stored {what} cannot be read back: {why}")]
    Unreadable {
        /// What it was.
        what: &'static str,
        /// Why.
        why: String,
    },
    /// A file beside the workspace.
    #[error("{}: {why}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Anything else SQLite says.
    #[error("workspace: {0}")]
    Sql(rusqlite::Error),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Self::Damaged(error.to_string())
            }
            _ => Self::Sql(error),
        }
    }
}

impl StoreError {
    fn unreadable(what: &'static str, why: impl ToString) -> Self {
        Self::Unreadable {
            what,
            why: why.to_string(),
        }
    }
}

/// An open workspace.
pub struct Store {
    db: Connection,
    path: PathBuf,
    read_only: bool,
}

impl Store {
    /// Returns the workspace file in `start` or its nearest parent that has one.
    pub fn locate(start: &Path) -> Option<PathBuf> {
        start
            .ancestors()
            .map(|dir| dir.join(FOLDER).join(FILE))
            .find(|file| file.is_file())
    }

    /// Opens a workspace, or makes one where there is none.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|e| StoreError::File {
                path: folder.to_owned(),
                why: e.to_string(),
            })?;
        }
        Self::connect(path, OpenFlags::default(), false)
    }

    /// Opens a workspace that exists.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if !path.is_file() {
            return Err(StoreError::NotFound(path.to_owned()));
        }
        Self::connect(
            path,
            OpenFlags::default() & !OpenFlags::SQLITE_OPEN_CREATE,
            false,
        )
    }

    /// Opens a workspace that exists and writes nothing to it.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        if !path.is_file() {
            return Err(StoreError::NotFound(path.to_owned()));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        match Self::connect(path, flags, true) {
            // In a folder that cannot be written, SQLite cannot share its index of the log; nobody else writes there either.
            Err(StoreError::Sql(_) | StoreError::ReadOnly | StoreError::File { .. })
                if !has_log(path) =>
            {
                let mut store =
                    Self::connect(&immutable(path), flags | OpenFlags::SQLITE_OPEN_URI, true)?;
                path.clone_into(&mut store.path);
                Ok(store)
            }
            other => other,
        }
    }

    /// A workspace in memory, for tests.
    pub fn in_memory() -> Result<Self, StoreError> {
        let mut db = Connection::open_in_memory()?;
        schema::climb(&mut db)?;
        Ok(Self {
            db,
            path: PathBuf::from(":memory:"),
            read_only: false,
        })
    }

    fn connect(path: &Path, flags: OpenFlags, read_only: bool) -> Result<Self, StoreError> {
        let mut db =
            Connection::open_with_flags(path, flags).map_err(|e| match StoreError::from(e) {
                StoreError::Sql(e) => StoreError::File {
                    path: path.to_owned(),
                    why: e.to_string(),
                },
                other => other,
            })?;
        db.busy_timeout(BUSY_WAIT)?;
        db.set_prepared_statement_cache_capacity(64);
        db.pragma_update(None, "foreign_keys", true)?;
        db.pragma_update(None, "temp_store", "memory")?;
        db.pragma_update(None, "cache_size", -32_768)?;
        schema::check_ours(&db)?;
        if read_only {
            if schema::version(&db)? > schema::newest() {
                return Err(StoreError::NewerSchema {
                    found: schema::version(&db)?,
                    known: schema::newest(),
                });
            }
        } else {
            // An acknowledged decision survives a kill in both modes; NORMAL may lose the newest ones to a
            // power cut, so the log's own commits are made FULL (see decisions.rs).
            db.pragma_update(None, "journal_mode", "wal")?;
            db.pragma_update(None, "synchronous", "normal")?;
            schema::climb(&mut db)?;
        }
        Ok(Self {
            db,
            path: path.to_owned(),
            read_only,
        })
    }

    /// What stops a question to this store from another thread.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(self.db.get_interrupt_handle())
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Nothing may be written.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn must_write(&self) -> Result<(), StoreError> {
        if self.read_only {
            Err(StoreError::ReadOnly)
        } else {
            Ok(())
        }
    }
}

/// Stops what a store is asked at the moment; with nothing under way it does nothing.
pub struct Interrupter(rusqlite::InterruptHandle);

impl std::fmt::Debug for Interrupter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Interrupter")
    }
}

impl Interrupter {
    /// Stops it; the question ends with an error.
    pub fn interrupt(&self) {
        self.0.interrupt();
    }
}

/// Changes stand beside the file that are not in it yet.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|m| m.len() > 0)
}

/// The file's name as SQLite takes it for one that nobody changes.
fn immutable(path: &Path) -> PathBuf {
    let path = path.to_string_lossy();
    let path = path
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    PathBuf::from(format!("file:{path}?immutable=1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_that_nobody_can_change_is_read_whatever_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a%20?b#c.db");
        drop(Store::create(&file).unwrap());
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let store = Store::connect(&immutable(&file), flags, true).unwrap();
        assert_eq!(store.documents().unwrap().len(), 0);
        // SQLite made nothing beside it.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
