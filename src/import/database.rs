//! opencode's store, an SQLite database, as JSON lines: one session a line, in the shape that `opencode export` writes, so that
//! its importer reads both alike. It looks into the three tables that hold sessions and into nothing else: accounts and
//! credentials lie beside them.

use super::limits::MAX_VALUE_BYTES;
use super::parse::{Flaws, parse};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row, params};
use serde_json::{Map, Value, json};
use std::io::{self, Cursor, Read};
use std::path::Path;
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

/// Writes sessions as lines while they are read, a message at a time.
pub(crate) struct SessionLines {
    db: Connection,
    sessions: IntoIter<String>,
    /// Messages of the session whose line is being written.
    messages: IntoIter<String>,
    line: Line,
    ready: Cursor<Vec<u8>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Between,
    First,
    Further,
}

impl SessionLines {
    /// Opens a database; `None` = it is one, but not opencode's.
    pub(crate) fn open(path: &Path) -> io::Result<Option<Self>> {
        let db = connect(path).map_err(told)?;
        // A view or a virtual table of such a name would run what the file says.
        let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0
             AND name IN ('session', 'message', 'part')";
        let tables: i64 = db.query_row(sql, [], |row| row.get(0)).map_err(told)?;
        if tables != 3 {
            return Ok(None);
        }
        let sessions = names(&db, "SELECT id FROM session ORDER BY time_created, id", "")?;
        Ok(Some(Self {
            db,
            sessions,
            messages: Vec::new().into_iter(),
            line: Line::Between,
            ready: Cursor::default(),
        }))
    }

    /// The next piece; an empty one is the end.
    fn piece(&mut self) -> io::Result<Vec<u8>> {
        if self.line == Line::Between {
            let Some(id) = self.sessions.next() else {
                return Ok(Vec::new());
            };
            return self.session(&id);
        }
        let Some(id) = self.messages.next() else {
            self.line = Line::Between;
            return Ok(b"]}\n".to_vec());
        };
        let comma = if self.line == Line::First { "" } else { "," };
        self.line = Line::Further;
        self.message(&id, comma)
    }

    fn session(&mut self, id: &str) -> io::Result<Vec<u8>> {
        let sql = "SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created, id";
        self.messages = names(&self.db, sql, id)?;
        self.line = Line::First;
        let info = self
            .db
            .prepare_cached("SELECT * FROM session WHERE id = ?1")
            .and_then(|mut query| query.query_row([id], |row| Ok(info_of(row))))
            .map_err(told)?;
        Ok(format!("{{\"info\":{info},\"messages\":[").into_bytes())
    }

    fn message(&self, id: &str, comma: &str) -> io::Result<Vec<u8>> {
        let sql = "SELECT id, octet_length(data), iif(octet_length(data) > ?2, '', data) FROM message WHERE id = ?1";
        let mut out = format!("{comma}{{\"info\":");
        self.each(sql, id, &mut |text| out.push_str(text))?;
        out.push_str(",\"parts\":[");
        let sql = "SELECT id, octet_length(data), iif(octet_length(data) > ?2, '', data) FROM part
             WHERE message_id = ?1 ORDER BY id";
        let mut comma = "";
        self.each(sql, id, &mut |text| {
            out.push_str(comma);
            out.push_str(text);
            comma = ",";
        })?;
        out.push_str("]}");
        Ok(out.into_bytes())
    }

    /// Hands over the objects of a query, each with its name put in.
    fn each(&self, sql: &str, id: &str, take: &mut dyn FnMut(&str)) -> io::Result<()> {
        let most = i64::try_from(MAX_VALUE_BYTES).unwrap_or(i64::MAX);
        let mut query = self.db.prepare_cached(sql).map_err(told)?;
        let mut rows = query.query(params![id, most]).map_err(told)?;
        while let Some(row) = rows.next().map_err(told)? {
            let name = text_of(row.get_ref(0).map_err(told)?);
            let size: i64 = row.get(1).map_err(told)?;
            take(&match size > most {
                true => json!({"id": name, "type": "too large", "bytes": size}).to_string(),
                false => named(&name, &text_of(row.get_ref(2).map_err(told)?)),
            });
        }
        Ok(())
    }
}

impl Read for SessionLines {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.ready.read(out)?;
        if n > 0 || out.is_empty() {
            return Ok(n);
        }
        self.ready = Cursor::new(self.piece()?);
        self.ready.read(out)
    }
}

/// Opens a database for reading and leaves nothing beside it. A write-ahead log that stands there holds the newest rows, and
/// reading it needs SQLite's locks; without one the file is taken as it is, also in a folder that nobody may write to.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let is_alone = !Path::new(&log).exists();
    let uri = format!(
        "file:{}{}",
        escaped(path),
        if is_alone { "?immutable=1" } else { "" }
    );
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(uri, flags)?;
    // Whoever wrote the file wrote its schema too.
    db.pragma_update(None, "trusted_schema", false)?;
    db.pragma_update(None, "cell_size_check", true)?;
    Ok(db)
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

fn names(db: &Connection, sql: &str, of: &str) -> io::Result<IntoIter<String>> {
    let mut query = db.prepare_cached(sql).map_err(told)?;
    let values: &[&dyn rusqlite::ToSql] = if of.is_empty() { &[] } else { &[&of] };
    let rows = query
        .query_map(values, |row| Ok(text_of(row.get_ref(0)?)))
        .map_err(told)?;
    let names: Vec<String> = rows.collect::<Result<_, _>>().map_err(told)?;
    Ok(names.into_iter())
}

fn info_of(row: &Row<'_>) -> Value {
    let column = |name: &str| row.get_ref(name).ok().and_then(value_of);
    let mut info: Map<String, Value> = TOLD
        .iter()
        .filter_map(|(from, to)| Some(((*to).to_owned(), column(from)?)))
        .collect();
    let model = column("model").and_then(|v| serde_json::from_str(v.as_str()?).ok());
    info.extend(model.map(|model: Value| ("model".to_owned(), model)));
    let time = json!({"created": column("time_created"), "updated": column("time_updated")});
    info.insert("time".to_owned(), time);
    Value::Object(info)
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

/// A stored object, which does not say its own name, with its name. One that is damaged must not take the whole line with it.
fn named(id: &str, data: &str) -> String {
    // A line end between two fields would end the line.
    let data = data.replace(['\n', '\r'], " ");
    let is_sound = parse(&data, &mut Flaws::default()).is_ok();
    match data.trim().strip_prefix('{').map(str::trim_start) {
        Some("}") => json!({"id": id}).to_string(),
        Some(fields) if is_sound => format!("{{\"id\":{},{fields}", Value::from(id)),
        _ => json!({"id": id, "type": "no JSON object", "text": data}).to_string(),
    }
}

fn told(error: rusqlite::Error) -> io::Error {
    io::Error::other(format!("the SQLite database cannot be read: {error}"))
}
