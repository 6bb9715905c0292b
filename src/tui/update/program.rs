//! The program itself: help, palette, theme, mouse, leaving.

use super::say;
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::app::overlay::{Overlay, Picker};
use crate::tui::app::says::Tone;
use crate::tui::app::sheet::{Sheet, SheetKind};
use crate::tui::effect::Effect;
use crate::tui::theme::Theme;

/// Does what belongs to the program.
pub(super) fn act(app: &mut App, action: Action) {
    match action {
        Action::Help => app.overlay = Some(Overlay::Help(Picker::default())),
        Action::Palette => app.overlay = Some(Overlay::Palette(Picker::default())),
        Action::ThemeNext => next_theme(app),
        Action::MouseToggle => {
            app.set.mouse = !app.set.mouse;
            app.want(Effect::Mouse(app.set.mouse));
            let text = if app.set.mouse {
                "the mouse is the program's; the same key gives it back to the terminal"
            } else {
                "the mouse is the terminal's again: select and copy with it"
            };
            say(app, Tone::Info, text);
        }
        Action::ReadOnlyToggle => {
            app.set.read_only = !app.set.read_only;
            let text = if app.set.read_only {
                "read-only: nothing can be decided"
            } else {
                "decisions are on"
            };
            say(app, Tone::Info, text);
        }
        Action::Demo => app.want(Effect::OpenDemo),
        Action::Escape => escape(app),
        Action::Redraw => app.want(Effect::Clear),
        Action::Suspend => app.want(Effect::Suspend),
        Action::Quit => app.want(Effect::Quit),
        _ => {}
    }
}

fn next_theme(app: &mut App) {
    let names: Vec<&str> = Theme::names().collect();
    let at = names.iter().position(|n| *n == app.theme.name).unwrap_or(0);
    let name = names[(at + 1) % names.len()];
    if let Ok(theme) = Theme::named(name) {
        app.theme = theme;
        say(app, Tone::Info, format!("theme {name}"));
    }
}

/// Takes back the innermost transient thing: an answer that is waited for, a selection, a range, a search, marks.
fn escape(app: &mut App) {
    if super::moves::stop(app) {
        return;
    }
    if let Some(view) = app.run_mut() {
        if view.select.take().is_none() {
            view.find = None;
        }
        return;
    }
    let is_search = |sheet: &Sheet| matches!(sheet.kind, SheetKind::Search(_));
    if app.sheet().is_some_and(is_search) {
        return super::go::back(app);
    }
    if app.board.anchor.take().is_none() {
        app.board.marks.clear();
    }
}
