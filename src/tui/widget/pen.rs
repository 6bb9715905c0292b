//! The pen: writes text with an ink into cells, measured by grapheme, never outside its area.

use crate::text::{Wrap, fit, graphemes, visible_line, width, wrap};
use crate::tui::theme::{Ink, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

/// Breaks prose at words into lines that fit.
pub(crate) fn broken(text: &str, columns: usize) -> Vec<&str> {
    let starts: Vec<usize> = wrap(text, columns, Wrap::Words)
        .into_iter()
        .map(|at| at as usize)
        .chain([text.len()])
        .collect();
    let lines = starts.windows(2);
    lines
        .map(|ends| text.get(ends[0]..ends[1]).unwrap_or_default().trim_end())
        .collect()
}

/// Writes into a buffer with a theme.
pub(crate) struct Pen<'a> {
    buffer: &'a mut Buffer,
    theme: &'a Theme,
}

impl<'a> Pen<'a> {
    /// Takes up the pen.
    pub(crate) fn new(buffer: &'a mut Buffer, theme: &'a Theme) -> Self {
        Self { buffer, theme }
    }

    /// Writes on row `y` from column `x`, not beyond `end`; returns the next free column.
    pub(crate) fn put(&mut self, x: u16, y: u16, end: u16, ink: Ink, text: &str) -> u16 {
        self.put_styled(x, y, end, self.theme.of(ink), text)
    }

    /// Writes with a style.
    pub(crate) fn put_styled(&mut self, x: u16, y: u16, end: u16, style: Style, text: &str) -> u16 {
        let area = self.buffer.area;
        let end = end.min(area.right());
        if y >= area.bottom() || x >= end {
            return x.min(end);
        }
        // A name may hold anything: a raw line end in a cell would break the screen.
        let shown = visible_line(text);
        let mut at = x;
        for (grapheme, columns) in graphemes(&shown) {
            let columns = u16::try_from(columns).unwrap_or(2);
            if columns == 0 {
                continue;
            }
            if at + columns > end {
                break;
            }
            if let Some(cell) = self.buffer.cell_mut((at, y)) {
                cell.set_symbol(grapheme).set_style(style);
            }
            for extra in 1..columns {
                // The second half of a wide character: empty, and drawn with it.
                if let Some(cell) = self.buffer.cell_mut((at + extra, y)) {
                    cell.reset();
                    cell.set_style(style);
                }
            }
            at += columns;
        }
        at
    }

    /// Writes at the left end of `area`'s row `row`.
    pub(crate) fn row(&mut self, area: Rect, row: u16, ink: Ink, text: &str) -> u16 {
        if row >= area.height {
            return area.x;
        }
        self.put(area.x, area.y + row, area.right(), ink, text)
    }

    /// Writes text that breaks at words, as many rows as `area` has; returns how many it took. What tells people what to do
    /// is written so: nothing of it may be cut.
    pub(crate) fn paragraph(&mut self, area: Rect, ink: Ink, text: &str) -> u16 {
        let lines = broken(text, usize::from(area.width));
        for (row, line) in (0..area.height).zip(&lines) {
            self.row(area, row, ink, line);
        }
        u16::try_from(lines.len())
            .unwrap_or(u16::MAX)
            .min(area.height)
    }

    /// Writes so that the text ends at column `end`; returns where it begins.
    pub(crate) fn put_right(&mut self, start: u16, y: u16, end: u16, ink: Ink, text: &str) -> u16 {
        let room = end.saturating_sub(start);
        let text = fit(text, usize::from(room));
        let columns = u16::try_from(width(&text)).unwrap_or(room);
        let x = end.saturating_sub(columns);
        self.put(x, y, end, ink, &text);
        x
    }

    /// Draws a whole row of `area` over with an ink.
    pub(crate) fn over(&mut self, area: Rect, ink: Ink) {
        let area = area.intersection(self.buffer.area);
        let style = self.theme.of(ink);
        // Reversed colours would become blocks of paint, one for each coloured word.
        let style = if style.add_modifier.contains(Modifier::REVERSED) {
            Style::reset().patch(style)
        } else {
            style
        };
        self.buffer.set_style(area, style);
    }

    /// A line across.
    pub(crate) fn rule(&mut self, x: u16, y: u16, end: u16, ink: Ink) {
        let line = "─".repeat(usize::from(end.saturating_sub(x)));
        self.put(x, y, end, ink, &line);
    }

    /// A line down.
    pub(crate) fn wall(&mut self, x: u16, y: u16, height: u16, ink: Ink) {
        for row in 0..height {
            self.put(x, y + row, x + 1, ink, "│");
        }
    }

    /// The title row of a pane; returns what is under it.
    pub(crate) fn pane(&mut self, area: Rect, title: &str, is_here: bool) -> Rect {
        let (head, rest) = crate::tui::geometry::top(area, 1);
        if head.height == 0 {
            return rest;
        }
        let line = if is_here {
            Ink::BorderHere
        } else {
            Ink::Border
        };
        self.rule(head.x, head.y, head.right(), line);
        let ink = if is_here { Ink::BorderHere } else { Ink::Dim };
        let title = format!(" {title} ");
        let x = head.x + 1;
        self.put(
            x,
            head.y,
            head.right().saturating_sub(1),
            ink,
            &fit(&title, usize::from(head.width.saturating_sub(2))),
        );
        rest
    }

    /// Clears an area and draws a box round it; returns what is inside.
    pub(crate) fn frame(&mut self, area: Rect, title: &str) -> Rect {
        let area = area.intersection(self.buffer.area);
        if area.width < 2 || area.height < 2 {
            return Rect {
                width: 0,
                height: 0,
                ..area
            };
        }
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                if let Some(cell) = self.buffer.cell_mut((x, y)) {
                    cell.reset();
                }
            }
        }
        let (right, last) = (area.right() - 1, area.bottom() - 1);
        self.rule(area.x, area.y, area.right(), Ink::BorderHere);
        self.rule(area.x, last, area.right(), Ink::BorderHere);
        self.wall(area.x, area.y, area.height, Ink::BorderHere);
        self.wall(right, area.y, area.height, Ink::BorderHere);
        for (x, y, corner) in [
            (area.x, area.y, "╭"),
            (right, area.y, "╮"),
            (area.x, last, "╰"),
            (right, last, "╯"),
        ] {
            self.put(x, y, x + 1, Ink::BorderHere, corner);
        }
        if !title.is_empty() {
            self.put(area.x + 2, area.y, right, Ink::Title, &format!(" {title} "));
        }
        Rect::new(
            area.x + 2,
            area.y + 1,
            area.width.saturating_sub(4),
            area.height - 2,
        )
    }

    /// A bar that says which part of a long thing is seen. `marks` are places in it worth seeing.
    pub(crate) fn scrollbar(&mut self, area: Rect, from: usize, seen: usize, of: usize) {
        if of <= seen || area.height == 0 || area.width == 0 {
            return;
        }
        let rows = usize::from(area.height);
        let length = (seen * rows / of).clamp(1, rows);
        let start = (from * rows / of).min(rows - length);
        let x = area.right() - 1;
        for row in 0..rows {
            let here = row >= start && row < start + length;
            let (ink, sign) = if here {
                (Ink::Border, "┃")
            } else {
                (Ink::Border, "│")
            };
            let y = area.y + u16::try_from(row).unwrap_or(0);
            self.put(x, y, x + 1, ink, sign);
        }
    }

    /// Lets a foreign widget draw.
    pub(crate) fn widget(&mut self, widget: impl ratatui::widgets::Widget, area: Rect) {
        widget.render(area.intersection(self.buffer.area), self.buffer);
    }

    /// Makes visible what a foreign widget left raw: a terminal would obey it, and ratatui panics over it.
    pub(crate) fn finish(self) {
        for cell in &mut self.buffer.content {
            if cell.symbol().contains(char::is_control) {
                cell.set_symbol("\u{fffd}");
            }
        }
    }

    /// The theme.
    pub(crate) fn theme(&self) -> &Theme {
        self.theme
    }
}
