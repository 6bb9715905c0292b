//! What came of one unit: how much was read, what was not, what the file does not tell.

use crate::domain::Skip;
use serde::Serialize;
use std::collections::BTreeMap;

/// What came of one file or folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// File or folder, as the user named it.
    pub file: String,
    /// Format it was read as; `None` = nobody recognised it.
    pub format: Option<String>,
    /// Why that format.
    pub reason: String,
    /// Remarks that are not failures: read together with another file, tool set not in the file, …
    pub notes: Vec<String>,
    /// Bytes read, unpacked.
    pub bytes: u64,
    /// Runs that began.
    pub runs: u64,
    /// Steps of all runs.
    pub steps: u64,
    /// Calls of all runs.
    pub calls: u64,
    /// Rewards of all runs.
    pub rewards: u64,
    /// Labels of others.
    pub labels: u64,
    /// Reports of one inference beyond the first (S-21).
    pub repeated: u64,
    /// What could not be read, by name; bounded.
    pub skipped: Vec<Skip>,
    /// How much could not be read in all.
    pub skips: u64,
    /// Row types and fields that are not understood, with how often.
    pub not_understood: BTreeMap<String, u64>,
    /// What a call or a run should tell and this file does not, with how often (S-17).
    pub missing: BTreeMap<String, u64>,
    /// The reader was asked to stop before the end.
    pub stopped: bool,
}
