//! What a screen needs of a long list: its keys in order, some of its rows, and a run's shape without its texts.
//!
//! Keys are eight bytes each, so even 100,000 runs can be held as a list that does not move under the cursor.

use super::query::Where;
use super::runs::{COLUMNS, order, row_of};
use super::{RunRow, Store, StoreError};
use crate::domain::{Filter, Owner, RunId};
use rusqlite::params_from_iter;

/// Rows read in one statement.
const CHUNK: usize = 200;

impl Store {
    /// Returns the row keys of all runs that pass, in the filter's order.
    pub fn run_seqs(&self, filter: &Filter) -> Result<Vec<i64>, StoreError> {
        let wanted = Where::of(filter);
        // The plus keeps SQLite from walking the wide rows for their order: sorting 100,000 numbers is far cheaper.
        let order = order(filter, "+r.seq");
        let sql = format!(
            "SELECT r.seq FROM run r WHERE {} ORDER BY {order}",
            wanted.sql
        );
        let mut statement = self.db.prepare_cached(&sql)?;
        let rows = statement.query_map(params_from_iter(wanted.values), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Reads rows by their keys; keys of runs that are gone are left out.
    pub fn rows(&self, seqs: &[i64]) -> Result<Vec<RunRow>, StoreError> {
        let mut out = Vec::with_capacity(seqs.len());
        for chunk in seqs.chunks(CHUNK) {
            let marks = vec!["?"; chunk.len()].join(", ");
            let sql = format!("SELECT {COLUMNS} FROM run r WHERE r.seq IN ({marks})");
            let mut statement = self.db.prepare(&sql)?;
            let rows = statement.query_map(params_from_iter(chunk), row_of)?;
            for row in rows {
                out.push(row?);
            }
        }
        Ok(out)
    }

    /// Returns the row keys of the runs that a reviewer has labelled.
    pub fn labelled_by(&self, reviewer: &str) -> Result<Vec<i64>, StoreError> {
        let sql = "SELECT DISTINCT r.seq FROM live_decision d JOIN run r ON r.id = d.subject
             WHERE d.kind = 'verdict' AND d.reviewer = ?1 ORDER BY r.seq";
        let mut statement = self.db.prepare_cached(sql)?;
        let rows = statement.query_map([reviewer], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns index, owner and message of every step of a run, without its texts.
    pub fn step_owners(&self, run: &RunId) -> Result<Vec<(u32, Owner, u32)>, StoreError> {
        let seq = self.seq(run)?;
        let sql = "SELECT idx, owner, message FROM step WHERE run = ?1 ORDER BY idx";
        let mut statement = self.db.prepare_cached(sql)?;
        let rows = statement.query_map([seq], |row| {
            let owner: String = row.get(1)?;
            let owner = Owner::from_word(&owner).unwrap_or(Owner::Unknown);
            Ok((row.get(0)?, owner, row.get(2)?))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Changes when a run comes in: what was read of all runs before is then out of date.
    pub fn runs_mark(&self) -> Result<(i64, i64), StoreError> {
        let sql = "SELECT (SELECT count(*) FROM run), coalesce((SELECT max(seq) FROM run), 0)";
        let mut statement = self.db.prepare_cached(sql)?;
        Ok(statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    /// Returns key, name, and task and family in words of every run, newest last: for jumping by a few letters.
    pub fn run_names(&self) -> Result<Vec<(i64, RunId, String)>, StoreError> {
        let sql = "SELECT seq, id, trim(coalesce(task, '') || ' ' || coalesce(family, ''))
             FROM run ORDER BY seq";
        let mut statement = self.db.prepare_cached(sql)?;
        let rows =
            statement.query_map([], |row| Ok((row.get(0)?, RunId(row.get(1)?), row.get(2)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
