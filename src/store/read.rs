//! Reads one run: its head, steps, calls, rewards and the labels that came with it.

use super::intake::rows::Rest;
use super::{Store, StoreError};
use super::{blobs, bodies};
use crate::domain::{
    Call, ForeignLabel, Owner, Reward, RewardStatus, Role, Rollout, RunId, SourceSpan, Step,
    StepKind, StepStatus,
};
use rusqlite::{OptionalExtension, Row, params};
use std::ops::Range;

/// A step without its text: what a list of steps needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepHead {
    /// Position.
    pub index: u32,
    /// Who wrote it.
    pub owner: Owner,
    /// What it is.
    pub kind: StepKind,
    /// Its chat role.
    pub role: Role,
    /// Its message.
    pub message: u32,
    /// Its call.
    pub call: Option<u32>,
    /// How the tool ended.
    pub status: StepStatus,
    /// Left the main path.
    pub off_path: bool,
    /// A copy of known context.
    pub copied: bool,
    /// Tool name.
    pub tool: Option<String>,
    /// When.
    pub at_us: Option<i64>,
    /// Bytes of its text.
    pub size: u64,
    /// The first bytes of its text.
    pub preview: String,
}

/// Examples named when a prefix fits several runs.
const EXAMPLES: usize = 4;

const STEP_COLUMNS: &str = "s.idx, s.owner, s.kind, s.role, s.message, s.call, s.status, s.off_path, s.copied, s.tool,
     s.tool_call_id, s.at_us, s.src_offset, s.src_len, s.src_line, s.rest, b.packed, b.data, b.size";

impl Store {
    /// Turns what a person typed into a run's name: the name itself or any unique beginning.
    pub fn resolve(&self, typed: &str) -> Result<RunId, StoreError> {
        let exact: Option<String> = self
            .db
            .prepare_cached("SELECT id FROM run WHERE id = ?1")?
            .query_row([typed], |row| row.get(0))
            .optional()?;
        if let Some(id) = exact {
            return Ok(RunId(id));
        }
        if typed.is_empty() {
            return Err(StoreError::NoSuchRun(typed.to_owned()));
        }
        let end = format!("{typed}\u{10ffff}");
        let mut query = self
            .db
            .prepare_cached("SELECT id FROM run WHERE id >= ?1 AND id < ?2 ORDER BY id")?;
        let found: Vec<String> = query
            .query_map([typed, &end], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        match found.as_slice() {
            [] => Err(StoreError::NoSuchRun(typed.to_owned())),
            [one] => Ok(RunId(one.clone())),
            many => Err(StoreError::Ambiguous {
                prefix: typed.to_owned(),
                count: many.len(),
                examples: many
                    .iter()
                    .take(EXAMPLES)
                    .cloned()
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
        }
    }

    pub(super) fn seq(&self, run: &RunId) -> Result<i64, StoreError> {
        self.db
            .prepare_cached("SELECT seq FROM run WHERE id = ?1")?
            .query_row([run.as_str()], |row| row.get(0))
            .optional()?
            .ok_or_else(|| StoreError::NoSuchRun(run.0.clone()))
    }

    /// Reads a run's head.
    pub fn rollout(&self, run: &RunId) -> Result<Rollout, StoreError> {
        let head: Option<Vec<u8>> = self
            .db
            .prepare_cached("SELECT head FROM run WHERE id = ?1")?
            .query_row([run.as_str()], |row| row.get(0))
            .optional()?;
        let head = head.ok_or_else(|| StoreError::NoSuchRun(run.0.clone()))?;
        let head: Rollout = blobs::unpack("run", &head)?;
        // The row's name counts: the store may have minted it, or set a suffix apart from another run of that name.
        Ok(Rollout {
            id: run.clone(),
            ..head
        })
    }

    /// Number of steps.
    pub fn step_count(&self, run: &RunId) -> Result<u32, StoreError> {
        let seq = self.seq(run)?;
        let mut query = self
            .db
            .prepare_cached("SELECT coalesce(max(idx) + 1, 0) FROM step WHERE run = ?1")?;
        Ok(query.query_row([seq], |row| row.get(0))?)
    }

    /// Reads all steps of a run with their texts.
    pub fn steps(&self, run: &RunId) -> Result<Vec<Step>, StoreError> {
        self.steps_in(run, 0..u32::MAX)
    }

    /// Reads some steps with their texts.
    pub fn steps_in(&self, run: &RunId, range: Range<u32>) -> Result<Vec<Step>, StoreError> {
        let seq = self.seq(run)?;
        let sql = format!(
            "SELECT {STEP_COLUMNS} FROM step s JOIN body b ON b.id = s.body
             WHERE s.run = ?1 AND s.idx >= ?2 AND s.idx < ?3 ORDER BY s.idx"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        let mut rows = query.query(params![seq, range.start, range.end])?;
        let mut out = Vec::new();
        while let Some(row) = rows.next()? {
            out.push(step_of(row)?);
        }
        Ok(out)
    }

    /// Reads the heads of some steps, each with at most `preview` bytes of its text.
    pub fn step_heads(
        &self,
        run: &RunId,
        range: Range<u32>,
        preview: usize,
    ) -> Result<Vec<StepHead>, StoreError> {
        let seq = self.seq(run)?;
        let sql = format!(
            "SELECT {STEP_COLUMNS} FROM step s JOIN body b ON b.id = s.body
             WHERE s.run = ?1 AND s.idx >= ?2 AND s.idx < ?3 ORDER BY s.idx"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        let mut rows = query.query(params![seq, range.start, range.end])?;
        let mut out = Vec::new();
        while let Some(row) = rows.next()? {
            out.push(head_of(row, preview)?);
        }
        Ok(out)
    }

    /// Reads at most `limit` bytes of one step's text, so that a huge one opens at once.
    pub fn step_text(&self, run: &RunId, index: u32, limit: usize) -> Result<String, StoreError> {
        let heads = self.step_heads(run, index..index.saturating_add(1), limit)?;
        Ok(heads
            .into_iter()
            .next()
            .map(|h| h.preview)
            .unwrap_or_default())
    }

    /// Steps whose tool failed, in order: what `]` jumps to.
    pub fn failed_steps(&self, run: &RunId) -> Result<Vec<u32>, StoreError> {
        let seq = self.seq(run)?;
        let sql = "SELECT idx FROM step WHERE run = ?1 AND status IN ('error', 'timeout', 'denied') ORDER BY idx";
        let mut query = self.db.prepare_cached(sql)?;
        Ok(query
            .query_map([seq], |row| row.get(0))?
            .collect::<Result<_, _>>()?)
    }

    /// Reads a run's calls.
    pub fn calls(&self, run: &RunId) -> Result<Vec<Call>, StoreError> {
        let seq = self.seq(run)?;
        let mut query = self
            .db
            .prepare_cached("SELECT idx, data FROM call WHERE run = ?1 ORDER BY idx")?;
        let mut rows = query.query([seq])?;
        let mut out = Vec::new();
        while let Some(row) = rows.next()? {
            let blob = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            let call: Call = blobs::unpack("call", blob)?;
            // The writer numbered it, after its data had been packed.
            out.push(Call {
                index: row.get(0)?,
                ..call
            });
        }
        Ok(out)
    }

    /// Reads a run's rewards, in the order of the file.
    pub fn rewards(&self, run: &RunId) -> Result<Vec<Reward>, StoreError> {
        let seq = self.seq(run)?;
        let sql =
            "SELECT grader, version, isolated, result, evidence, side_effects, cost, status, detail
             FROM reward WHERE run = ?1 ORDER BY idx";
        let mut query = self.db.prepare_cached(sql)?;
        let rows = query.query_map([seq], |row| {
            let side_effects: Option<String> = row.get(5)?;
            let status: String = row.get(7)?;
            let detail: String = row.get(8)?;
            Ok(Reward {
                grader: row.get(0)?,
                version: row.get(1)?,
                isolated: row.get(2)?,
                result: row.get(3)?,
                evidence: row.get(4)?,
                side_effects: side_effects.and_then(|s| serde_json::from_str(&s).ok()),
                cost: row.get(6)?,
                status: RewardStatus::from_word(&status).unwrap_or(RewardStatus::Missing),
                detail: serde_json::from_str(&detail).unwrap_or_default(),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Reads the labels that came with the file.
    pub fn foreign_labels(&self, run: &RunId) -> Result<Vec<ForeignLabel>, StoreError> {
        let seq = self.seq(run)?;
        let sql = "SELECT source, step, category, reason, detail FROM foreign_label WHERE run = ?1 ORDER BY idx";
        let mut query = self.db.prepare_cached(sql)?;
        let rows = query.query_map([seq], |row| {
            let detail: String = row.get(4)?;
            Ok(ForeignLabel {
                source: row.get(0)?,
                step: row.get(1)?,
                category: row.get(2)?,
                reason: row.get(3)?,
                detail: serde_json::from_str(&detail).unwrap_or_default(),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn word<T>(
    row: &Row<'_>,
    at: usize,
    read: fn(&str) -> Option<T>,
    what: &'static str,
) -> Result<T, StoreError> {
    let word: String = row.get(at)?;
    read(&word).ok_or(StoreError::Unreadable { what, why: word })
}

fn head_of(row: &Row<'_>, preview: usize) -> Result<StepHead, StoreError> {
    let data = row.get_ref(17)?.as_blob().map_err(rusqlite::Error::from)?;
    Ok(StepHead {
        index: row.get(0)?,
        owner: word(row, 1, Owner::from_word, "owner")?,
        kind: word(row, 2, StepKind::from_word, "step kind")?,
        role: word(row, 3, Role::from_word, "role")?,
        message: row.get(4)?,
        call: row.get(5)?,
        status: word(row, 6, StepStatus::from_word, "step status")?,
        off_path: row.get(7)?,
        copied: row.get(8)?,
        tool: row.get(9)?,
        at_us: row.get(11)?,
        size: u64::try_from(row.get::<_, i64>(18)?).unwrap_or(0),
        preview: bodies::start(row.get(16)?, data, preview)?,
    })
}

fn step_of(row: &Row<'_>) -> Result<Step, StoreError> {
    let rest: Option<String> = row.get(15)?;
    let rest: Rest = rest
        .and_then(|r| serde_json::from_str(&r).ok())
        .unwrap_or_default();
    let size = usize::try_from(row.get::<_, i64>(18)?).unwrap_or(0);
    let bytes = bodies::unpack(row.get(16)?, row.get(17)?, size)?;
    let text = String::from_utf8(bytes).map_err(|e| StoreError::unreadable("step", e))?;
    let number = |at: usize| row.get::<_, i64>(at).map(|n| u64::try_from(n).unwrap_or(0));
    Ok(Step {
        index: row.get(0)?,
        owner: word(row, 1, Owner::from_word, "owner")?,
        kind: word(row, 2, StepKind::from_word, "step kind")?,
        role: word(row, 3, Role::from_word, "role")?,
        message: row.get(4)?,
        call: row.get(5)?,
        text,
        tool: row.get(9)?,
        tool_call_id: row.get(10)?,
        status: word(row, 6, StepStatus::from_word, "step status")?,
        name: rest.name,
        documents: rest.documents,
        replaces: rest.replaces,
        off_path: row.get(7)?,
        copied: row.get(8)?,
        at_us: row.get(11)?,
        source: SourceSpan {
            offset: number(12)?,
            len: number(13)?,
            line: number(14)?,
        },
        extra: rest.extra,
    })
}
