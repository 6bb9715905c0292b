//! Writes the rows of a run.

use super::super::StoreError;
use super::super::{blobs, bodies::Hash};
use super::left::{self, WAITING};
use super::{Ended, Intake, OpenRun};
use crate::domain::{
    Call, DocRef, ForeignLabel, Owner, Reward, Role, Rollout, Step, StepKind, StepStatus,
};
use rusqlite::{Connection, Statement, params};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The seldom-used fields of a step, in one column.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::store) struct Rest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::store) name: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::store) documents: Vec<DocRef>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::store) replaces: Vec<u32>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(in crate::store) extra: Map<String, Value>,
}

fn rest_of(step: &Step) -> Option<String> {
    let is_plain = step.name.is_none()
        && step.documents.is_empty()
        && step.replaces.is_empty()
        && step.extra.is_empty();
    if is_plain {
        return None;
    }
    let rest = Rest {
        name: step.name.clone(),
        documents: step.documents.clone(),
        replaces: step.replaces.clone(),
        extra: step.extra.clone(),
    };
    serde_json::to_string(&rest).ok()
}

/// The statement of `insert_step`.
pub(super) const STEP: &str =
    "INSERT INTO step (run, idx, owner, kind, role, message, call, status, off_path, copied, tool,
     tool_call_id, at_us, body, size, src_offset, src_len, src_line, rest)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)";

pub(super) fn insert_step(
    insert: &mut Statement<'_>,
    seq: i64,
    step: &Step,
    body: i64,
    size: usize,
) -> Result<(), StoreError> {
    insert.execute(params![
        seq,
        step.index,
        step.owner.word(),
        step.kind.word(),
        step.role.word(),
        step.message,
        step.call,
        step.status.word(),
        step.off_path,
        step.copied,
        step.tool,
        step.tool_call_id,
        step.at_us,
        body,
        size as i64,
        step.source.offset as i64,
        step.source.len as i64,
        step.source.line as i64,
        rest_of(step),
    ])?;
    Ok(())
}

/// Reads what the chain needs of a stored step.
pub(super) fn bare_step(db: &Connection, seq: i64, at: u32) -> Result<(Step, Hash), StoreError> {
    let sql = "SELECT s.owner, s.kind, s.role, s.status, s.tool, s.tool_call_id, s.message, s.off_path, s.copied,
             s.rest, b.hash FROM step s JOIN body b ON b.id = s.body WHERE s.run = ?1 AND s.idx = ?2";
    let mut query = db.prepare_cached(sql)?;
    let row = query.query_row(params![seq, at], |row| {
        let word = |at: usize| row.get::<_, String>(at);
        let mut step = Step::new(
            Owner::from_word(&word(0)?).unwrap_or(Owner::Unknown),
            StepKind::from_word(&word(1)?).unwrap_or(StepKind::Event),
            Role::from_word(&word(2)?).unwrap_or(Role::User),
            "",
        );
        step.status = StepStatus::from_word(&word(3)?).unwrap_or(StepStatus::Unknown);
        step.tool = row.get(4)?;
        step.tool_call_id = row.get(5)?;
        step.message = row.get(6)?;
        step.off_path = row.get(7)?;
        step.copied = row.get(8)?;
        let rest: Option<String> = row.get(9)?;
        step.name = rest
            .and_then(|r| serde_json::from_str::<Rest>(&r).ok())
            .and_then(|r| r.name);
        let hash: Vec<u8> = row.get(10)?;
        Ok((step, hash.try_into().unwrap_or_default()))
    })?;
    Ok(row)
}

pub(super) fn insert_call(
    db: &Connection,
    seq: i64,
    call: &Call,
    blob: &[u8],
) -> Result<(), StoreError> {
    let sql =
        "INSERT INTO call (run, idx, event_id, logical, request, attempt, adopted, reports, data)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    db.prepare_cached(sql)?.execute(params![
        seq,
        call.index,
        call.event_id,
        call.logical_request_id,
        call.request_id,
        call.attempt,
        call.adopted.word(),
        call.reports,
        blob,
    ])?;
    Ok(())
}

pub(super) fn insert_reward(
    db: &Connection,
    seq: i64,
    at: u32,
    reward: &Reward,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO reward (run, idx, grader, version, isolated, result, evidence, side_effects, cost,
             status, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let side_effects = reward
        .side_effects
        .as_ref()
        .map(|list| serde_json::to_string(list).unwrap_or_default());
    db.prepare_cached(sql)?.execute(params![
        seq,
        at,
        reward.grader,
        reward.version,
        reward.isolated,
        reward.result,
        reward.evidence,
        side_effects,
        reward.cost,
        reward.status.word(),
        reward.detail.to_string(),
    ])?;
    Ok(())
}

pub(super) fn insert_label(
    db: &Connection,
    seq: i64,
    at: u32,
    label: &ForeignLabel,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO foreign_label (run, idx, source, step, category, reason, detail)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let detail = label.detail.to_string();
    db.prepare_cached(sql)?.execute(params![
        seq,
        at,
        label.source,
        label.step,
        label.category,
        label.reason,
        detail
    ])?;
    Ok(())
}

/// A run's row, beside what stands in its head.
struct RunRow<'a> {
    seq: Option<i64>,
    id: &'a str,
    base: &'a str,
    facts: &'a [u8],
    blob: &'a [u8],
}

impl Intake<'_> {
    /// Writes what waits. A run that has no row yet gets one, under its own name if that is free, else under one that says
    /// that it is not all here.
    pub(super) fn spill(&self, open: &mut OpenRun) -> Result<(), StoreError> {
        let given = open.begun.id.0.clone();
        if open.seq.is_none() {
            let is_free = !given.is_empty() && !given.starts_with(WAITING);
            open.named = is_free && !self.is_taken(&given)?;
        }
        let waiting = match open.seq {
            Some(seq) => seq,
            None => self.next_seq()?,
        };
        let (id, base) = match open.named {
            true => (given.clone(), given.as_str()),
            false => (left::waiting(waiting), ""),
        };
        let blob = blobs::pack(&open.begun)?;
        let row = RunRow {
            seq: open.seq,
            id: &id,
            base,
            facts: &[],
            blob: &blob,
        };
        let seq = self.write_run(&row, open, &open.begun)?;
        open.seq = Some(seq);
        open.held.write(&self.store.db, seq)
    }

    fn next_seq(&self) -> Result<i64, StoreError> {
        let sql = "SELECT coalesce(max(seq), 0) + 1 FROM run";
        let mut query = self.store.db.prepare_cached(sql)?;
        Ok(query.query_row([], |row| row.get(0))?)
    }

    /// Gives a run its final row, new or in the place of `seq`, and writes what waits.
    pub(super) fn seal(
        &self,
        seq: Option<i64>,
        id: &str,
        open: &mut OpenRun,
        ended: &Ended,
    ) -> Result<(), StoreError> {
        let given = ended.head.id.0.as_str();
        let facts = open.facts.finalize();
        let row = RunRow {
            seq,
            id,
            base: if given.is_empty() { id } else { given },
            facts: &facts.as_bytes()[..16],
            blob: &ended.blob,
        };
        let seq = self.write_run(&row, open, &ended.head)?;
        open.held.write(&self.store.db, seq)
    }

    /// Where a run was first seen stays as it is.
    fn write_run(
        &self,
        row: &RunRow<'_>,
        open: &OpenRun,
        head: &Rollout,
    ) -> Result<i64, StoreError> {
        let sql = "INSERT INTO run (seq, id, base_id, task, family, scenario, grp, trial, outcome, ending, model, harness,
             harness_version, index_version, prompt_version, toolset_version, checkpoint, steps, calls, errors,
             reward_result, reward_status, has_retry, has_rewrite, has_unknown, started_us, chain, facts, head, format,
             source, src_offset, imported_us)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
             ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33)
             ON CONFLICT (seq) DO UPDATE SET id = excluded.id, base_id = excluded.base_id, task = excluded.task,
             family = excluded.family, scenario = excluded.scenario, grp = excluded.grp, trial = excluded.trial,
             outcome = excluded.outcome, ending = excluded.ending, model = excluded.model, harness = excluded.harness,
             harness_version = excluded.harness_version, index_version = excluded.index_version,
             prompt_version = excluded.prompt_version, toolset_version = excluded.toolset_version,
             checkpoint = excluded.checkpoint, steps = excluded.steps, calls = excluded.calls, errors = excluded.errors,
             reward_result = excluded.reward_result, reward_status = excluded.reward_status,
             has_retry = excluded.has_retry, has_rewrite = excluded.has_rewrite, has_unknown = excluded.has_unknown,
             started_us = excluded.started_us, chain = excluded.chain, facts = excluded.facts, head = excluded.head,
             format = excluded.format";
        let (result, status) = open.reward.unwrap_or((None, "missing"));
        let db = &self.store.db;
        db.prepare_cached(sql)?.execute(params![
            row.seq,
            row.id,
            row.base,
            head.task.as_ref().map(|t| t.0.as_str()),
            head.family,
            head.scenario,
            head.group,
            head.trial,
            head.outcome.word(),
            head.ending.word(),
            head.model,
            head.harness.name,
            head.harness.version,
            head.index_version,
            head.prompt_version,
            head.toolset_version,
            head.checkpoint,
            open.steps,
            open.calls,
            open.errors,
            result,
            status,
            open.has_retry,
            open.has_rewrite,
            open.has_unknown,
            head.started_us,
            open.chain.as_slice(),
            row.facts,
            row.blob,
            head.format,
            head.source,
            head.span.offset as i64,
            self.now_us,
        ])?;
        Ok(row.seq.unwrap_or_else(|| db.last_insert_rowid()))
    }

    /// Makes room for a run that arrived in the place of the one that was here.
    pub(super) fn replace(&self, seq: i64, open: &OpenRun) -> Result<(), StoreError> {
        let db = &self.store.db;
        for table in ["step", "call", "reward", "foreign_label"] {
            let sql = format!("DELETE FROM {table} WHERE run = ?1");
            db.prepare_cached(&sql)?.execute([seq])?;
            if let Some(written) = open.seq {
                let sql = format!("UPDATE {table} SET run = ?1 WHERE run = ?2");
                db.prepare_cached(&sql)?.execute(params![seq, written])?;
            }
        }
        if let Some(written) = open.seq {
            let sql = "DELETE FROM run WHERE seq = ?1";
            db.prepare_cached(sql)?.execute([written])?;
        }
        Ok(())
    }

    pub(super) fn delete_run(&self, seq: i64) -> Result<(), StoreError> {
        for table in ["step", "call", "reward", "foreign_label"] {
            let sql = format!("DELETE FROM {table} WHERE run = ?1");
            self.store.db.prepare_cached(&sql)?.execute([seq])?;
        }
        self.store
            .db
            .prepare_cached("DELETE FROM run WHERE seq = ?1")?
            .execute([seq])?;
        Ok(())
    }
}
