//! What a screen needs of a long list: its keys in order, some of its rows, and a run's shape without its texts.
//!
//! Keys are eight bytes each, so even 100,000 runs can be held as a list that does not move under the cursor.

use super::query::Where;
use super::runs::{COLUMNS, order, row_of, sort_of};
use super::{RunRow, Store, StoreError};
use crate::domain::filter::{Condition, Field, Term};
use crate::domain::{Filter, Owner, RunId};
use rusqlite::types::Value;
use rusqlite::{params, params_from_iter};

/// Rows read in one statement.
const CHUNK: usize = 200;
/// A tool with more steps than this is common: looking each of them up takes longer than the eye waits.
const COMMON: i64 = 5_000;
/// Texts of common words that the beginning of a list looks at.
const SAMPLE: i64 = 5_000;
/// Steps of those texts.
const SAMPLE_STEPS: i64 = 20_000;

/// The beginning of a list, at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beginning {
    /// Row keys.
    pub seqs: Vec<i64>,
    /// That is the whole list.
    pub is_whole: bool,
}

impl Store {
    /// Returns as much of a list as a frame can wait for: all of it where that is quick, else `limit` runs that pass. Of words
    /// that stand everywhere those are runs of the earliest texts, perhaps not the first of the order.
    pub fn first_seqs(&self, filter: &Filter, limit: u32) -> Result<Beginning, StoreError> {
        if filter.terms.is_empty() && sort_of(filter).field == Field::Imported {
            let order = order(filter, "r.seq");
            let sql = format!(
                "SELECT r.seq FROM run r ORDER BY {order} LIMIT {}",
                u64::from(limit) + 1
            );
            return self.beginning(&sql, Vec::new(), limit);
        }
        let mut slow = Vec::new();
        let mut quick = Vec::new();
        for term in &filter.terms {
            if self.is_slow(&term.condition)? {
                slow.push(term);
            } else {
                quick.push(term);
            }
        }
        if slow.is_empty() {
            return Ok(Beginning {
                seqs: self.run_seqs(filter)?,
                is_whole: true,
            });
        }
        self.some_of(filter, &slow, quick, limit)
    }

    /// The quick terms choose and order; the slow ones are asked of one run after the other until enough pass.
    fn some_of(
        &self,
        filter: &Filter,
        slow: &[&Term],
        quick: Vec<&Term>,
        limit: u32,
    ) -> Result<Beginning, StoreError> {
        let mut inner = Where::of_terms(quick);
        let mut outer = Where::of_terms([]);
        for term in slow {
            match &term.condition {
                // What lacks common words can only be told when all are known.
                Condition::Text(_) if term.negated => {
                    return Ok(Beginning {
                        seqs: Vec::new(),
                        is_whole: false,
                    });
                }
                Condition::Text(words) => inner.and(
                    "r.seq IN (SELECT s.run FROM (SELECT rowid FROM body_fts WHERE body_fts MATCH ? LIMIT ?) f \
                     CROSS JOIN step s ON s.body = f.rowid LIMIT ?)",
                    [
                        Value::Text(super::search::phrase(words)),
                        Value::Integer(SAMPLE),
                        Value::Integer(SAMPLE_STEPS),
                    ],
                ),
                _ => {
                    let asked = Where::of_terms([*term]);
                    outer.and(&format!("({})", asked.sql), asked.values);
                }
            }
        }
        // The inner limit keeps SQLite from asking the slow terms of every run before it sorts.
        let sql = format!(
            "SELECT r.seq FROM (SELECT r.seq FROM run r WHERE {} ORDER BY {} LIMIT -1) r WHERE {} LIMIT {}",
            inner.sql,
            order(filter, "+r.seq"),
            outer.sql,
            u64::from(limit) + 1
        );
        let is_sample = |t: &&Term| matches!(t.condition, Condition::Text(_));
        let sampled = slow.iter().any(is_sample);
        let values = inner.values.into_iter().chain(outer.values).collect();
        let mut found = self.beginning(&sql, values, limit)?;
        found.is_whole &= !sampled;
        Ok(found)
    }

    fn beginning(
        &self,
        sql: &str,
        values: Vec<Value>,
        limit: u32,
    ) -> Result<Beginning, StoreError> {
        let mut statement = self.db.prepare_cached(sql)?;
        let rows = statement.query_map(params_from_iter(values), |row| row.get(0))?;
        let mut seqs: Vec<i64> = rows.collect::<Result<_, _>>()?;
        let is_whole = seqs.len() <= limit as usize;
        seqs.truncate(limit as usize);
        Ok(Beginning { seqs, is_whole })
    }

    /// So many steps answer to it that a frame cannot wait for all their runs.
    fn is_slow(&self, condition: &Condition) -> Result<bool, StoreError> {
        match condition {
            Condition::Text(words) => {
                let phrase = super::search::phrase(words);
                Ok(!phrase.is_empty() && !self.is_rare(&phrase)?)
            }
            Condition::StepTool(tool) => {
                let sql = "SELECT count(*) FROM (SELECT 1 FROM step WHERE tool = ?1 LIMIT ?2)";
                let mut statement = self.db.prepare_cached(sql)?;
                let found: i64 =
                    statement.query_row(params![tool, COMMON + 1], |row| row.get(0))?;
                Ok(found > COMMON)
            }
            _ => Ok(false),
        }
    }

    /// Returns the row keys of all runs that pass, in the filter's order.
    pub fn run_seqs(&self, filter: &Filter) -> Result<Vec<i64>, StoreError> {
        if filter.terms.is_empty() && filter.sort.is_empty() {
            return self.all_seqs();
        }
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

    /// SQLite walks its narrowest index for them, and an index of other columns is not in this order.
    fn all_seqs(&self) -> Result<Vec<i64>, StoreError> {
        let mut statement = self.db.prepare_cached("SELECT r.seq FROM run r")?;
        let rows = statement.query_map([], |row| row.get(0))?;
        let mut seqs: Vec<i64> = rows.collect::<Result<_, _>>()?;
        seqs.sort_unstable();
        Ok(seqs)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Item, Owner, Role, Rollout, Sink, Step, StepKind};

    /// Runs a to d: the words stand in a, c and d; the tool is called in b and d.
    fn store() -> Store {
        let mut store = Store::in_memory().unwrap();
        let mut intake = store.intake(1).unwrap();
        for (name, words, tool) in [
            ("a", "old rule", "read"),
            ("b", "new rule", "search"),
            ("c", "old rule of May", "read"),
            ("d", "old rule of June", "search"),
        ] {
            let head = Rollout::new(name.to_owned(), "test", "log.jsonl");
            let mut call = Step::new(
                Owner::Model,
                StepKind::ToolCall,
                Role::Assistant,
                format!("{words} {name}"),
            );
            call.tool = Some(tool.to_owned());
            for item in [
                Item::Begin(Box::new(head.clone())),
                Item::Step(Box::new(call)),
                Item::End(Box::new(head)),
            ] {
                assert!(intake.put(item).is_continue());
            }
        }
        intake.finish().unwrap();
        store.index_all().unwrap();
        store
    }

    fn term(negated: bool, condition: Condition) -> Term {
        Term { negated, condition }
    }

    fn beginning(store: &Store, terms: &[Term], limit: u32) -> (Vec<i64>, bool) {
        let slow: Vec<&Term> = terms.iter().collect();
        let found = store
            .some_of(&Filter::default(), &slow, Vec::new(), limit)
            .unwrap();
        (found.seqs, found.is_whole)
    }

    /// Expected rows by hand from the table above; rows are numbered as they came, from one.
    #[test]
    fn the_beginning_of_a_list_holds_only_runs_that_pass() {
        let store = store();
        let search = |negated| term(negated, Condition::StepTool("search".into()));
        let old = |negated| term(negated, Condition::Text("old rule".into()));
        assert_eq!(beginning(&store, &[search(false)], 9), (vec![2, 4], true));
        assert_eq!(beginning(&store, &[search(true)], 9), (vec![1, 3], true));
        assert_eq!(beginning(&store, &[search(false)], 1), (vec![2], false));
        // What was sampled may not be all.
        assert_eq!(beginning(&store, &[old(false)], 9), (vec![1, 3, 4], false));
        assert_eq!(beginning(&store, &[old(true)], 9), (vec![], false));
        assert_eq!(
            beginning(&store, &[old(false), search(false)], 9),
            (vec![4], false)
        );
        // Nothing is asked: the first rows; rare things: all at once.
        let first = store.first_seqs(&Filter::default(), 3).unwrap();
        assert_eq!((first.seqs, first.is_whole), (vec![1, 2, 3], false));
        let filter = Filter {
            terms: vec![old(false)],
            sort: Vec::new(),
        };
        let found = store.first_seqs(&filter, 1).unwrap();
        assert_eq!((found.seqs, found.is_whole), (vec![1, 3, 4], true));
        // The counts of a list are those of its runs.
        let counts = store.facets_of(&[1, 3], &[Field::Format]).unwrap();
        assert_eq!(counts[0][0].count, 2);
    }
}
