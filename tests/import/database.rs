//! opencode's database: its sessions read like the exports of the same sessions, the newest rows too, and nothing but sessions.

use super::seen::{Seen, real_logs, see};
use rusqlite::Connection;
use std::path::Path;
use triagent::domain::Progress;
use triagent::jobs::{self, ImportOptions};
use triagent::store::Store;

const TABLES: &str = "CREATE TABLE session (id TEXT PRIMARY KEY, title TEXT, model TEXT, time_created INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
    CREATE TABLE account (id TEXT, access_token TEXT);
    INSERT INTO account VALUES ('a', 'token-that-nobody-may-see');
    INSERT INTO session VALUES ('ses_1', 'refund', '{\"id\": \"desk-7b\"}', 1000);
    INSERT INTO message VALUES ('msg_1', 'ses_1', 1, '{\"role\": \"user\", \"time\": {\"created\": 1}}');
    INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', '{\"type\": \"text\", \"text\": \"报销标准是什么?\"}');";
const ANSWER: &str = "INSERT INTO message VALUES ('msg_2', 'ses_1', 2,
        '{\"role\": \"assistant\",\n \"finish\": \"stop\", \"time\": {\"created\": 2, \"completed\": 3}}');
    INSERT INTO part VALUES ('prt_2', 'msg_2', 'ses_1', '{\"type\": \"text\", \"text\": \"400\"}');";

fn made(path: &Path, sql: &[&str]) -> Connection {
    let db = Connection::open(path).unwrap();
    sql.iter().for_each(|sql| db.execute_batch(sql).unwrap());
    db
}

fn told(seen: &Seen) -> String {
    let skipped = seen.report.skipped.iter();
    skipped
        .map(|s| s.reason.as_str())
        .collect::<Vec<_>>()
        .join("; ")
}

/// The exports were written by opencode itself, of the same two sessions.
#[test]
fn sessions_read_like_their_exports() {
    let Some(root) = real_logs() else { return };
    let stored = see(&root.join("opencode/opencode.db"));
    for name in [
        "edit-errors-then-fixed.export.json",
        "killed-mid-answer.export.json",
    ] {
        let export = see(&root.join("opencode").join(name));
        let export = export.runs.first().unwrap();
        let same = stored.runs.iter().find(|run| run.head.id == export.head.id);
        let same = same.unwrap();
        let texts = |run: &super::seen::SeenRun| -> Vec<String> {
            let steps = run.steps.iter();
            steps
                .map(|s| format!("{} {} {:?} {}", s.owner, s.kind, s.status, s.text))
                .collect()
        };
        assert_eq!(texts(same), texts(export), "{name}");
        assert_eq!(same.head.ending, export.head.ending);
        assert_eq!(same.head.model, export.head.model);
        assert_eq!(same.head.harness, export.head.harness);
        assert_eq!(same.head.started_us, export.head.started_us);
        let used = |run: &super::seen::SeenRun| {
            run.calls
                .iter()
                .map(|c| c.usage.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(used(same), used(export));
    }
}

#[test]
fn nothing_but_sessions_is_read_and_nothing_is_left_beside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    drop(made(&path, &[TABLES, ANSWER]));
    let seen = see(&path);
    assert_eq!(
        seen.lines(),
        ["user text 报销标准是什么?", "model text 400"]
    );
    assert!(!format!("{seen:?}").contains("nobody-may-see"));
    let names = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 1);
}

/// A program that is running keeps its newest rows in a log beside the file.
#[test]
fn rows_that_stand_in_the_log_are_read_and_seen_as_news() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let db = made(
        &path,
        &[
            "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0;",
            TABLES,
        ],
    );
    let mut store = Store::in_memory().unwrap();
    let mut look = || {
        let options = ImportOptions::default();
        let paths = [folder.path().to_owned()];
        let progress = Progress::default();
        let totals = jobs::import(&mut store, &paths, &options, 1, &progress, &mut |_| {}).unwrap();
        (totals.stored, totals.renewed, totals.skips)
    };
    assert_eq!(look(), (1, 0, 0));
    let before = std::fs::metadata(&path).unwrap();
    db.execute_batch(ANSWER).unwrap();
    let after = std::fs::metadata(&path).unwrap();
    assert_eq!(
        (before.len(), before.modified().unwrap()),
        (after.len(), after.modified().unwrap())
    );
    assert_eq!(look(), (0, 1, 0));
}

/// A stored object that is no JSON, and one that says not whose it is: each is told, the rest of its session and the other
/// sessions are kept.
#[test]
fn a_damaged_message_costs_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let damage = "INSERT INTO part VALUES ('prt_9', 'msg_2', 'ses_1', '{\"type\": \"text\", \"te');
        INSERT INTO session VALUES ('ses_2', 'other', NULL, 2000);
        INSERT INTO message VALUES ('msg_3', 'ses_2', 1, 'user');
        INSERT INTO part VALUES ('prt_3', 'msg_3', 'ses_2', '{\"type\": \"text\", \"text\": \"still here\"}');";
    drop(made(&path, &[TABLES, ANSWER, damage]));
    let seen = see(&path);
    let damaged = r#"runtime event {"id":"prt_9","sessionID":"ses_1","type":"no JSON object","text":"{\"type\": \"text\", \"te"}"#;
    assert_eq!(
        seen.lines(),
        [
            "user text 报销标准是什么?",
            "model text 400",
            damaged,
            "unknown text still here"
        ]
    );
    let not_understood = &seen.report.not_understood;
    assert!(
        not_understood.keys().any(|k| k.contains("no JSON object")),
        "{not_understood:?}"
    );
}

#[test]
fn a_view_of_that_name_is_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let views = "CREATE TABLE session (id, time_created); CREATE TABLE message (id);
        CREATE VIEW part AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n;";
    drop(made(&path, &[views]));
    let seen = see(&path);
    assert!(seen.runs.is_empty());
    assert!(told(&seen).contains("SQLite"), "{}", told(&seen));
}

/// The schema is the file's own word: a table that calls itself plain may run another one, or never end.
#[test]
fn a_table_that_is_not_what_it_says_is_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let part = "CREATE VIRTUAL TABLE part USING fts5(id, message_id, data, content='v', content_rowid='r');
        PRAGMA writable_schema = on; UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'part';";
    let spy = "CREATE VIEW v AS SELECT rowid AS r, 'p' AS id, 'msg_1' AS message_id,
            '{\"type\":\"text\",\"text\":\"' || access_token || '\"}' AS data FROM account;";
    let endless = "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
        SELECT i AS r, 'p' AS id, 'msg_1' AS message_id, '{}' AS data FROM n;";
    for (n, view) in [spy, endless].into_iter().enumerate() {
        let path = folder.path().join(format!("{n}.db"));
        drop(made(&path, &[TABLES, "DROP TABLE part;", view, part]));
        let seen = see(&path);
        assert!(!format!("{seen:?}").contains("nobody-may-see"));
        assert!(told(&seen).contains("SQLite"), "{}", told(&seen));
    }
}

/// A column that computes its value is the file's program; it may ask for gigabytes.
#[test]
fn a_computed_column_is_not_computed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let part = "DROP TABLE part; CREATE TABLE part (id TEXT, message_id TEXT,
            data TEXT AS (printf('%.*c', 900000000, 'a')));
        INSERT INTO part VALUES ('prt_1', 'msg_1');";
    drop(made(&path, &[TABLES, part]));
    let seen = see(&path);
    assert!(seen.steps().all(|s| s.text.len() < 1000));
    let told = told(&seen) + &format!("{:?}", seen.report);
    assert!(told.contains("too big"), "{told}");
}

/// Odd names and values cost themselves: the other messages and sessions are read.
#[test]
fn odd_rows_cost_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let tables = TABLES.replace("TEXT PRIMARY KEY", "");
    let text = |id: &str, of: &str, words: &str| {
        format!(
            "INSERT INTO part VALUES ({id}, {of}, 's', '{{\"type\": \"text\", \"text\": \"{words}\"}}');"
        )
    };
    let odd = [
        "INSERT INTO session VALUES (NULL, 'no name', NULL, 1);".to_owned(),
        "INSERT INTO session VALUES ('', 'empty name', NULL, 2);".to_owned(),
        "INSERT INTO session VALUES (x'ff00', 'blob name', NULL, 3);".to_owned(),
        "INSERT INTO session VALUES ('ses_1', 'twice', NULL, 4);".to_owned(),
        "INSERT INTO message VALUES ('msg_2', 'ses_1', 5, NULL);".to_owned(),
        "INSERT INTO message VALUES (x'01', 'ses_1', 6, '{\"role\": \"user\"},');".to_owned(),
        text("'prt_2'", "x'01'", "after a comma"),
        format!(
            "INSERT INTO message VALUES ('msg_4', 'ses_1', 7, '{}1{}');",
            "[".repeat(170),
            "]".repeat(170)
        ),
        "INSERT INTO session VALUES ('ses_2', 'whole', NULL, 9);".to_owned(),
        "INSERT INTO message VALUES ('msg_9', 'ses_2', 1, '{\"role\": \"user\"}');".to_owned(),
        text("NULL", "'msg_9'", "still here"),
    ];
    let path = folder.path().join("opencode.db");
    drop(made(&path, &[&tables, &odd.concat()]));
    let seen = see(&path);
    let lines = seen.lines();
    for words in [
        "user text 报销标准是什么?",
        "unknown text after a comma",
        "user text still here",
    ] {
        assert!(lines.contains(&words.to_owned()), "{words}: {lines:?}");
    }
}

/// The log stands beside the file that a link leads to; a change that was cut off is not taken for rows.
#[test]
fn a_link_leads_to_the_log_and_a_cut_off_change_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("real.db");
    let wal = "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0;";
    let db = made(&real, &[wal, TABLES, ANSWER]);
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    assert_eq!(see(&link).lines().len(), 2);
    drop(db);
    let cut = folder.path().join("cut.db");
    drop(made(&cut, &[TABLES]));
    std::fs::write(folder.path().join("cut.db-journal"), b"half a change").unwrap();
    let seen = see(&cut);
    assert!(
        seen.runs.is_empty() && told(&seen).contains("cut off"),
        "{}",
        told(&seen)
    );
}
