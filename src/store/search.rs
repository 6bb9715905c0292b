//! Full-text search over distinct texts, Chinese, Japanese and Korean included, two-character words too.

use super::bodies;
use super::{Store, StoreError};
use crate::domain::RunId;
use rusqlite::{OptionalExtension, params};

/// Bytes of one text that the index reads; the rest of a huge text is not searched, and the list says so.
const INDEX_BYTES: usize = 1 << 20;
/// Words in at most so many texts are rare.
const RARE: i64 = 5_000;
/// Texts indexed in one transaction.
const BATCH: u32 = 500;

/// Where the words were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Run.
    pub run: RunId,
    /// Step.
    pub step: u32,
}

/// How far the index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexState {
    /// Texts indexed.
    pub done: u64,
    /// Texts in all.
    pub total: u64,
}

impl Store {
    /// How far the search index is behind.
    pub fn index_state(&self) -> Result<IndexState, StoreError> {
        let upto = self.indexed_upto()?;
        // Bodies are numbered from one and never deleted, so the last number is their count; counting millions would take seconds.
        let mut query = self
            .db
            .prepare_cached("SELECT coalesce(max(id), 0) FROM body")?;
        let total: i64 = query.query_row([], |row| row.get(0))?;
        let done = upto.min(total);
        Ok(IndexState {
            done: u64::try_from(done).unwrap_or(0),
            total: u64::try_from(total).unwrap_or(0),
        })
    }

    /// Indexes the next texts; returns how many, 0 when nothing is left. Call it in the background until then.
    pub fn index_some(&mut self) -> Result<u64, StoreError> {
        self.must_write()?;
        let upto = self.indexed_upto()?;
        let transaction = self
            .db
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let mut last = upto;
        let mut done = 0;
        {
            let sql = "SELECT id, packed, data FROM body WHERE id > ?1 ORDER BY id LIMIT ?2";
            let mut query = transaction.prepare_cached(sql)?;
            let mut insert =
                transaction.prepare_cached("INSERT INTO body_fts (rowid, text) VALUES (?1, ?2)")?;
            let mut rows = query.query(params![upto, BATCH])?;
            while let Some(row) = rows.next()? {
                last = row.get(0)?;
                let data = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
                let text = bodies::start(row.get(1)?, data, INDEX_BYTES)?;
                insert.execute(params![last, spaced(&text)])?;
                done += 1;
            }
        }
        let sql = "INSERT INTO meta (key, value) VALUES ('fts_upto', ?1)
             ON CONFLICT (key) DO UPDATE SET value = excluded.value";
        transaction.execute(sql, [last.to_string()])?;
        transaction.commit()?;
        Ok(done)
    }

    /// Indexes all that is left.
    pub fn index_all(&mut self) -> Result<(), StoreError> {
        while self.index_some()? > 0 {}
        Ok(())
    }

    /// Finds the steps that hold the words, in order of import, a page after `after`.
    pub fn search(
        &self,
        words: &str,
        after: Option<&Hit>,
        limit: u32,
    ) -> Result<Vec<Hit>, StoreError> {
        let query = phrase(words);
        if query.is_empty() {
            return Ok(Vec::new());
        }
        let (seq, step) = match after {
            Some(hit) => (self.seq(&hit.run)?, i64::from(hit.step)),
            None => (-1, -1),
        };
        let mut statement = self.db.prepare_cached(&hits_sql(self.is_rare(&query)?))?;
        let rows = statement.query_map(params![query, seq, step, limit], |row| {
            Ok(Hit {
                run: RunId(row.get(0)?),
                step: row.get(1)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Few enough texts hold the words to look each one's steps up.
    pub(super) fn is_rare(&self, query: &str) -> Result<bool, StoreError> {
        let sql =
            "SELECT count(*) FROM (SELECT rowid FROM body_fts WHERE body_fts MATCH ?1 LIMIT ?2)";
        let mut statement = self.db.prepare_cached(sql)?;
        let found: i64 = statement.query_row(params![query, RARE + 1], |row| row.get(0))?;
        Ok(found <= RARE)
    }

    fn indexed_upto(&self) -> Result<i64, StoreError> {
        let mut query = self
            .db
            .prepare_cached("SELECT value FROM meta WHERE key = 'fts_upto'")?;
        let value: Option<String> = query.query_row([], |row| row.get(0)).optional()?;
        Ok(value.and_then(|v| v.parse().ok()).unwrap_or(0))
    }
}

/// Rare words: from the texts to their steps. Common ones: step by step, which soon fills the list; the plus hides the column from
/// its index.
fn hits_sql(is_rare: bool) -> String {
    let body = if is_rare { "s.body" } else { "+s.body" };
    format!(
        "SELECT r.id, s.idx FROM step s JOIN run r ON r.seq = s.run
         WHERE {body} IN (SELECT rowid FROM body_fts WHERE body_fts MATCH ?1)
           AND (s.run, s.idx) > (?2, ?3) ORDER BY s.run, s.idx LIMIT ?4"
    )
}

/// Turns typed words into one FTS5 phrase; operators and quotes of the user's lose their meaning.
pub(super) fn phrase(words: &str) -> String {
    let plain = spaced(&words.replace('"', " "));
    let plain = plain.trim();
    if plain.is_empty() {
        String::new()
    } else {
        format!("\"{plain}\"")
    }
}

/// Puts a space around every CJK character, so that each is a word of its own and phrases find any length.
fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 3);
    for c in text.chars() {
        if is_cjk(c) {
            out.push(' ');
            out.push(c);
            out.push(' ');
        } else {
            out.push(c);
        }
    }
    out
}

/// Han, kana, Hangul, and the compatibility blocks.
fn is_cjk(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x11ff | 0x2e80..=0x2fdf | 0x3005..=0x3007 | 0x3040..=0x30ff | 0x3100..=0x31bf | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xa960..=0xa97f | 0xac00..=0xd7ff | 0xf900..=0xfaff | 0xff66..=0xffdc
        | 0x20000..=0x3ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SQLite's own words about its plan: a search that sorts all steps of common words would take seconds.
    #[test]
    fn common_words_are_looked_for_in_order_and_rare_ones_by_index() {
        let store = Store::in_memory().unwrap();
        let plan = |is_rare| {
            let sql = format!("EXPLAIN QUERY PLAN {}", hits_sql(is_rare));
            let mut statement = store.db.prepare(&sql).unwrap();
            let rows = statement
                .query_map(params!["x", -1, -1, 10], |row| row.get::<_, String>(3))
                .unwrap();
            rows.map(Result::unwrap).collect::<Vec<_>>().join("; ")
        };
        assert!(plan(true).contains("step_body"), "{}", plan(true));
        assert!(!plan(false).contains("step_body"), "{}", plan(false));
        assert!(!plan(false).contains("ORDER BY"), "{}", plan(false));
    }
}
