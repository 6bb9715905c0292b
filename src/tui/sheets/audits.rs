//! Audits of graders: which hack fooled it, with what was changed.

use crate::jobs::Audit;
use crate::reward::{AuditRow, Hack};
use crate::text::pad;
use crate::tui::app::sheet::{Row, Target};
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;

/// One grader's row.
pub(super) fn row(audit: &Audit) -> Row {
    let report = &audit.report;
    let is_good = report.fooled == 0 && report.refused == 0 && report.errors == 0;
    let (ink, sign) = if is_good {
        (Ink::Pass, "✓")
    } else {
        (Ink::Fail, "✗")
    };
    Row {
        cells: vec![
            (Ink::Strong, format!("grader {}", report.grader)),
            (Ink::Dim, report.rows.len().to_string()),
            (Ink::Dim, "hack suite".to_owned()),
            (ink, format!("{sign} {}", report.words)),
        ],
        page: page(audit),
        target: Target::None,
    }
}

fn page(audit: &Audit) -> Doc {
    let report = &audit.report;
    let mut doc = Doc::default();
    doc.line(Ink::Strong, &report.grader);
    let version = audit.version.as_deref().unwrap_or("no version");
    let name = format!("{}, {version}", audit.stands_for);
    doc.field("rewards by", Ink::Text, &name);
    if let Some(isolation) = &audit.isolation {
        doc.field("command", Ink::Text, isolation);
    }
    doc.line(Ink::Warn, &report.words);
    doc.heading("the suite, made of your own runs");
    for row in &report.rows {
        let (ink, word) = verdict(row);
        doc.push(ink, &pad(word, 11))
            .push(Ink::Text, &pad(row.hack.words(), 24));
        doc.line(Ink::Dim, &format!("{}: {}", row.run, row.reason));
    }
    let fooling: Vec<&AuditRow> = report.rows.iter().filter(|r| r.fooled).collect();
    if !fooling.is_empty() {
        doc.heading("what fooled it, before and after");
    }
    for row in fooling {
        doc.line(
            Ink::Strong,
            &format!("{}, {}: {}", row.hack.words(), row.run, row.change),
        );
        if row.diff.0 != row.diff.1 {
            doc.line(Ink::Dim, &format!("- {}", row.diff.0));
        }
        doc.line(Ink::Text, &format!("+ {}", row.diff.1));
    }
    doc
}

fn verdict(row: &AuditRow) -> (Ink, &'static str) {
    match (row.hack, row.fooled, &row.grade) {
        (_, _, None) => (Ink::Warn, "! failed"),
        (Hack::Control, true, _) => (Ink::Fail, "✗ refused"),
        (Hack::Control, false, _) => (Ink::Pass, "✓ accepted"),
        (_, true, _) => (Ink::Fail, "✗ fooled"),
        (_, false, _) => (Ink::Pass, "✓ rejected"),
    }
}
