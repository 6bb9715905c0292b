//! Gathers what an export reads, run by run and pair by pair, and hands it to the export room.
//!
//! Which rows may leave is that room's word; this one only reads the workspace in an order that never changes.

mod gather;
mod model;

pub use model::ExportModel;

use super::JobError;
use crate::domain::{DecisionRecord, Filter, Progress, RunId};
use crate::export::{self, Bindings, Manifest, Options, Preview};
use crate::store::Store;
use std::path::Path;

/// What to export, beside the room's own options.
#[derive(Debug, Clone, Default)]
pub struct ExportChoice {
    /// Runs that pass, and pairs among them.
    pub filter: Filter,
    /// The filter as it was typed, for the manifest.
    pub filter_text: String,
    /// Versions that no row carries.
    pub bindings: Bindings,
}

/// Writes a set into a folder.
pub fn export(
    store: &Store,
    choice: &ExportChoice,
    options: &Options<'_>,
    out: &Path,
    progress: &Progress,
) -> Result<Manifest, JobError> {
    let read = Read::new(store, choice, options, progress)?;
    Ok(export::write(read.input(), options, out, progress)?)
}

/// Shows the first rows as they would be written, and what the manifest would say.
pub fn preview_export(
    store: &Store,
    choice: &ExportChoice,
    options: &Options<'_>,
    want: usize,
    progress: &Progress,
) -> Result<Preview, JobError> {
    let read = Read::new(store, choice, options, progress)?;
    Ok(export::preview(read.input(), options, want, progress)?)
}

/// What an export reads.
struct Read<'a> {
    facts: export::Facts,
    runs: Vec<RunId>,
    pairs: Vec<DecisionRecord>,
    source: gather::Source<'a>,
}

impl<'a> Read<'a> {
    fn new(
        store: &'a Store,
        choice: &ExportChoice,
        options: &Options<'_>,
        progress: &Progress,
    ) -> Result<Self, JobError> {
        let runs = gather::runs(store, &choice.filter)?;
        let pairs = gather::pairs(store, &runs)?;
        progress.set_total((runs.len() + pairs.len()) as u64);
        let by_document = options
            .split
            .as_ref()
            .is_some_and(|s| s.by == export::GroupBy::Document);
        Ok(Self {
            facts: gather::facts(store, &runs, choice, by_document)?,
            source: gather::Source::new(store)?,
            runs,
            pairs,
        })
    }

    fn input(&self) -> export::Input<'_> {
        export::Input {
            facts: self.facts.clone(),
            runs: Box::new(self.runs.iter().map(|run| self.source.run(run))),
            pairs: Box::new(
                self.pairs
                    .iter()
                    .map(|record| self.source.pair(record.clone())),
            ),
        }
    }
}
