//! Parquet tables as JSON lines, one row a line, so that every importer reads them like any other file. Columns keep
//! their names; nested lists and structs stay nested; times become whole microseconds. It judges no column.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Writes the rows of a table as lines while they are read.
pub(crate) struct TableLines {
    rows: RowIter<'static>,
    ready: Cursor<Vec<u8>>,
}

impl TableLines {
    /// Opens a table.
    pub(crate) fn open(file: File) -> io::Result<Self> {
        let rows = guarded(|| {
            let reader = SerializedFileReader::new(file).map_err(io::Error::other)?;
            let count = reader.metadata().file_metadata().num_rows();
            if count < 0 {
                return Err(io::Error::other(
                    "the table says that it has fewer than no rows",
                ));
            }
            Ok(RowIter::from_file_into(Box::new(reader)))
        })?;
        Ok(Self {
            rows,
            ready: Cursor::default(),
        })
    }

    fn refill(&mut self) -> io::Result<()> {
        let rows = &mut self.rows;
        let row = guarded(|| rows.next().transpose().map_err(io::Error::other))?;
        let mut line = String::new();
        if let Some(row) = row {
            object(&row, &mut line);
            line.push('\n');
        }
        self.ready = Cursor::new(line.into_bytes());
        Ok(())
    }
}

impl Read for TableLines {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.ready.read(out)?;
        if n > 0 || out.is_empty() {
            return Ok(n);
        }
        self.refill()?;
        self.ready.read(out)
    }
}

/// The decoder may panic on a table that was made to break it; one bad file must not end the import.
fn guarded<T>(read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let result = catch_unwind(AssertUnwindSafe(read));
    result.unwrap_or_else(|_| Err(io::Error::other("the parquet table is damaged")))
}

fn object(row: &Row, out: &mut String) {
    out.push('{');
    for (i, (name, field)) in row.get_column_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        quote(name, out);
        out.push(':');
        value(field, out);
    }
    out.push('}');
}

fn value(field: &Field, out: &mut String) {
    match field {
        Field::Null => out.push_str("null"),
        Field::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
        Field::Str(text) => quote(text, out),
        Field::Bytes(bytes) => quote(&String::from_utf8_lossy(bytes.data()), out),
        Field::Float(number) => float(f64::from(*number), &number.to_string(), out),
        Field::Double(number) => float(*number, &number.to_string(), out),
        Field::TimestampMillis(at) => out.push_str(&at.saturating_mul(1_000).to_string()),
        Field::TimestampMicros(at) => out.push_str(&at.to_string()),
        Field::Group(row) => object(row, out),
        Field::ListInternal(list) => {
            items(list.elements().iter(), out);
        }
        Field::MapInternal(map) => pairs(map.entries(), out),
        other => plain(other, out),
    }
}

fn items<'f>(fields: impl Iterator<Item = &'f Field>, out: &mut String) {
    out.push('[');
    for (i, field) in fields.enumerate() {
        if i > 0 {
            out.push(',');
        }
        value(field, out);
    }
    out.push(']');
}

fn pairs(entries: &[(Field, Field)], out: &mut String) {
    out.push('{');
    for (i, (key, field)) in entries.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        match key {
            Field::Str(text) => quote(text, out),
            other => quote(&other.to_string(), out),
        }
        out.push(':');
        value(field, out);
    }
    out.push('}');
}

/// Whole numbers as they are; dates, decimals and other rare kinds as text.
fn plain(field: &Field, out: &mut String) {
    let text = field.to_string();
    if text.parse::<i128>().is_ok() {
        out.push_str(&text);
    } else {
        quote(&text, out);
    }
}

/// Python writes what is missing as NaN; the spelling is the one that Python's own JSON has.
fn float(number: f64, spelled: &str, out: &mut String) {
    out.push_str(match number {
        n if n.is_nan() => "NaN",
        n if n.is_infinite() && n > 0.0 => "Infinity",
        n if n.is_infinite() => "-Infinity",
        _ => spelled,
    });
}

fn quote(text: &str, out: &mut String) {
    // Writing a str into a String cannot fail.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}
