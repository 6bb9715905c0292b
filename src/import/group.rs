//! Rows of several runs mixed in one file: a first walk notes which row belongs to which run, a second reads run by
//! run. Only places are held, so memory stays bounded.

use super::limits::MAX_VALUE_BYTES;
use super::mint::mint;
use super::out::{Halt, Out};
use super::parse::{Flaws, decode, parse};
use super::rows::{Layout, Row, each_row};
use super::source::Source;
use crate::domain::SourceSpan;
use std::collections::HashMap;

/// Places of rows by run, runs in the order of their first row.
#[derive(Default)]
pub(crate) struct Groups {
    order: Vec<(String, Vec<SourceSpan>)>,
    index: HashMap<String, usize>,
}

impl Groups {
    /// Walks all rows. `key` says whose a row is; `None` leaves it out.
    pub(crate) fn of<'s>(
        out: &mut Out<'s>,
        source: &Source,
        layout: impl Into<Layout>,
        mut key: impl FnMut(&mut Out<'s>, &Row<'_>) -> Result<Option<String>, Halt>,
    ) -> Result<Self, Halt> {
        let mut groups = Self::default();
        each_row(out, source, layout, |out, row| {
            if let Some(key) = key(out, row)? {
                groups.add(key, row.span);
            }
            Ok(())
        })?;
        Ok(groups)
    }

    fn add(&mut self, key: String, span: SourceSpan) {
        let place = *self.index.entry(key).or_insert_with_key(|key| {
            self.order.push((key.clone(), Vec::new()));
            self.order.len() - 1
        });
        if let Some((_, spans)) = self.order.get_mut(place) {
            spans.push(span);
        }
    }

    /// Runs and the places of their rows.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[SourceSpan])> {
        self.order
            .iter()
            .map(|(key, spans)| (key.as_str(), spans.as_slice()))
    }
}

/// Texts of the first rows: what a name is made from where the file has none.
pub(crate) fn opening(source: &Source, spans: &[SourceSpan], count: usize) -> String {
    let mut name = Vec::new();
    let first = spans.get(..count.min(spans.len())).unwrap_or_default();
    // A row that cannot be read again gives no name, and the walk over all rows will tell of it.
    let _ = replay(source, first, |row| {
        name.push(row.text.trim().to_owned());
        Ok(())
    });
    let parts: Vec<&str> = name.iter().map(String::as_str).collect();
    mint(&parts)
}

/// Reads rows again, in the order given.
pub(crate) fn replay(
    source: &Source,
    spans: &[SourceSpan],
    mut take: impl FnMut(&Row<'_>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let mut stretches = source.stretches().map_err(|e| Halt::file(e.to_string()))?;
    for &span in spans {
        let len = usize::try_from(span.len).unwrap_or(MAX_VALUE_BYTES);
        let bytes = stretches
            .read(span.offset, len)
            .map_err(|e| Halt::file(e.to_string()))?;
        let mut flaws = Flaws::default();
        let text = decode(bytes, &mut flaws);
        // The first walk has told what is broken.
        if let Ok(node) = parse(&text, &mut flaws) {
            take(&Row {
                node: &node,
                text: &text,
                span,
            })?;
        }
    }
    Ok(())
}
