//! Bundles: decisions carried between machines as one JSON line each. Merging is idempotent and cannot conflict,
//! since rows are only ever added and their names are unique.

use super::{Store, StoreError};
use rusqlite::params;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::path::Path;

/// First line of a bundle.
const FORMAT: &str = "triagent-bundle-1";
/// A decision longer than this is not one of ours.
const MAX_LINE: usize = 16 << 20;

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
        let file = std::fs::File::open(from).map_err(|e| file_error(e.to_string()))?;
        let mut lines = std::io::BufReader::new(file).lines();
        let first = lines
            .next()
            .transpose()
            .map_err(|e| file_error(e.to_string()))?;
        let is_ours = first
            .and_then(|line| serde_json::from_str::<Head>(&line).ok())
            .is_some_and(|head| head.format == FORMAT);
        if !is_ours {
            let why = "not a bundle; `triagent bundle OUT` writes one".to_owned();
            return Err(file_error(why));
        }
        let transaction = self
            .db
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let mut report = MergeReport::default();
        for (at, line) in lines.enumerate() {
            let line = line.map_err(|e| file_error(e.to_string()))?;
            match readable(&line) {
                Ok(line) => add(&transaction, &line, &mut report)?,
                Err(why) => report.skipped.push((at as u64 + 2, why)),
            }
        }
        transaction.commit()?;
        Ok(report)
    }
}

fn readable(line: &str) -> Result<Line, String> {
    if line.len() > MAX_LINE {
        return Err(format!("line is longer than {MAX_LINE} bytes"));
    }
    let line: Line = serde_json::from_str(line).map_err(|e| e.to_string())?;
    uuid::Uuid::parse_str(&line.id).map_err(|_| format!("{:?} is no decision id", line.id))?;
    if line.target.is_none() {
        // What cannot be read back must not get in: one bad row would spoil every list.
        serde_json::from_value::<crate::domain::Decision>(line.body.clone())
            .map_err(|e| e.to_string())?;
    }
    Ok(line)
}

fn add(db: &rusqlite::Connection, line: &Line, report: &mut MergeReport) -> Result<(), StoreError> {
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
        report.known += 1;
        return Ok(());
    }
    report.added += 1;
    let is_about_run = matches!(line.kind.as_str(), "verdict" | "outcome" | "note" | "pin");
    let mut query = db.prepare_cached("SELECT count(*) FROM run WHERE id = ?1")?;
    let held: i64 = query.query_row([&line.subject], |row| row.get(0))?;
    report.without_run += u64::from(is_about_run && held == 0);
    Ok(())
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
