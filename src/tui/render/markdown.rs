//! Markdown as models write it: headings, emphasis, code, lists, quotes, tables kept as they are.

use crate::tui::doc::Doc;
use crate::tui::theme::Ink;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Longer text is drawn as it stands: nobody reads a megabyte of prose rendered.
const MAX_BYTES: usize = 256 * 1024;

/// Draws `text` if it holds any Markdown worth drawing.
pub(crate) fn markdown(text: &str) -> Option<Doc> {
    if text.len() > MAX_BYTES || !has_marks(text) {
        return None;
    }
    let mut writer = Writer::default();
    for event in Parser::new_ext(text, Options::ENABLE_STRIKETHROUGH) {
        writer.event(event);
    }
    Some(writer.doc)
}

/// Plain prose is the commonest case and needs no parser.
fn has_marks(text: &str) -> bool {
    text.contains("**")
        || text.contains('`')
        || text.lines().any(|line| {
            let line = line.trim_start();
            line.starts_with('#')
                || line.starts_with("- ")
                || line.starts_with("* ")
                || line.starts_with("> ")
                || is_numbered(line)
        })
}

/// Begins like an item of a numbered list.
fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && rest.starts_with(". ")
}

#[derive(Default)]
struct Writer {
    doc: Doc,
    ink: Vec<Ink>,
    /// Numbers of ordered lists that are open; `None` = bullets.
    lists: Vec<Option<u64>>,
    quotes: usize,
    code: bool,
    fresh: bool,
}

impl Writer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => {
                self.doc.push(Ink::Code, &text);
            }
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::SoftBreak | Event::HardBreak => self.new_line(),
            Event::Rule => {
                self.block();
                self.doc.line(Ink::Dim, "────────");
            }
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
            Event::FootnoteReference(text) => self.text(&text),
            Event::TaskListMarker(done) => self.text(if done { "☑ " } else { "☐ " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } => {
                self.block();
                self.ink.push(Ink::Heading);
            }
            Tag::Paragraph if self.lists.is_empty() => self.block(),
            Tag::BlockQuote(_) => {
                self.block();
                self.quotes += 1;
                self.indent();
                self.ink.push(Ink::Quote);
            }
            Tag::CodeBlock(kind) => {
                self.block();
                if let CodeBlockKind::Fenced(name) = kind
                    && !name.is_empty()
                {
                    self.doc.line(Ink::Dim, &format!("  ┌ {name}"));
                }
                self.code = true;
            }
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.block();
                }
                self.lists.push(first);
            }
            Tag::Item => self.item(),
            Tag::Emphasis | Tag::Strong => self.ink.push(Ink::Strong),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.ink.pop();
                self.doc.end_line();
            }
            TagEnd::Emphasis | TagEnd::Strong => {
                self.ink.pop();
            }
            TagEnd::Paragraph if self.lists.is_empty() => {
                self.doc.end_line();
            }
            TagEnd::BlockQuote(_) => {
                self.quotes = self.quotes.saturating_sub(1);
                self.ink.pop();
            }
            TagEnd::CodeBlock => self.code = false,
            TagEnd::List(_) => {
                self.lists.pop();
                if self.lists.is_empty() {
                    self.doc.end_line();
                }
            }
            _ => {}
        }
    }

    fn item(&mut self) {
        if self.fresh {
            self.doc.end_line();
        }
        self.fresh = true;
        let depth = self.lists.len().saturating_sub(1);
        self.doc.push(Ink::Text, &"  ".repeat(depth));
        let bullet = match self.lists.last_mut() {
            Some(Some(n)) => {
                let bullet = format!("{n}. ");
                *n += 1;
                bullet
            }
            Some(None) | None => "• ".to_owned(),
        };
        self.doc.push(Ink::Accent, &bullet);
    }

    fn text(&mut self, text: &str) {
        if self.code {
            for line in text.lines() {
                self.doc.push(Ink::Dim, "  │ ").line(Ink::Code, line);
            }
            return;
        }
        let ink = self.ink.last().copied().unwrap_or(Ink::Text);
        self.doc.push(ink, text);
    }

    fn new_line(&mut self) {
        self.doc.end_line();
        self.indent();
        let depth = self.lists.len();
        self.doc.push(Ink::Text, &"  ".repeat(depth));
    }

    fn indent(&mut self) {
        for _ in 0..self.quotes {
            self.doc.push(Ink::Dim, "▏ ");
        }
    }

    /// A blank line before every block but the first.
    fn block(&mut self) {
        self.fresh = false;
        if self.quotes > 0 && self.doc.text().ends_with("▏ ") {
            return;
        }
        if !self.doc.is_empty() {
            if !self.doc.text().ends_with('\n') {
                self.doc.end_line();
            }
            self.doc.end_line();
        }
        self.indent();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(
            markdown(text).unwrap().text().trim_end(),
            expected,
            "{text}"
        );
    }

    #[test]
    fn draws_what_models_write() {
        check("# Plan\nRead **both** files.", "Plan\n\nRead both files.");
        check("- one\n- two", "• one\n• two");
        check("1. 查政策\n2. 比较", "1. 查政策\n2. 比较");
        check("```sh\nls -l\n```", "  ┌ sh\n  │ ls -l");
        check("> quoted", "▏ quoted");
        check("- a\n  - b", "• a\n  • b");
    }

    #[test]
    fn plain_prose_is_left_alone() {
        assert!(markdown("Nothing here.").is_none());
    }
}
