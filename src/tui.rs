//! The face of whoever reads and labels all day: one thread draws, one table of actions, pure updates.
//!
//! It holds no rule of the domain. One turn: event → action → `update(&mut App)` → effects → `view(&App)`.

mod action;
mod app;
mod available;
mod doc;
mod effect;
mod event;
mod geometry;
mod key;
mod keymap;
mod place;
mod render;
mod runner;
mod sheets;
mod stage;
mod terminal;
mod theme;
mod update;
mod view;
mod widget;
mod work;

/// Columns of the terminal that we run in, where there is one.
pub fn columns() -> Option<usize> {
    let size = ratatui::crossterm::terminal::size().ok();
    size.map(|(columns, _)| usize::from(columns))
        .filter(|n| *n > 0)
}

pub use app::{Advance, Role};
pub use keymap::{KeyChanges, KeymapError, key_table};
pub use runner::{Model, Options, Start, TuiError, run};
pub use stage::{Stage, StageError};
pub use theme::{Theme, ThemeError};
