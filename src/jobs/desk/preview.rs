//! What an export would write: its first rows, and what its manifest would say.

use super::pages::Preview;
use super::reply::Answer;
use crate::domain::Progress;
use crate::export::{self, Format, Manifest, Options, PreviewRow};
use crate::jobs::{ExportChoice, ExportModel, JobError, preview_export};
use crate::store::Store;
use crate::triage::parse_filter;
use std::path::Path;

/// Rows that a preview shows.
const ROWS: usize = 3;

/// Previews one format. `model` names files whose tokens are shown; anything else shows messages.
pub(super) fn preview(
    store: &Store,
    format: &str,
    (filter, reviewer): (&str, &str),
    model: &str,
    progress: &Progress,
) -> Result<Answer, JobError> {
    let Some(consumer) = Format::from_word(format) else {
        return Ok(Answer::failed(
            "previewing the export",
            &"no format has this name",
        ));
    };
    let parsed = match parse_filter(filter, Some(reviewer)) {
        Ok(parsed) => parsed,
        Err(error) => return Ok(Answer::failed("previewing the export", &error)),
    };
    let model = ExportModel::open(Some(model).filter(|path| Path::new(path).exists()))?;
    let choice = ExportChoice {
        filter: parsed,
        filter_text: filter.to_owned(),
        bindings: model.bindings(None)?,
    };
    let shown = model.judging(Options::new(consumer), true, |options| {
        preview_export(store, &choice, options, ROWS, progress)
    })?;
    let export::Preview { rows, manifest } = shown;
    Ok(Answer::Preview(Box::new(told(&manifest, rows))))
}

fn told(manifest: &Manifest, first: Vec<PreviewRow>) -> Preview {
    let example = |code: &str| {
        let first = manifest.left_out.iter().find(|row| row.code == code);
        first
            .map(|row| format!("{}: {}", row.subject, row.reason))
            .unwrap_or_default()
    };
    let cells = |of: &std::collections::BTreeMap<&'static str, usize>| {
        let told = of.iter().map(|(cell, n)| format!("{cell} {n}"));
        told.collect::<Vec<_>>().join(", ")
    };
    let matrix = manifest.coverage.matrix.iter();
    Preview {
        first,
        coverage: matrix.map(|(name, of)| (name.clone(), cells(of))).collect(),
        format: manifest.format.to_owned(),
        rows: manifest.rows.values().sum(),
        left_out: manifest
            .left_out_by_reason
            .iter()
            .map(|(code, count)| ((*code).to_owned(), *count, example(code)))
            .collect(),
        blocked: manifest.blocked.iter().map(ToString::to_string).collect(),
        warnings: manifest.warnings.clone(),
        missing: manifest
            .missing_bindings
            .iter()
            .map(|m| (*m).to_owned())
            .collect(),
    }
}
