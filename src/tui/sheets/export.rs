//! Export: the formats, and for the one under the cursor what would be written and what would stay out.

use crate::export::Format;
use crate::jobs::desk::Preview;
use crate::text::{plural, visible};
use crate::tui::app::sheet::{Filling, Row, Target};
use crate::tui::doc::Doc;
use crate::tui::render;
use crate::tui::theme::Ink;
use serde_json::Value;

/// Keys of a row whose text the trainer learns; everything else only conditions it.
const LEARNT: [&str; 3] = ["completion", "chosen", "rejected"];

/// Fills the sheet.
pub(crate) fn formats(filter: &str) -> Filling {
    let filter = if filter.is_empty() {
        "all runs"
    } else {
        filter
    };
    Filling {
        heads: vec![("format", 3), ("teaches", 1)],
        rows: Format::ALL.iter().map(|format| row(*format)).collect(),
        note: format!("filter of the board: {filter}"),
        empty: (String::new(), String::new()),
    }
}

fn row(format: Format) -> Row {
    let mut page = Doc::default();
    page.line(Ink::Strong, format.word()).end_line();
    page.line(
        Ink::Text,
        "⏎ shows the first rows and what would stay out; W writes it.",
    );
    Row {
        cells: vec![
            (Ink::Strong, format.word().to_owned()),
            (Ink::Dim, format.method().word().to_owned()),
        ],
        page,
        target: Target::Format(format.word().to_owned()),
    }
}

/// Draws a preview.
pub(crate) fn preview(preview: &Preview) -> Doc {
    let mut doc = Doc::default();
    doc.push(Ink::Strong, &preview.format);
    doc.line(
        Ink::Text,
        &format!(": {} would leave", plural(preview.rows, "row")),
    );
    for block in &preview.blocked {
        doc.push(Ink::Fail, "✗ must not train: ")
            .line(Ink::Text, block);
    }
    if preview.blocked.is_empty() {
        doc.line(Ink::Pass, "✓ no gate is closed");
    }
    for warning in &preview.warnings {
        doc.push(Ink::Warn, "! ").line(Ink::Text, warning);
    }
    if !preview.missing.is_empty() {
        let names = preview.missing.join(", ");
        doc.push(Ink::Unsure, "? not bound yet: ")
            .line(Ink::Text, &names);
    }
    doc.heading("stays out");
    for (reason, count, example) in &preview.left_out {
        doc.push(Ink::Strong, &format!("{count} × {reason}"))
            .line(Ink::Dim, &format!("  {example}"));
    }
    if preview.left_out.is_empty() {
        doc.line(Ink::Dim, "nothing");
    }
    rows(&mut doc, &preview.first);
    doc.end_line().line(Ink::Dim, "W writes it into a folder");
    doc
}

fn rows(doc: &mut Doc, first: &[String]) {
    doc.heading("first rows, as they will be written; shaded text is masked from the loss");
    for line in first {
        match serde_json::from_str::<Value>(line) {
            Ok(Value::Object(fields)) => {
                for (key, value) in &fields {
                    field(doc, key, value);
                }
            }
            _ => {
                doc.line(Ink::Text, line);
            }
        }
        doc.line(Ink::Dim, "────────");
    }
}

fn field(doc: &mut Doc, key: &str, value: &Value) {
    let learnt = LEARNT.contains(&key);
    let (sign, about) = if learnt {
        ("▶", "learnt")
    } else {
        ("░", "masked")
    };
    doc.push(Ink::Key, key)
        .line(Ink::Dim, &format!("  {sign} {about}"));
    let text = serde_json::to_string(value).unwrap_or_default();
    let drawn = render::json(&text).unwrap_or_else(|| Doc::plain(&text));
    if learnt {
        doc.append(&drawn).end_line();
    } else {
        doc.line(Ink::Masked, &visible(drawn.text()));
    }
}
