//! Says whether a run that arrives is new, known, grown, or another run of the same name.

use super::super::StoreError;
use super::super::bodies::Hash;
use super::left::WAITING;
use super::{Intake, OpenRun, minted_id};
use crate::domain::{Rollout, Step};
use rusqlite::{OptionalExtension, params};

/// A run in the file that the arriving one may be.
pub(super) struct Known {
    pub(super) seq: i64,
    pub(super) id: String,
    pub(super) steps: u32,
    pub(super) chain: Hash,
    pub(super) facts: Vec<u8>,
    pub(super) source: String,
    pub(super) offset: i64,
    /// The arriving run's first `steps` steps are this run's steps.
    pub(super) is_prefix: bool,
}

/// What an arriving run turns out to be.
pub(super) enum Arrival {
    New,
    Duplicate,
    Updated { seq: i64, id: String },
    Grown { seq: i64, id: String, had: u32 },
}

/// Adds a step to the hash of all steps before it.
pub(in crate::store) fn link(chain: &Hash, step: &Step, body: &Hash) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(chain);
    hasher.update(body);
    let marks = [
        step.owner.word(),
        step.kind.word(),
        step.role.word(),
        step.status.word(),
    ];
    for mark in marks.into_iter().chain([
        step.tool.as_deref().unwrap_or("\u{0}"),
        step.tool_call_id.as_deref().unwrap_or("\u{0}"),
        step.name.as_deref().unwrap_or("\u{0}"),
    ]) {
        hasher.update(mark.as_bytes());
        hasher.update(&[0xff]);
    }
    hasher.update(&step.message.to_le_bytes());
    hasher.update(&[u8::from(step.off_path), u8::from(step.copied)]);
    let mut out = [0; 16];
    out.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    out
}

/// One file, however its name is written.
fn is_same_file(a: &str, b: &str) -> bool {
    let whole = |name: &str| std::path::absolute(name).ok();
    a == b || whole(a).is_some_and(|one| whole(b) == Some(one))
}

impl Intake<'_> {
    /// Runs with the same name, or (for minted names) from the same place of the same file.
    pub(super) fn known_like(&self, head: &Rollout) -> Result<Vec<Known>, StoreError> {
        let what = "SELECT seq, id, steps, chain, facts, source, src_offset FROM run";
        let offset = head.span.offset as i64;
        let (clause, values): (&str, [&dyn rusqlite::ToSql; 2]) = match head.id.0.is_empty() {
            true => ("source = ?1 AND src_offset = ?2", [&head.source, &offset]),
            false => ("base_id = ?1 AND ?2 = ?2", [&head.id.0, &offset]),
        };
        let mut query = self
            .store
            .db
            .prepare_cached(&format!("{what} WHERE {clause} ORDER BY seq"))?;
        let rows = query.query_map(values, |row| {
            Ok(Known {
                seq: row.get(0)?,
                id: row.get(1)?,
                steps: row.get(2)?,
                chain: row.get::<_, Vec<u8>>(3)?.try_into().unwrap_or_default(),
                facts: row.get(4)?,
                source: row.get(5)?,
                offset: row.get(6)?,
                is_prefix: false,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub(super) fn arrival(
        &self,
        open: &mut OpenRun,
        head: &Rollout,
    ) -> Result<Arrival, StoreError> {
        if let Some(same) = open
            .known
            .iter()
            .find(|k| k.steps == open.steps && k.chain == open.chain)
        {
            // Read without the report or the labels beside it, a log says less than before: that is no news.
            let is_news = is_same_file(&same.source, &head.source)
                && same.facts != open.facts.finalize().as_bytes()[..16]
                && !self.says_less(open, same.seq)?;
            return Ok(match is_news {
                true => Arrival::Updated {
                    seq: same.seq,
                    id: same.id.clone(),
                },
                false => Arrival::Duplicate,
            });
        }
        if head.id.0.is_empty() && self.has_chain(open)? {
            return Ok(Arrival::Duplicate);
        }
        // A session whose first row alone was there has no steps yet, and is known by its file.
        let has_begun = |k: &Known| k.steps == 0 && is_same_file(&k.source, &head.source);
        let grown =
            |k: &&Known| k.steps < open.steps && (has_begun(k) || (k.is_prefix && k.steps > 0));
        if let Some(old) = open.known.iter().filter(grown).max_by_key(|k| k.steps) {
            return Ok(Arrival::Grown {
                seq: old.seq,
                id: old.id.clone(),
                had: old.steps,
            });
        }
        for longer in open
            .known
            .iter()
            .filter(|k| k.steps > open.steps && open.steps > 0)
        {
            if self.chain_at(longer.seq, open.steps)? == open.chain {
                return Ok(Arrival::Duplicate);
            }
        }
        self.revised(open, head)
    }

    /// A run that the same place of the same file tells further now, and with another end: a look at a log that was being
    /// written saw its last answer half. It takes the old one's place if it says all that the old one said and nobody has
    /// worked on the old one yet.
    fn revised(&self, open: &mut OpenRun, head: &Rollout) -> Result<Arrival, StoreError> {
        let is_same_place = |k: &Known| {
            is_same_file(&k.source, &head.source)
                && k.offset == head.span.offset as i64
                && (1..=open.steps).contains(&k.steps)
        };
        let known: Vec<usize> = (0..open.known.len())
            .filter(|at| open.known.get(*at).is_some_and(is_same_place))
            .collect();
        if known.is_empty() {
            return Ok(Arrival::New);
        }
        // Rows are compared with rows.
        self.spill(open)?;
        for known in known.into_iter().filter_map(|at| open.known.get(at)) {
            let tells = open
                .seq
                .map_or(Ok(false), |new| self.tells_further(known.seq, new))?;
            if tells && self.is_untouched(&known.id)? {
                return Ok(Arrival::Grown {
                    seq: known.seq,
                    id: known.id.clone(),
                    had: known.steps,
                });
            }
        }
        Ok(Arrival::New)
    }

    /// The stored run has rewards or labels that the arriving one lacks.
    fn says_less(&self, open: &OpenRun, seq: i64) -> Result<bool, StoreError> {
        let count = |table: &str| -> Result<u32, StoreError> {
            let sql = format!("SELECT count(*) FROM {table} WHERE run = ?1");
            let mut query = self.store.db.prepare_cached(&sql)?;
            Ok(query.query_row([seq], |row| row.get(0))?)
        };
        Ok(open.rewards < count("reward")? || open.labels < count("foreign_label")?)
    }

    /// Nobody has decided, scored or noted anything about this run.
    fn is_untouched(&self, id: &str) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM decision WHERE instr(subject, ?1) > 0 OR instr(body, ?1) > 0)
             OR EXISTS (SELECT 1 FROM score WHERE run = ?1)
             OR EXISTS (SELECT 1 FROM result WHERE instr(subject, ?1) > 0)
             OR EXISTS (SELECT 1 FROM draft WHERE instr(subject, ?1) > 0)";
        let mut query = self.store.db.prepare_cached(sql)?;
        let is_touched: bool = query.query_row([id], |row| row.get(0))?;
        Ok(!is_touched)
    }

    fn has_chain(&self, open: &OpenRun) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM run WHERE chain = ?1 AND steps = ?2 AND seq <> ?3";
        let mut query = self.store.db.prepare_cached(sql)?;
        let values = params![open.chain.as_slice(), open.steps, open.seq.unwrap_or(-1)];
        Ok(query.query_row(values, |_| Ok(())).optional()?.is_some())
    }

    /// The chain of a stored run after its first `steps` steps.
    fn chain_at(&self, seq: i64, steps: u32) -> Result<Hash, StoreError> {
        let mut chain = [0; 16];
        for at in 0..steps {
            let (step, body) = super::rows::bare_step(&self.store.db, seq, at)?;
            chain = link(&chain, &step, &body);
        }
        Ok(chain)
    }

    pub(super) fn is_taken(&self, id: &str) -> Result<bool, StoreError> {
        let mut query = self
            .store
            .db
            .prepare_cached("SELECT 1 FROM run WHERE id = ?1")?;
        Ok(query.query_row([id], |_| Ok(())).optional()?.is_some())
    }

    /// The file's own id, or a short content hash; a clash gets a suffix.
    pub(super) fn free_id(&self, open: &OpenRun, head: &Rollout) -> Result<String, StoreError> {
        let base = match head.id.0.as_str() {
            "" => minted_id(&open.chain),
            // That name says that a run is not all here; no log can give it.
            given if given.starts_with(WAITING) => format!("~{given}"),
            given => given.to_owned(),
        };
        if open.named || !self.is_taken(&base)? {
            return Ok(base);
        }
        let mut n = 2u32;
        loop {
            let id = format!("{base}~{n}");
            if !self.is_taken(&id)? {
                return Ok(id);
            }
            n += 1;
        }
    }
}
