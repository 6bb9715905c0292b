//! The card: one redacted page of a run, as Markdown; the unit that people paste into an issue.

use super::app::run::RunView;
use crate::text::{capped, one_line};
use std::fmt::Write;

/// Longest stretch of the request and of the wrong decision that a card quotes.
const QUOTE_BYTES: usize = 1_500;

/// Writes the card; nothing until the run has been read.
pub(crate) fn markdown(view: &RunView) -> Option<String> {
    let page = view.page.as_ref()?;
    let row = &page.row;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "# Run {} {}", row.id, row.outcome);
    let _ = writeln!(
        out,
        "\n- task: {}",
        row.task.as_deref().unwrap_or("unknown")
    );
    let _ = writeln!(out, "- source: {} ({})", row.source, row.format);
    let _ = writeln!(
        out,
        "- steps: {}, failed tool results: {}",
        row.steps, row.errors
    );
    let verdict = match view.saved {
        Some(layer) => format!("{layer}{}", cause(view)),
        None => "not labelled".to_owned(),
    };
    let _ = writeln!(out, "- layer: {verdict}");
    if let Some(prompt) = page.task.as_ref().and_then(|t| t.prompt.as_deref()) {
        quote(&mut out, "Request", prompt);
    }
    if let Some(step) = view.verdict.decisive_step {
        let text = view.body(step).map_or("(not loaded)", |b| b.text());
        quote(
            &mut out,
            &format!("First wrong decision: step {step}"),
            text,
        );
    }
    for pin in &view.verdict.pins {
        let _ = writeln!(
            out,
            "- step {}: \u{201c}{}\u{201d}",
            pin.step,
            one_line(&pin.quote, 200)
        );
    }
    if !view.verdict.note.is_empty() {
        quote(&mut out, "Note", &view.verdict.note);
    }
    Some(out)
}

fn cause(view: &RunView) -> String {
    let cause = view
        .verdict
        .cause
        .as_ref()
        .map_or_else(String::new, |c| format!(" ({c})"));
    let proven = if view.verdict.is_proven() {
        ""
    } else {
        ", unproven"
    };
    format!("{cause}{proven}")
}

fn quote(out: &mut String, title: &str, text: &str) {
    let (text, cut) = capped(text, QUOTE_BYTES);
    let _ = writeln!(out, "\n## {title}\n");
    for line in text.lines() {
        let _ = writeln!(out, "> {}", crate::text::visible(line));
    }
    if cut {
        let _ = writeln!(out, "> …");
    }
}
