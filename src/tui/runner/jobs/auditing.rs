//! Showing a hack suite to a grader, as `triagent rewards audit` does.

use super::{Outcome, Said};
use crate::domain::Progress;
use crate::jobs::{self, AuditOptions};
use crate::sandbox::Limits;
use crate::store::Store;
use crate::text::plural;
use crate::triage::parse_filter;
use std::path::Path;

/// What to audit, as typed.
pub(super) struct Typed<'a> {
    /// Name, file or command.
    pub(super) grader: &'a [String],
    /// The name, and version, that the logs give it.
    pub(super) stands_for: Option<&'a str>,
    /// The suite is made of these runs.
    pub(super) filter: &'a str,
    /// Who `me` is.
    pub(super) reviewer: &'a str,
}

/// Audits the graders that were meant; the last one's verdict is the line.
pub(super) fn audit(path: &Path, typed: &Typed<'_>, now_us: i64, progress: &Progress) -> Outcome {
    let text = |e: &dyn std::fmt::Display| e.to_string();
    let graders = jobs::asked_graders(typed.grader, Limits::default()).map_err(|e| text(&e))?;
    let (name, version) = match typed.stands_for.map(|s| s.split_once('@').ok_or(s)) {
        None => (None, None),
        Some(Err(name)) => (Some(name.to_owned()), None),
        Some(Ok((name, version))) => (Some(name.to_owned()), Some(version.to_owned())),
    };
    if name.is_some() && graders.len() > 1 {
        return Err(
            "as: names one grader, and the file holds several; FILE.toml#NAME takes one".to_owned(),
        );
    }
    let options = AuditOptions {
        filter: parse_filter(typed.filter, Some(typed.reviewer)).map_err(|e| text(&e))?,
        stands_for: name,
        version,
    };
    let mut store = Store::open(path).map_err(|e| text(&e))?;
    let (mut lines, mut warns) = (Vec::new(), false);
    for grader in &graders {
        let found = jobs::audit_grader(&mut store, grader, &options, now_us, progress)
            .map_err(|e| text(&e))?;
        let report = &found.report;
        warns |= report.fooled > 0 || report.refused > 0 || report.errors > 0;
        lines.push((report.grader.clone(), report.words.clone()));
    }
    let line = match lines.as_slice() {
        [(_, words)] => words.clone(),
        many => format!(
            "{} audited; the list says what came of it",
            plural(many.len() as u64, "grader")
        ),
    };
    Ok(Said {
        line,
        open: None,
        then: None,
        warns,
    })
}
