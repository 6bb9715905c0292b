//! Rows of a file, however they are written: one object a line, elements of a list, or one object alone.
//! A broken row is told and the next one read.

use super::detect::Shape;
use super::document::{Document, LongList};
use super::json::Node;
use super::limits::MAX_VALUE_BYTES;
use super::lines::{Line, Lines};
use super::out::{Halt, Out};
use super::parse::{Flaws, decode, parse};
use super::run::Run;
use super::salvage::salvage;
use super::scan::{Lost, Scanner};
use super::source::Source;
use crate::domain::SourceSpan;

/// Whoever is being read into: the way out itself, or a run that has begun.
pub(crate) trait Way<'s> {
    /// The way out.
    fn out(&mut self) -> &mut Out<'s>;
}

impl<'s> Way<'s> for Out<'s> {
    fn out(&mut self) -> &mut Self {
        self
    }
}

impl<'s> Way<'s> for Run<'_, 's> {
    fn out(&mut self) -> &mut Out<'s> {
        self.out
    }
}

/// A row that is JSON.
#[derive(Clone, Copy)]
pub(crate) struct Row<'r> {
    /// Its tree.
    pub(crate) node: &'r Node<'r>,
    /// Its text, from the first bracket on; a node's places count in it.
    pub(crate) text: &'r str,
    /// Where it stands.
    pub(crate) span: SourceSpan,
}

/// Where the rows of a file stand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Layout {
    /// One a line.
    Lines,
    /// Objects one after the other, over any number of lines.
    Sequence,
    /// Elements of this long list; the empty name is the document itself.
    List(&'static str),
}

impl From<Shape> for Layout {
    fn from(shape: Shape) -> Self {
        match shape {
            Shape::Lines => Self::Lines,
            Shape::List => Self::List(""),
            _ => Self::Sequence,
        }
    }
}

/// Hands out every row that is JSON.
pub(crate) fn each_row<'s, W: Way<'s>>(
    way: &mut W,
    source: &Source,
    layout: impl Into<Layout>,
    mut take: impl FnMut(&mut W, &Row<'_>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    match layout.into() {
        Layout::Lines => each_line(way, source, take),
        Layout::Sequence => each_in_sequence(way, source, &mut take),
        Layout::List(name) => {
            way.out().advance(source.len())?;
            let document = Document::open(source, &[name])?;
            for list in &document.lists {
                each_element(way, &document, list, &mut take)?;
            }
            tell_damage(way.out(), &document)
        }
    }
}

fn each_in_sequence<'s, W: Way<'s>>(
    way: &mut W,
    source: &Source,
    take: &mut impl FnMut(&mut W, &Row<'_>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let reader = source.reader(0).map_err(|e| Halt::file(e.to_string()))?;
    let mut scanner = Scanner::new(reader, 0, 1);
    let mut buffer = Vec::new();
    let broken = |error: std::io::Error| Halt::file(error.to_string());
    while let Some(first) = scanner.peek().map_err(broken)? {
        if first == b',' {
            scanner.bump();
            continue;
        }
        let (offset, line) = (scanner.offset(), scanner.line());
        buffer.clear();
        let lost = scanner.value(Some(&mut buffer), MAX_VALUE_BYTES);
        let len = scanner.offset() - offset;
        way.out().advance(len)?;
        match lost {
            Ok(()) => one_document(way, place(offset, line, &buffer), take)?,
            Err(Lost::TooLong) => way.out().skip(line, too_long(len))?,
            // Whoever is reading may be in the middle of a run, which still has to end.
            Err(lost) => {
                rest_of(way, place(offset, line, &buffer), take)?;
                let line = scanner.line();
                return way.out().skip(line, behind(&lost.to_string()));
            }
        }
    }
    Ok(())
}

fn place(offset: u64, number: u64, bytes: &[u8]) -> Line<'_> {
    Line {
        offset,
        number,
        bytes,
        len: bytes.len() as u64,
        is_ended: true,
    }
}

/// A value whose brackets match. One that is no JSON inside still gives what stands before the damage.
fn one_document<'s, W: Way<'s>>(
    way: &mut W,
    line: Line<'_>,
    take: &mut impl FnMut(&mut W, &Row<'_>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let mut flaws = Flaws::default();
    let text = decode(line.bytes, &mut flaws);
    let bad = match parse(&text, &mut flaws) {
        Ok(node) => return hand_out(way, &node, &text, &line, flaws, take),
        Err(bad) => bad,
    };
    let before = text.as_bytes().get(..bad.at).unwrap_or_default();
    let newlines = memchr::memchr_iter(b'\n', before).count() as u64;
    rest_of(way, place(line.offset, line.number, before), take)?;
    let reason = format!("not JSON at byte {}: {}", bad.at, bad.what);
    way.out().skip(line.number + newlines, reason)
}

fn hand_out<'s, W: Way<'s>>(
    way: &mut W,
    node: &Node<'_>,
    text: &str,
    line: &Line<'_>,
    flaws: Flaws,
    take: &mut impl FnMut(&mut W, &Row<'_>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    way.out().flaws(flaws);
    let span = SourceSpan {
        offset: line.offset,
        len: line.bytes.len() as u64,
        line: line.number,
    };
    take(way, &Row { node, text, span })
}

/// Hands out what is left of a document that breaks off.
fn rest_of<'s, W: Way<'s>>(
    way: &mut W,
    line: Line<'_>,
    take: &mut impl FnMut(&mut W, &Row<'_>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let mut flaws = Flaws::default();
    let Some(rest) = salvage(line.bytes) else {
        return Ok(());
    };
    let text = decode(&rest, &mut flaws);
    let Ok(node) = parse(&text, &mut flaws) else {
        return Ok(());
    };
    if node.members().is_empty() && node.items().is_empty() {
        return Ok(());
    }
    hand_out(way, &node, &text, &line, flaws, take)
}

fn each_line<'s, W: Way<'s>>(
    way: &mut W,
    source: &Source,
    mut take: impl FnMut(&mut W, &Row<'_>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let mut lines = Lines::new(source).map_err(|e| Halt::file(e.to_string()))?;
    while let Some(line) = lines.next().map_err(|e| Halt::file(e.to_string()))? {
        way.out().advance(line.len + u64::from(line.is_ended))?;
        if line.is_too_long() {
            way.out().skip(line.number, too_long(line.len))?;
        } else if !line.bytes.trim_ascii().is_empty() {
            one_line(way, line, &mut take)?;
        }
    }
    Ok(())
}

fn one_line<'s, W: Way<'s>>(
    way: &mut W,
    line: Line<'_>,
    take: &mut impl FnMut(&mut W, &Row<'_>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let mut flaws = Flaws::default();
    let text = decode(line.bytes, &mut flaws);
    match parse(&text, &mut flaws) {
        Ok(node) => hand_out(way, &node, &text, &line, flaws, take),
        Err(bad) if bad.is_cut && !line.is_ended => way.out().skip(
            line.number,
            "the last line is incomplete: its writer was stopped, or is still writing",
        ),
        Err(bad) => way.out().skip(
            line.number,
            format!("not JSON at byte {}: {}", bad.at, bad.what),
        ),
    }
}

/// Hands out the elements of one long list; broken ones are told.
pub(crate) fn each_element<'s, W: Way<'s>>(
    way: &mut W,
    document: &Document<'_>,
    list: &LongList,
    take: &mut impl FnMut(&mut W, &Row<'_>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    document.each(list, |element, flaws| match element {
        Ok(row) => {
            way.out().flaws(*flaws);
            take(way, &row)
        }
        Err((span, reason)) => way.out().skip(span.line, reason),
    })
}

/// Tells where a document breaks off.
pub(crate) fn tell_damage(out: &mut Out<'_>, document: &Document<'_>) -> Result<(), Halt> {
    match &document.damage {
        None => Ok(()),
        Some((line, reason)) => out.skip(*line, behind(reason)),
    }
}

fn behind(reason: &str) -> String {
    format!("{reason}; what stands before is kept, what stands behind is not read")
}

fn too_long(len: u64) -> String {
    format!("{len} bytes at once, more than the limit of {MAX_VALUE_BYTES}")
}

/// Texts of the first elements of a list: what a name is made from, so that a file that grows keeps it.
pub(crate) fn opening(document: &Document<'_>, list: &LongList, count: usize) -> Vec<String> {
    let mut texts = Vec::new();
    let stopped = document.each(list, |element, _| {
        if let Ok(row) = element {
            texts.push(row.text.to_owned());
        }
        if texts.len() < count {
            Ok(())
        } else {
            Err(Halt::Stopped)
        }
    });
    // Stopping early is what we asked for.
    drop(stopped);
    texts
}
