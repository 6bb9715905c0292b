//! The two registers, one JSON object a line: documents with their versions, and tasks with what they require.

use super::limits::MAX_VALUE_BYTES;
use super::lines::Lines;
use super::parse::{Flaws, decode, parse};
use super::source::Source;
use crate::domain::{Document, Skip, Task};
use crate::text::one_line;
use jiff::civil::Date;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Reads the document register. Lines that are not documents come back with their reason.
pub fn read_documents(path: &Path) -> (Vec<Document>, Vec<Skip>) {
    read_lines(path, "a document needs doc_id, version and text")
}

/// Reads the task list. Lines that are not tasks come back with their reason.
pub fn read_tasks(path: &Path) -> (Vec<Task>, Vec<Skip>) {
    read_lines(path, "a task needs task_id")
}

fn read_lines<T: DeserializeOwned + Dated>(path: &Path, hint: &str) -> (Vec<T>, Vec<Skip>) {
    let file = path.to_string_lossy().into_owned();
    let (mut rows, mut skips) = (Vec::new(), Vec::new());
    let mut skip = |line, reason| {
        let file = file.clone();
        skips.push(Skip { file, line, reason });
    };
    if let Err(error) = each_line(path, &mut |line, text| match text {
        Ok(text) => match row(text) {
            Ok(row) => rows.push(row),
            Err(error) => skip(line, format!("{error}; hint: {hint}")),
        },
        Err(error) => skip(line, error),
    }) {
        skip(0, error.to_string());
    }
    (rows, skips)
}

/// Takes a line's number and its bytes, or why they cannot be had.
type Each<'e> = &'e mut dyn FnMut(u64, Result<&[u8], String>);

/// Gives every line that says something, with its number.
fn each_line(path: &Path, each: Each<'_>) -> std::io::Result<()> {
    let source = Source::open(path)?;
    let mut lines = Lines::new(&source)?;
    while let Some(line) = lines.next()? {
        if line.is_too_long() {
            let why = format!("the line is longer than {MAX_VALUE_BYTES} bytes");
            each(line.number, Err(why));
            continue;
        }
        let bytes = line
            .bytes
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(line.bytes);
        if !bytes.trim_ascii().is_empty() {
            each(line.number, Ok(bytes));
        }
    }
    if let Some(damage) = source.damage() {
        each(0, Err(damage.to_owned()));
    }
    Ok(())
}

/// NaN, half surrogates and doubled keys do no more harm here than in logs.
fn row<T: DeserializeOwned + Dated>(line: &[u8]) -> Result<T, String> {
    let mut flaws = Flaws::default();
    let text = decode(line, &mut flaws);
    let node = parse(&text, &mut flaws)
        .map_err(|bad| format!("not JSON at byte {}: {}", bad.at, bad.what))?;
    let value = node.to_value();
    if !value.is_object() {
        return Err("not a JSON object".to_owned());
    }
    let row: T = serde_json::from_value(value).map_err(|error| error.to_string())?;
    row.check_days()?;
    Ok(row)
}

/// Days that nobody can compare would make every answer about validity "unknown" without a word.
trait Dated {
    fn check_days(&self) -> Result<(), String>;
}

impl Dated for Document {
    fn check_days(&self) -> Result<(), String> {
        let from = day("valid_from", self.valid_from.as_deref())?;
        let until = day("valid_until", self.valid_until.as_deref())?;
        match (from, until) {
            (Some(from), Some(until)) if until < from => {
                Err(format!("valid_until {until} is before valid_from {from}"))
            }
            _ => Ok(()),
        }
    }
}

impl Dated for Task {
    fn check_days(&self) -> Result<(), String> {
        day("date", self.date.as_deref()).map(|_| ())
    }
}

fn day(name: &str, written: Option<&str>) -> Result<Option<Date>, String> {
    let Some(written) = written else {
        return Ok(None);
    };
    // A time may stand behind the day.
    let day = written.trim().get(..10).and_then(|day| day.parse().ok());
    let shown = one_line(written, 40);
    day.map_or_else(
        || {
            Err(format!(
                "{name} `{shown}` is no day (YYYY-MM-DD); leave it out or null where there is none"
            ))
        },
        |day| Ok(Some(day)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_rows_say_why() {
        let document = |more: &str| {
            let line = format!(r#"{{"doc_id":"d","version":"1","text":"t"{more}}}"#);
            row::<Document>(line.as_bytes())
        };
        assert!(
            document(r#","valid_from":"2025-01-01","valid_until":"2025-12-31T23:59:59Z""#).is_ok()
        );
        for (more, said) in [
            (
                r#","valid_from":"9999-99-99""#,
                "valid_from `9999-99-99` is no day",
            ),
            (
                r#","valid_until":"99999999""#,
                "valid_until `99999999` is no day",
            ),
            (
                r#","valid_from":"2025-02-01","valid_until":"2025-01-31""#,
                "valid_until 2025-01-31 is before valid_from 2025-02-01",
            ),
        ] {
            let why = document(more).unwrap_err();
            assert!(why.contains(said), "{why}");
        }
        for line in ["[]", "7", "null"] {
            assert_eq!(
                row::<Task>(line.as_bytes()).unwrap_err(),
                "not a JSON object"
            );
        }
        let why = row::<Task>(br#"{"task_id":"t","date":"2025-02-30"}"#).unwrap_err();
        assert!(why.contains("date `2025-02-30` is no day"), "{why}");
    }
}
