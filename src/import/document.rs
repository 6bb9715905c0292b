//! One JSON document of any size: its long lists are read element by element, the rest (the head) as one tree.
//! A document that breaks off still gives its head and every whole element before the damage.

use super::json::Node;
use super::limits::{MAX_HEAD_BYTES, MAX_VALUE_BYTES};
use super::out::Halt;
use super::parse::{Flaws, decode, parse};
use super::rows::Row;
use super::scan::{Lost, Scanner};
use super::source::Source;
use crate::domain::SourceSpan;
use std::io::Read;

/// A long list: where it begins.
#[derive(Debug, Clone)]
pub(crate) struct LongList {
    /// Which pattern it matched.
    pub(crate) pattern: usize,
    /// Places in the lists above it, outermost first.
    pub(crate) indices: Vec<u32>,
    /// How many elements stand whole in it.
    pub(crate) count: u64,
    offset: u64,
    line: u64,
}

/// A member of an object whose values are long: attachments by hash.
#[derive(Debug, Clone)]
pub(crate) struct LongMember {
    /// Places in the lists above it, outermost first.
    pub(crate) indices: Vec<u32>,
    /// Its key.
    pub(crate) key: String,
    /// Its value.
    pub(crate) span: SourceSpan,
}

/// A document whose head is read.
pub(crate) struct Document<'s> {
    source: &'s Source,
    head: String,
    /// Long lists in the order of the file.
    pub(crate) lists: Vec<LongList>,
    /// Members of long objects: where each value stands.
    pub(crate) members: Vec<LongMember>,
    /// The document breaks off, or its brackets do not match.
    pub(crate) damage: Option<(u64, String)>,
}

impl<'s> Document<'s> {
    /// Walks the document once. `patterns` name the long lists (and, with `{}` at the end, objects of long values), such as `messages` or `data.spans` or
    /// `resourceSpans.*.scopeSpans.*.spans`; the empty pattern is a document that is a list itself.
    pub(crate) fn open(source: &'s Source, patterns: &[&str]) -> Result<Self, Halt> {
        let patterns: Vec<Vec<&str>> = patterns.iter().map(|p| segments(p)).collect();
        let reader = source.reader(0).map_err(|e| Halt::file(e.to_string()))?;
        let mut walk = Walk {
            scanner: Scanner::new(reader, 0, 1),
            head: Vec::new(),
            lists: Vec::new(),
            members: Vec::new(),
            indices: Vec::new(),
        };
        let live: Vec<(usize, &[&str])> = patterns
            .iter()
            .enumerate()
            .map(|(i, p)| (i, p.as_slice()))
            .collect();
        let lost = walk.whole(&live).err();
        let damage = lost.map(|lost| (walk.scanner.line(), lost.to_string()));
        let head = String::from_utf8_lossy(&walk.head).into_owned();
        Ok(Self {
            source,
            head,
            lists: walk.lists,
            members: walk.members,
            damage,
        })
    }

    /// The document without its long lists.
    pub(crate) fn head(&self) -> Result<Node<'_>, Halt> {
        parse(&self.head, &mut Flaws::default())
            .map_err(|bad| Halt::file(format!("the document is not JSON: {}", bad.what)))
    }

    /// A text value at this place.
    pub(crate) fn text_at(&self, span: SourceSpan) -> Option<String> {
        let len = usize::try_from(span.len)
            .ok()
            .filter(|len| *len <= MAX_VALUE_BYTES)?;
        let bytes = self.source.read_at(span.offset, len).ok()?;
        let text = decode(&bytes, &mut Flaws::default()).into_owned();
        let node = parse(&text, &mut Flaws::default()).ok()?;
        node.text().map(str::to_owned)
    }

    /// Hands out the elements of one long list. An element that is no JSON comes as an error, and the walk goes on.
    pub(crate) fn each(
        &self,
        list: &LongList,
        mut take: impl FnMut(Result<Row<'_>, (SourceSpan, String)>, &mut Flaws) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let reader = self
            .source
            .reader(list.offset)
            .map_err(|e| Halt::file(e.to_string()))?;
        let mut scanner = Scanner::new(reader, list.offset, list.line);
        let mut buffer = Vec::new();
        let mut is_first = true;
        while next_element(&mut scanner, is_first).unwrap_or(false) {
            is_first = false;
            buffer.clear();
            let (offset, line) = (scanner.offset(), scanner.line());
            let lost = scanner.value(Some(&mut buffer), MAX_VALUE_BYTES).err();
            let span = SourceSpan {
                offset,
                len: scanner.offset() - offset,
                line,
            };
            let mut flaws = Flaws::default();
            match lost {
                None => element(&buffer, span, &mut flaws, &mut take)?,
                Some(Lost::TooLong) => take(Err((span, Lost::TooLong.to_string())), &mut flaws)?,
                // What broke the walk is told once, by `damage`.
                Some(Lost::Cut | Lost::Broken(_) | Lost::Io(_)) => return Ok(()),
            }
        }
        Ok(())
    }
}

fn element(
    buffer: &[u8],
    span: SourceSpan,
    flaws: &mut Flaws,
    take: &mut impl FnMut(Result<Row<'_>, (SourceSpan, String)>, &mut Flaws) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let text = decode(buffer, flaws);
    match parse(&text, flaws) {
        Ok(node) => take(
            Ok(Row {
                node: &node,
                text: &text,
                span,
            }),
            flaws,
        ),
        Err(bad) => {
            let reason = format!("not JSON at byte {}: {}", bad.at, bad.what);
            take(Err((span, reason)), flaws)
        }
    }
}

fn segments(pattern: &str) -> Vec<&str> {
    pattern.split('.').filter(|s| !s.is_empty()).collect()
}

/// Steps to the next element of a list whose opening bracket is behind us.
fn next_element<R: Read>(scanner: &mut Scanner<R>, is_first: bool) -> Result<bool, Lost> {
    match scanner.peek()? {
        None => Err(Lost::Cut),
        Some(b']') => {
            scanner.bump();
            Ok(false)
        }
        Some(b',') if !is_first => {
            scanner.bump();
            match scanner.peek()? {
                Some(b']') => {
                    scanner.bump();
                    Ok(false)
                }
                Some(_) => Ok(true),
                None => Err(Lost::Cut),
            }
        }
        Some(_) if is_first => Ok(true),
        Some(_) => Err(Lost::Broken("a comma or a closing bracket is missing")),
    }
}

struct Walk<R> {
    scanner: Scanner<R>,
    head: Vec<u8>,
    lists: Vec<LongList>,
    members: Vec<LongMember>,
    indices: Vec<u32>,
}

impl<R: Read> Walk<R> {
    fn whole(&mut self, live: &[(usize, &[&str])]) -> Result<(), Lost> {
        self.value(live)?;
        match self.scanner.peek()? {
            None => Ok(()),
            Some(_) => Err(Lost::Broken("more text after the document")),
        }
    }

    fn value(&mut self, live: &[(usize, &[&str])]) -> Result<(), Lost> {
        let first = self.scanner.peek()?;
        let ends_here = live.iter().find(|(_, rest)| rest.is_empty());
        match (first, ends_here) {
            (None, _) => Err(Lost::Cut),
            (Some(b'['), Some(&(pattern, _))) => self.long_list(pattern),
            (Some(b'['), None) if live.iter().any(|(_, rest)| rest.first() == Some(&"*")) => {
                self.list(live)
            }
            (Some(b'{'), _) if !live.is_empty() => self.object(live),
            _ => self.leaf(),
        }
    }

    fn leaf(&mut self) -> Result<(), Lost> {
        let before = self.head.len();
        let mut part = Vec::new();
        let result = self
            .scanner
            .value(Some(&mut part), MAX_HEAD_BYTES.saturating_sub(before));
        match result {
            Ok(()) => self.head.extend_from_slice(&part),
            // A member that is too long or broken off is left out; what stands before it remains.
            Err(_) => self.head.extend_from_slice(b"null"),
        }
        match result {
            Err(Lost::TooLong) => Ok(()),
            other => other,
        }
    }

    fn long_list(&mut self, pattern: usize) -> Result<(), Lost> {
        self.scanner.bump();
        self.head.extend_from_slice(b"[]");
        self.lists.push(LongList {
            pattern,
            indices: self.indices.clone(),
            count: 0,
            offset: self.scanner.offset(),
            line: self.scanner.line(),
        });
        let at = self.lists.len() - 1;
        let mut count = 0;
        while next_element(&mut self.scanner, count == 0)? {
            self.scanner.value(None, usize::MAX)?;
            count += 1;
            if let Some(list) = self.lists.get_mut(at) {
                list.count = count;
            }
        }
        Ok(())
    }

    fn list(&mut self, live: &[(usize, &[&str])]) -> Result<(), Lost> {
        self.scanner.bump();
        self.head.push(b'[');
        let result = self.elements(live);
        self.head.push(b']');
        result
    }

    fn elements(&mut self, live: &[(usize, &[&str])]) -> Result<(), Lost> {
        let inner = step_in(live, "*");
        let mut index = 0_u32;
        while next_element(&mut self.scanner, index == 0)? {
            if index > 0 {
                self.head.push(b',');
            }
            self.indices.push(index);
            let result = self.value(&inner);
            self.indices.pop();
            result?;
            index = index.saturating_add(1);
        }
        Ok(())
    }

    fn object(&mut self, live: &[(usize, &[&str])]) -> Result<(), Lost> {
        self.scanner.bump();
        self.head.push(b'{');
        let result = self.members(live);
        self.head.push(b'}');
        result
    }

    fn members(&mut self, live: &[(usize, &[&str])]) -> Result<(), Lost> {
        let mut is_first = true;
        loop {
            match self.scanner.peek()? {
                None => return Err(Lost::Cut),
                Some(b'}') => {
                    self.scanner.bump();
                    return Ok(());
                }
                Some(b',') if !is_first => {
                    self.scanner.bump();
                    if self.scanner.peek()? == Some(b'}') {
                        continue;
                    }
                }
                Some(_) if is_first => {}
                Some(_) => return Err(Lost::Broken("a comma or a closing bracket is missing")),
            }
            let mut key = Vec::new();
            if self.scanner.peek()? != Some(b'"') {
                return Err(Lost::Broken("a key must stand in quotes"));
            }
            self.scanner.value(Some(&mut key), MAX_HEAD_BYTES)?;
            if self.scanner.peek()? != Some(b':') {
                return Err(Lost::Broken("a colon is missing"));
            }
            self.scanner.bump();
            if !is_first {
                self.head.push(b',');
            }
            is_first = false;
            self.head.extend_from_slice(&key);
            self.head.push(b':');
            let name = String::from_utf8_lossy(&key);
            let inner = step_in(live, name.trim_matches('"'));
            if live.iter().any(|(_, rest)| *rest == ["{}"]) {
                self.long_member(name.trim_matches('"'))?;
                continue;
            }
            let before = self.head.len();
            let result = self.value(&inner);
            if self.head.len() == before {
                self.head.extend_from_slice(b"null");
            }
            result?;
        }
    }
}

impl<R: Read> Walk<R> {
    fn long_member(&mut self, key: &str) -> Result<(), Lost> {
        self.scanner.peek()?;
        let (offset, line) = (self.scanner.offset(), self.scanner.line());
        self.head.extend_from_slice(b"null");
        self.scanner.value(None, usize::MAX)?;
        self.members.push(LongMember {
            indices: self.indices.clone(),
            key: key.to_owned(),
            span: SourceSpan {
                offset,
                len: self.scanner.offset() - offset,
                line,
            },
        });
        Ok(())
    }
}

fn step_in<'p, 'q>(live: &[(usize, &'p [&'q str])], key: &str) -> Vec<(usize, &'p [&'q str])> {
    live.iter()
        .filter_map(|(i, rest)| match rest.split_first() {
            Some((first, rest)) if *first == key => Some((*i, rest)),
            _ => None,
        })
        .collect()
}
