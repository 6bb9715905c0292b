//! View: from the state to cells. It reads only; what it needs was prepared by `update`.

mod bar;
mod board;
mod compare;
mod detail;
mod facets;
mod footer;
mod glyph;
mod halves;
mod inspector;
mod menu;
mod note;
mod page;
mod pair;
mod palette;
mod prompt;
mod run;
mod sheet;
mod steps;
mod welcome;

pub(crate) use inspector::lines as inspector_lines;

use super::app::overlay::Overlay;
use super::app::{App, Screen};
use super::geometry;
use super::widget::Pen;
use ratatui::buffer::Buffer;

/// Draws the screen; returns where the terminal's own cursor stands, if something is typed.
pub(crate) fn draw(app: &App, buffer: &mut Buffer) -> Option<(u16, u16)> {
    let parts = geometry::frame(app.size);
    let mut pen = Pen::new(buffer, &app.theme);
    bar::draw(&mut pen, app, parts.bar);
    match app.screens.last() {
        Some(Screen::Board) => board::draw(&mut pen, app),
        Some(Screen::Run(view)) => run::draw(&mut pen, app, view),
        Some(Screen::Pair(view)) => pair::draw(&mut pen, app, view),
        Some(Screen::Compare(view)) => compare::draw(&mut pen, app, view),
        Some(Screen::Sheet(sheet)) => sheet::draw(&mut pen, app, sheet),
        Some(Screen::Welcome) | None => welcome::draw(&mut pen, app, parts.body),
    }
    footer::status(&mut pen, app, parts.status);
    footer::keys(&mut pen, app, parts.footer);
    let cursor = above(&mut pen, app, buffer_size(parts));
    // Over the editor too: it says why a text cannot be used.
    if matches!(app.overlay, Some(Overlay::Note(_))) {
        footer::status(&mut pen, app, parts.status);
    }
    pen.finish();
    cursor
}

fn buffer_size(parts: geometry::Frame) -> ratatui::layout::Rect {
    parts
        .bar
        .union(parts.body)
        .union(parts.status)
        .union(parts.footer)
}

fn above(pen: &mut Pen<'_>, app: &App, whole: ratatui::layout::Rect) -> Option<(u16, u16)> {
    match &app.overlay {
        None => {
            menu::which_key(pen, app, whole);
            None
        }
        Some(Overlay::Help(picker)) => palette::help(pen, app, picker, whole),
        Some(Overlay::Palette(picker)) => palette::palette(pen, app, picker, whole),
        Some(Overlay::Jump(picker, rows)) => palette::jump(pen, picker, rows, whole),
        Some(Overlay::Prompt(prompt)) => prompt::draw(pen, prompt, whole),
        Some(Overlay::Note(note)) => note::draw(pen, note, whole),
        Some(Overlay::Menu(menu)) => {
            menu::draw(pen, menu, whole);
            None
        }
        Some(Overlay::Page(page)) => {
            page::draw(pen, page, whole);
            None
        }
    }
}
