//! What `doctor` asks of the file.

use super::{Store, StoreError, schema};
use serde::Serialize;

/// The file's state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Health {
    /// Where it is.
    pub path: String,
    /// Schema version of the file.
    pub schema: i64,
    /// Newest schema version this program knows.
    pub newest_schema: i64,
    /// SQLite's own check: `ok`, or what it found.
    pub integrity: String,
    /// SQLite version.
    pub sqlite: String,
    /// Runs.
    pub runs: u64,
    /// Steps.
    pub steps: u64,
    /// Distinct texts.
    pub bodies: u64,
    /// Bytes of distinct texts before compression.
    pub body_bytes: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Decisions, undos included.
    pub decisions: u64,
    /// Texts not yet in the search index.
    pub unindexed: u64,
    /// Opened for reading only.
    pub read_only: bool,
}

impl Store {
    /// Looks the file over. `thorough` reads every page.
    pub fn health(&self, thorough: bool) -> Result<Health, StoreError> {
        let check = if thorough {
            "integrity_check"
        } else {
            "quick_check"
        };
        let integrity = self
            .db
            .query_row(&format!("PRAGMA {check}(1)"), [], |row| row.get(0))?;
        let count = |sql: &str| -> Result<u64, StoreError> {
            let n: i64 = self.db.query_row(sql, [], |row| row.get(0))?;
            Ok(u64::try_from(n).unwrap_or(0))
        };
        let index = self.index_state()?;
        Ok(Health {
            path: self.path.display().to_string(),
            schema: schema::version(&self.db)?,
            newest_schema: schema::newest(),
            integrity,
            sqlite: rusqlite::version().to_owned(),
            runs: count("SELECT count(*) FROM run")?,
            steps: count("SELECT count(*) FROM step")?,
            bodies: count("SELECT count(*) FROM body")?,
            body_bytes: count("SELECT coalesce(sum(size), 0) FROM body")?,
            file_bytes: std::fs::metadata(&self.path).map_or(0, |m| m.len()),
            decisions: count("SELECT count(*) FROM decision")?,
            unindexed: index.total - index.done,
            read_only: self.read_only,
        })
    }
}
