//! The two registers, one JSON object a line: documents with their versions, and tasks with what they require.

use super::parse::{Flaws, decode, parse};
use crate::domain::{Document, Skip, Task};
use serde::de::DeserializeOwned;
use std::io::BufRead;
use std::path::Path;

/// Reads the document register. Lines that are not documents come back with their reason.
pub fn read_documents(path: &Path) -> (Vec<Document>, Vec<Skip>) {
    read_lines(path, "a document needs doc_id, version and text")
}

/// Reads the task list. Lines that are not tasks come back with their reason.
pub fn read_tasks(path: &Path) -> (Vec<Task>, Vec<Skip>) {
    read_lines(path, "a task needs task_id")
}

fn read_lines<T: DeserializeOwned>(path: &Path, hint: &str) -> (Vec<T>, Vec<Skip>) {
    let file = path.to_string_lossy().into_owned();
    let (mut rows, mut skips) = (Vec::new(), Vec::new());
    let mut skip = |line, reason| {
        let file = file.clone();
        skips.push(Skip { file, line, reason });
    };
    let reader = match std::fs::File::open(path) {
        Ok(file) => std::io::BufReader::new(file),
        Err(error) => {
            skip(0, error.to_string());
            return (rows, skips);
        }
    };
    for (line, text) in (1..).zip(reader.split(b'\n')) {
        let text = match text {
            Ok(text) => text,
            Err(error) => {
                skip(line, error.to_string());
                break;
            }
        };
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
        if text.trim_ascii().is_empty() {
            continue;
        }
        match row(text) {
            Ok(row) => rows.push(row),
            Err(error) => skip(line, format!("{error}; hint: {hint}")),
        }
    }
    (rows, skips)
}

/// NaN, half surrogates and doubled keys do no more harm here than in logs.
fn row<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    let mut flaws = Flaws::default();
    let text = decode(line, &mut flaws);
    let node = parse(&text, &mut flaws)
        .map_err(|bad| format!("not JSON at byte {}: {}", bad.at, bad.what))?;
    serde_json::from_value(node.to_value()).map_err(|error| error.to_string())
}
