//! What a log or a task list says in JSON, laid out as lines: the right answer of a task, a grader's details. It judges nothing.

use crate::text::{one_line, plural};
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;
use serde_json::Value;

/// Lines that one such text may take.
const LINES: usize = 60;
/// Characters of one line; the rest is in `show --json`.
const COLUMNS: usize = 200;

/// Lays a value out under the fields around it.
pub(super) fn lay(doc: &mut Doc, value: &Value) {
    let mut lines = Vec::new();
    put(&mut lines, "", value, 1);
    for (depth, line) in lines.iter().take(LINES) {
        let line = format!("{}{}", "  ".repeat(*depth), one_line(line, COLUMNS));
        doc.line(Ink::Quote, &line);
    }
    if lines.len() > LINES {
        doc.line(
            Ink::Dim,
            &format!("  … {}", plural((lines.len() - LINES) as u64, "more line")),
        );
    }
}

/// Objects and lists of objects go deeper; what has no inside is one line.
fn put(lines: &mut Vec<(usize, String)>, name: &str, value: &Value, depth: usize) {
    let head = if name.is_empty() {
        String::new()
    } else {
        format!("{name}: ")
    };
    match value {
        Value::Null => {}
        Value::Object(fields) if depth < 4 && name_of_call(value).is_none() => {
            let deeper = if name.is_empty() { depth } else { depth + 1 };
            if !name.is_empty() {
                lines.push((depth, name.to_owned()));
            }
            for (key, inner) in fields {
                put(lines, key, inner, deeper);
            }
        }
        Value::Array(items) if depth < 4 && items.iter().any(is_deep) => {
            let deeper = if name.is_empty() { depth } else { depth + 1 };
            if !name.is_empty() {
                lines.push((depth, name.to_owned()));
            }
            for item in items {
                lines.push((deeper, short(item)));
            }
        }
        _ => lines.push((depth, format!("{head}{}", short(value)))),
    }
}

fn is_deep(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

/// A call as people write one, a text without its quotes, else JSON.
fn short(value: &Value) -> String {
    match (value, name_of_call(value)) {
        (Value::String(text), _) => text.clone(),
        (_, Some((name, arguments))) => format!("{name} {arguments}"),
        _ => value.to_string(),
    }
}

fn name_of_call(value: &Value) -> Option<(&str, &Value)> {
    let name = value.get("name")?.as_str()?;
    let arguments = ["arguments", "kwargs", "args"]
        .into_iter()
        .find_map(|key| value.get(key))?;
    Some((name, arguments))
}
