//! Gathers what an export reads, run by run and pair by pair, and hands it to the export room.
//!
//! Which rows may leave is that room's word; this one only reads the workspace in an order that never changes.

mod gather;

use super::JobError;
use crate::domain::{Filter, Progress};
use crate::export::{self, Bindings, Manifest, Options};
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
    let runs = gather::runs(store, &choice.filter)?;
    let pairs = gather::pairs(store, &runs)?;
    progress.set_total((runs.len() + pairs.len()) as u64);
    let by_document = options
        .split
        .as_ref()
        .is_some_and(|s| s.by == export::GroupBy::Document);
    let facts = gather::facts(store, &runs, choice, by_document)?;
    let source = gather::Source::new(store)?;
    let input = export::Input {
        facts,
        runs: Box::new(runs.iter().map(|run| source.run(run))),
        pairs: Box::new(pairs.into_iter().map(|record| source.pair(record))),
    };
    Ok(export::write(input, options, out, progress)?)
}
