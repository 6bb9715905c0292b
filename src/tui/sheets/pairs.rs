//! Pairs: those worth deciding first, then decided ones.

use crate::domain::Choice;
use crate::jobs::SideName;
use crate::jobs::desk::PairRow;
use crate::tui::app::pair::Names;
use crate::tui::app::sheet::{Filling, Row, Target};
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;

/// Fills the sheet. Which side is whose is not told here: the screen that opens is blind.
pub(crate) fn pairs(pairs: &[PairRow]) -> Filling {
    let open = pairs.iter().filter(|p| p.choice.is_none()).count();
    Filling {
        heads: vec![("state", 1), ("task", 2), ("candidates", 3)],
        rows: pairs.iter().map(row).collect(),
        note: format!("{open} to decide, {} decided", pairs.len() - open),
        empty: (
            "No pair is waiting: no task has both a passed and a failed run that part at one decision.".to_owned(),
            "In a run, go to a wrong decision and press p: you write the better one".to_owned(),
        ),
    }
}

fn row(pair: &PairRow) -> Row {
    let (ink, state) = match pair.choice {
        None => (Ink::Unsure, "? open".to_owned()),
        Some(Choice::A | Choice::B) => (Ink::Pass, "✓ preferred".to_owned()),
        Some(other) => (Ink::Pass, format!("✓ {other}")),
    };
    let names = format!("{} and {}", shown(&pair.a), shown(&pair.b));
    let mut page = Doc::default();
    page.line(Ink::Strong, &names);
    if !pair.task.is_empty() {
        page.field("task", Ink::Text, &pair.task);
    }
    if pair.choice.is_some() {
        page.field("your reason", Ink::Text, &pair.why);
    } else {
        // "One passed, one failed" is known without being told which is which.
        let what = if matches!(pair.b, SideName::Written(_)) {
            "A decision of a run, and one that was written in its place."
        } else {
            "Two runs of one task part at this decision."
        };
        page.line(Ink::Text, &format!("{what} ⏎ lays both sides out, blind."));
    }
    Row {
        cells: vec![
            (ink, state),
            (Ink::Dim, pair.task.clone()),
            (Ink::Text, names),
        ],
        page,
        target: Target::Pair(Names {
            a: pair.a.clone(),
            b: pair.b.clone(),
            again: pair.again,
        }),
    }
}

fn shown(name: &SideName) -> String {
    match name {
        SideName::Run(run) => run.0.clone(),
        SideName::At(at) => at.to_string(),
        SideName::Written(_) => "a written side".to_owned(),
    }
}
