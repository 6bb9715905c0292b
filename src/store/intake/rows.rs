//! Writes the rows of a run.

use super::super::StoreError;
use super::super::bodies::{self, Hash};
use super::{Intake, OpenRun};
use crate::domain::{
    Call, DocRef, ForeignLabel, Owner, Reward, Role, Rollout, RunId, Step, StepKind, StepStatus,
};
use rusqlite::{Connection, params};
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

pub(super) fn insert_step(
    db: &Connection,
    seq: i64,
    step: &Step,
    body: i64,
    size: usize,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO step (run, idx, owner, kind, role, message, call, status, off_path, copied, tool,
             tool_call_id, at_us, body, size, src_offset, src_len, src_line, rest)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)";
    db.prepare_cached(sql)?.execute(params![
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

impl Intake<'_> {
    /// Writes the run's row. A run whose name is taken waits under a name of its own until its end.
    pub(super) fn insert_run(&self, head: &Rollout, named: bool) -> Result<i64, StoreError> {
        let sql = "INSERT INTO run (id, base_id, format, source, src_offset, outcome, ending, steps, calls, errors,
             reward_status, has_retry, has_rewrite, has_unknown, imported_us, chain, facts, head)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, 0, 0, 'missing', 0, 0, 0, ?8, x'', x'', ?9)";
        let db = &self.store.db;
        let waiting: i64 =
            db.query_row("SELECT coalesce(max(seq), 0) + 1 FROM run", [], |row| {
                row.get(0)
            })?;
        let id = if named {
            head.id.0.clone()
        } else {
            format!("importing~{waiting}")
        };
        let base = if named { head.id.0.as_str() } else { "" };
        db.prepare_cached(sql)?.execute(params![
            id,
            base,
            head.format,
            head.source,
            head.span.offset as i64,
            head.outcome.word(),
            head.ending.word(),
            self.now_us,
            bodies::pack_json(head)?,
        ])?;
        Ok(db.last_insert_rowid())
    }

    /// Gives a run its final row.
    pub(super) fn seal(
        &self,
        seq: i64,
        id: &str,
        open: &OpenRun,
        mut head: Rollout,
    ) -> Result<(), StoreError> {
        let base = if head.id.0.is_empty() {
            id.to_owned()
        } else {
            head.id.0.clone()
        };
        head.id_minted |= head.id.0.is_empty();
        head.id = RunId(id.to_owned());
        let (result, status) = open.reward.clone().unwrap_or((None, "missing".to_owned()));
        let sql = "UPDATE run SET id = ?2, base_id = ?3, task = ?4, family = ?5, scenario = ?6, grp = ?7, trial = ?8,
             outcome = ?9, ending = ?10, model = ?11, harness = ?12, harness_version = ?13, index_version = ?14,
             prompt_version = ?15, toolset_version = ?16, checkpoint = ?17, steps = ?18, calls = ?19, errors = ?20,
             reward_result = ?21, reward_status = ?22, has_retry = ?23, has_rewrite = ?24, has_unknown = ?25,
             started_us = ?26, chain = ?27, facts = ?28, head = ?29, format = ?30 WHERE seq = ?1";
        self.store.db.prepare_cached(sql)?.execute(params![
            seq,
            id,
            base,
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
            &open.facts.finalize().as_bytes()[..16],
            bodies::pack_json(&head)?,
            head.format,
        ])?;
        Ok(())
    }

    /// Lets the rows of the run that arrived take the place of those of the run that was here.
    pub(super) fn replace(&self, seq: i64, open: &OpenRun) -> Result<(), StoreError> {
        let db = &self.store.db;
        for table in ["step", "call", "reward", "foreign_label"] {
            db.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [seq])?;
            db.execute(
                &format!("UPDATE {table} SET run = ?1 WHERE run = ?2"),
                params![seq, open.seq],
            )?;
        }
        db.prepare_cached("DELETE FROM run WHERE seq = ?1")?
            .execute([open.seq])?;
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
