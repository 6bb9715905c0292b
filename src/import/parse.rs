//! Reads JSON as programs really write it: bare `NaN` and `Infinity`, lone surrogates, control characters in text,
//! trailing commas, duplicate keys (the last wins). Every such flaw is counted. Depth is bounded, so that no input
//! can exhaust the stack. It repairs no missing bracket: a broken row is reported, never guessed.

use super::json::{Kind, Node};
use super::limits::{MAX_DEPTH, MAX_NODES};
use std::borrow::Cow;
use std::collections::HashMap;

/// What was odd and could be read all the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Flaws {
    /// `NaN`, `Infinity`, `-Infinity`.
    pub(crate) not_numbers: u64,
    /// Half of a surrogate pair; became U+FFFD.
    pub(crate) surrogates: u64,
    /// Bytes that are no UTF-8; became U+FFFD.
    pub(crate) bad_bytes: u64,
    /// A comma before a closing bracket or after the row.
    pub(crate) trailing_commas: u64,
    /// A key that stood there before.
    pub(crate) duplicate_keys: u64,
}

impl Flaws {
    /// Names and counts of what occurred.
    pub(crate) fn named(self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            ("number NaN or Infinity", self.not_numbers),
            ("lone surrogate", self.surrogates),
            ("bytes that are no UTF-8", self.bad_bytes),
            ("trailing comma", self.trailing_commas),
            ("duplicate key", self.duplicate_keys),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
    }
}

/// Why a text is no JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bad {
    /// Byte in the text.
    pub(crate) at: usize,
    /// What is wrong.
    pub(crate) what: &'static str,
    /// The text just ends: a killed writer, or one that is still writing.
    pub(crate) is_cut: bool,
}

/// Bytes as text; what is no UTF-8 becomes U+FFFD and is counted.
pub(crate) fn decode<'a>(bytes: &'a [u8], flaws: &mut Flaws) -> Cow<'a, str> {
    let text = String::from_utf8_lossy(bytes);
    if matches!(text, Cow::Owned(_)) {
        flaws.bad_bytes += 1;
    }
    text
}

/// Reads one value, with nothing behind it but space and perhaps a comma.
pub(crate) fn parse<'a>(text: &'a str, flaws: &mut Flaws) -> Result<Node<'a>, Bad> {
    let mut parser = Parser {
        text,
        bytes: text.as_bytes(),
        pos: if text.starts_with('\u{feff}') { 3 } else { 0 },
        nodes: 0,
        flaws,
    };
    parser.space();
    let node = parser.value(0)?;
    parser.space();
    if parser.peek() == Some(b',') {
        parser.pos += 1;
        parser.flaws.trailing_commas += 1;
        parser.space();
    }
    match parser.peek() {
        None => Ok(node),
        Some(_) => Err(parser.bad("more text after the value")),
    }
}

struct Parser<'a, 'f> {
    text: &'a str,
    bytes: &'a [u8],
    pos: usize,
    nodes: usize,
    flaws: &'f mut Flaws,
}

impl<'a> Parser<'a, '_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.pos += 1;
        }
    }

    fn bad(&self, what: &'static str) -> Bad {
        let is_cut = self.pos >= self.bytes.len();
        let what = if is_cut { "ends in the middle" } else { what };
        Bad {
            at: self.pos,
            what,
            is_cut,
        }
    }

    fn limit(&self, what: &'static str) -> Bad {
        Bad {
            at: self.pos,
            what,
            is_cut: false,
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node<'a>, Bad> {
        if depth > MAX_DEPTH {
            return Err(self.limit("nested too deeply (limit 160)"));
        }
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(self.limit("more than 2500000 values at once"));
        }
        let start = self.pos;
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Kind::Text(self.string()?),
            Some(b'-' | b'0'..=b'9' | b'N' | b'I') => self.number()?,
            Some(b't') => self.word("true", Kind::Bool(true))?,
            Some(b'f') => self.word("false", Kind::Bool(false))?,
            Some(b'n') => self.word("null", Kind::Null)?,
            _ => return Err(self.bad("no value here")),
        };
        Ok(Node {
            kind,
            start: place(start),
            end: place(self.pos),
        })
    }

    fn word(&mut self, word: &str, kind: Kind<'a>) -> Result<Kind<'a>, Bad> {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        if rest.starts_with(word.as_bytes()) {
            self.pos += word.len();
            return Ok(kind);
        }
        if word.as_bytes().starts_with(rest) {
            self.pos = self.bytes.len();
        }
        Err(self.bad("no such word in JSON"))
    }

    fn number(&mut self) -> Result<Kind<'a>, Bad> {
        let start = self.pos;
        let is_part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.');
        while self.peek().is_some_and(is_part) {
            self.pos += 1;
        }
        let text = self.text.get(start..self.pos).unwrap_or_default();
        match text {
            "NaN" | "Infinity" | "-Infinity" => self.flaws.not_numbers += 1,
            _ if text.parse::<f64>().is_ok() && !text.ends_with(|c: char| c.is_alphabetic()) => {}
            _ => return Err(self.bad("no number")),
        }
        Ok(Kind::Number(text))
    }

    fn list(&mut self, depth: usize) -> Result<Kind<'a>, Bad> {
        self.pos += 1;
        let mut items = Vec::new();
        while !self.closes(b']', items.is_empty())? {
            items.push(self.value(depth + 1)?);
        }
        Ok(Kind::List(items))
    }

    fn object(&mut self, depth: usize) -> Result<Kind<'a>, Bad> {
        self.pos += 1;
        let mut members: Vec<(Cow<'a, str>, Node<'a>)> = Vec::new();
        while !self.closes(b'}', members.is_empty())? {
            if self.peek() != Some(b'"') {
                return Err(self.bad("a key must stand in quotes"));
            }
            let key = self.string()?;
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.bad("a colon is missing"));
            }
            self.pos += 1;
            self.space();
            let value = self.value(depth + 1)?;
            members.push((key, value));
        }
        self.distinct(&mut members);
        Ok(Kind::Object(members))
    }

    /// Steps over the comma before the next part, or over the closing bracket.
    fn closes(&mut self, bracket: u8, is_first: bool) -> Result<bool, Bad> {
        self.space();
        let mut has_comma = is_first;
        if !is_first && self.peek() == Some(b',') {
            self.pos += 1;
            self.space();
            has_comma = true;
        }
        match self.peek() {
            Some(b) if b == bracket => {
                if has_comma && !is_first {
                    self.flaws.trailing_commas += 1;
                }
                self.pos += 1;
                Ok(true)
            }
            Some(_) if has_comma => Ok(false),
            _ => Err(self.bad("a comma or a closing bracket is missing")),
        }
    }

    /// The last of several members with one key wins.
    fn distinct(&mut self, members: &mut Vec<(Cow<'a, str>, Node<'a>)>) {
        const FEW: usize = 24;
        let has_twin = if members.len() <= FEW {
            let is_twin = |(i, (key, _)): (usize, &(Cow<'a, str>, Node<'a>))| {
                members.iter().take(i).any(|(k, _)| k == key)
            };
            members.iter().enumerate().any(is_twin)
        } else {
            let mut seen = std::collections::HashSet::new();
            members.iter().any(|(key, _)| !seen.insert(key.as_ref()))
        };
        if !has_twin {
            return;
        }
        let before = members.len();
        let mut last: HashMap<String, usize> = HashMap::new();
        for (i, (key, _)) in members.iter().enumerate() {
            last.insert(key.clone().into_owned(), i);
        }
        let mut i = 0;
        members.retain(|(key, _)| {
            i += 1;
            last.get(key.as_ref()) == Some(&(i - 1))
        });
        self.flaws.duplicate_keys += (before - members.len()) as u64;
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Bad> {
        self.pos += 1;
        let start = self.pos;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let Some(stop) = memchr::memchr2(b'"', b'\\', rest) else {
            self.pos = self.bytes.len();
            return Err(self.bad("ends in the middle"));
        };
        self.pos = start + stop;
        if self.peek() == Some(b'"') {
            self.pos += 1;
            let text = self.text.get(start..start + stop).unwrap_or_default();
            return Ok(Cow::Borrowed(text));
        }
        self.escaped(start)
    }

    /// The slow road, for text with backslashes.
    fn escaped(&mut self, start: usize) -> Result<Cow<'a, str>, Bad> {
        let mut out = String::with_capacity((self.pos - start) + 64);
        out.push_str(self.text.get(start..self.pos).unwrap_or_default());
        loop {
            let from = self.pos;
            let rest = self.bytes.get(from..).unwrap_or_default();
            let Some(stop) = memchr::memchr2(b'"', b'\\', rest) else {
                self.pos = self.bytes.len();
                return Err(self.bad("ends in the middle"));
            };
            self.pos = from + stop;
            out.push_str(self.text.get(from..self.pos).unwrap_or_default());
            if self.peek() == Some(b'"') {
                self.pos += 1;
                return Ok(Cow::Owned(out));
            }
            self.pos += 1;
            self.escape(&mut out)?;
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), Bad> {
        let Some(letter) = self.peek() else {
            return Err(self.bad("ends in the middle"));
        };
        self.pos += 1;
        out.push(match letter {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' | b'\\' | b'/' => char::from(letter),
            b'u' => self.unicode()?,
            _ => {
                self.pos -= 1;
                return Err(self.bad("no such escape in JSON"));
            }
        });
        Ok(())
    }

    fn unicode(&mut self) -> Result<char, Bad> {
        let high = self.hex4()?;
        if let Some(c) = char::from_u32(high) {
            return Ok(c);
        }
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        if (0xD800..0xDC00).contains(&high) && rest.starts_with(b"\\u") {
            let back = self.pos;
            self.pos += 2;
            let low = self.hex4()?;
            if (0xDC00..0xE000).contains(&low) {
                let code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.pos = back;
        }
        self.flaws.surrogates += 1;
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hex4(&mut self) -> Result<u32, Bad> {
        let digits = self.text.get(self.pos..self.pos + 4);
        let is_hex = |t: &&str| t.bytes().all(|b| b.is_ascii_hexdigit());
        let code = digits
            .filter(is_hex)
            .and_then(|t| u32::from_str_radix(t, 16).ok());
        let Some(code) = code else {
            if self.pos + 4 > self.bytes.len() {
                self.pos = self.bytes.len();
            }
            return Err(self.bad("no four hex digits"));
        };
        self.pos += 4;
        Ok(code)
    }
}

/// Rows are far below 4 GiB (see `MAX_VALUE_BYTES`), so places fit.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
