//! Words found in all runs: one row a step, the words with what stands around them.

use crate::jobs::desk::FoundStep;
use crate::text::{one_line, plural};
use crate::tui::app::sheet::{Filling, Row, Target};
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;

/// Fills the sheet.
pub(crate) fn found(words: &str, steps: &[FoundStep], more: bool, behind: u64) -> Filling {
    let mut note = format!(
        "\u{201c}{words}\u{201d} stands in {}",
        plural(steps.len() as u64, "step")
    );
    if more {
        note.push_str("; there are more, so narrow the words");
    }
    if behind > 0 {
        note.push_str(&format!("; {} not indexed yet", plural(behind, "text")));
    }
    let next = if behind > 0 {
        "the index is not complete: try again in a moment"
    } else {
        "whole words are found in English; any characters in Chinese"
    };
    Filling {
        heads: vec![("run", 2), ("step", 1), ("by", 1), ("text", 8)],
        rows: steps.iter().map(|step| row(step, words)).collect(),
        note,
        empty: (
            format!("Nothing holds \u{201c}{words}\u{201d}."),
            format!(
                "{next}. Only texts are searched: gr finds a run by its name, and on the board f run:NAME does"
            ),
        ),
    }
}

fn row(found: &FoundStep, words: &str) -> Row {
    let mut page = Doc::default();
    page.line(Ink::Strong, &format!("{}:{}", found.run, found.step))
        .end_line();
    let plain = Doc::plain(&found.around);
    let mut from = 0;
    for span in plain.find(words) {
        page.push(Ink::Text, plain.slice(from..span.start));
        page.push(Ink::Match, plain.slice(span.clone()));
        from = span.end;
    }
    page.push(Ink::Text, plain.slice(from..plain.text().len()))
        .end_line();
    page.end_line()
        .line(Ink::Dim, "⏎ opens the run at this step");
    Row {
        cells: vec![
            (Ink::Strong, found.run.0.clone()),
            (Ink::Dim, found.step.to_string()),
            (Ink::Dim, found.owner.word().to_owned()),
            (Ink::Text, one_line(&found.around, 200)),
        ],
        page,
        target: Target::Run(found.run.clone(), found.seq, found.step),
    }
}
