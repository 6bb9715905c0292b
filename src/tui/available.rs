//! Whether an action can be done now, and if not, why not: for the footer, the palette and the key itself.

use super::action::{Action, Group};
use super::app::run::Origin;
use super::app::sheet::SheetKind;
use super::app::{App, Screen};
use super::place::Place;
use crate::store::RunRow;

/// Says why `action` cannot be done now; nothing when it can.
pub(crate) fn why_not(app: &App, action: Action) -> Option<&'static str> {
    if !action.info().places.meets(app.place().set()) {
        return Some("not in this place");
    }
    if app.place() == Place::Welcome && needs_workspace(action) {
        return Some("open a workspace first");
    }
    if app.set.read_only && decides(action) {
        return Some("the workspace is read-only");
    }
    if let Some(why) = not_in_this_sheet(app, action) {
        return Some(why);
    }
    match action {
        Action::Cause if app.run().is_some_and(|r| r.saved.is_none()) => {
            Some("label the run first")
        }
        Action::Demo if app.place() == Place::Board && !app.board.has_no_runs() => {
            Some("only where there are no runs yet")
        }
        Action::LabelAgain if app.last_label.is_none() => Some("nothing labelled yet"),
        Action::NextMatch | Action::PreviousMatch if no_search(app) => Some("search first, with /"),
        Action::MarkAll if app.board.is_partial => {
            Some("the list is still being read; try again in a moment")
        }
        Action::ClearFilter if app.board.filter.is_empty() => Some("no filter is on"),
        Action::CancelJob if !app.work.iter().any(super::work::Line::is_running) => {
            Some("nothing is running")
        }
        Action::Heat if no_scores(app) => Some("the run is not scored; `triagent score` does it"),
        Action::ReadOnlyToggle if app.set.locked => Some("the workspace was opened read-only"),
        _ if action.info().group == Group::Copy && seen_row(app).is_none() => Some("no run here"),
        _ => None,
    }
}

/// Actions that only one sheet knows.
fn not_in_this_sheet(app: &App, action: Action) -> Option<&'static str> {
    match action {
        Action::FindingKeep
        | Action::FindingRedact
        | Action::FindingDrop
        | Action::FindingAlike
        | Action::Check
            if sheet(app) != Some(&SheetKind::Findings) =>
        {
            Some("only in findings: Space s")
        }
        Action::ChangeAccept | Action::ChangeRollBack
            if sheet(app) != Some(&SheetKind::Changes) =>
        {
            Some("only in changes: Space h")
        }
        Action::Adjudicate if !may_settle(app) => Some("only for a run in agreement: Space g"),
        Action::Audit if sheet(app) != Some(&SheetKind::Rewards) => {
            Some("only in rewards: Space r")
        }
        Action::Probe if app.place() == Place::Sheet && !is_probe(app) => Some("only in a run"),
        Action::Probe if is_probe(app) && app.set.read_only => Some("the workspace is read-only"),
        Action::RunExport if sheet(app) != Some(&SheetKind::Export) => {
            Some("only in export: Space e")
        }
        _ => None,
    }
}

/// The row of the run that is seen or under the cursor.
pub(crate) fn seen_row(app: &App) -> Option<&RunRow> {
    match app.screens.last() {
        Some(Screen::Run(view)) => view.page.as_ref().map(|page| &page.row),
        Some(Screen::Board) => app.board.selected_row(),
        _ => None,
    }
}

/// What the sheet on top shows.
fn sheet(app: &App) -> Option<&SheetKind> {
    match app.screens.last() {
        Some(Screen::Sheet(sheet)) => Some(&sheet.kind),
        _ => None,
    }
}

/// The list of disputes, or a run that was opened from it: whoever labels is not shown the labels of others.
fn may_settle(app: &App) -> bool {
    let opened = app
        .run()
        .is_some_and(|view| matches!(view.origin, Origin::Dispute(_)));
    opened || sheet(app) == Some(&SheetKind::Agreement)
}

fn is_probe(app: &App) -> bool {
    matches!(sheet(app), Some(SheetKind::Probe(_)))
}

fn no_search(app: &App) -> bool {
    match sheet(app) {
        Some(kind) => !matches!(kind, SheetKind::Search(_)),
        None => app.run().is_some_and(|view| view.find.is_none()),
    }
}

fn no_scores(app: &App) -> bool {
    app.run()
        .and_then(|view| view.page.as_ref())
        .is_none_or(|page| page.scores.is_empty())
}

fn needs_workspace(action: Action) -> bool {
    match action.info().group {
        Group::Move | Group::Program => false,
        Group::Work => action != Action::Import,
        Group::Go => action != Action::GoMessages,
        Group::Label | Group::Pair | Group::Decide | Group::Read | Group::Find | Group::Copy => {
            true
        }
    }
}

/// Writes to the workspace.
fn decides(action: Action) -> bool {
    match action.info().group {
        Group::Label => !matches!(action, Action::Codebook),
        Group::Pair | Group::Work => true,
        Group::Decide => !matches!(action, Action::Mark | Action::MarkAll | Action::MarkRange),
        Group::Read | Group::Move | Group::Find | Group::Go | Group::Copy | Group::Program => false,
    }
}
