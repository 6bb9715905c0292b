//! What an export would write: it is written as a draft into a scratch folder, read back and thrown away.

use super::pages::Preview;
use super::reply::Answer;
use crate::domain::Progress;
use crate::export::{Bindings, Format, Manifest, Options, Purpose};
use crate::jobs::{ExportChoice, JobError, export};
use crate::store::Store;
use crate::triage::parse_filter;
use std::path::{Path, PathBuf};

/// Rows that a preview shows.
const ROWS: usize = 3;

/// Previews one format.
pub(super) fn preview(
    store: &Store,
    format: &str,
    filter: &str,
    reviewer: &str,
    now_us: i64,
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
    let choice = ExportChoice {
        filter: parsed,
        filter_text: filter.to_owned(),
        bindings: Bindings::default(),
    };
    let options = Options {
        purpose: Purpose::Draft,
        ..Options::new(consumer)
    };
    let name = format!("triagent-preview-{}-{now_us}", std::process::id());
    let scratch = Scratch(std::env::temp_dir().join(name));
    let manifest = export(store, &choice, &options, &scratch.0, &Progress::default())?;
    Ok(Answer::Preview(Box::new(told(&manifest, &scratch.0))))
}

fn told(manifest: &Manifest, folder: &Path) -> Preview {
    let example = |code: &str| {
        let first = manifest.left_out.iter().find(|row| row.code == code);
        first
            .map(|row| format!("{}: {}", row.subject, row.reason))
            .unwrap_or_default()
    };
    Preview {
        format: manifest.format.to_owned(),
        rows: manifest.rows.values().sum(),
        first: first_rows(manifest, folder),
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

fn first_rows(manifest: &Manifest, folder: &Path) -> Vec<String> {
    let Some(file) = manifest.files.iter().find(|f| f.rows > 0) else {
        return Vec::new();
    };
    let text = std::fs::read_to_string(folder.join(&file.name)).unwrap_or_default();
    text.lines().take(ROWS).map(str::to_owned).collect()
}

/// A folder that goes away with the preview.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // A preview left in the system's temporary folder does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
