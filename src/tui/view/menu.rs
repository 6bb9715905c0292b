//! Menus: a strip above the footer, a box of letters, and the pop-up of next keys.

use crate::text::{pad, width};
use crate::tui::app::App;
use crate::tui::app::overlay::{Menu, MenuItem};
use crate::tui::available::why_not;
use crate::tui::geometry;
use crate::tui::theme::Ink;
use crate::tui::widget::Pen;
use ratatui::layout::Rect;

/// Rows that a pop-up takes at the most.
const MAX_ROWS: usize = 20;

/// Draws a menu.
pub(super) fn draw(pen: &mut Pen<'_>, menu: &Menu, whole: Rect) {
    if menu.is_strip {
        strip(pen, menu, whole);
    } else {
        boxed(pen, menu, whole);
    }
}

/// A strip of one or two rows over the line of labels: what was chosen stays in view.
fn strip(pen: &mut Pen<'_>, menu: &Menu, whole: Rect) {
    let room = usize::from(whole.width.saturating_sub(2));
    let rows = flow(menu, room);
    let height = u16::try_from(rows.len()).unwrap_or(1) + 1;
    let (_, low) = geometry::bottom(whole, 3 + height);
    let (area, _) = geometry::top(low, height);
    blank(pen, area);
    pen.rule(area.x, area.y, area.right(), Ink::BorderHere);
    pen.put(
        area.x + 1,
        area.y,
        area.right(),
        Ink::Title,
        &format!(" {} ", menu.title),
    );
    for (i, row) in rows.iter().enumerate() {
        let y = area.y + 1 + u16::try_from(i).unwrap_or(0);
        let mut x = area.x + 1;
        for item in row {
            x = item_at(pen, (x, y, area.right()), item) + 2;
        }
    }
}

fn flow(menu: &Menu, room: usize) -> Vec<Vec<&MenuItem>> {
    let mut rows: Vec<Vec<&MenuItem>> = vec![Vec::new()];
    let mut used = 0;
    for item in &menu.items {
        let columns = width(&item.label) + 6;
        if used + columns > room && used > 0 {
            rows.push(Vec::new());
            used = 0;
        }
        used += columns;
        if let Some(row) = rows.last_mut() {
            row.push(item);
        }
    }
    rows
}

fn item_at(pen: &mut Pen<'_>, at: (u16, u16, u16), item: &MenuItem) -> u16 {
    let (x, y, end) = at;
    let x = pen.put(x, y, end, Ink::Keycap, &item.key.to_string());
    let (sign, ink) = match item.ticked {
        Some(true) => ("✓ ", Ink::Strong),
        Some(false) | None => ("", Ink::Text),
    };
    pen.put(x + 1, y, end, ink, &format!("{sign}{}", item.label))
}

fn blank(pen: &mut Pen<'_>, area: Rect) {
    let empty = " ".repeat(usize::from(area.width));
    for row in 0..area.height {
        pen.row(area, row, Ink::Text, &empty);
    }
}

fn boxed(pen: &mut Pen<'_>, menu: &Menu, whole: Rect) {
    let lines: Vec<(String, String, String)> = menu
        .items
        .iter()
        .map(|i| (i.key.to_string(), i.label.clone(), i.about.clone()))
        .collect();
    list(pen, &menu.title, &lines, whole, Some(menu.selected));
}

/// The keys that can follow those pressed so far, at once and without a delay.
pub(super) fn which_key(pen: &mut Pen<'_>, app: &App, whole: Rect) {
    if app.typed.is_empty() {
        return;
    }
    let lines: Vec<(String, String, String)> = app
        .keymap
        .following(app.place(), &app.typed)
        .into_iter()
        .map(|(keys, action)| {
            let info = action.info();
            let about =
                why_not(app, action).map_or_else(|| info.doc.to_owned(), |why| format!("({why})"));
            (keys, info.short.to_owned(), about)
        })
        .collect();
    let title = crate::tui::key::show(&app.typed);
    list(pen, &title, &lines, whole, None);
}

fn list(
    pen: &mut Pen<'_>,
    title: &str,
    lines: &[(String, String, String)],
    whole: Rect,
    selected: Option<usize>,
) {
    let rows = lines.len().min(MAX_ROWS);
    let height = u16::try_from(rows).unwrap_or(1) + 2;
    let (area, _) = geometry::bottom(whole, 2);
    let (_, area) = geometry::bottom(area, height);
    let inner = pen.frame(area, title);
    let keys = lines.iter().map(|l| width(&l.0)).max().unwrap_or(1);
    let names = lines.iter().map(|l| width(&l.1)).max().unwrap_or(1);
    for (i, (key, name, about)) in lines.iter().take(rows).enumerate() {
        let y = inner.y + u16::try_from(i).unwrap_or(0);
        let x = pen.put(inner.x, y, inner.right(), Ink::Keycap, &pad(key, keys));
        let x = pen.put(x + 2, y, inner.right(), Ink::Strong, &pad(name, names));
        let room = usize::from(inner.right().saturating_sub(x + 2));
        pen.put(
            x + 2,
            y,
            inner.right(),
            Ink::Dim,
            &crate::text::fit(about, room),
        );
        if selected == Some(i) {
            let line = Rect {
                y,
                height: 1,
                ..inner
            };
            pen.over(line, Ink::Selected);
        }
    }
}
