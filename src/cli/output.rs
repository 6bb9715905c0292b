//! What people and programs read: data to stdout, talk to stderr. The only file that prints.
//!
//! Knows no verb. Text from logs is made harmless before it reaches a terminal.

use crate::error::{Failure, Result};
use crate::text;
use serde::Serialize;
use std::fmt::Display;
use std::io::{BufWriter, IsTerminal, Write};

/// Columns of a cell that others stand behind: one long name must not push every row out of sight.
const MAX_CELL: usize = 120;
/// Columns of a row's last cell.
const MAX_LAST_CELL: usize = 1_000;

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How a word is painted. Colour never carries meaning alone: a word or glyph stands beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it is.
    Plain,
    /// Headings.
    Bold,
    /// Less important.
    Dim,
    /// Passed.
    Good,
    /// Failed.
    Bad,
    /// Needs a look.
    Warn,
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Good => "32",
            Self::Bad => "31",
            Self::Warn => "33",
        }
    }
}

/// The two channels.
pub(crate) struct Out {
    json: bool,
    quiet: bool,
    colour_data: bool,
    colour_talk: bool,
    talk_is_terminal: bool,
    data: BufWriter<Box<dyn Write>>,
}

impl Out {
    /// Opens stdout and stderr.
    pub(crate) fn new(json: bool, quiet: bool, when: When) -> Self {
        let colour = |terminal: bool| match when {
            When::Always => true,
            When::Never => false,
            When::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
        };
        let talk_is_terminal = std::io::stderr().is_terminal();
        Self {
            json,
            quiet,
            colour_data: colour(std::io::stdout().is_terminal()),
            colour_talk: colour(talk_is_terminal),
            talk_is_terminal,
            data: BufWriter::new(Box::new(std::io::stdout())),
        }
    }

    /// One JSON object a line was asked for.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Somebody watches stderr, so progress may be drawn.
    pub(crate) fn is_watched(&self) -> bool {
        self.talk_is_terminal && !self.quiet
    }

    /// Writes one JSON object.
    pub(crate) fn row<T: Serialize>(&mut self, row: &T) -> Result<()> {
        let mut json = serde_json::Serializer::with_formatter(&mut self.data, Harmless);
        row.serialize(&mut json).map_err(unpack_io)?;
        Ok(self.data.write_all(b"\n")?)
    }

    /// Writes a line of data for people.
    pub(crate) fn line(&mut self, text: impl Display) -> Result<()> {
        Ok(writeln!(self.data, "{text}")?)
    }

    /// Writes bytes as they are: raw source, scripts, pages.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.data.write_all(bytes)?)
    }

    /// Writes a table.
    pub(crate) fn table(&mut self, table: &Table) -> Result<()> {
        let lines = table.lines(|tone, text| paint(self.colour_data, tone, text));
        lines.iter().try_for_each(|line| self.line(line))
    }

    /// Paints a word of data.
    pub(crate) fn tone(&self, tone: Tone, text: &str) -> String {
        paint(self.colour_data, tone, text)
    }

    /// Says something to the person; never data.
    pub(crate) fn say(&mut self, text: impl Display) -> Result<()> {
        if self.quiet {
            return Ok(());
        }
        // Data first, so that the two channels read in order on one terminal.
        self.data.flush()?;
        let _ = writeln!(std::io::stderr(), "{text}");
        Ok(())
    }

    /// Draws over the progress line; an empty text removes it.
    pub(crate) fn progress(&self, text: &str) {
        if self.is_watched() {
            let _ = write!(std::io::stderr(), "\r\x1b[K{text}");
            let _ = std::io::stderr().flush();
        }
    }

    /// Sends everything off.
    pub(crate) fn flush(&mut self) -> Result<()> {
        Ok(self.data.flush()?)
    }

    /// Prints a failure, hints last.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        let _ = self.data.flush();
        for line in failure.lines() {
            let tone = if line.starts_with("error:") {
                Tone::Bad
            } else {
                Tone::Plain
            };
            let line = text::visible(&line);
            let _ = writeln!(
                std::io::stderr(),
                "{}",
                paint(self.colour_talk, tone, &line)
            );
        }
    }
}

/// JSON whose strings hold nothing that a terminal obeys: what JSON lets pass is written as `\uXXXX`, the same value.
struct Harmless;

impl serde_json::ser::Formatter for Harmless {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> std::io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_obeyed(*c)) {
            let (before, after) = rest.split_at(at);
            write!(writer, "{before}\\u{:04x}", u32::from(c))?;
            rest = after.strip_prefix(c).unwrap_or_default();
        }
        writer.write_all(rest.as_bytes())
    }
}

/// DEL, C1 and what turns the writing direction.
fn is_obeyed(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `serde_json` hides a broken pipe in its own error.
fn unpack_io(error: serde_json::Error) -> std::io::Error {
    error.into()
}

fn paint(on: bool, tone: Tone, text: &str) -> String {
    if on && tone != Tone::Plain {
        format!("\x1b[{}m{text}\x1b[0m", tone.code())
    } else {
        text.to_owned()
    }
}

/// Returns the text as one harmless line.
fn one_line(text: &str) -> String {
    text::visible(text).replace('\n', " ")
}

/// A cell of a table.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
    right: bool,
}

impl Cell {
    /// Text from anywhere, made safe and put on one line.
    pub(crate) fn new(text: impl Display) -> Self {
        Self {
            text: one_line(&text.to_string()),
            tone: Tone::Plain,
            right: false,
        }
    }

    /// A number, or a dash where there is none.
    pub(crate) fn number(value: Option<impl Display>) -> Self {
        Self {
            right: true,
            ..Self::maybe(value)
        }
    }

    /// A word, or a dash where there is none.
    pub(crate) fn maybe(value: Option<impl Display>) -> Self {
        Self::new(value.map_or_else(|| "–".to_owned(), |v| v.to_string()))
    }

    /// Painted.
    #[must_use]
    pub(crate) fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }
}

/// Rows under headings; the last column may run on.
#[derive(Debug, Default)]
pub(crate) struct Table {
    heads: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table.
    pub(crate) fn new(heads: &[&'static str]) -> Self {
        Self {
            heads: heads.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row. What is longer than a cell may be is cut; `--json` has all of it.
    pub(crate) fn push(&mut self, mut row: Vec<Cell>) {
        let last = row.len().saturating_sub(1);
        for (c, cell) in row.iter_mut().enumerate() {
            let most = if c < last { MAX_CELL } else { MAX_LAST_CELL };
            if cell.text.len() > most {
                cell.text = text::fit(&cell.text, most);
            }
        }
        self.rows.push(row);
    }

    /// Has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn lines(&self, paint: impl Fn(Tone, &str) -> String) -> Vec<String> {
        let heads: Vec<Cell> = self
            .heads
            .iter()
            .map(|h| Cell::new(h).tone(Tone::Bold))
            .collect();
        let all: Vec<&[Cell]> = std::iter::once(heads.as_slice())
            .chain(self.rows.iter().map(Vec::as_slice))
            .collect();
        let widths: Vec<usize> = (0..self.heads.len())
            .map(|c| {
                all.iter()
                    .filter_map(|r| r.get(c))
                    .map(|cell| text::width(&cell.text))
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let right: Vec<bool> = (0..self.heads.len())
            .map(|c| self.rows.iter().any(|r| r.get(c).is_some_and(|x| x.right)))
            .collect();
        all.iter()
            .map(|row| join(row, &widths, &right, &paint))
            .collect()
    }
}

fn join(
    row: &[Cell],
    widths: &[usize],
    right: &[bool],
    paint: &impl Fn(Tone, &str) -> String,
) -> String {
    let mut line = String::new();
    for (c, cell) in row.iter().enumerate() {
        let pad = widths
            .get(c)
            .copied()
            .unwrap_or(0)
            .saturating_sub(text::width(&cell.text));
        let is_right = right.get(c).copied().unwrap_or(false);
        let is_last = c + 1 == row.len();
        if is_right {
            line.extend(std::iter::repeat_n(' ', pad));
        }
        line.push_str(&paint(cell.tone, &cell.text));
        if !is_right && !is_last {
            line.extend(std::iter::repeat_n(' ', pad));
        }
        if !is_last {
            line.push_str("  ");
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_columns_line_up_by_what_the_eye_sees() {
        let mut table = Table::new(&["run", "steps", "task"]);
        table.push(vec![
            Cell::new("报销-1"),
            Cell::number(Some(7)),
            Cell::new("a"),
        ]);
        table.push(vec![
            Cell::new("r2"),
            Cell::number(Some(120)),
            Cell::new("b"),
        ]);
        // 报销-1 takes six columns.
        assert_eq!(
            table.lines(|_, t| t.to_owned()),
            [
                "run     steps  task",
                "报销-1      7  a",
                "r2        120  b"
            ]
        );
    }

    #[test]
    fn json_strings_keep_their_value_and_lose_their_power() {
        let value = "a\u{9b}31m\u{7f}\u{202e}b\u{2066}ü";
        let mut bytes = Vec::new();
        let mut json = serde_json::Serializer::with_formatter(&mut bytes, Harmless);
        value.serialize(&mut json).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text, r#""a\u009b31m\u007f\u202eb\u2066ü""#);
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), value);
    }

    #[test]
    fn one_long_cell_does_not_push_the_others_away() {
        let mut table = Table::new(&["run", "steps"]);
        table.push(vec![Cell::new("x".repeat(5_000)), Cell::number(Some(7))]);
        let lines = table.lines(|_, t| t.to_owned());
        assert!(lines.iter().all(|l| text::width(l) <= 130), "{lines:?}");
    }

    #[test]
    fn log_text_cannot_reach_the_terminal_raw() {
        let cell = Cell::new("a\x1b[31mb\nc");
        assert!(!cell.text.contains('\x1b') && !cell.text.contains('\n'));
    }
}
