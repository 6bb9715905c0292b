//! Lists narrowed by typing: all actions, the keys of this place, runs.

use crate::fuzzy;
use crate::jobs::desk::JumpRow;
use crate::text::{fit, graphemes, pad, width};
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::app::board::settle_top;
use crate::tui::app::overlay::Picker;
use crate::tui::available::why_not;
use crate::tui::geometry;
use crate::tui::theme::Ink;
use crate::tui::update::{help_lines, palette_lines};
use crate::tui::widget::{Pen, broken};
use ratatui::layout::Rect;

/// Widest that a list is.
const WIDE: u16 = 100;

/// Draws the palette.
pub(super) fn palette(
    pen: &mut Pen<'_>,
    app: &App,
    picker: &Picker,
    whole: Rect,
) -> Option<(u16, u16)> {
    let actions = palette_lines(app, picker.typed());
    let (inner, cursor) = open(pen, "all actions", picker, whole);
    let (inner, whole_line) = geometry::bottom(inner, 3);
    if let Some(action) = actions.get(picker.selected) {
        chosen(pen, app, *action, whole_line);
    }
    let keys = keys_width(app, &actions);
    let top = settle_top(0, picker.selected, usize::from(inner.height), actions.len());
    for row in 0..inner.height {
        let at = top + usize::from(row);
        let Some(action) = actions.get(at) else { break };
        let y = inner.y + row;
        let key = pad(&app.keymap.keys(*action), keys);
        let x = pen.put(inner.x, y, inner.right(), Ink::Keycap, &key);
        let why = why_not(app, *action);
        let ink = if why.is_some() { Ink::Dim } else { Ink::Strong };
        let x = name(
            pen,
            (x + 2, y, inner.right()),
            ink,
            action.info().name,
            picker.typed(),
        );
        let about = why.map_or_else(|| action.info().doc.to_owned(), |why| format!("({why})"));
        let room = usize::from(inner.right().saturating_sub(x + 2));
        pen.put(x + 2, y, inner.right(), Ink::Dim, &fit(&about, room));
        over_selected(pen, inner, y, at == picker.selected);
    }
    cursor
}

/// What the action under the cursor does, in full: in the list it may be cut.
fn chosen(pen: &mut Pen<'_>, app: &App, action: Action, area: Rect) {
    pen.rule(area.x, area.y, area.right(), Ink::Border);
    let (_, below) = geometry::top(area, 1);
    let text = match why_not(app, action) {
        Some(why) => format!("{} Not now: {why}.", action.info().doc),
        None => action.info().doc.to_owned(),
    };
    pen.paragraph(below, Ink::Text, &text);
}

/// The name, padded, with the letters that matched.
fn name(pen: &mut Pen<'_>, at: (u16, u16, u16), ink: Ink, name: &str, typed: &str) -> u16 {
    let (mut x, y, end) = at;
    let hits = fuzzy::matched(typed, name);
    for (i, (letter, _)) in graphemes(&pad(name, 20)).enumerate() {
        let ink = if hits.contains(&i) { Ink::Match } else { ink };
        x = pen.put(x, y, end, ink, letter);
    }
    x
}

/// Draws the keys of this place.
pub(super) fn help(
    pen: &mut Pen<'_>,
    app: &App,
    picker: &Picker,
    whole: Rect,
) -> Option<(u16, u16)> {
    let actions = help_lines(app, picker.typed());
    let title = format!("keys in {}", app.place().word());
    let (inner, cursor) = open(pen, &title, picker, whole);
    let keys = keys_width(app, &actions);
    let room = usize::from(inner.width).saturating_sub(keys + 2);
    let lines = with_headings(&actions, room);
    let selected = lines
        .iter()
        .position(|line| matches!(line, HelpLine::Does(i, ..) if *i == picker.selected));
    let height = usize::from(inner.height);
    let top = settle_top(0, selected.unwrap_or(0), height, lines.len());
    for (row, line) in lines.iter().skip(top).take(height).enumerate() {
        let y = inner.y + u16::try_from(row).unwrap_or(0);
        match line {
            HelpLine::Heading(text) => {
                pen.put(inner.x, y, inner.right(), Ink::Heading, text);
            }
            HelpLine::Does(i, action, part) => {
                let key = action.map_or_else(String::new, |a| app.keymap.keys(a));
                let x = pen.put(inner.x, y, inner.right(), Ink::Keycap, &pad(&key, keys));
                pen.put(x + 2, y, inner.right(), Ink::Text, part);
                over_selected(pen, inner, y, *i == picker.selected);
            }
        }
    }
    if lines.is_empty() {
        pen.row(
            inner,
            0,
            Ink::Dim,
            "no key of this place is called so; : looks everywhere",
        );
    }
    cursor
}

enum HelpLine {
    Heading(&'static str),
    /// A row of an action's line; the first row names the action, for its keys.
    Does(usize, Option<Action>, &'static str),
}

/// Every line in full: what does not fit on one row goes on in the next.
fn with_headings(actions: &[Action], room: usize) -> Vec<HelpLine> {
    let mut out = Vec::new();
    let mut group = None;
    for (i, action) in actions.iter().enumerate() {
        let own = action.info().group;
        if group != Some(own) {
            out.push(HelpLine::Heading(own.title()));
            group = Some(own);
        }
        for (n, part) in broken(action.info().doc, room).into_iter().enumerate() {
            out.push(HelpLine::Does(i, (n == 0).then_some(*action), part));
        }
    }
    out
}

/// Draws the runs to jump to.
pub(super) fn jump(
    pen: &mut Pen<'_>,
    picker: &Picker,
    rows: &[JumpRow],
    whole: Rect,
) -> Option<(u16, u16)> {
    let (inner, cursor) = open(pen, "jump to a run", picker, whole);
    let names = rows
        .iter()
        .map(|r| width(r.run.as_str()))
        .max()
        .unwrap_or(0)
        .min(40);
    let top = settle_top(0, picker.selected, usize::from(inner.height), rows.len());
    for row in 0..inner.height {
        let at = top + usize::from(row);
        let Some(found) = rows.get(at) else { break };
        let y = inner.y + row;
        let x = pen.put(
            inner.x,
            y,
            inner.right(),
            Ink::Strong,
            &pad(found.run.as_str(), names),
        );
        pen.put(x + 2, y, inner.right(), Ink::Dim, &found.about);
        over_selected(pen, inner, y, at == picker.selected);
    }
    if rows.is_empty() {
        pen.row(inner, 0, Ink::Dim, "no run is called so");
    }
    cursor
}

fn keys_width(app: &App, actions: &[Action]) -> usize {
    actions
        .iter()
        .map(|a| width(&app.keymap.keys(*a)))
        .max()
        .unwrap_or(0)
}

fn over_selected(pen: &mut Pen<'_>, inner: Rect, y: u16, is_selected: bool) {
    if is_selected {
        pen.over(
            Rect {
                y,
                height: 1,
                ..inner
            },
            Ink::Selected,
        );
    }
}

/// The box with its typed line on top; what is left for the list, and the cursor.
fn open(
    pen: &mut Pen<'_>,
    title: &str,
    picker: &Picker,
    whole: Rect,
) -> (Rect, Option<(u16, u16)>) {
    let columns = whole.width.min(WIDE);
    let area = Rect {
        x: whole.x + (whole.width - columns) / 2,
        width: columns,
        height: whole.height.saturating_sub(1),
        ..whole
    };
    let inner = pen.frame(area, title);
    let x = pen.put(inner.x, inner.y, inner.right(), Ink::Keycap, "› ");
    pen.put(x, inner.y, inner.right(), Ink::Text, picker.typed());
    let column = u16::try_from(picker.input.visual_cursor()).unwrap_or(0);
    let (_, rest) = crate::tui::geometry::top(inner, 2);
    (rest, Some((x + column, inner.y)))
}
