//! Cuts a filter into terms without losing track of where each character stood.

use super::FilterError;

/// A run of characters and where it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// First character in the filter.
    pub(super) at: usize,
    /// How many characters it takes there, quotes included.
    pub(super) len: usize,
    /// The characters, quotes and escapes resolved.
    pub(super) text: String,
    /// It stood in quotes, so nothing in it is an operator.
    pub(super) quoted: bool,
}

/// A term as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RawTerm {
    pub(super) negated: bool,
    /// The part before the first colon outside quotes.
    pub(super) key: Option<Piece>,
    /// Comma-separated values; one for a bare word.
    pub(super) values: Vec<Piece>,
    /// First character after the term.
    pub(super) end: usize,
}

pub(super) fn split(filter: &str) -> Result<Vec<RawTerm>, FilterError> {
    let chars: Vec<char> = filter.chars().collect();
    let mut cursor = Cursor { chars, at: 0 };
    let mut terms = Vec::new();
    while cursor.skip_space() {
        terms.push(cursor.term()?);
    }
    Ok(terms)
}

struct Cursor {
    chars: Vec<char>,
    at: usize,
}

impl Cursor {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn skip_space(&mut self) -> bool {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
        self.at < self.chars.len()
    }

    fn term(&mut self) -> Result<RawTerm, FilterError> {
        let next = self.chars.get(self.at + 1);
        let negated = self.peek() == Some('-') && next.is_some_and(|c| !c.is_whitespace());
        if negated {
            self.at += 1;
        }
        let first = self.piece(&[':'])?;
        if first.quoted || self.peek() != Some(':') {
            return Ok(RawTerm {
                negated,
                key: None,
                values: vec![first],
                end: self.at,
            });
        }
        self.at += 1;
        let mut values = vec![self.piece(&[','])?];
        while self.peek() == Some(',') {
            self.at += 1;
            values.push(self.piece(&[','])?);
        }
        Ok(RawTerm {
            negated,
            key: Some(first),
            values,
            end: self.at,
        })
    }

    /// Reads up to white space or one of `stops`, or one quoted string.
    fn piece(&mut self, stops: &[char]) -> Result<Piece, FilterError> {
        let at = self.at;
        if self.peek() == Some('"') {
            return self.quoted(at);
        }
        let mut text = String::new();
        while let Some(c) = self.peek() {
            if c.is_whitespace() || stops.contains(&c) {
                break;
            }
            text.push(c);
            self.at += 1;
        }
        Ok(Piece {
            at,
            len: self.at - at,
            text,
            quoted: false,
        })
    }

    fn quoted(&mut self, at: usize) -> Result<Piece, FilterError> {
        let mut text = String::new();
        self.at += 1;
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                '"' => {
                    return Ok(Piece {
                        at,
                        len: self.at - at,
                        text,
                        quoted: true,
                    });
                }
                '\\' => {
                    text.extend(self.peek());
                    self.at += 1;
                }
                other => text.push(other),
            }
        }
        Err(FilterError {
            at,
            len: self.chars.len() - at,
            what: "a quote that never closes".to_owned(),
            hint: Some("add a closing \"".to_owned()),
        })
    }
}
