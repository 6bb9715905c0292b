//! Bundles: decisions carried between machines as one JSON line each. Merging is idempotent and cannot conflict,
//! since rows are only ever added and their names are unique.

use super::{Store, StoreError};
use rusqlite::params;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Read, Write};
use std::path::Path;

/// First line of a bundle.
const FORMAT: &str = "triagent-bundle-1";
/// A decision longer than this is not one of ours.
const MAX_LINE: usize = 16 << 20;
/// From 1970, where a machine without a clock stands, to 2200; what lies outside is made up, and would stand first or last in
/// every list.
const MADE_BETWEEN_US: std::ops::Range<i64> = 0..7_258_118_400_000_000;

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct BundleReport {
    /// Rows of the log.
    pub decisions: u64,
}

/// What was taken in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MergeReport {
    /// Rows that were new.
    pub added: u64,
    /// Rows that were here already.
    pub known: u64,
    /// Rows about runs that this workspace does not hold (kept all the same).
    pub without_run: u64,
    /// Lines that could not be read: line number and reason.
    pub skipped: Vec<(u64, String)>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    format: String,
}

#[derive(Serialize, Deserialize)]
struct Line {
    id: String,
    reviewer: String,
    at_us: i64,
    kind: String,
    subject: String,
    body: serde_json::Value,
    codebook: String,
    replaces: Option<String>,
    batch: Option<String>,
    target: Option<String>,
}

impl Store {
    /// Writes the whole decision log to a bundle.
    pub fn write_bundle(&self, out: &mut dyn Write) -> Result<BundleReport, StoreError> {
        let mut report = BundleReport::default();
        write_line(
            out,
            &Head {
                format: FORMAT.to_owned(),
            },
        )?;
        let sql =
            "SELECT id, reviewer, at_us, kind, subject, body, codebook, replaces, batch, target
             FROM decision ORDER BY id";
        let mut query = self.db.prepare(sql)?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let body: String = row.get(5)?;
            let line = Line {
                id: row.get(0)?,
                reviewer: row.get(1)?,
                at_us: row.get(2)?,
                kind: row.get(3)?,
                subject: row.get(4)?,
                body: super::registers::from_json("decision", &body)?,
                codebook: row.get(6)?,
                replaces: row.get(7)?,
                batch: row.get(8)?,
                target: row.get(9)?,
            };
            write_line(out, &line)?;
            report.decisions += 1;
        }
        Ok(report)
    }

    /// Adds a bundle's decisions. Reading the same bundle again adds nothing.
    pub fn merge_bundle(&mut self, from: &Path) -> Result<MergeReport, StoreError> {
        self.must_write()?;
        let file_error = |why: String| StoreError::File {
            path: from.to_owned(),
            why,
        };
        let read = |e: std::io::Error| file_error(e.to_string());
        // Asked before opening: whoever opens a pipe waits for its writer for ever.
        if !std::fs::metadata(from).map_err(read)?.is_file() {
            return Err(file_error("not a file".to_owned()));
        }
        let mut file = std::io::BufReader::new(std::fs::File::open(from).map_err(read)?);
        let first = next_line(&mut file).map_err(read)?;
        let is_ours = first
            .and_then(|line| serde_json::from_slice::<Head>(&line.ok()?).ok())
            .is_some_and(|head| head.format == FORMAT);
        if !is_ours {
            let why = "not a bundle; `triagent bundle OUT` writes one".to_owned();
            return Err(file_error(why));
        }
        let transaction = self
            .db
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let mut report = MergeReport::default();
        let mut number = 1;
        while let Some(line) = next_line(&mut file).map_err(read)? {
            number += 1;
            let added = match line.and_then(|line| readable(&line)) {
                Ok(line) => add(&transaction, &line, &mut report)?,
                Err(why) => Err(why),
            };
            if let Err(why) = added {
                report.skipped.push((number, why));
            }
        }
        transaction.commit()?;
        Ok(report)
    }
}

/// Reads a line, or reads over one that is longer than any of ours.
fn next_line(file: &mut impl BufRead) -> std::io::Result<Option<Result<Vec<u8>, String>>> {
    let mut line = Vec::new();
    let most = MAX_LINE as u64 + 1;
    if file.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > MAX_LINE {
        file.skip_until(b'\n')?;
        return Ok(Some(Err(format!("line is longer than {MAX_LINE} bytes"))));
    }
    Ok(Some(Ok(line)))
}

fn readable(line: &[u8]) -> Result<Line, String> {
    let line: Line = serde_json::from_slice(line).map_err(|e| e.to_string())?;
    if !MADE_BETWEEN_US.contains(&line.at_us) {
        return Err(format!("at_us {} is no time of a decision", line.at_us));
    }
    uuid::Uuid::parse_str(&line.id).map_err(|_| format!("{:?} is no decision id", line.id))?;
    if line.target.is_none() {
        // What cannot be read back must not get in: one bad row would spoil every list.
        serde_json::from_value::<crate::domain::Decision>(line.body.clone())
            .map_err(|e| e.to_string())?;
    }
    Ok(line)
}

/// Adds a line; the inner error says why it was not taken.
fn add(
    db: &rusqlite::Connection,
    line: &Line,
    report: &mut MergeReport,
) -> Result<Result<(), String>, StoreError> {
    let sql = "INSERT OR IGNORE INTO decision (id, reviewer, at_us, kind, subject, body, codebook, replaces, batch, target)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let new = db.prepare_cached(sql)?.execute(params![
        line.id,
        line.reviewer,
        line.at_us,
        line.kind,
        line.subject,
        line.body.to_string(),
        line.codebook,
        line.replaces,
        line.batch,
        line.target,
    ])?;
    if new == 0 {
        if !is_same(db, line)? {
            let why = "another decision has this id here; ours was kept".to_owned();
            return Ok(Err(why));
        }
        report.known += 1;
        return Ok(Ok(()));
    }
    report.added += 1;
    let is_about_run = matches!(line.kind.as_str(), "verdict" | "outcome" | "note" | "pin");
    let mut query = db.prepare_cached("SELECT count(*) FROM run WHERE id = ?1")?;
    let held: i64 = query.query_row([&line.subject], |row| row.get(0))?;
    report.without_run += u64::from(is_about_run && held == 0);
    Ok(Ok(()))
}

/// What is kept under the line's id says what the line says.
fn is_same(db: &rusqlite::Connection, line: &Line) -> Result<bool, StoreError> {
    let sql = "SELECT body FROM decision WHERE id = ?1 AND reviewer = ?2 AND at_us = ?3 AND kind = ?4 AND subject = ?5
         AND codebook = ?6 AND replaces IS ?7 AND batch IS ?8 AND target IS ?9";
    let mut query = db.prepare_cached(sql)?;
    let mut rows = query.query(params![
        line.id,
        line.reviewer,
        line.at_us,
        line.kind,
        line.subject,
        line.codebook,
        line.replaces,
        line.batch,
        line.target,
    ])?;
    let Some(row) = rows.next()? else {
        return Ok(false);
    };
    let body: String = row.get(0)?;
    Ok(super::registers::from_json::<serde_json::Value>("decision", &body)? == line.body)
}

fn write_line<T: Serialize>(out: &mut dyn Write, value: &T) -> Result<(), StoreError> {
    let line = super::registers::to_json("decision", value)?;
    let written = out
        .write_all(line.as_bytes())
        .and_then(|()| out.write_all(b"\n"));
    written.map_err(|e| StoreError::File {
        path: "bundle".into(),
        why: e.to_string(),
    })
}
