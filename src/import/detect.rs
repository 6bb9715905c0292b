//! Detection: looks at content, never only at names, and says why. It reads the first rows, or one document's
//! outline, in bounded memory; which outline means which format is each importer's own knowledge.

use super::archive::Archive;
use super::limits::MAX_VALUE_BYTES;
use super::lines::Lines;
use super::parse::{Flaws, parse};
use super::scan::{Lost, Scanner};
use super::source::Source;
use serde_json::Value;
use std::io::{self, Read};

const ROWS: usize = 50;
const ROW_BYTES: u64 = 4 << 20;

/// What a unit is taken for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detection {
    /// Name of the format; `None` = nobody recognised it.
    pub format: Option<String>,
    /// What in the content says so, or what was found instead.
    pub reason: String,
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Nothing but space.
    Empty,
    /// One JSON value a line.
    Lines,
    /// One object.
    Object,
    /// One list.
    List,
    /// A zip archive.
    Zip,
    /// A parquet file.
    Parquet,
    /// An SQLite database.
    Sqlite,
    /// Other bytes.
    Binary,
    /// Text that is no JSON.
    Text,
    /// A folder.
    Folder,
}

/// What detection has seen of a unit.
#[derive(Debug)]
pub(crate) struct Sniff {
    /// File or folder name without its path.
    pub(crate) name: String,
    /// How it is written.
    pub(crate) shape: Shape,
    /// Outlines of the first rows: of lines, of a list's elements, or the one object.
    pub(crate) rows: Vec<Value>,
    /// Names of a zip archive's members.
    pub(crate) members: Vec<String>,
}

impl Sniff {
    /// The first row.
    pub(crate) fn first(&self) -> &Value {
        self.rows.first().unwrap_or(&Value::Null)
    }

    /// Most rows have all these keys.
    pub(crate) fn most_have(&self, keys: &[&str]) -> bool {
        let with = self.rows.iter().filter(|row| has_all(row, keys)).count();
        with > 0 && with * 2 > self.rows.len()
    }

    /// JSON of some kind.
    pub(crate) fn is_json(&self) -> bool {
        matches!(self.shape, Shape::Lines | Shape::Object | Shape::List)
    }
}

/// An object with all these keys.
pub(crate) fn has_all(row: &Value, keys: &[&str]) -> bool {
    keys.iter().all(|key| row.get(key).is_some())
}

/// Looks at a file.
pub(crate) fn sniff(name: &str, source: &Source) -> io::Result<Sniff> {
    let mut head = Vec::new();
    source.reader(0)?.take(4096).read_to_end(&mut head)?;
    let shape = shape_of(&head);
    let (shape, rows) = match shape {
        Shape::Lines | Shape::Object => object_or_lines(source)?,
        Shape::List => (Shape::List, list_rows(source)?),
        other => (other, Vec::new()),
    };
    let members = if shape == Shape::Zip {
        member_names(source)
    } else {
        Vec::new()
    };
    Ok(Sniff {
        name: name.to_owned(),
        shape,
        rows,
        members,
    })
}

fn member_names(source: &Source) -> Vec<String> {
    let archive = Archive::open(source);
    archive.map_or_else(
        |_| Vec::new(),
        |a| a.members.into_iter().map(|m| m.name).collect(),
    )
}

fn shape_of(head: &[u8]) -> Shape {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    match text.trim_ascii_start().first() {
        None => Shape::Empty,
        Some(b'{') => Shape::Object,
        Some(b'[') => Shape::List,
        Some(_) if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") => Shape::Zip,
        Some(_) if head.starts_with(b"PAR1") => Shape::Parquet,
        Some(_) if head.starts_with(b"SQLite format 3\0") => Shape::Sqlite,
        Some(_) if head.contains(&0) => Shape::Binary,
        Some(_) => Shape::Text,
    }
}

/// Lines, if the first line is a whole object; else one object over many lines.
fn object_or_lines(source: &Source) -> io::Result<(Shape, Vec<Value>)> {
    let mut lines = Lines::new(source)?;
    let (mut rows, mut used, mut count) = (Vec::new(), 0, 0);
    while let Some(line) = lines.next()? {
        if line.bytes.trim_ascii().is_empty() {
            continue;
        }
        let is_whole = line.is_too_long() || is_whole_value(line.bytes);
        if count == 0 && !is_whole {
            return Ok((Shape::Object, vec![outline_of(source)?]));
        }
        count += 1;
        used += line.len;
        // A row that is cut says little of what rows are; alone it is all there is.
        if let Some(row) = outline(line.bytes).filter(|_| is_whole || rows.is_empty()) {
            rows.push(row);
        }
        if count >= ROWS || used > ROW_BYTES {
            break;
        }
    }
    let shape = if count == 1 {
        Shape::Object
    } else {
        Shape::Lines
    };
    Ok((shape, rows))
}

fn is_whole_value(line: &[u8]) -> bool {
    let mut scanner = Scanner::new(line, 0, 1);
    if scanner.value(None, MAX_VALUE_BYTES).is_err() {
        return false;
    }
    matches!(scanner.peek(), Ok(None | Some(b',')))
}

fn list_rows(source: &Source) -> io::Result<Vec<Value>> {
    let (outline, is_whole) = outlined(source)?;
    let Value::Array(mut rows) = outline else {
        return Ok(Vec::new());
    };
    // An element that is cut says little of what elements are; alone it is all there is.
    if !is_whole && rows.len() > 1 {
        rows.pop();
    }
    Ok(rows)
}

fn outline_of(source: &Source) -> io::Result<Value> {
    outlined(source).map(|(outline, _)| outline)
}

/// A document in outline, and whether it could be walked. One that breaks off still shows what it is.
fn outlined(source: &Source) -> io::Result<(Value, bool)> {
    let mut draw = Draw::new(source.reader(0)?);
    match draw.value(0) {
        Err(Lost::Io(error)) => Err(error),
        walked => Ok((draw.finish(), walked.is_ok())),
    }
}

fn outline(bytes: &[u8]) -> Option<Value> {
    let mut draw = Draw::new(bytes);
    let _ = draw.value(0);
    let value = draw.finish();
    (!value.is_null()).then_some(value)
}

/// Copies a document in outline: few levels, few elements, the beginnings of texts.
struct Draw<R> {
    scanner: Scanner<R>,
    out: String,
    open: Vec<char>,
}

impl<R: Read> Draw<R> {
    const DEPTH: usize = 5;
    const ITEMS: usize = 8;
    const MEMBERS: usize = 200;
    const TEXT: usize = 200;

    fn new(reader: R) -> Self {
        Self {
            scanner: Scanner::new(reader, 0, 1),
            out: String::new(),
            open: Vec::new(),
        }
    }

    fn finish(mut self) -> Value {
        while let Some(bracket) = self.open.pop() {
            if self.out.ends_with(':') {
                self.out.push_str("null");
            }
            self.out.push(bracket);
        }
        parse(&self.out, &mut Flaws::default()).map_or(Value::Null, |node| node.to_value())
    }

    fn value(&mut self, depth: usize) -> Result<(), Lost> {
        match self.scanner.peek()? {
            Some(b'{') if depth < Self::DEPTH => self.object(depth),
            Some(b'[') if depth < Self::DEPTH => self.list(depth),
            Some(b'{') => self.pass("{}"),
            Some(b'[') => self.pass("[]"),
            Some(b'"') => self.text(),
            _ => {
                let mut scalar = Vec::new();
                self.scanner.value(Some(&mut scalar), Self::TEXT)?;
                let text = String::from_utf8_lossy(&scalar);
                let is_good = parse(&text, &mut Flaws::default()).is_ok();
                self.out.push_str(if is_good { &text } else { "null" });
                Ok(())
            }
        }
    }

    fn pass(&mut self, shown: &str) -> Result<(), Lost> {
        self.out.push_str(shown);
        self.scanner.value(None, usize::MAX)
    }

    /// A text's beginning, quoted anew, so that a cut inside an escape harms nothing.
    fn text(&mut self) -> Result<(), Lost> {
        let mut raw = Vec::new();
        let result = self.scanner.value(Some(&mut raw), MAX_VALUE_BYTES);
        let whole = String::from_utf8_lossy(&raw);
        let node = parse(&whole, &mut Flaws::default());
        let text = node.ok().and_then(|n| n.text().map(str::to_owned));
        let start: String = text.unwrap_or_default().chars().take(Self::TEXT).collect();
        self.out
            .push_str(&serde_json::to_string(&start).unwrap_or_default());
        match result {
            Err(Lost::TooLong) => Ok(()),
            other => other,
        }
    }

    fn list(&mut self, depth: usize) -> Result<(), Lost> {
        self.scanner.bump();
        self.out.push('[');
        self.open.push(']');
        let mut count = 0;
        loop {
            match self.scanner.peek()? {
                None => return Err(Lost::Cut),
                Some(b']') => break,
                Some(b',') => self.scanner.bump(),
                Some(_) if count < Self::ITEMS => {
                    if count > 0 {
                        self.out.push(',');
                    }
                    self.value(depth + 1)?;
                    count += 1;
                }
                // The rest of a document's own list is not needed to know what it is.
                Some(_) if depth == 0 => return Ok(()),
                Some(_) => self.scanner.value(None, usize::MAX)?,
            }
        }
        self.close(']');
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Result<(), Lost> {
        self.scanner.bump();
        self.out.push('{');
        self.open.push('}');
        let mut count = 0;
        loop {
            match self.scanner.peek()? {
                None => return Err(Lost::Cut),
                Some(b'}') => break,
                Some(b',') => self.scanner.bump(),
                Some(b'"') => self.member(depth, &mut count)?,
                Some(_) => return Err(Lost::Broken("a key must stand in quotes")),
            }
        }
        self.close('}');
        Ok(())
    }

    fn member(&mut self, depth: usize, count: &mut usize) -> Result<(), Lost> {
        let is_shown = *count < Self::MEMBERS;
        if is_shown {
            let before = self.out.len();
            if *count > 0 {
                self.out.push(',');
            }
            if let Err(lost) = self.text() {
                // Half a key and no value is no member.
                self.out.truncate(before);
                return Err(lost);
            }
        } else {
            self.scanner.value(None, usize::MAX)?;
        }
        *count += 1;
        if self.scanner.peek()? != Some(b':') {
            if is_shown {
                self.out.push_str(":null");
            }
            return Err(Lost::Broken("a colon is missing"));
        }
        self.scanner.bump();
        if is_shown {
            self.out.push(':');
            self.value(depth + 1)
        } else {
            self.scanner.value(None, usize::MAX)
        }
    }

    fn close(&mut self, bracket: char) {
        self.scanner.bump();
        self.open.pop();
        self.out.push(bracket);
    }
}

/// What was found where no format fits, and what to do.
pub(crate) fn unknown(sniff: &Sniff) -> String {
    const HINT: &str = "hint: `--format` names one";
    match sniff.shape {
        Shape::Empty => "the file is empty".to_owned(),
        Shape::Lines | Shape::Object | Shape::List => {
            let keys: Vec<&str> = match sniff.first() {
                Value::Object(map) => map.keys().take(8).map(String::as_str).collect(),
                _ => Vec::new(),
            };
            if keys.is_empty() {
                return format!(
                    "JSON of no known format (its first row has no fields, or lies deep inside lists); {HINT}"
                );
            }
            format!("JSON of no known format (first row has: {}); {HINT}", keys.join(", "))
        }
        Shape::Zip => format!("a zip archive that is no Inspect log; {HINT}"),
        Shape::Parquet => format!("a parquet file of no known columns; {HINT}"),
        Shape::Sqlite => {
            "an SQLite database that is not opencode's (or is packed); hint: export from the program that wrote it".to_owned()
        }
        Shape::Binary => "a binary file".to_owned(),
        Shape::Text => format!("text that is no JSON; {HINT}"),
        Shape::Folder => "a folder of no known kind".to_owned(),
    }
}
