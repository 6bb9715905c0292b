//! Lists narrowed by typing: help, palette, jump.

use super::{act, go};
use crate::fuzzy;
use crate::jobs::desk::{Ask, JumpRow};
use crate::tui::action::{ACTIONS, Action};
use crate::tui::app::App;
use crate::tui::app::overlay::{Overlay, Picker};
use crate::tui::available::why_not;
use crate::tui::key::Key;
use ratatui::crossterm::event::{Event as Raw, KeyCode};
use tui_input::backend::crossterm::EventHandler;

/// What a key does in a list narrowed by typing.
pub(super) enum Press {
    /// Closes it.
    Close,
    /// Takes the line under the cursor.
    Take,
    /// The cursor moved.
    Moved,
    /// The letters changed.
    Typed,
}

/// Applies a key to the list.
pub(super) fn press(picker: &mut Picker, key: Key) -> Press {
    let page = 10;
    match key.code {
        KeyCode::Esc => return Press::Close,
        KeyCode::Enter => return Press::Take,
        KeyCode::Down => picker.selected += 1,
        KeyCode::Up => picker.selected = picker.selected.saturating_sub(1),
        KeyCode::PageDown => picker.selected += page,
        KeyCode::PageUp => picker.selected = picker.selected.saturating_sub(page),
        KeyCode::Char('n') if key.ctrl => picker.selected += 1,
        KeyCode::Char('p') if key.ctrl => picker.selected = picker.selected.saturating_sub(1),
        _ => {
            picker.input.handle_event(&Raw::Key(key.to_event()));
            picker.selected = 0;
            return Press::Typed;
        }
    }
    Press::Moved
}

/// A key in help.
pub(super) fn press_help(app: &mut App, mut picker: Picker, key: Key) {
    let scrolls = picker.typed().is_empty();
    if scrolls && matches!(key.as_char(), Some('q' | '?')) {
        return;
    }
    match press(&mut picker, key) {
        Press::Close => {}
        // Help explains; it does not do: the line under the cursor is not run by surprise.
        Press::Take | Press::Moved | Press::Typed => {
            let lines = help_lines(app, picker.typed()).len();
            picker.selected = picker.selected.min(lines.saturating_sub(1));
            app.overlay = Some(Overlay::Help(picker));
        }
    }
}

/// A key in the palette.
pub(super) fn press_palette(app: &mut App, mut picker: Picker, key: Key) {
    match press(&mut picker, key) {
        Press::Close => {}
        Press::Take => {
            let found = palette_lines(app, picker.typed())
                .get(picker.selected)
                .copied();
            if let Some(action) = found {
                act(app, action);
            }
        }
        Press::Moved | Press::Typed => {
            let lines = palette_lines(app, picker.typed()).len();
            picker.selected = picker.selected.min(lines.saturating_sub(1));
            app.overlay = Some(Overlay::Palette(picker));
        }
    }
}

/// A key in the jump list.
pub(super) fn press_jump(app: &mut App, mut picker: Picker, rows: Vec<JumpRow>, key: Key) {
    match press(&mut picker, key) {
        Press::Close => {}
        Press::Take => {
            if let Some(row) = rows.get(picker.selected) {
                go::open_run(app, row.run.clone(), row.seq, 0);
            }
        }
        Press::Moved => {
            picker.selected = picker.selected.min(rows.len().saturating_sub(1));
            app.overlay = Some(Overlay::Jump(picker, rows));
        }
        Press::Typed => {
            let typed = picker.typed().to_owned();
            app.overlay = Some(Overlay::Jump(picker, rows));
            ask_jump(app, &typed);
        }
    }
}

/// Asks which runs the letters mean.
pub(super) fn ask_jump(app: &mut App, pattern: &str) {
    app.ask(Ask::Jump(pattern.to_owned()));
}

/// Actions that the letters find, best first; without letters those that can be done now come first.
pub(crate) fn palette_lines(app: &App, typed: &str) -> Vec<Action> {
    let names = ACTIONS.iter().map(|info| info.name);
    let mut found: Vec<Action> = fuzzy::rank(typed, names, ACTIONS.len())
        .into_iter()
        .map(|hit| ACTIONS[hit.index].action)
        .collect();
    if typed.is_empty() {
        found.sort_by_key(|action| why_not(app, *action).is_some());
    }
    found
}

/// Actions of this place whose name, keys or words hold what is typed, in the order of the table.
pub(crate) fn help_lines(app: &App, typed: &str) -> Vec<Action> {
    let here = app.place().set();
    let words = typed.to_lowercase();
    ACTIONS
        .iter()
        .filter(|info| info.places.meets(here))
        .filter(|info| {
            words.is_empty()
                || info.name.contains(&words)
                || info.doc.to_lowercase().contains(&words)
                || app
                    .keymap
                    .keys(info.action)
                    .split(", ")
                    .any(|key| key == typed)
        })
        .map(|info| info.action)
        .collect()
}
