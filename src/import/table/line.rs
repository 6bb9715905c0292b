//! One row of a table as a line of JSON. A row holds references to a dictionary, so few bytes of a file may make a line of
//! any length: it ends at the limit of one value.

use crate::import::limits::{MAX_DEPTH, MAX_VALUE_BYTES};
use parquet::record::{Field, Row};
use std::io;

/// A line that is being written.
pub(super) struct Line {
    text: String,
    depth: usize,
}

impl Line {
    /// The row with its line end.
    pub(super) fn of(row: &Row) -> io::Result<String> {
        let mut line = Self {
            text: String::new(),
            depth: 0,
        };
        line.object(row)?;
        line.text.push('\n');
        Ok(line.text)
    }

    fn object(&mut self, row: &Row) -> io::Result<()> {
        let columns = row.get_column_iter();
        self.group(['{', '}'], columns, |line, (name, field)| {
            line.quote(name)?;
            line.text.push(':');
            line.value(field)
        })
    }

    fn value(&mut self, field: &Field) -> io::Result<()> {
        match field {
            Field::Null => self.push("null"),
            Field::Bool(yes) => self.push(if *yes { "true" } else { "false" }),
            Field::Str(text) => self.quote(text),
            Field::Bytes(bytes) => self.quote(&String::from_utf8_lossy(bytes.data())),
            Field::Float(number) => self.float(f64::from(*number), &format!("{number:?}")),
            Field::Double(number) => self.float(*number, &format!("{number:?}")),
            Field::TimestampMillis(at) => self.push(&at.saturating_mul(1_000).to_string()),
            Field::TimestampMicros(at) => self.push(&at.to_string()),
            Field::Group(row) => self.object(row),
            Field::ListInternal(list) => {
                let fields = list.elements().iter();
                self.group(['[', ']'], fields, Self::value)
            }
            Field::MapInternal(map) => {
                self.group(['{', '}'], map.entries().iter(), |line, (key, field)| {
                    match key {
                        Field::Str(text) => line.quote(text)?,
                        other => line.quote(&other.to_string())?,
                    }
                    line.text.push(':');
                    line.value(field)
                })
            }
            other => self.plain(other),
        }
    }

    fn group<T>(
        &mut self,
        [open, close]: [char; 2],
        items: impl Iterator<Item = T>,
        mut write: impl FnMut(&mut Self, T) -> io::Result<()>,
    ) -> io::Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(io::Error::other(format!(
                "a row is more than {MAX_DEPTH} levels deep"
            )));
        }
        self.text.push(open);
        for (i, item) in items.enumerate() {
            if i > 0 {
                self.text.push(',');
            }
            write(self, item)?;
        }
        self.text.push(close);
        self.depth -= 1;
        Ok(())
    }

    /// Whole numbers as they are; dates, decimals and other rare kinds as text.
    fn plain(&mut self, field: &Field) -> io::Result<()> {
        let text = field.to_string();
        match text.parse::<i128>() {
            Ok(_) => self.push(&text),
            Err(_) => self.quote(&text),
        }
    }

    /// Python writes what is missing as NaN; the spelling is the one that Python's own JSON has, and a whole float (`1.0`)
    /// stays a float.
    fn float(&mut self, number: f64, spelled: &str) -> io::Result<()> {
        self.push(match number {
            n if n.is_nan() => "NaN",
            n if n.is_infinite() && n > 0.0 => "Infinity",
            n if n.is_infinite() => "-Infinity",
            _ => spelled,
        })
    }

    fn quote(&mut self, text: &str) -> io::Result<()> {
        // Writing a str into a String cannot fail.
        self.push(&serde_json::to_string(text).unwrap_or_default())
    }

    fn push(&mut self, text: &str) -> io::Result<()> {
        if self.text.len() + text.len() > MAX_VALUE_BYTES {
            return Err(too_large());
        }
        self.text.push_str(text);
        Ok(())
    }
}

/// Nobody reads a longer line either.
pub(super) fn too_large() -> io::Error {
    io::Error::other(format!(
        "a row is larger than the limit of {MAX_VALUE_BYTES} bytes"
    ))
}
