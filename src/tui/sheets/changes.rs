//! The ledger: what somebody changed, with fingerprints, acceptance and the way back.

use crate::domain::{Change, Decision, DecisionRecord};
use crate::tui::app::sheet::{Filling, Row, Target};
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;

/// Fills the sheet, newest first.
pub(crate) fn changes(records: &[DecisionRecord]) -> Filling {
    let rows = records
        .iter()
        .rev()
        .filter_map(|record| match &record.decision {
            Decision::Change(change) => Some(row(change, &record.reviewer)),
            _ => None,
        });
    Filling {
        heads: vec![("change", 2), ("thing", 1), ("claim", 5)],
        rows: rows.collect(),
        note: "a claim needs what changed, how it is accepted and what to go back to".to_owned(),
        empty: (
            "Nobody has written a change down.".to_owned(),
            "`triagent change add` does; index, prompt, tools, parameters each on their own"
                .to_owned(),
        ),
    }
}

fn row(change: &Change, who: &str) -> Row {
    let mut page = Doc::default();
    page.line(Ink::Strong, &change.id)
        .line(Ink::Text, &change.claim)
        .end_line();
    page.field("thing", Ink::Text, change.thing.word());
    page.field("by", Ink::Text, who);
    let missing = "missing: without it the change cannot be accepted";
    let or = |value: &Option<String>| value.clone().unwrap_or_else(|| missing.to_owned());
    page.field("acceptance", Ink::Text, &or(&change.acceptance));
    page.field("back to", Ink::Text, &or(&change.rollback));
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
    Row {
        cells: vec![
            (Ink::Strong, change.id.clone()),
            (Ink::Text, change.thing.word().to_owned()),
            (Ink::Text, change.claim.clone()),
        ],
        page,
        target: Target::None,
    }
}
