//! The document register and the task list. Importing a line again replaces it: they are the user's own files.

use super::{Store, StoreError};
use crate::domain::{Document, Task, TaskId};
use rusqlite::{OptionalExtension, params};

impl Store {
    /// Keeps documents; returns how many are new or changed.
    pub fn put_documents(&mut self, documents: &[Document]) -> Result<u64, StoreError> {
        self.must_write()?;
        let transaction = self.db.transaction()?;
        let mut changed = 0;
        for document in documents {
            let data = to_json("document", document)?;
            let sql = "INSERT INTO document (doc_id, version, data) VALUES (?1, ?2, ?3)
                 ON CONFLICT (doc_id, version) DO UPDATE SET data = excluded.data WHERE data <> excluded.data";
            changed += transaction.prepare_cached(sql)?.execute(params![
                document.doc_id,
                document.version,
                data
            ])? as u64;
        }
        transaction.commit()?;
        Ok(changed)
    }

    /// Keeps tasks; returns how many are new or changed.
    pub fn put_tasks(&mut self, tasks: &[Task]) -> Result<u64, StoreError> {
        self.must_write()?;
        let transaction = self.db.transaction()?;
        let mut changed = 0;
        for task in tasks {
            let data = to_json("task", task)?;
            let sql = "INSERT INTO task (id, family, data) VALUES (?1, ?2, ?3)
                 ON CONFLICT (id) DO UPDATE SET family = excluded.family, data = excluded.data WHERE data <> excluded.data";
            changed += transaction.prepare_cached(sql)?.execute(params![
                task.task_id.0,
                task.family,
                data
            ])? as u64;
        }
        transaction.commit()?;
        Ok(changed)
    }

    /// Reads the whole document register.
    pub fn documents(&self) -> Result<Vec<Document>, StoreError> {
        let mut query = self
            .db
            .prepare_cached("SELECT data FROM document ORDER BY doc_id, version")?;
        let rows: Vec<String> = query
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        rows.iter()
            .map(|data| from_json("document", data))
            .collect()
    }

    /// Reads one task, if the list has it.
    pub fn task(&self, id: &TaskId) -> Result<Option<Task>, StoreError> {
        let data: Option<String> = self
            .db
            .prepare_cached("SELECT data FROM task WHERE id = ?1")?
            .query_row([id.as_str()], |row| row.get(0))
            .optional()?;
        data.map(|d| from_json("task", &d)).transpose()
    }

    /// Reads a page of the task list.
    pub fn tasks(&self, after: Option<&TaskId>, limit: u32) -> Result<Vec<Task>, StoreError> {
        let mut query = self
            .db
            .prepare_cached("SELECT data FROM task WHERE id > ?1 ORDER BY id LIMIT ?2")?;
        let after = after.map_or("", TaskId::as_str);
        let rows: Vec<String> = query
            .query_map(params![after, limit], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        rows.iter().map(|data| from_json("task", data)).collect()
    }
}

pub(super) fn to_json<T: serde::Serialize>(
    what: &'static str,
    value: &T,
) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|e| StoreError::unreadable(what, e))
}

pub(super) fn from_json<T: serde::de::DeserializeOwned>(
    what: &'static str,
    json: &str,
) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(|e| StoreError::unreadable(what, e))
}
