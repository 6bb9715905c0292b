//! Work in the background, newest first.

use crate::text::{duration, grouped};
use crate::tui::app::sheet::{Filling, Row, Target};
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;
use crate::tui::work::{Line, State};

/// Fills the sheet.
pub(crate) fn jobs(work: &[Line], now_ms: u64) -> Filling {
    Filling {
        heads: vec![("work", 3), ("state", 2), ("time", 1)],
        rows: work.iter().rev().map(|line| row(line, now_ms)).collect(),
        note: "Space x cancels the newest that runs".to_owned(),
        empty: (
            "Nothing has run in the background.".to_owned(),
            "I  imports logs; the search index follows by itself".to_owned(),
        ),
    }
}

fn row(line: &Line, now_ms: u64) -> Row {
    let (ink, state) = match &line.state {
        State::Running(..) if line.cancelled => (Ink::Warn, "stopping".to_owned()),
        State::Running(done, 0) => (Ink::Accent, format!("running, {}", grouped(*done))),
        State::Running(done, total) => (
            Ink::Accent,
            format!("running, {} of {}", grouped(*done), grouped(*total)),
        ),
        State::Done(said, _) => (Ink::Pass, format!("✓ {said}")),
        State::Warned(why, _) => (Ink::Warn, format!("! {why}")),
        State::Failed(why) => (Ink::Fail, format!("✗ {why}")),
    };
    let spent = duration(
        line.ended_ms
            .unwrap_or(now_ms)
            .saturating_sub(line.began_ms),
    );
    let mut page = Doc::default();
    page.line(Ink::Strong, &line.words)
        .line(ink, &state)
        .line(Ink::Dim, &spent);
    Row {
        cells: vec![
            (Ink::Strong, line.words.clone()),
            (ink, state),
            (Ink::Dim, spent),
        ],
        page,
        target: Target::None,
    }
}
