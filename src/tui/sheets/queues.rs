//! Filters kept under a name.

use crate::tui::app::sheet::{Filling, Row, Target};
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;

/// Fills the sheet.
pub(crate) fn queues(kept: &[(String, String)]) -> Filling {
    let rows = kept.iter().map(|(name, filter)| {
        let mut page = Doc::default();
        page.line(Ink::Strong, name)
            .line(Ink::Accent, filter)
            .end_line();
        page.line(Ink::Dim, "⏎ puts it on the board; Q there keeps another");
        Row {
            cells: vec![(Ink::Strong, name.clone()), (Ink::Accent, filter.clone())],
            page,
            target: Target::Filter(filter.clone()),
        }
    });
    Filling {
        heads: vec![("queue", 1), ("filter", 3)],
        rows: rows.collect(),
        note: "saved filters; whoever opens this workspace sees them".to_owned(),
        empty: (
            "No filter is kept yet.".to_owned(),
            "On the board: f filters, Q keeps the filter under a name".to_owned(),
        ),
    }
}
