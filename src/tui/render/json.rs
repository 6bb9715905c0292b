//! JSON: laid out over lines with inks, tolerant of what is not quite JSON.
//!
//! It works on the text and keeps every character of strings and numbers as logged; nothing is parsed and printed again.

use crate::tui::doc::Doc;
use crate::tui::theme::Ink;

/// Deeper nesting is drawn at this depth.
const MAX_INDENT: usize = 16;
/// Short objects and lists stay on one line.
const ONE_LINE_BYTES: usize = 48;

/// Draws `text` if it looks like a JSON object or list.
pub(crate) fn json(text: &str) -> Option<Doc> {
    let text = text.trim();
    let opened = text.starts_with('{') && text.ends_with('}');
    let listed = text.starts_with('[') && text.ends_with(']');
    if !opened && !listed {
        return None;
    }
    serde_json::from_str::<&serde_json::value::RawValue>(text).ok()?;
    let mut writer = Writer {
        doc: Doc::default(),
        depth: 0,
    };
    writer.value(&mut Scanner { rest: text });
    Some(writer.doc)
}

struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\n', '\r', '\t']);
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest.chars().next()
    }

    /// Takes one character that the grammar promises.
    fn bump(&mut self) {
        let mut chars = self.rest.chars();
        chars.next();
        self.rest = chars.as_str();
    }

    fn take(&mut self, len: usize) -> &'a str {
        let (head, tail) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        self.rest = tail;
        head
    }

    fn string(&mut self) -> &'a str {
        let mut escaped = false;
        for (at, byte) in self.rest.bytes().enumerate().skip(1) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => return self.take(at + 1),
                _ => {}
            }
        }
        self.take(self.rest.len())
    }

    fn word(&mut self) -> &'a str {
        let ends = |c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}' | ':');
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        self.take(end.max(1))
    }
}

struct Writer {
    doc: Doc,
    depth: usize,
}

impl Writer {
    fn value(&mut self, scanner: &mut Scanner<'_>) {
        match scanner.peek() {
            Some('{') => self.container(scanner, '}'),
            Some('[') => self.container(scanner, ']'),
            Some('"') => self.string(scanner.string()),
            Some(_) => {
                self.doc.push(Ink::Number, scanner.word());
            }
            None => {}
        }
    }

    fn container(&mut self, scanner: &mut Scanner<'_>, close: char) {
        let open = if close == '}' { "{" } else { "[" };
        self.doc.push(Ink::Text, open);
        let narrow = is_short(scanner.rest, close);
        scanner.bump();
        self.depth += 1;
        let mut first = true;
        while let Some(next) = scanner.peek() {
            if next == close {
                scanner.bump();
                break;
            }
            if next == ',' {
                scanner.bump();
                continue;
            }
            if !first {
                self.doc.push(Ink::Text, if narrow { ", " } else { "," });
            }
            if !narrow {
                self.new_line();
            }
            first = false;
            self.member(scanner, close);
        }
        self.depth -= 1;
        if !narrow && !first {
            self.new_line();
        }
        self.doc
            .push(Ink::Text, if close == '}' { "}" } else { "]" });
    }

    fn member(&mut self, scanner: &mut Scanner<'_>, close: char) {
        if close == '}' && scanner.peek() == Some('"') {
            let key = scanner.string();
            self.doc.push(Ink::Key, key);
            if scanner.peek() == Some(':') {
                scanner.bump();
            }
            self.doc.push(Ink::Text, ": ");
        }
        self.value(scanner);
    }

    /// A string with line ends in it is shown over several lines: that is how people wrote it.
    fn string(&mut self, quoted: &str) {
        if !quoted.contains("\\n") {
            self.doc.push(Ink::Str, &unescaped(quoted));
            return;
        }
        let whole = unescaped(quoted);
        for (i, line) in whole.split('\n').enumerate() {
            if i > 0 {
                self.new_line();
                self.doc.push(Ink::Text, "  ");
            }
            self.doc.push(Ink::Str, line);
        }
    }

    fn new_line(&mut self) {
        self.doc.end_line();
        self.doc
            .push(Ink::Text, &"  ".repeat(self.depth.min(MAX_INDENT)));
    }
}

/// Shows `\u62a5` as 报 and `\n` as a line end; quotes and the rest stay as logged.
fn unescaped(quoted: &str) -> String {
    if !quoted.contains('\\') {
        return quoted.to_owned();
    }
    match serde_json::from_str::<String>(quoted) {
        Ok(text) => format!("\"{text}\""),
        Err(_) => quoted.to_owned(),
    }
}

fn is_short(rest: &str, close: char) -> bool {
    let (head, _) = crate::text::capped(rest, ONE_LINE_BYTES);
    let Some(inner) = head.split_once(close).map(|(inner, _)| inner) else {
        return false;
    };
    !inner.chars().skip(1).any(|c| matches!(c, '{' | '[' | '\n')) && !inner.contains("\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lays_out_what_is_long_and_leaves_what_is_short() {
        let check = |text: &str, expected: &str| {
            assert_eq!(json(text).unwrap().text(), expected);
        };
        check("{\"a\": 1}", "{\"a\": 1}");
        check("{}", "{}");
        check(
            r#"{"order":{"id":"W1","items":[1,2]},"note":"a longer text that fills the line"}"#,
            "{\n  \"order\": {\n    \"id\": \"W1\",\n    \"items\": [1, 2]\n  },\n  \"note\": \"a longer text that fills the line\"\n}",
        );
        check(r#"{"t":"\u62a5\u9500"}"#, "{\"t\": \"报销\"}");
        check(r#"{"t":"one\ntwo"}"#, "{\n  \"t\": \"one\n    two\"\n}");
    }

    #[test]
    fn numbers_keep_every_digit() {
        let doc = json("[0.10000000000000000001, 1e400]").unwrap();
        assert_eq!(doc.text(), "[0.10000000000000000001, 1e400]");
    }

    #[test]
    fn what_is_not_json_is_left_alone() {
        assert!(json("{broken").is_none());
        assert!(json("plain").is_none());
        assert!(json("{'a': 1}").is_none());
    }
}
