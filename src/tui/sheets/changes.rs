//! The ledger: what somebody changed, which layers differ by fingerprint, what became of it, and the way back.

use crate::change::{acceptance_plan, changed_layers, check_change};
use crate::domain::{Change, ChangeState, Decision};
use crate::jobs::{ChangeSides, LedgerEntry};
use crate::text::{per_cent, plural};
use crate::tui::app::sheet::{Entry, Filling, Row, Target};
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;

/// Fills the sheet, newest first.
pub(crate) fn changes(entries: &[LedgerEntry]) -> Filling {
    Filling {
        heads: vec![
            ("change", 2),
            ("thing", 2),
            ("layers", 2),
            ("state", 3),
            ("claim", 3),
        ],
        rows: entries.iter().rev().map(row).collect(),
        note: "a claim needs what changed, how it is accepted and what to go back to; A accepts, B rolls back"
            .to_owned(),
        empty: (
            "Nobody has written a change down.".to_owned(),
            "`triagent change add` does; index, prompt, tools, parameters each on their own"
                .to_owned(),
        ),
    }
}

fn row(entry: &LedgerEntry) -> Row {
    let change = &entry.change;
    let layers: Vec<&str> = changed_layers(&change.before, &change.after)
        .iter()
        .map(|l| l.word())
        .collect();
    let blocking: Vec<String> = check_change(change)
        .iter()
        .filter(|p| p.blocks_acceptance())
        .map(|p| p.to_string().lines().next().unwrap_or_default().to_owned())
        .collect();
    let blocked = blocking.len();
    let state = match (entry.state(), blocked) {
        (Some(ChangeState::Accepted), _) => (Ink::Pass, "✓ accepted".to_owned()),
        (Some(ChangeState::RolledBack), _) => (Ink::Warn, "↩ rolled back".to_owned()),
        (None, 0) => (Ink::Text, "open: ready".to_owned()),
        (None, n) => (Ink::Unsure, format!("lacks {n}")),
    };
    Row {
        cells: vec![
            (Ink::Strong, change.id.clone()),
            (Ink::Text, change.thing.word().to_owned()),
            (Ink::Text, layers.join(", ")),
            state,
            (Ink::Text, change.claim.clone()),
        ],
        page: page(entry),
        target: Target::Change(Entry {
            change: change.id.clone(),
            entry: entry.record.id.clone(),
            missing: (blocked > 0).then(|| blocking.join("; ")),
        }),
    }
}

fn page(entry: &LedgerEntry) -> Doc {
    let change = &entry.change;
    let mut page = Doc::default();
    page.line(Ink::Strong, &change.id)
        .line(Ink::Text, &change.claim)
        .end_line();
    page.field("thing", Ink::Text, change.thing.word());
    page.field("by", Ink::Text, &entry.record.reviewer);
    let missing = "missing: without it the change cannot be accepted";
    let or = |value: &Option<String>| value.clone().unwrap_or_else(|| missing.to_owned());
    page.field("acceptance", Ink::Text, &or(&change.acceptance));
    page.field("back to", Ink::Text, &or(&change.rollback));
    for record in &entry.settled {
        if let Decision::ChangeState { state, reason, .. } = &record.decision {
            let words = format!("by {}: {reason}", record.reviewer);
            page.field(state.word(), Ink::Strong, &words);
        }
    }
    fingerprints(&mut page, change);
    sides(&mut page, entry.sides.as_ref());
    let problems = check_change(change);
    if !problems.is_empty() {
        page.heading("what is wrong or missing");
    }
    for problem in problems {
        page.line(Ink::Fail, &format!("✗ {problem}"));
    }
    let plan = acceptance_plan(change.thing);
    page.heading("acceptance plan, declared before results are seen");
    for metric in &plan.primary {
        page.line(Ink::Text, &format!("{}: {}", metric.name, metric.counts));
    }
    for line in plan.guards.iter().chain(&plan.order) {
        page.line(Ink::Text, line);
    }
    page
}

fn sides(page: &mut Doc, sides: Option<&ChangeSides>) {
    let Some(sides) = sides else { return };
    page.heading("runs before and after");
    for (name, side) in [("before", &sides.before), ("after", &sides.after)] {
        let share = side.share.map_or_else(
            || "pass or fail unknown".to_owned(),
            |(value, i)| {
                format!(
                    "{} passed [{}–{}]",
                    per_cent(value),
                    per_cent(i.low),
                    per_cent(i.high)
                )
            },
        );
        page.field(
            name,
            Ink::Text,
            &format!("{}, {share}", plural(side.runs as u64, "run")),
        );
        for cohort in &side.cohorts {
            page.line(Ink::Dim, &format!("  {cohort}"));
        }
    }
    page.field("same tasks", Ink::Strong, &sides.same_tasks.words);
}

fn fingerprints(page: &mut Doc, change: &Change) {
    page.heading("fingerprints");
    for (name, before) in &change.before {
        let after = change.after.get(name).map_or("gone", String::as_str);
        let sign = if before == after { "=" } else { "→" };
        page.line(Ink::Text, &format!("{name}: {before} {sign} {after}"));
    }
    for (name, after) in change
        .after
        .iter()
        .filter(|(n, _)| !change.before.contains_key(*n))
    {
        page.line(Ink::Text, &format!("{name}: new, {after}"));
    }
}
