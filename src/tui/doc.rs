//! Documents: text with inks, broken into lines once per width, of which a view draws only the window.
//!
//! A document of 13 million characters costs one copy of its text and four bytes a line.

use super::theme::Ink;
use crate::text::{Wrap, visible, wrap};
use regex::RegexBuilder;
use std::ops::Range;

/// Most matches that one search keeps: more than anybody steps through.
const MAX_MATCHES: usize = 10_000;

/// Text with inks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Doc {
    text: String,
    /// Where an ink starts; sorted by place.
    inks: Vec<(u32, Ink)>,
}

/// Where the lines of a document start, for one width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Width that the lines fit.
    pub(crate) columns: usize,
    /// How lines break.
    pub(crate) mode: Wrap,
    starts: Vec<u32>,
}

/// A stretch of a document's text.
pub(crate) type Span = Range<usize>;

impl Doc {
    /// A document of one ink.
    pub(crate) fn plain(text: &str) -> Self {
        let mut doc = Self::default();
        doc.push(Ink::Text, text);
        doc
    }

    /// Adds text; whatever a terminal would obey is made visible here, so no document can hold it.
    pub(crate) fn push(&mut self, ink: Ink, text: &str) -> &mut Self {
        if text.is_empty() {
            return self;
        }
        if self.inks.last().map(|(_, last)| *last) != Some(ink) {
            self.inks.push((place(self.text.len()), ink));
        }
        self.text.push_str(&visible(text));
        self
    }

    /// Ends the line.
    pub(crate) fn end_line(&mut self) -> &mut Self {
        self.text.push('\n');
        self
    }

    /// Adds a whole line.
    pub(crate) fn line(&mut self, ink: Ink, text: &str) -> &mut Self {
        self.push(ink, text).end_line()
    }

    /// Adds a heading with room above.
    pub(crate) fn heading(&mut self, text: &str) -> &mut Self {
        if !self.text.is_empty() {
            self.end_line();
        }
        self.line(Ink::Heading, text)
    }

    /// Adds `name  value`, names in a column of their own.
    pub(crate) fn field(&mut self, name: &str, ink: Ink, value: &str) -> &mut Self {
        let name = crate::text::pad(name, 14);
        self.push(Ink::Dim, &name)
            .push(Ink::Text, " ")
            .line(ink, value)
    }

    /// Adds all of another document.
    pub(crate) fn append(&mut self, other: &Self) -> &mut Self {
        let base = place(self.text.len());
        self.inks
            .extend(other.inks.iter().map(|(at, ink)| (base + at, *ink)));
        self.text.push_str(&other.text);
        self
    }

    /// The text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Nothing is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the pieces of `span`, each with its ink.
    pub(crate) fn pieces(&self, span: Span) -> Vec<(Ink, &str)> {
        let first = self
            .inks
            .partition_point(|(at, _)| *at as usize <= span.start);
        let mut ink = first.checked_sub(1).map_or(Ink::Text, |i| self.inks[i].1);
        let mut from = span.start;
        let mut out = Vec::new();
        for (at, next) in self.inks.iter().skip(first) {
            let at = *at as usize;
            if at >= span.end {
                break;
            }
            out.push((ink, self.slice(from..at)));
            (from, ink) = (at, *next);
        }
        out.push((ink, self.slice(from..span.end)));
        out.retain(|(_, text)| !text.is_empty());
        out
    }

    /// Returns the text of `span`; nothing where it does not lie between characters.
    pub(crate) fn slice(&self, span: Span) -> &str {
        self.text.get(span).unwrap_or_default()
    }

    /// Breaks the document into lines.
    pub(crate) fn layout(&self, columns: usize, mode: Wrap) -> Layout {
        // A closing line end makes no empty last line on screen.
        let text = self.text.strip_suffix('\n').unwrap_or(&self.text);
        Layout {
            columns,
            mode,
            starts: wrap(text, columns, mode),
        }
    }

    /// Returns where `words` stand; upper case in `words` makes case count.
    pub(crate) fn find(&self, words: &str) -> Vec<Span> {
        if words.is_empty() {
            return Vec::new();
        }
        let smart = !words.chars().any(char::is_uppercase);
        RegexBuilder::new(&regex::escape(words))
            .case_insensitive(smart)
            .build()
            .map(|r| {
                r.find_iter(&self.text)
                    .take(MAX_MATCHES)
                    .map(|m| m.range())
                    .collect()
            })
            .unwrap_or_default()
    }
}

impl Layout {
    /// How many lines there are; at least one.
    pub(crate) fn lines(&self) -> usize {
        self.starts.len().max(1)
    }

    /// Returns the stretch of line `n`, without its line end.
    pub(crate) fn line(&self, doc: &Doc, n: usize) -> Span {
        let start = self.starts.get(n).map_or(doc.text.len(), |s| *s as usize);
        let end = self
            .starts
            .get(n + 1)
            .map_or(doc.text.len(), |s| *s as usize);
        let text = doc.slice(start..end);
        start..start + text.trim_end_matches('\n').len()
    }

    /// Returns the line that holds byte `at`.
    pub(crate) fn line_of(&self, at: usize) -> usize {
        self.starts
            .partition_point(|s| *s as usize <= at)
            .saturating_sub(1)
    }
}

/// Documents are capped far below 4 GiB.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Doc {
        let mut doc = Doc::default();
        doc.push(Ink::Key, "path")
            .push(Ink::Text, ": 旧政策 and more");
        doc
    }

    #[test]
    fn pieces_keep_their_ink_across_a_window() {
        let doc = sample();
        assert_eq!(
            doc.pieces(2..9),
            vec![(Ink::Key, "th"), (Ink::Text, ": 旧")]
        );
        assert_eq!(doc.pieces(5..6), vec![(Ink::Text, " ")]);
        assert!(doc.pieces(3..3).is_empty());
    }

    #[test]
    fn lines_are_windows_into_the_text() {
        let doc = sample();
        let layout = doc.layout(8, Wrap::Words);
        let lines: Vec<&str> = (0..layout.lines())
            .map(|n| doc.slice(layout.line(&doc, n)))
            .collect();
        // A line may end between two Chinese characters; byte 9 begins the second one.
        assert_eq!(lines, ["path: 旧", "政策 and ", "more"]);
        assert_eq!((layout.line_of(7), layout.line_of(9)), (0, 1));
    }

    #[test]
    fn searching_ignores_case_until_a_capital_is_typed() {
        let doc = Doc::plain("Refund refund 退款");
        assert_eq!(doc.find("refund"), vec![0..6, 7..13]);
        assert_eq!(doc.find("Refund"), vec![0..6]);
        assert_eq!(doc.find("退款"), vec![14..20]);
        assert!(doc.find("").is_empty());
    }

    #[test]
    fn nothing_raw_gets_in() {
        assert_eq!(Doc::plain("\u{1b}[2J").text(), "␛[2J");
    }
}
