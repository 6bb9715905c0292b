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
use super::source::Source;
use crate::domain::SourceSpan;

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

/// Hands out every row that is JSON.
pub(crate) fn each_row<'s>(
    out: &mut Out<'s>,
    source: &Source,
    shape: Shape,
    mut take: impl FnMut(&mut Out<'s>, &Row<'_>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    match shape {
        Shape::Lines => each_line(out, source, take),
        _ => {
            let document = Document::open(source, &[""])?;
            each_part(out, source, &document, &mut take)
        }
    }
}

fn each_line<'s>(
    out: &mut Out<'s>,
    source: &Source,
    mut take: impl FnMut(&mut Out<'s>, &Row<'_>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let mut lines = Lines::new(source).map_err(|e| Halt::file(e.to_string()))?;
    while let Some(line) = lines.next().map_err(|e| Halt::file(e.to_string()))? {
        out.advance(line.len + u64::from(line.is_ended))?;
        if line.is_too_long() {
            out.skip(line.number, too_long(line.len))?;
        } else if !line.bytes.trim_ascii().is_empty() {
            one_line(out, line, &mut take)?;
        }
    }
    Ok(())
}

fn one_line<'s>(
    out: &mut Out<'s>,
    line: Line<'_>,
    take: &mut impl FnMut(&mut Out<'s>, &Row<'_>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let mut flaws = Flaws::default();
    let text = decode(line.bytes, &mut flaws);
    let span = SourceSpan {
        offset: line.offset,
        len: line.bytes.len() as u64,
        line: line.number,
    };
    match parse(&text, &mut flaws) {
        Ok(node) => {
            out.flaws(flaws);
            take(
                out,
                &Row {
                    node: &node,
                    text: &text,
                    span,
                },
            )
        }
        Err(bad) if bad.is_cut && !line.is_ended => out.skip(
            line.number,
            "the last line is incomplete: its writer was stopped, or is still writing",
        ),
        Err(bad) => out.skip(
            line.number,
            format!("not JSON at byte {}: {}", bad.at, bad.what),
        ),
    }
}

fn each_part<'s>(
    out: &mut Out<'s>,
    source: &Source,
    document: &Document<'_>,
    take: &mut impl FnMut(&mut Out<'s>, &Row<'_>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    out.advance(source.len())?;
    for list in &document.lists {
        each_element(out, document, list, take)?;
    }
    if document.lists.is_empty() {
        let head = document.head()?;
        let text = document.head_text();
        let span = SourceSpan {
            offset: 0,
            len: source.len(),
            line: 1,
        };
        take(
            out,
            &Row {
                node: &head,
                text,
                span,
            },
        )?;
    }
    tell_damage(out, document)
}

/// Hands out the elements of one long list; broken ones are told.
pub(crate) fn each_element<'s>(
    out: &mut Out<'s>,
    document: &Document<'_>,
    list: &LongList,
    take: &mut impl FnMut(&mut Out<'s>, &Row<'_>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    document.each(list, |element, flaws| match element {
        Ok(row) => {
            out.flaws(*flaws);
            take(out, &row)
        }
        Err((span, reason)) => out.skip(span.line, reason),
    })
}

/// Tells where a document breaks off.
pub(crate) fn tell_damage(out: &mut Out<'_>, document: &Document<'_>) -> Result<(), Halt> {
    match &document.damage {
        None => Ok(()),
        Some((line, reason)) => out.skip(
            *line,
            format!("{reason}; what stands before is kept, what stands behind is not read"),
        ),
    }
}

fn too_long(len: u64) -> String {
    format!("the line has {len} bytes, more than the limit of {MAX_VALUE_BYTES}")
}

/// Hands out the messages of one long list to a run that has begun; broken ones are told.
pub(crate) fn each_message<'o, 's>(
    run: &mut Run<'o, 's>,
    document: &Document<'_>,
    list: &LongList,
    mut take: impl FnMut(&mut Run<'o, 's>, &Row<'_>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    document.each(list, |element, flaws| match element {
        Ok(row) => {
            run.out.flaws(*flaws);
            take(run, &row)
        }
        Err((span, reason)) => run.out.skip(span.line, reason),
    })
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
