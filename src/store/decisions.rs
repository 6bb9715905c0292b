//! The append-only log of what people decided, its undo and redo, and what is current.

use super::registers::to_json;
use super::{Store, StoreError};
use crate::domain::{Decision, DecisionId, DecisionRecord, Pair, RunId, Verdict};
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::{NoContext, Timestamp, Uuid};

/// Who decides, when, and under which codebook.
#[derive(Debug, Clone, Copy)]
pub struct Act<'a> {
    /// Reviewer.
    pub reviewer: &'a str,
    /// Microseconds UTC.
    pub now_us: i64,
    /// Codebook version in force.
    pub codebook: &'a str,
}

/// What an undo or redo touched, newest first; empty when there was nothing.
pub type Undone = Vec<DecisionRecord>;

const COLUMNS: &str = "d.id, d.reviewer, d.at_us, d.body, d.codebook, d.replaces, d.batch";

impl Store {
    /// Appends one decision. When this returns, it is on the disk.
    pub fn decide(
        &mut self,
        act: Act<'_>,
        decision: &Decision,
    ) -> Result<DecisionRecord, StoreError> {
        let mut records = self.append(act, std::slice::from_ref(decision), false)?;
        records
            .pop()
            .ok_or_else(|| StoreError::unreadable("decision", "none written"))
    }

    /// Appends several decisions that are undone as one.
    pub fn decide_batch(
        &mut self,
        act: Act<'_>,
        decisions: &[Decision],
    ) -> Result<Vec<DecisionRecord>, StoreError> {
        self.append(act, decisions, true)
    }

    fn append(
        &mut self,
        act: Act<'_>,
        decisions: &[Decision],
        as_batch: bool,
    ) -> Result<Vec<DecisionRecord>, StoreError> {
        self.must_write()?;
        self.durably(|db| {
            let batch = if as_batch {
                Some(next_id(db, act.now_us)?)
            } else {
                None
            };
            decisions
                .iter()
                .map(|decision| insert(db, act, decision, batch.clone()))
                .collect()
        })
    }

    /// Takes back the reviewer's last decision (with its whole batch).
    pub fn undo(&mut self, act: Act<'_>) -> Result<Undone, StoreError> {
        self.must_write()?;
        self.durably(|db| {
            let sql = format!(
                "SELECT {COLUMNS} FROM live_decision d WHERE d.reviewer = ?1 ORDER BY d.id DESC LIMIT 1"
            );
            let last = db.query_row(&sql, [act.reviewer], record_of).optional()?;
            let Some(last) = last else { return Ok(Vec::new()) };
            let all = same_batch(db, last, "live_decision")?;
            for record in &all {
                mark(db, act, "undo", &record.id)?;
            }
            Ok(all)
        })
    }

    /// Brings back what the reviewer's last undo took, unless something was decided since.
    pub fn redo(&mut self, act: Act<'_>) -> Result<Undone, StoreError> {
        self.must_write()?;
        self.durably(|db| {
            let sql = "SELECT u.target FROM decision u WHERE u.reviewer = ?1 AND u.kind = 'undo'
                 AND NOT EXISTS (SELECT 1 FROM decision r WHERE r.target = u.target AND r.id > u.id)
                 AND NOT EXISTS (SELECT 1 FROM decision n WHERE n.reviewer = ?1 AND n.target IS NULL AND n.id > u.id)
                 ORDER BY u.id DESC LIMIT 1";
            let target: Option<String> =
                db.query_row(sql, [act.reviewer], |row| row.get(0)).optional()?;
            let Some(target) = target else { return Ok(Vec::new()) };
            let sql = format!("SELECT {COLUMNS} FROM decision d WHERE d.id = ?1");
            let last = db.query_row(&sql, [target], record_of)?;
            let all = same_batch(db, last, "decision")?;
            for record in &all {
                mark(db, act, "redo", &record.id)?;
            }
            Ok(all)
        })
    }

    /// One write transaction that a power cut cannot take back once it returned.
    fn durably<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.db.pragma_update(None, "synchronous", "full")?;
        let done = (|| {
            let transaction = self
                .db
                .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let out = work(&transaction)?;
            transaction.commit()?;
            Ok(out)
        })();
        self.db.pragma_update(None, "synchronous", "normal")?;
        done
    }

    /// Reads one decision by its name or a unique beginning of it.
    pub fn decision(&self, id: &str) -> Result<Option<DecisionRecord>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM decision d WHERE d.id >= ?1 AND d.id < ?2 AND d.target IS NULL LIMIT 2"
        );
        let end = format!("{id}\u{10ffff}");
        let mut query = self.db.prepare_cached(&sql)?;
        let mut found: Vec<DecisionRecord> = query
            .query_map([id, &end], record_of)?
            .collect::<Result<_, _>>()?;
        Ok(if found.len() == 1 { found.pop() } else { None })
    }

    /// Live decisions of a kind in order of time, a page after `after`.
    pub fn live(
        &self,
        kind: &str,
        after: Option<&DecisionId>,
        limit: u32,
    ) -> Result<Vec<DecisionRecord>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM live_decision d WHERE d.kind = ?1 AND d.id > ?2 ORDER BY d.id LIMIT ?3"
        );
        let after = after.map_or("", DecisionId::as_str);
        let mut query = self.db.prepare_cached(&sql)?;
        Ok(query
            .query_map(params![kind, after, limit], record_of)?
            .collect::<Result<_, _>>()?)
    }

    /// Live decisions of a kind on one subject, all reviewers, oldest first.
    pub fn live_on(&self, kind: &str, subject: &str) -> Result<Vec<DecisionRecord>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM live_decision d WHERE d.kind = ?1 AND d.subject = ?2 ORDER BY d.id"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        Ok(query
            .query_map([kind, subject], record_of)?
            .collect::<Result<_, _>>()?)
    }

    /// Each reviewer's own newest live decision of a kind, oldest first: what agreement is computed on.
    pub fn own(&self, kind: &str) -> Result<Vec<DecisionRecord>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM own_decision d WHERE d.kind = ?1 ORDER BY d.id");
        let mut query = self.db.prepare_cached(&sql)?;
        Ok(query
            .query_map([kind], record_of)?
            .collect::<Result<_, _>>()?)
    }

    /// Everything ever decided on a subject, undone or not, oldest first, with a mark for what still counts.
    pub fn history(&self, subject: &str) -> Result<Vec<(DecisionRecord, bool)>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS}, d.id IN (SELECT id FROM live_decision) FROM decision d
             WHERE d.subject = ?1 AND d.target IS NULL ORDER BY d.id"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        let rows = query.query_map([subject], |row| Ok((record_of(row)?, row.get(7)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The run's current verdict: an adjudication if there is one, else the newest label.
    pub fn verdict(&self, run: &RunId) -> Result<Option<DecisionRecord>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM decision d WHERE d.id = (SELECT id FROM current_verdict WHERE run = ?1)"
        );
        Ok(self
            .db
            .prepare_cached(&sql)?
            .query_row([run.as_str()], record_of)
            .optional()?)
    }

    /// All current verdicts, by run.
    pub fn verdicts(&self) -> Result<Vec<(DecisionRecord, Verdict)>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM decision d WHERE d.id IN (SELECT id FROM current_verdict) ORDER BY d.subject"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        let records: Vec<DecisionRecord> =
            query.query_map([], record_of)?.collect::<Result<_, _>>()?;
        let split = |record: DecisionRecord| match record.decision.clone() {
            Decision::Verdict(verdict) | Decision::Adjudication(verdict) => Some((record, verdict)),
            _ => None,
        };
        Ok(records.into_iter().filter_map(split).collect())
    }

    /// All current pairs (each reviewer's newest on the same two candidates), oldest first.
    pub fn pairs(&self) -> Result<Vec<(DecisionRecord, Pair)>, StoreError> {
        let split = |record: DecisionRecord| match record.decision.clone() {
            Decision::Pair(pair) => Some((record, *pair)),
            _ => None,
        };
        Ok(self.own("pair")?.into_iter().filter_map(split).collect())
    }

    /// A hash of the whole log: manifests bind a data set to it.
    pub fn decisions_hash(&self) -> Result<String, StoreError> {
        let mut query = self
            .db
            .prepare_cached("SELECT id, kind, body, target FROM decision ORDER BY id")?;
        let mut rows = query.query([])?;
        let mut hasher = blake3::Hasher::new();
        while let Some(row) = rows.next()? {
            for at in 0..4 {
                let text: Option<String> = row.get(at)?;
                hasher.update(text.unwrap_or_default().as_bytes());
                hasher.update(&[0]);
            }
        }
        Ok(hasher.finalize().to_hex().to_string())
    }
}

/// Reads the verdict out of a log row's `body`.
pub(super) fn verdict_of(body: &str) -> Option<Verdict> {
    match serde_json::from_str(body).ok()? {
        Decision::Verdict(verdict) | Decision::Adjudication(verdict) => Some(verdict),
        _ => None,
    }
}

/// A name later than every name in the log, even when the clock went back.
fn next_id(db: &Connection, now_us: i64) -> Result<String, StoreError> {
    let last: Option<String> =
        db.query_row("SELECT max(id) FROM decision", [], |row| row.get(0))?;
    let last_ms = last
        .and_then(|id| Uuid::parse_str(&id).ok())
        .and_then(|id| id.get_timestamp())
        .map_or(0, |t| {
            t.to_unix().0 * 1000 + u64::from(t.to_unix().1) / 1_000_000
        });
    let now_ms = u64::try_from(now_us / 1000).unwrap_or(0).max(last_ms + 1);
    let nanos = u32::try_from(now_ms % 1000).unwrap_or(0) * 1_000_000;
    Ok(Uuid::new_v7(Timestamp::from_unix(NoContext, now_ms / 1000, nanos)).to_string())
}

fn insert(
    db: &Connection,
    act: Act<'_>,
    decision: &Decision,
    batch: Option<String>,
) -> Result<DecisionRecord, StoreError> {
    let subject = decision.subject();
    let sql = "SELECT id FROM own_decision WHERE kind = ?1 AND subject = ?2 AND reviewer = ?3";
    let replaces: Option<String> = db
        .prepare_cached(sql)?
        .query_row(params![decision.kind(), subject, act.reviewer], |row| {
            row.get(0)
        })
        .optional()?;
    let id = next_id(db, act.now_us)?;
    let sql =
        "INSERT INTO decision (id, reviewer, at_us, kind, subject, body, codebook, replaces, batch)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    db.prepare_cached(sql)?.execute(params![
        id,
        act.reviewer,
        act.now_us,
        decision.kind(),
        subject,
        to_json("decision", decision)?,
        act.codebook,
        replaces,
        batch,
    ])?;
    Ok(DecisionRecord {
        id: DecisionId(id),
        reviewer: act.reviewer.to_owned(),
        at_us: act.now_us,
        decision: decision.clone(),
        codebook: act.codebook.to_owned(),
        replaces: replaces.map(DecisionId),
        batch: batch.map(DecisionId),
    })
}

fn mark(db: &Connection, act: Act<'_>, kind: &str, target: &DecisionId) -> Result<(), StoreError> {
    let sql = "INSERT INTO decision (id, reviewer, at_us, kind, subject, body, codebook, target)
         VALUES (?1, ?2, ?3, ?4, '', '{}', ?5, ?6)";
    let id = next_id(db, act.now_us)?;
    db.prepare_cached(sql)?.execute(params![
        id,
        act.reviewer,
        act.now_us,
        kind,
        act.codebook,
        target.0
    ])?;
    Ok(())
}

fn same_batch(db: &Connection, last: DecisionRecord, from: &str) -> Result<Undone, StoreError> {
    let Some(batch) = &last.batch else {
        return Ok(vec![last]);
    };
    let sql = format!("SELECT {COLUMNS} FROM {from} d WHERE d.batch = ?1 ORDER BY d.id DESC");
    let mut query = db.prepare_cached(&sql)?;
    Ok(query
        .query_map([batch.as_str()], record_of)?
        .collect::<Result<_, _>>()?)
}

pub(super) fn record_of(row: &Row<'_>) -> rusqlite::Result<DecisionRecord> {
    let body: String = row.get(3)?;
    let decision = serde_json::from_str(&body).map_err(|e| {
        rusqlite::Error::FromSqlConversionFailure(3, rusqlite::types::Type::Text, Box::new(e))
    })?;
    Ok(DecisionRecord {
        id: DecisionId(row.get(0)?),
        reviewer: row.get(1)?,
        at_us: row.get(2)?,
        decision,
        codebook: row.get(4)?,
        replaces: row.get::<_, Option<String>>(5)?.map(DecisionId),
        batch: row.get::<_, Option<String>>(6)?.map(DecisionId),
    })
}
