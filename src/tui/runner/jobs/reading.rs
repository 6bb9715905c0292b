//! Reading logs, and telling in one line what came of it.

use super::Said;
use crate::domain::{Progress, Skip};
use crate::jobs::{ImportOptions, ImportTotals, JobError, import};
use crate::store::Store;
use crate::text::plural;
use crate::tui::work::Order;
use std::path::{Path, PathBuf};

/// Reads logs into the workspace, which is made where there is none.
pub(super) fn read_logs(
    path: &Path,
    paths: &[PathBuf],
    now_us: i64,
    progress: &Progress,
) -> Result<Said, JobError> {
    let is_new = !path.is_file();
    let mut store = Store::create(path)?;
    let options = ImportOptions::default();
    let mut first = None;
    let totals = import(
        &mut store,
        paths,
        &options,
        now_us,
        progress,
        &mut |report| {
            if first.is_none() {
                first = report.skipped.first().cloned();
            }
        },
    )?;
    Ok(Said {
        warns: is_empty(&totals) || totals.skips > 0,
        line: told(&totals, first.as_ref()),
        open: is_new.then(|| path.to_owned()),
        then: Some(Order::Index),
    })
}

/// A reason whose hint can be followed here: an option is one of the command line.
fn of_screen(reason: &str) -> String {
    const OPTION: &str = "`--format` names one";
    reason.replace(
        OPTION,
        "`triagent import --format F PATH` in a shell names one",
    )
}

fn is_empty(totals: &ImportTotals) -> bool {
    totals.read == 0 && totals.unchanged == 0
}

/// Import tells all: read, stored, duplicate, skipped and why.
fn told(totals: &ImportTotals, first: Option<&Skip>) -> String {
    let why = first.map(|skip| match skip.line {
        0 => format!("{}: {}", skip.file, of_screen(&skip.reason)),
        line => format!("{}:{line}: {}", skip.file, of_screen(&skip.reason)),
    });
    if is_empty(totals) {
        let why = why.unwrap_or_else(|| "no log lies there".to_owned());
        return format!("nothing was read. {why}");
    }
    let mut line = format!("{} read, {} new", plural(totals.read, "run"), totals.stored);
    for (count, word) in [
        (totals.renewed, "renewed"),
        (totals.duplicates, "known already"),
    ] {
        if count > 0 {
            line.push_str(&format!(", {count} {word}"));
        }
    }
    if totals.unchanged > 0 {
        line.push_str(&format!(", {} unchanged", plural(totals.unchanged, "file")));
    }
    if let Some(why) = why {
        let more = format!(
            "; {} not readable, first: {why} (`triagent import` lists them)",
            totals.skips
        );
        line.push_str(&more);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_that_read_nothing_is_no_success_and_says_why() {
        let skip = Skip {
            file: "a.txt".into(),
            line: 0,
            reason: "no log format fits".into(),
        };
        let nothing = ImportTotals {
            units: 1,
            skips: 1,
            ..ImportTotals::default()
        };
        assert!(is_empty(&nothing));
        assert_eq!(
            told(&nothing, Some(&skip)),
            "nothing was read. a.txt: no log format fits"
        );
        let known = ImportTotals {
            units: 1,
            unchanged: 1,
            ..ImportTotals::default()
        };
        assert!(!is_empty(&known));
        assert_eq!(told(&known, None), "0 runs read, 0 new, 1 file unchanged");
    }
}
