//! The ladder of schema versions. Steps are only ever added, never edited.

use super::StoreError;
use rusqlite::Connection;

const STEPS: &[&str] = &[
    include_str!("../../assets/schema/001.sql"),
    include_str!("../../assets/schema/002.sql"),
];

/// The newest version this program knows.
pub(super) fn newest() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

/// Reads the version of an open file.
pub(super) fn version(db: &Connection) -> Result<i64, StoreError> {
    Ok(db.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// Climbs from the file's version to the newest, each step in one transaction.
pub(super) fn climb(db: &mut Connection) -> Result<(), StoreError> {
    let found = version(db)?;
    if found > newest() {
        return Err(StoreError::NewerSchema {
            found,
            known: newest(),
        });
    }
    for (at, sql) in STEPS
        .iter()
        .enumerate()
        .skip(usize::try_from(found).unwrap_or(0))
    {
        let transaction = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        // Another process may have climbed while this one waited for the lock.
        if version(&transaction)? > i64::try_from(at).unwrap_or(i64::MAX) {
            continue;
        }
        transaction.execute_batch(sql)?;
        transaction.pragma_update(
            None,
            "user_version",
            i64::try_from(at + 1).unwrap_or(i64::MAX),
        )?;
        transaction.commit()?;
    }
    Ok(())
}
