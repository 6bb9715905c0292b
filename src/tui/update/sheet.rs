//! Sheets: asking for what they show, moving, opening what a row leads to.

use super::moves::landed;
use super::{find, go, pair, say};
use crate::jobs::desk::{Ask, Preview};
use crate::tui::action::Action;
use crate::tui::app::overlay::{Overlay, Prompt, PromptKind};
use crate::tui::app::says::Tone;
use crate::tui::app::sheet::{Fill, Filling, Row, Sheet, SheetKind, Target};
use crate::tui::app::{App, Screen};
use crate::tui::{geometry, sheets};

/// Opens a sheet above the board; a sheet that is open gives way, and one that lies below is gone back to.
pub(super) fn open(app: &mut App, kind: SheetKind) {
    let is_it = |screen: &Screen| matches!(screen, Screen::Sheet(sheet) if sheet.kind == kind);
    if let Some(at) = app.screens.iter().position(is_it) {
        app.screens.truncate(at + 1);
        return fill(app);
    }
    if matches!(app.screens.last(), Some(Screen::Sheet(_))) {
        app.screens.pop();
    }
    app.screens.push(Screen::Sheet(Box::new(Sheet::new(kind))));
    fill(app);
}

/// Asks for what the sheet shows, or fills it from what is here.
pub(super) fn fill(app: &mut App) {
    let Some(kind) = app.sheet_mut().map(|sheet| sheet.kind.clone()) else {
        return;
    };
    let ask = match kind {
        SheetKind::Pairs => Ask::Pairings(app.set.reviewer.clone()),
        SheetKind::Advice => Ask::Advice {
            overrides: app.set.gates.clone(),
            now_us: app.now.us,
        },
        SheetKind::Findings => Ask::Findings,
        SheetKind::Rewards => Ask::Groups,
        SheetKind::Changes => Ask::Changes,
        SheetKind::Probe(run) => Ask::Probes(run),
        SheetKind::Agreement => Ask::Agreement,
        SheetKind::Search(words) => Ask::Search(words),
        SheetKind::Queues => Ask::Queues,
        SheetKind::Export => {
            let filling = sheets::formats(&app.board.filter);
            return take(app, &SheetKind::Export, filling);
        }
        SheetKind::Jobs => {
            let filling = sheets::jobs(&app.work, app.now.ms);
            return take(app, &SheetKind::Jobs, filling);
        }
    };
    ask_for(app, ask);
}

/// Asks, and remembers what is waited for, so that Esc can stop it.
fn ask_for(app: &mut App, ask: Ask) {
    let is_page = matches!(ask, Ask::Preview { .. });
    if let Some(sheet) = app.sheet_mut()
        && (is_page || matches!(sheet.fill, Fill::Waiting))
    {
        sheet.asked = Some(ask.clone());
    }
    app.ask(ask);
}

/// Takes what a sheet shows, if it is still open.
pub(super) fn take(app: &mut App, kind: &SheetKind, filling: Filling) {
    if let Some(sheet) = app.sheet_mut().filter(|sheet| sheet.kind == *kind) {
        sheet.take(filling);
    }
}

/// Moves in a sheet.
pub(super) fn moved(app: &mut App, action: Action, count: usize) {
    let areas = geometry::sheet(app.size, app.sheet());
    let Some(sheet) = app.sheet_mut() else { return };
    match action {
        Action::NextPane | Action::PreviousPane => sheet.in_page = !sheet.in_page,
        Action::Left if sheet.in_page => sheet.in_page = false,
        Action::Right if !sheet.in_page => sheet.in_page = true,
        Action::Open => follow(app),
        _ if sheet.in_page => {
            let rows = geometry::pane_rows(areas.page);
            let lines = sheet
                .layout
                .as_ref()
                .map_or(0, |(_, _, layout)| layout.lines());
            let most = lines.saturating_sub(rows) + 1;
            sheet.page_top = landed(sheet.page_top, most, rows, action, count);
        }
        Action::HalfDown | Action::HalfUp => {
            let rows = geometry::pane_rows(areas.page);
            let lines = sheet
                .layout
                .as_ref()
                .map_or(0, |(_, _, layout)| layout.lines());
            let most = lines.saturating_sub(rows) + 1;
            sheet.page_top = landed(sheet.page_top, most, rows, action, count);
        }
        _ => {
            let rows = usize::from(areas.list.height);
            sheet.selected = landed(sheet.selected, sheet.rows().len(), rows, action, count);
        }
    }
}

/// Goes where the row under the cursor leads.
fn follow(app: &mut App) {
    let Some(target) = app
        .sheet_mut()
        .and_then(|s| s.row())
        .map(|row| row.target.clone())
    else {
        return;
    };
    match target {
        Target::None | Target::Change(_) => {
            if let Some(sheet) = app.sheet_mut() {
                sheet.in_page = !sheet.in_page;
            }
        }
        Target::Dispute(dispute) => super::settle::open_run(app, dispute),
        Target::Run(run, seq, step) => {
            let words = match app.sheet_mut().map(|s| s.kind.clone()) {
                Some(SheetKind::Search(words)) => Some(words),
                _ => None,
            };
            go::open_run(app, run, seq, step);
            if let Some(words) = words {
                find::search_run(app, &words);
            }
        }
        Target::Pair(..) => {
            let place = app.sheet_mut().map_or(0, |s| s.selected);
            let rows = app.sheet_mut().map_or(&[][..], |s| s.rows());
            let list = rows.iter().filter_map(names).collect();
            pair::open(app, list, place);
        }
        Target::Filter(filter) => {
            app.screens.truncate(1);
            find::set_filter(app, &filter);
        }
        Target::Finding(mark) => {
            if let Some((run, seq, step)) = mark.place {
                go::open_run(app, run, seq, step);
            } else if let Some(sheet) = app.sheet_mut() {
                sheet.in_page = !sheet.in_page;
            }
        }
        Target::Format(format) => {
            let (filter, reviewer) = (app.board.filter.clone(), app.set.reviewer.clone());
            let model = app.set.model.clone();
            say(
                app,
                Tone::Info,
                format!("working out what {format} would write"),
            );
            let ask = Ask::Preview {
                format,
                filter,
                reviewer,
                model,
            };
            ask_for(app, ask);
        }
    }
}

fn names(row: &Row) -> Option<crate::tui::app::pair::Names> {
    match &row.target {
        Target::Pair(names) => Some(names.clone()),
        _ => None,
    }
}

/// A preview came: it becomes the page of its format.
pub(super) fn previewed(app: &mut App, preview: &Preview) {
    let is_it = |ask: &Ask| matches!(ask, Ask::Preview { format, .. } if *format == preview.format);
    let waits = |s: &&mut Sheet| s.asked.as_ref().is_some_and(is_it);
    let Some(sheet) = app.sheet_mut().filter(waits) else {
        return;
    };
    sheet.asked = None;
    if let Fill::Ready(filling) = &mut sheet.fill {
        let target = Target::Format(preview.format.clone());
        if let Some(row) = filling.rows.iter_mut().find(|row| row.target == target) {
            row.page = sheets::preview(preview);
        }
    }
    sheet.layout = None;
}

/// Asks where the dataset goes.
pub(super) fn ask_folder(app: &mut App) {
    let target = app
        .sheet_mut()
        .and_then(|s| s.row())
        .map(|row| row.target.clone());
    let Some(Target::Format(format)) = target else {
        return say(
            app,
            Tone::Info,
            "export writes from the export screen: Space e",
        );
    };
    let folder = format!("export-{format}");
    let kind = PromptKind::ExportTo(format);
    app.overlay = Some(Overlay::Prompt(Prompt::new(kind, &folder)));
}
