//! Agreement: every run on which reviewers differ, then the statistics with their intervals.

use crate::domain::{Decision, Verdict};
use crate::jobs::desk::{AgreementPage, Dispute};
use crate::text::{pad, plural};
use crate::triage::{AgreementReport, Statistic};
use crate::tui::app::sheet::{self, Filling, Row, Target};
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;

/// Fills the sheet: what is to be settled first, then the statistics.
pub(crate) fn agreement(page: &AgreementPage) -> Filling {
    let report = &page.report;
    let known = report.statistics.iter().any(|s| s.n > 0);
    let mut rows: Vec<Row> = page.disputes.iter().map(dispute).collect();
    let statistics = report.statistics.iter().filter(|_| known);
    rows.extend(statistics.map(|s| statistic(s, report)));
    let open = page.disputes.iter().filter(|d| d.settled.is_none()).count();
    Filling {
        heads: vec![("what", 2), ("value or run", 3), ("how to read it", 5)],
        rows,
        note: format!(
            "{} to settle: ⏎ reads it, J settles it; {} with fewer than two labels {} not count",
            plural(open as u64, "run"),
            plural(report.dropped as u64, "run"),
            if report.dropped == 1 { "does" } else { "do" }
        ),
        empty: (
            "No run has labels of two reviewers.".to_owned(),
            lacking(report.dropped),
        ),
    }
}

/// What brings a second label to a run.
fn lacking(one_label: usize) -> String {
    let other = "`triagent --reviewer NAME` labels as somebody else, and `triagent merge BUNDLE` brings in the labels \
                 of another workspace, from `triagent bundle`";
    match one_label as u64 {
        0 => format!("Two people must label the same run. {other}"),
        n => format!(
            "{} the label of one reviewer; Space q goes to the next run that lacks yours. {other}",
            if n == 1 {
                "1 run has".to_owned()
            } else {
                format!("{n} runs have")
            }
        ),
    }
}

fn dispute(one: &Dispute) -> Row {
    let verdicts = || {
        one.labels.iter().filter_map(|r| match &r.decision {
            Decision::Verdict(verdict) => Some((r.reviewer.as_str(), verdict)),
            _ => None,
        })
    };
    let said: Vec<String> = verdicts()
        .map(|(who, v)| format!("{who}: {}", v.layer))
        .collect();
    let said = said.join(" · ");
    let state = match &one.settled {
        None => (Ink::Fail, "✗ differ".to_owned()),
        Some((layer, _)) => (Ink::Pass, format!("✓ {layer}")),
    };
    let mut page = Doc::default();
    page.line(Ink::Strong, one.run.as_str()).end_line();
    for (who, verdict) in verdicts() {
        label(&mut page, who, verdict);
    }
    match &one.settled {
        None => page.line(
            Ink::Text,
            "⏎ opens the run with these labels in view; J settles it. The original labels stay as they are.",
        ),
        Some((layer, who)) => page.line(
            Ink::Pass,
            &format!("settled as {layer} by {who}; J settles it anew, u takes it back"),
        ),
    };
    let steps = verdicts().filter_map(|(_, v)| v.decisive_step);
    Row {
        cells: vec![
            state,
            (Ink::Text, one.run.0.clone()),
            (Ink::Text, said.clone()),
        ],
        page,
        target: Target::Dispute(sheet::Dispute {
            run: one.run.clone(),
            seq: one.seq,
            step: steps.min().unwrap_or(0),
            said,
        }),
    }
}

/// One reviewer's label with what it rests on.
fn label(page: &mut Doc, who: &str, verdict: &Verdict) {
    let cause = verdict.cause.as_ref();
    let cause = cause.map_or_else(String::new, |c| format!(" · {c}"));
    let step = verdict.decisive_step;
    let step = step.map_or_else(String::new, |s| {
        format!(", first wrong decision at step {s}")
    });
    let unproven = if verdict.is_proven() {
        ""
    } else {
        " (unproven)"
    };
    let words = format!("{}{unproven}{cause}{step}", verdict.layer);
    page.field(who, Ink::Strong, &words);
    for pin in &verdict.pins {
        page.field("  quotes", Ink::Quote, &pin.quote);
    }
    if !verdict.note.is_empty() {
        page.field("  note", Ink::Text, &verdict.note);
    }
    page.end_line();
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
