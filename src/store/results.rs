//! What a room worked out and wants to find again (findings, probes, advice), and half-written words.

use super::blobs;
use super::{Store, StoreError};
use rusqlite::{OptionalExtension, params};
use serde::{Serialize, de::DeserializeOwned};

impl Store {
    /// Keeps a result under kind, subject and key, replacing an older one.
    pub fn put_result<T: Serialize>(
        &mut self,
        kind: &str,
        subject: &str,
        key: &str,
        now_us: i64,
        value: &T,
    ) -> Result<(), StoreError> {
        self.must_write()?;
        let sql = "INSERT INTO result (kind, subject, key, at_us, data) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (kind, subject, key) DO UPDATE SET at_us = excluded.at_us, data = excluded.data";
        let blob = blobs::pack(value)?;
        self.db
            .prepare_cached(sql)?
            .execute(params![kind, subject, key, now_us, blob])?;
        Ok(())
    }

    /// Keeps many results of one kind at once.
    pub fn put_results<T: Serialize>(
        &mut self,
        kind: &str,
        now_us: i64,
        values: &[(String, String, T)],
    ) -> Result<(), StoreError> {
        self.must_write()?;
        self.db.execute_batch("BEGIN IMMEDIATE")?;
        for (subject, key, value) in values {
            if let Err(error) = self.put_result(kind, subject, key, now_us, value) {
                self.db.execute_batch("ROLLBACK")?;
                return Err(error);
            }
        }
        self.db.execute_batch("COMMIT")?;
        Ok(())
    }

    /// Reads one result.
    pub fn result<T: DeserializeOwned>(
        &self,
        kind: &str,
        subject: &str,
        key: &str,
    ) -> Result<Option<T>, StoreError> {
        let sql = "SELECT data FROM result WHERE kind = ?1 AND subject = ?2 AND key = ?3";
        let blob: Option<Vec<u8>> = self
            .db
            .prepare_cached(sql)?
            .query_row(params![kind, subject, key], |row| row.get(0))
            .optional()?;
        blob.map(|b| blobs::unpack("result", &b)).transpose()
    }

    /// Reads all results of a kind, of one subject if one is named: subject, key, time, value.
    pub fn results<T: DeserializeOwned>(
        &self,
        kind: &str,
        subject: Option<&str>,
    ) -> Result<Vec<(String, String, i64, T)>, StoreError> {
        let sql = "SELECT subject, key, at_us, data FROM result
             WHERE kind = ?1 AND (?2 IS NULL OR subject = ?2) ORDER BY subject, key";
        let mut query = self.db.prepare_cached(sql)?;
        let mut rows = query.query(params![kind, subject])?;
        let mut out = Vec::new();
        while let Some(row) = rows.next()? {
            let blob: Vec<u8> = row.get(3)?;
            out.push((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                blobs::unpack("result", &blob)?,
            ));
        }
        Ok(out)
    }

    /// Forgets all results of a kind: a new run of the room replaces them.
    pub fn clear_results(&mut self, kind: &str) -> Result<(), StoreError> {
        self.must_write()?;
        self.db
            .execute("DELETE FROM result WHERE kind = ?1", [kind])?;
        Ok(())
    }

    /// Keeps half-written words; empty words forget them.
    pub fn put_draft(
        &mut self,
        reviewer: &str,
        subject: &str,
        text: &str,
        now_us: i64,
    ) -> Result<(), StoreError> {
        self.must_write()?;
        if text.is_empty() {
            let sql = "DELETE FROM draft WHERE reviewer = ?1 AND subject = ?2";
            self.db.prepare_cached(sql)?.execute([reviewer, subject])?;
            return Ok(());
        }
        let sql = "INSERT INTO draft (reviewer, subject, at_us, text) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (reviewer, subject) DO UPDATE SET at_us = excluded.at_us, text = excluded.text";
        self.db
            .prepare_cached(sql)?
            .execute(params![reviewer, subject, now_us, text])?;
        Ok(())
    }

    /// Reads half-written words.
    pub fn draft(&self, reviewer: &str, subject: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT text FROM draft WHERE reviewer = ?1 AND subject = ?2";
        let mut query = self.db.prepare_cached(sql)?;
        Ok(query
            .query_row([reviewer, subject], |row| row.get(0))
            .optional()?)
    }
}
