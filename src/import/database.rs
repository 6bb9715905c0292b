//! opencode's store, an SQLite database, as JSON lines: for each session a line that says what it is, then one for each of its
//! messages, in the words of `opencode export`. It looks into the three tables that hold sessions and into nothing else: accounts
//! and credentials lie beside them.
//!
//! Whoever wrote the file wrote its schema too, so SQLite is told what may be read before anything is: three plain tables and a
//! few functions, nothing that runs what the file says. One value at a time is held, and no sorting holds more than names.

use super::limits::MAX_VALUE_BYTES;
use super::parse::{Flaws, parse};
use super::pieces::Pieces;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{Value as Cell, ValueRef};
use rusqlite::{Connection, OpenFlags, Row, params};
use serde_json::{Map, Value, json};
use std::io;
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

/// What a session's row says of it, and the name of that in an export.
const TOLD: &[(&str, &str)] = &[
    ("id", "id"),
    ("parent_id", "parentID"),
    ("directory", "directory"),
    ("title", "title"),
    ("agent", "agent"),
    ("version", "version"),
    ("cost", "cost"),
];
const TABLES: &[&str] = &["session", "message", "part"];
/// What our own questions call; a computed column of the file that calls anything else is refused.
const FUNCTIONS: &[&str] = &["count", "like", "octet_length", "iif"];
/// Rows of a table that are read for one question; a file may point at one row any number of times.
const MAX_ROWS: i64 = 1_000_000;
/// Bytes of a name.
const MAX_NAME: i64 = 1024;

/// A row's place and its name, which may be of any type.
type Named = (i64, Cell);

/// Writes sessions as lines while they are read, a part at a time.
pub(crate) struct SessionLines {
    db: Connection,
    sessions: IntoIter<Named>,
    /// Messages of the session under way, and its name.
    messages: IntoIter<Named>,
    session: String,
    /// Parts of the message under way, if its line is open.
    parts: Option<IntoIter<Named>>,
    is_first: bool,
}

impl SessionLines {
    /// Opens a database; `None` = it is one, but not opencode's.
    pub(crate) fn open(path: &Path) -> io::Result<Option<Self>> {
        let db = connect(path)?;
        // What begins so is no view and no virtual table, whatever else the file says of it.
        let sql =
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'
             AND name IN ('session', 'message', 'part')";
        let tables: i64 = db.query_row(sql, [], |row| row.get(0)).map_err(told)?;
        if tables != 3 {
            return Ok(None);
        }
        let sql = "SELECT rowid, iif(octet_length(id) > ?1, NULL, id) FROM session ORDER BY time_created, id LIMIT ?2";
        let sessions = names(&db, sql, None)?;
        Ok(Some(Self {
            db,
            sessions,
            messages: Vec::new().into_iter(),
            session: String::new(),
            parts: None,
            is_first: true,
        }))
    }

    fn begin(&mut self, (row, name): &Named) -> io::Result<String> {
        let sql =
            "SELECT rowid, iif(octet_length(id) > ?1, NULL, id) FROM message WHERE session_id = ?3
             ORDER BY time_created, id LIMIT ?2";
        self.messages = names(&self.db, sql, Some(name))?;
        self.session = text_of(ValueRef::from(name));
        let mut query = self
            .db
            .prepare_cached("SELECT * FROM session WHERE rowid = ?1")
            .map_err(told)?;
        let mut info = query
            .query_row([row], |row| Ok(info_of(row)))
            .map_err(told)?;
        info.insert("id".to_owned(), self.session.clone().into());
        let info = Value::Object(info);
        Ok(format!("{{\"info\":{info},\"messages\":[]}}\n"))
    }

    /// A stored object, which does not say its own name and whose it is, with both.
    fn object(&self, table: &str, (row, name): &Named) -> io::Result<String> {
        let most = i64::try_from(MAX_VALUE_BYTES).unwrap_or(i64::MAX);
        let sql = format!(
            "SELECT octet_length(data), iif(octet_length(data) > ?2, '', data) FROM {table} WHERE rowid = ?1"
        );
        let mut query = self.db.prepare_cached(&sql).map_err(told)?;
        let found = query.query_row(params![row, most], |row| {
            Ok((
                row.get::<_, Option<i64>>(0)?.unwrap_or(0),
                text_of(row.get_ref(1)?),
            ))
        });
        let (size, data) = found.map_err(told)?;
        let name = text_of(ValueRef::from(name));
        let own = json!({"id": name, "sessionID": self.session});
        Ok(match size > most {
            true => without(&own, "too large", &size.to_string()),
            false => named(&own, &data),
        })
    }
}

impl Pieces for SessionLines {
    fn piece(&mut self) -> io::Result<String> {
        if let Some(parts) = &mut self.parts {
            let Some(part) = parts.next() else {
                self.parts = None;
                return Ok("]}\n".to_owned());
            };
            let comma = if self.is_first { "" } else { "," };
            self.is_first = false;
            return Ok(comma.to_owned() + &self.object("part", &part)?);
        }
        if let Some(message) = self.messages.next() {
            let sql = "SELECT rowid, iif(octet_length(id) > ?1, NULL, id) FROM part WHERE message_id = ?3 ORDER BY id LIMIT ?2";
            self.parts = Some(names(&self.db, sql, Some(&message.1))?);
            self.is_first = true;
            let info = self.object("message", &message)?;
            return Ok(format!("{{\"info\":{info},\"parts\":["));
        }
        match self.sessions.next() {
            Some(session) => self.begin(&session),
            None => Ok(String::new()),
        }
    }
}

/// The log of a database's newest rows, which stands beside the file that a link leads to.
pub(crate) fn log_of(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut name = real.into_os_string();
    name.push(end);
    PathBuf::from(name)
}

/// Opens a database for reading. A write-ahead log that stands there holds the newest rows, and reading it needs SQLite's
/// locks; without one the file is taken as it is, also in a folder that nobody may write to, and nothing is left beside it.
fn connect(path: &Path) -> io::Result<Connection> {
    let journal = beside(path, "-journal");
    if std::fs::metadata(&journal).is_ok_and(|m| m.len() > 0) {
        return Err(io::Error::other(
            "its last change was cut off (a -journal file stands beside it); hint: open it once with the program that wrote it",
        ));
    }
    let is_alone = std::fs::metadata(log_of(path)).map_or(true, |m| m.len() == 0);
    let real = path.canonicalize()?;
    let uri = format!(
        "file:{}{}",
        escaped(&real),
        if is_alone { "?immutable=1" } else { "" }
    );
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(uri, flags).and_then(|mut db| {
        db.pragma_update(None, "trusted_schema", false)?;
        db.pragma_update(None, "cell_size_check", true)?;
        let most = i32::try_from(MAX_VALUE_BYTES + MAX_VALUE_BYTES / 4).unwrap_or(i32::MAX);
        db.set_limit(Limit::SQLITE_LIMIT_LENGTH, most)?;
        db.authorizer(Some(allowed))?;
        db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(db)
    });
    opened.map_err(|error| match is_alone {
        true => told(error),
        false => io::Error::other(format!(
            "the SQLite database and the -wal file beside it cannot be read: {error}; hint: copy both into a folder of yours"
        )),
    })
}

fn allowed(ask: AuthContext<'_>) -> Authorization {
    let is_allowed = match ask.action {
        AuthAction::Select => true,
        AuthAction::Read { table_name, .. } => {
            TABLES.contains(&table_name) || matches!(table_name, "sqlite_master" | "sqlite_schema")
        }
        AuthAction::Function { function_name } => FUNCTIONS
            .iter()
            .any(|f| f.eq_ignore_ascii_case(function_name)),
        _ => false,
    };
    match is_allowed {
        true => Authorization::Allow,
        false => Authorization::Deny,
    }
}

fn escaped(path: &Path) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"/-_.~".contains(&b);
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes
        .iter()
        .map(|b| match is_plain(*b) {
            true => char::from(*b).to_string(),
            false => format!("%{b:02X}"),
        })
        .collect()
}

fn names(db: &Connection, sql: &str, of: Option<&Cell>) -> io::Result<IntoIter<Named>> {
    let mut query = db.prepare_cached(sql).map_err(told)?;
    let values: [&dyn rusqlite::ToSql; 3] = [&MAX_NAME, &MAX_ROWS, &of];
    let values = values.get(..query.parameter_count()).unwrap_or_default();
    let rows = query
        .query_map(values, |row| {
            // A name that is no text in UTF-8 names nothing.
            let name = Cell::try_from(row.get_ref(1)?).unwrap_or(Cell::Null);
            Ok((row.get(0)?, name))
        })
        .map_err(told)?;
    let names: Vec<Named> = rows.collect::<Result<_, _>>().map_err(told)?;
    Ok(names.into_iter())
}

fn info_of(row: &Row<'_>) -> Map<String, Value> {
    let column = |name: &str| row.get_ref(name).ok().and_then(value_of);
    let mut info: Map<String, Value> = TOLD
        .iter()
        .filter_map(|(from, to)| Some(((*to).to_owned(), column(from)?)))
        .collect();
    let model = column("model").and_then(|v| serde_json::from_str(v.as_str()?).ok());
    info.extend(model.map(|model: Value| ("model".to_owned(), model)));
    let time = json!({"created": column("time_created"), "updated": column("time_updated")});
    info.insert("time".to_owned(), time);
    info
}

fn value_of(value: ValueRef<'_>) -> Option<Value> {
    match value {
        ValueRef::Null | ValueRef::Blob(_) => None,
        ValueRef::Integer(n) => Some(n.into()),
        ValueRef::Real(n) => Some(n.into()),
        ValueRef::Text(_) => Some(text_of(value).into()),
    }
}

fn text_of(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            String::from_utf8_lossy(bytes).into_owned()
        }
        ValueRef::Integer(n) => n.to_string(),
        ValueRef::Real(n) => n.to_string(),
        ValueRef::Null => String::new(),
    }
}

/// The object with what is its own put in. One that is damaged must not take the whole line with it.
fn named(own: &Value, data: &str) -> String {
    // A line end between two fields would end the line.
    let data = data.replace(['\n', '\r'], " ");
    let data = data.trim();
    // As deep as it will stand in its line.
    let is_sound =
        data.ends_with('}') && parse(&format!("[[[{data}]]]"), &mut Flaws::default()).is_ok();
    let own_fields = own.to_string();
    let own_fields = own_fields.trim_end_matches('}');
    match data.strip_prefix('{').map(str::trim_start) {
        Some("}") => own.to_string(),
        Some(fields) if is_sound => format!("{own_fields},{fields}"),
        _ => without(own, "no JSON object", data),
    }
}

fn without(own: &Value, what: &str, text: &str) -> String {
    let mut out = own.clone();
    out["type"] = what.into();
    out["text"] = text.into();
    out.to_string()
}

fn told(error: rusqlite::Error) -> io::Error {
    io::Error::other(format!("the SQLite database cannot be read: {error}"))
}
