//! The two registers into the workspace.

use super::JobError;
use crate::domain::Skip;
use crate::import::{read_documents, read_tasks};
use crate::store::{Store, StoreError};
use serde::Serialize;
use std::path::Path;

/// What came of a register file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RegisterReport {
    /// File.
    pub file: String,
    /// Lines understood.
    pub read: u64,
    /// New or changed.
    pub stored: u64,
    /// What could not be read.
    pub skipped: Vec<Skip>,
}

/// Imports a document register.
pub fn import_documents(store: &mut Store, file: &Path) -> Result<RegisterReport, JobError> {
    keep(file, read_documents(file), |rows| store.put_documents(rows))
}

/// Imports a task list.
pub fn import_tasks(store: &mut Store, file: &Path) -> Result<RegisterReport, JobError> {
    keep(file, read_tasks(file), |rows| store.put_tasks(rows))
}

fn keep<T>(
    file: &Path,
    (rows, skipped): (Vec<T>, Vec<Skip>),
    put: impl FnOnce(&[T]) -> Result<u64, StoreError>,
) -> Result<RegisterReport, JobError> {
    Ok(RegisterReport {
        file: file.display().to_string(),
        read: rows.len() as u64,
        stored: put(&rows)?,
        skipped,
    })
}
