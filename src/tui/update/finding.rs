//! Deciding what becomes of cleaning findings.

use super::{decide as saved, say, sheet};
use crate::domain::{Decision, FindingAction};
use crate::tui::app::App;
use crate::tui::app::says::Tone;
use crate::tui::app::sheet::{Mark, SheetKind, Target};

/// Decides the finding under the cursor.
pub(super) fn decide(app: &mut App, action: FindingAction) {
    let Some(mark) = under_cursor(app) else {
        return say(app, Tone::Info, "no finding here");
    };
    saved::decide(app, vec![decision(&mark, action)]);
}

/// Decides every open finding of the same rule like the one under the cursor.
pub(super) fn alike(app: &mut App) {
    let Some(mark) = under_cursor(app) else {
        return say(app, Tone::Info, "no finding here");
    };
    let Some(action) = mark.action else {
        return say(app, Tone::Info, "decide this one first: K, x or X");
    };
    let rows = app.sheet_mut().map_or(&[][..], |s| s.rows());
    let marks = rows.iter().filter_map(|row| mark_of(&row.target));
    let open = marks.filter(|m| m.rule == mark.rule && m.action.is_none());
    let decisions: Vec<Decision> = open.map(|m| decision(m, action)).collect();
    if decisions.is_empty() {
        let text = format!("no other finding of {} is open", mark.rule);
        return say(app, Tone::Info, text);
    }
    saved::decide(app, decisions);
}

/// Reads findings, changes or disputes again where they are on the screen.
pub(super) fn refresh(app: &mut App) {
    if app.sheet_mut().is_some_and(|s| {
        matches!(
            s.kind,
            SheetKind::Findings | SheetKind::Changes | SheetKind::Agreement
        )
    }) {
        sheet::fill(app);
    }
}

fn under_cursor(app: &mut App) -> Option<Mark> {
    let row = app.sheet_mut().and_then(|s| s.row());
    row.and_then(|row| mark_of(&row.target)).cloned()
}

fn mark_of(target: &Target) -> Option<&Mark> {
    match target {
        Target::Finding(mark) => Some(mark),
        _ => None,
    }
}

fn decision(mark: &Mark, action: FindingAction) -> Decision {
    Decision::Finding {
        finding: mark.finding.clone(),
        action: action.word().to_owned(),
        reason: String::new(),
    }
}
