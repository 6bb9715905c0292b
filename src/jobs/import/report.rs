//! What came of an import: one report a unit, and the sums.

use crate::domain::Skip;
use crate::import::FileReport;
use crate::store::IntakeCounts;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What came of one file or folder.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UnitReport {
    /// File or folder.
    pub file: String,
    /// Format it was read as.
    pub format: Option<String>,
    /// Why that format.
    pub reason: String,
    /// Runs read to their end.
    pub read: u64,
    /// New runs.
    pub stored: u64,
    /// Runs that were here already.
    pub duplicates: u64,
    /// Runs that were here and have grown.
    pub grown: u64,
    /// Runs whose steps were here and whose rewards or labels are new.
    pub updated: u64,
    /// The file has not changed since it was imported, so it was not opened.
    pub unchanged: bool,
    /// Steps read.
    pub steps: u64,
    /// Calls read.
    pub calls: u64,
    /// Rewards read.
    pub rewards: u64,
    /// Labels of others.
    pub labels: u64,
    /// Reports of one inference beyond the first.
    pub repeated: u64,
    /// Bytes read.
    pub bytes: u64,
    /// What could not be read.
    pub skipped: Vec<Skip>,
    /// How much could not be read in all.
    pub skips: u64,
    /// Row types and fields that are not understood.
    pub not_understood: BTreeMap<String, u64>,
    /// What the file does not tell, with how often.
    pub missing: BTreeMap<String, u64>,
    /// Remarks.
    pub notes: Vec<String>,
    /// Reading stopped before the end.
    pub stopped: bool,
}

/// Sums over all units.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportTotals {
    /// Files and folders.
    pub units: u64,
    /// Of these, unchanged since the last import.
    pub unchanged: u64,
    /// Runs read to their end.
    pub read: u64,
    /// New runs.
    pub stored: u64,
    /// Runs that were here already.
    pub duplicates: u64,
    /// Runs that have grown or got new rewards or labels.
    pub renewed: u64,
    /// What could not be read.
    pub skips: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes of step texts handed in.
    pub text_bytes: u64,
    /// Of these, bytes that were new.
    pub new_text_bytes: u64,
}

impl ImportTotals {
    pub(super) fn add(&mut self, report: &UnitReport) {
        self.units += 1;
        self.unchanged += u64::from(report.unchanged);
        self.read += report.read;
        self.stored += report.stored;
        self.duplicates += report.duplicates;
        self.renewed += report.grown + report.updated;
        self.skips += report.skips;
        self.bytes += report.bytes;
    }
}

/// Reports a path that could not even be opened.
pub(super) fn unread(skip: Skip) -> UnitReport {
    UnitReport {
        file: skip.file.clone(),
        reason: skip.reason.clone(),
        skips: 1,
        skipped: vec![skip],
        ..UnitReport::default()
    }
}

/// Joins what the reader saw with what the writer did.
pub(super) fn merge(report: FileReport, counts: &IntakeCounts) -> UnitReport {
    UnitReport {
        file: report.file,
        format: report.format,
        reason: report.reason,
        read: counts.read,
        stored: counts.stored,
        duplicates: counts.duplicates,
        grown: counts.grown,
        updated: counts.updated,
        unchanged: false,
        steps: report.steps,
        calls: report.calls,
        rewards: report.rewards,
        labels: report.labels,
        repeated: report.repeated,
        bytes: report.bytes,
        skipped: report.skipped,
        skips: report.skips,
        not_understood: report.not_understood,
        missing: report.missing,
        notes: report.notes,
        stopped: report.stopped,
    }
}
