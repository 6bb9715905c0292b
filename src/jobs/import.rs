//! Import: parser threads beside one writer.
//!
//! Units are read side by side and written one after the other, in the order in which they were found, so the same
//! folder always gives the same workspace. Memory stays bounded: a parser that is ahead waits for the writer.

mod report;
mod side;
mod work;

pub use report::{ImportTotals, UnitReport};

use super::JobError;
use crate::domain::Progress;
use crate::import;
use crate::store::{Intake, IntakeCounts, SourceMark, Store};
use crossbeam_channel::Receiver;
use report::{merge, unread};
use side::{Message, read_side_by_side};
use std::path::PathBuf;
use work::Work;

/// How to import.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Read everything as this format instead of looking at the content.
    pub format: Option<String>,
    /// Parser threads; 0 = by the number of cores.
    pub threads: usize,
    /// Read files again that have not changed since the last import.
    pub again: bool,
}

/// Imports paths into a workspace and tells `each` what came of every unit, in order.
pub fn import(
    store: &mut Store,
    paths: &[PathBuf],
    options: &ImportOptions,
    now_us: i64,
    progress: &Progress,
    each: &mut dyn FnMut(&UnitReport),
) -> Result<ImportTotals, JobError> {
    let mut totals = ImportTotals::default();
    let mut tell = |report: UnitReport| {
        totals.add(&report);
        each(&report);
    };
    let (work, unreadable) = plan(store, paths, options, &mut tell)?;
    progress.set_total(work.iter().map(|w| w.bytes).sum());
    unreadable.into_iter().for_each(&mut tell);
    let mut intake = store.intake(now_us)?;
    let (mut text_bytes, mut new_text_bytes) = (0, 0);
    let walked = read_side_by_side(&work, options, progress, |job, batches| {
        let (report, counts) = write_unit(&mut intake, job, batches)?;
        text_bytes += counts.bytes_in;
        new_text_bytes += counts.bytes_new;
        tell(report);
        Ok(())
    });
    // If the intake itself failed, it says here why; the walk only knows that it did.
    intake.finish()?;
    walked?;
    (totals.text_bytes, totals.new_text_bytes) = (text_bytes, new_text_bytes);
    Ok(totals)
}

/// Reads paths without a workspace: what would be found, and why.
pub fn try_import(
    paths: &[PathBuf],
    options: &ImportOptions,
    progress: &Progress,
    each: &mut dyn FnMut(&UnitReport),
) -> Result<ImportTotals, JobError> {
    let mut totals = ImportTotals::default();
    let mut tell = |report: UnitReport| {
        totals.add(&report);
        each(&report);
    };
    let found = import::discover(paths);
    found.skips.into_iter().map(unread).for_each(&mut tell);
    let work: Vec<Work> = found.units.into_iter().map(Work::new).collect();
    progress.set_total(work.iter().map(|w| w.bytes).sum());
    read_side_by_side(&work, options, progress, |_, batches| {
        for message in batches {
            if let Message::Done(report, read) = message {
                let counts = IntakeCounts {
                    read,
                    ..IntakeCounts::default()
                };
                tell(merge(*report, &counts));
            }
        }
        Ok(())
    })?;
    Ok(totals)
}

fn plan(
    store: &Store,
    paths: &[PathBuf],
    options: &ImportOptions,
    tell: &mut dyn FnMut(UnitReport),
) -> Result<(Vec<Work>, Vec<UnitReport>), JobError> {
    let found = import::discover(paths);
    let mut work = Vec::new();
    for unit in found.units {
        let job = Work::new(unit);
        match &job.mark {
            Some(mark)
                if !options.again && options.format.is_none() && store.is_unchanged(mark)? =>
            {
                tell(unchanged(store, mark)?);
            }
            _ => work.push(job),
        }
    }
    Ok((work, found.skips.into_iter().map(unread).collect()))
}

/// Reports a file that was not opened with what its last import told.
fn unchanged(store: &Store, mark: &SourceMark) -> Result<UnitReport, JobError> {
    let kept = store.source_report(&mark.path)?;
    let last: UnitReport = kept
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    Ok(UnitReport {
        file: mark.path.clone(),
        duplicates: last.read,
        stored: 0,
        grown: 0,
        updated: 0,
        unchanged: true,
        bytes: 0,
        ..last
    })
}

fn write_unit(
    intake: &mut Intake<'_>,
    job: &Work,
    batches: &Receiver<Message>,
) -> Result<(UnitReport, IntakeCounts), JobError> {
    for message in batches {
        match message {
            Message::Items(items) => {
                for item in items {
                    if intake.put_parcel(item).is_break() {
                        return Err(JobError::Cancelled);
                    }
                }
            }
            Message::Done(report, _) => {
                let counts = intake.take_counts();
                let report = merge(*report, &counts);
                remember(intake, job, &report)?;
                return Ok((report, counts));
            }
        }
    }
    Err(JobError::Died(format!(
        "reading {} ended without a report",
        job.unit.name
    )))
}

/// A file that was read to its end need not be opened again until it changes.
fn remember(intake: &mut Intake<'_>, job: &Work, report: &UnitReport) -> Result<(), JobError> {
    let (Some(mark), Some(format), false) = (&job.mark, &report.format, report.stopped) else {
        return Ok(());
    };
    let text = serde_json::to_string(report).unwrap_or_default();
    Ok(intake.mark_source(mark, format, &text)?)
}
