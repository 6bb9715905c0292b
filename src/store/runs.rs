//! Lists runs: filtered, sorted, one page at a time.

use super::query::{self, Where};
use super::{Store, StoreError};
use crate::domain::filter::{Field, Filter, Sort};
use crate::domain::{Ending, Layer, Outcome, RunId};
use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};

/// A row of the board.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRow {
    /// Order of import; part of the page key.
    pub seq: i64,
    /// Name.
    pub id: RunId,
    /// Task.
    pub task: Option<String>,
    /// Family.
    pub family: Option<String>,
    /// Scenario.
    pub scenario: Option<String>,
    /// Group.
    pub group: Option<String>,
    /// Format.
    pub format: String,
    /// File.
    pub source: String,
    /// Pass or fail, the reviewers' word before the file's.
    pub outcome: Outcome,
    /// How the log stops.
    pub ending: Ending,
    /// Model.
    pub model: Option<String>,
    /// Harness name.
    pub harness: Option<String>,
    /// Harness version.
    pub harness_version: Option<String>,
    /// Index version.
    pub index_version: Option<String>,
    /// Prompt version.
    pub prompt_version: Option<String>,
    /// Tool set version.
    pub toolset_version: Option<String>,
    /// Weights.
    pub checkpoint: Option<String>,
    /// Steps.
    pub steps: u32,
    /// Calls.
    pub calls: u32,
    /// Failed tool results.
    pub errors: u32,
    /// Result of the last reward.
    pub reward_result: Option<f64>,
    /// Its status.
    pub reward_status: String,
    /// Layer of the current verdict.
    pub layer: Option<Layer>,
    /// Its sub-cause.
    pub cause: Option<String>,
    /// Current verdict counts (for `model`: checklist complete).
    pub proven: bool,
    /// A second attempt under one logical request.
    pub has_retry: bool,
    /// A context rewrite.
    pub has_rewrite: bool,
    /// A step of unknown owner.
    pub has_unknown: bool,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Rows.
    pub rows: Vec<RunRow>,
    /// More follow; ask with the last row as `after`.
    pub more: bool,
}

pub(super) const COLUMNS: &str = "r.seq, r.id, r.task, r.family, r.scenario, r.grp, r.format, r.source,
     coalesce((SELECT o.outcome FROM current_outcome o WHERE o.run = r.id), r.outcome), r.ending, r.model, r.harness,
     r.harness_version, r.index_version, r.prompt_version, r.toolset_version, r.checkpoint, r.steps, r.calls, r.errors,
     r.reward_result, r.reward_status, r.has_retry, r.has_rewrite, r.has_unknown,
     (SELECT v.body FROM current_verdict v WHERE v.run = r.id)";

impl Store {
    /// Reads a page: at most `limit` rows after `after` (exclusive) in the filter's order.
    pub fn runs(
        &self,
        filter: &Filter,
        after: Option<&RunRow>,
        limit: u32,
    ) -> Result<Page, StoreError> {
        let sort = sort_of(filter);
        let mut wanted = Where::of(filter);
        if let Some(row) = after {
            wanted.after(self, sort, row)?;
        }
        let sql = format!(
            "SELECT {COLUMNS} FROM run r WHERE {} ORDER BY {} LIMIT {}",
            wanted.sql,
            order(filter, "r.seq"),
            u64::from(limit) + 1
        );
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows: Vec<RunRow> = statement
            .query_map(params_from_iter(wanted.values), row_of)?
            .collect::<Result<_, _>>()?;
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        Ok(Page { rows, more })
    }

    /// Reads one run's row.
    pub fn run_row(&self, run: &RunId) -> Result<RunRow, StoreError> {
        let seq = self.seq(run)?;
        let sql = format!("SELECT {COLUMNS} FROM run r WHERE r.seq = ?1");
        Ok(self.db.prepare_cached(&sql)?.query_row([seq], row_of)?)
    }

    /// Reads the rows of all runs that pass, handing each to `each` without keeping them.
    pub fn each_run(
        &self,
        filter: &Filter,
        mut each: impl FnMut(RunRow) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut after: Option<RunRow> = None;
        loop {
            let page = self.runs(filter, after.as_ref(), 500)?;
            after = page.rows.last().cloned();
            page.rows.into_iter().try_for_each(&mut each)?;
            if !page.more {
                return Ok(());
            }
        }
    }

    /// Counts the runs that pass.
    pub fn count_runs(&self, filter: &Filter) -> Result<u64, StoreError> {
        let wanted = Where::of(filter);
        let sql = format!("SELECT count(*) FROM run r WHERE {}", wanted.sql);
        let count: i64 = self
            .db
            .prepare_cached(&sql)?
            .query_row(params_from_iter(wanted.values), |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }
}

pub(super) fn sort_of(filter: &Filter) -> Sort {
    filter.sort.first().copied().unwrap_or(Sort {
        field: Field::Imported,
        descending: false,
    })
}

/// The order of a list: by the filter's key, runs without one last, then by order of import, which `seq` names.
pub(super) fn order(filter: &Filter, seq: &str) -> String {
    let sort = sort_of(filter);
    let key = query::column(sort.field);
    let direction = if sort.descending { "DESC" } else { "ASC" };
    if key == "r.seq" {
        return format!("{seq} {direction}");
    }
    format!("{key} IS NULL, {key} {direction}, {seq}")
}

impl Where {
    /// Continues after a row: by the sort key, then by order of import. Missing keys come last either way.
    fn after(&mut self, store: &Store, sort: Sort, row: &RunRow) -> Result<(), StoreError> {
        let key = query::column(sort.field);
        let sql = format!("SELECT {key} FROM run r WHERE r.seq = ?1");
        let value: Value = store
            .db
            .prepare_cached(&sql)?
            .query_row([row.seq], |r| r.get(0))?;
        let seq = Value::Integer(row.seq);
        if value == Value::Null {
            self.and(&format!("({key} IS NULL AND r.seq > ?)"), [seq]);
            return Ok(());
        }
        let beyond = if sort.descending { "<" } else { ">" };
        let sql = format!("({key} IS NULL OR {key} {beyond} ? OR ({key} = ? AND r.seq > ?))");
        self.and(&sql, [value.clone(), value, seq]);
        Ok(())
    }
}

pub(super) fn row_of(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let outcome: String = row.get(8)?;
    let ending: String = row.get(9)?;
    let verdict: Option<String> = row.get(25)?;
    let verdict = verdict.and_then(|body| super::decisions::verdict_of(&body));
    Ok(RunRow {
        seq: row.get(0)?,
        id: RunId(row.get(1)?),
        task: row.get(2)?,
        family: row.get(3)?,
        scenario: row.get(4)?,
        group: row.get(5)?,
        format: row.get(6)?,
        source: row.get(7)?,
        outcome: Outcome::from_word(&outcome).unwrap_or(Outcome::Unknown),
        ending: Ending::from_word(&ending).unwrap_or(Ending::Unknown),
        model: row.get(10)?,
        harness: row.get(11)?,
        harness_version: row.get(12)?,
        index_version: row.get(13)?,
        prompt_version: row.get(14)?,
        toolset_version: row.get(15)?,
        checkpoint: row.get(16)?,
        steps: row.get(17)?,
        calls: row.get(18)?,
        errors: row.get(19)?,
        reward_result: row.get(20)?,
        reward_status: row.get(21)?,
        layer: verdict.as_ref().map(|v| v.layer),
        cause: verdict.as_ref().and_then(|v| v.cause.clone()),
        proven: verdict
            .as_ref()
            .is_some_and(crate::domain::Verdict::is_proven),
        has_retry: row.get(22)?,
        has_rewrite: row.get(23)?,
        has_unknown: row.get(24)?,
    })
}
