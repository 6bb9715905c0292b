//! The ladder of schema versions. Steps are only ever added, never edited.

use super::StoreError;
use rusqlite::Connection;

const STEPS: &[&str] = &[
    include_str!("../../assets/schema/001.sql"),
    include_str!("../../assets/schema/002.sql"),
    include_str!("../../assets/schema/003.sql"),
];

/// "tria": says whose file it is.
const APPLICATION_ID: i64 = 0x7472_6961;

/// The newest version this program knows.
pub(super) fn newest() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

/// Reads the version of an open file.
pub(super) fn version(db: &Connection) -> Result<i64, StoreError> {
    Ok(db.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// Refuses a database of another program before anything is written to it.
pub(super) fn check_ours(db: &Connection) -> Result<(), StoreError> {
    let count =
        |sql: &str| -> Result<i64, StoreError> { Ok(db.query_row(sql, [], |row| row.get(0))?) };
    let id = count("PRAGMA application_id")?;
    // Files of before the id was written have the log's table.
    let is_ours = id == APPLICATION_ID
        || id == 0 && count("SELECT count(*) FROM sqlite_master WHERE name = 'decision'")? > 0;
    let is_new = id == 0 && version(db)? == 0 && count("SELECT count(*) FROM sqlite_master")? == 0;
    if is_ours || is_new {
        Ok(())
    } else {
        Err(StoreError::Foreign)
    }
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
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(
            None,
            "user_version",
            i64::try_from(at + 1).unwrap_or(i64::MAX),
        )?;
        transaction.commit()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn a_database_of_another_program_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.db");
        for (made, is_ours) in [
            ("CREATE TABLE note (text)", false),
            (
                "PRAGMA application_id = 7; CREATE TABLE decision (x)",
                false,
            ),
            ("PRAGMA user_version = 2; CREATE TABLE note (text)", false),
            // An empty database is one that nobody has used yet.
            ("VACUUM", true),
        ] {
            let _ = std::fs::remove_file(&file);
            let db = Connection::open(&file).unwrap();
            db.execute_batch(made).unwrap();
            drop(db);
            let before = std::fs::read(&file).unwrap();
            let opened = [Store::open(&file), Store::create(&file)];
            for store in opened {
                assert_eq!(store.is_ok(), is_ours, "{made}");
                assert!(
                    is_ours || matches!(store, Err(StoreError::Foreign)),
                    "{made}"
                );
            }
            assert!(is_ours || std::fs::read(&file).unwrap() == before, "{made}");
        }
    }

    #[test]
    fn a_workspace_of_before_the_id_still_opens() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("old.db");
        drop(Store::create(&file).unwrap());
        let db = Connection::open(&file).unwrap();
        let id: i64 = db
            .query_row("PRAGMA application_id", [], |r| r.get(0))
            .unwrap();
        // By hand: the letters t, r, i, a.
        assert_eq!(id.to_be_bytes()[4..], *b"tria");
        db.pragma_update(None, "application_id", 0).unwrap();
        drop(db);
        assert!(Store::open(&file).is_ok() && Store::open_read_only(&file).is_ok());
    }
}
