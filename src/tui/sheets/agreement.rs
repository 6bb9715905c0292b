//! Agreement: statistics with their intervals, then every run on which reviewers differ.

use crate::text::pad;
use crate::triage::{AgreementReport, Statistic};
use crate::tui::app::sheet::{Filling, Row, Target};
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;

/// Fills the sheet.
pub(crate) fn agreement(report: &AgreementReport) -> Filling {
    let known = report.statistics.iter().any(|s| s.n > 0);
    let statistics = report.statistics.iter().filter(|_| known);
    let mut rows: Vec<Row> = statistics.map(|s| statistic(s, report)).collect();
    rows.extend(report.disagreements.iter().map(|d| {
        let said: Vec<String> = d
            .labels
            .iter()
            .map(|(who, l)| format!("{who}: {l}"))
            .collect();
        let mut page = Doc::default();
        page.line(Ink::Strong, &d.item).end_line();
        for (who, label) in &d.labels {
            page.field(who, Ink::Text, label);
        }
        page.end_line();
        page.line(
            Ink::Dim,
            "`triagent adjudicate` settles it; the original labels stay as they are",
        );
        Row {
            cells: vec![
                (Ink::Fail, "✗ differ".to_owned()),
                (Ink::Text, d.item.clone()),
                (Ink::Text, said.join(", ")),
            ],
            page,
            target: Target::None,
        }
    }));
    Filling {
        heads: vec![("what", 2), ("value or run", 3), ("how to read it", 5)],
        rows,
        note: format!(
            "{} runs have fewer than two labels and do not count",
            report.dropped
        ),
        empty: (
            "No run has labels of two reviewers.".to_owned(),
            "`triagent merge` brings in the labels of somebody else".to_owned(),
        ),
    }
}

fn statistic(one: &Statistic, report: &AgreementReport) -> Row {
    let value = one
        .value
        .map_or_else(|| "undefined".to_owned(), |v| format!("{v:.3}"));
    let interval = one
        .interval
        .as_ref()
        .map_or_else(String::new, |i| format!(" [{:.2}, {:.2}]", i.low, i.high));
    Row {
        cells: vec![
            (Ink::Strong, one.statistic.clone()),
            (Ink::Text, format!("{value}{interval}")),
            (Ink::Dim, one.reason.clone()),
        ],
        page: page(one, report),
        target: Target::None,
    }
}

fn page(one: &Statistic, report: &AgreementReport) -> Doc {
    let mut doc = Doc::default();
    doc.line(Ink::Strong, &one.statistic)
        .line(Ink::Text, &one.reason);
    doc.field("items", Ink::Text, &one.n.to_string());
    doc.heading("agreement of each label");
    for (label, value) in &report.per_label {
        let value = value.map_or_else(|| "?".to_owned(), |v| format!("{v:.2}"));
        doc.line(Ink::Text, &format!("{} {value}", pad(label, 14)));
    }
    doc.heading("how often two labels met on one run");
    for (label, row) in &report.matrix {
        let cells: Vec<String> = row
            .iter()
            .map(|(other, n)| format!("{other} {n}"))
            .collect();
        doc.line(
            Ink::Text,
            &format!("{} {}", pad(label, 14), cells.join(" · ")),
        );
    }
    doc
}
