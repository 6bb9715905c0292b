//! The bytes that a run or a step was read from, as they stand in the user's file.

use super::JobError;
use crate::domain::{RunId, SourceSpan};
use crate::import::read_raw;
use crate::store::Store;
use std::path::Path;

/// More than this at once is not read; a run of a huge file is shown step by step.
const MAX_RAW_BYTES: u64 = 256 << 20;

/// Reads the source bytes of a run, or of one step of it.
pub fn raw_source(store: &Store, run: &RunId, step: Option<u32>) -> Result<Vec<u8>, JobError> {
    let head = store.rollout(run)?;
    let span = match step {
        None => head.span,
        Some(step) => store
            .steps_in(run, step..step.saturating_add(1))?
            .first()
            .map_or_else(SourceSpan::default, |s| s.source),
    };
    let fail = |why: String| JobError::Raw {
        file: head.source.clone(),
        why,
    };
    if span.len == 0 {
        return Err(fail(format!(
            "the {} format does not say where this stands (line {})",
            head.format, span.line
        )));
    }
    if span.len > MAX_RAW_BYTES {
        return Err(fail(format!(
            "{} bytes are too many to print at once",
            span.len
        )));
    }
    let member = head.extra.get("member").and_then(|m| m.as_str());
    read_raw(Path::new(&head.source), member, span).map_err(|e| fail(e.to_string()))
}
