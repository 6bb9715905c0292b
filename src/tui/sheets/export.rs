//! Export: the formats, and for the one under the cursor what would be written and what would stay out.

use crate::export::{Format, PreviewRow, Segment};
use crate::jobs::desk::Preview;
use crate::text::{plural, visible};
use crate::tui::app::sheet::{Filling, Row, Target};
use crate::tui::doc::Doc;
use crate::tui::render;
use crate::tui::theme::Ink;

/// Between two tokens.
const SEAM: &str = "│";

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
    if !preview.coverage.is_empty() {
        doc.heading("covers");
    }
    for (name, cells) in &preview.coverage {
        doc.field(&visible(name), Ink::Text, cells);
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

fn rows(doc: &mut Doc, first: &[PreviewRow]) {
    doc.heading("first rows, as they will be written; shaded text is masked from the loss");
    for row in first {
        if row.segments.is_empty() {
            // A task or a copy: nothing in it is a target.
            match render::json(&row.line) {
                Some(drawn) => doc.append(&drawn).end_line(),
                None => doc.line(Ink::Text, &visible(&row.line)),
            };
        }
        for (at, side) in row.segments.iter().enumerate() {
            if row.segments.len() > 1 {
                doc.line(Ink::Strong, if at == 0 { "chosen" } else { "rejected" });
            }
            for stretch in side.chunk_by(|a, b| a.owner == b.owner && a.trained == b.trained) {
                stretch_of(doc, stretch);
            }
        }
        doc.line(Ink::Dim, "────────");
    }
}

/// Neighbours of one owner; with the model's tokenizer at hand each is a token, and a seam stands between them.
fn stretch_of(doc: &mut Doc, stretch: &[Segment]) {
    let Some(first) = stretch.first() else { return };
    let (sign, about, ink) = if first.trained {
        ("▶", "learnt", Ink::Text)
    } else {
        ("░", "masked", Ink::Masked)
    };
    doc.push(Ink::Key, &first.owner)
        .line(Ink::Dim, &format!("  {sign} {about}"));
    for (at, segment) in stretch.iter().enumerate() {
        if at > 0 {
            doc.push(Ink::Dim, SEAM);
        }
        doc.push(ink, &visible(&segment.text));
    }
    doc.end_line();
}
