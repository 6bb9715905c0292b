//! The record beside a set: what went in, what stayed out and why, and every version it is bound to (S-78).
//!
//! It holds no time and no machine, so that the same input gives the same bytes.

use super::coverage::Coverage;
use super::folder::FileRecord;
use super::leak::LeakReport;
use super::why::LeftOut;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A closed gate for the whole set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Block {
    /// Requirement or gate id.
    pub gate: &'static str,
    /// Measured value.
    pub value: String,
    /// What it should be.
    pub threshold: String,
    /// What to do.
    pub hint: String,
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            gate,
            value,
            threshold,
            hint,
        } = self;
        write!(f, "{value} (needs {threshold}; rule {gate}); {hint}")
    }
}

/// One binding: the versions that the rows carry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Bound {
    /// Every value.
    pub values: BTreeSet<String>,
    /// Rows (or runs) that carry none.
    pub missing: u64,
    /// Why it does not matter here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_applicable: Option<&'static str>,
}

impl Bound {
    /// A value for the whole set.
    pub(crate) fn given(value: Option<&String>) -> Self {
        Self {
            values: value.into_iter().cloned().collect(),
            missing: u64::from(value.is_none()),
            not_applicable: None,
        }
    }

    /// A binding that does not matter here.
    pub(crate) fn none(why: &'static str) -> Self {
        Self {
            not_applicable: Some(why),
            ..Self::default()
        }
    }

    /// Counts a row.
    pub(crate) fn add(&mut self, value: Option<String>) {
        match value {
            Some(value) => {
                self.values.insert(value);
            }
            None => self.missing += 1,
        }
    }

    /// Known for every row.
    pub fn is_bound(&self) -> bool {
        self.not_applicable.is_some() || (self.missing == 0 && !self.values.is_empty())
    }
}

/// What somebody decided to put a placeholder for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, PartialOrd, Ord)]
pub struct Redacted {
    /// The finding.
    pub finding: String,
    /// Its rule.
    pub rule: String,
    /// The run.
    pub run: String,
    /// What stands there now.
    pub placeholder: String,
}

/// How rows were made from calls (S-24, S-27, S-28).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Units {
    /// `one decision a row`, `one conversation a row, cut where the context was rewritten`, …
    pub rows: &'static str,
    /// Which attempts may enter.
    pub attempts: &'static str,
    /// What an advantage belongs to, where there is one.
    pub advantage: &'static str,
    /// What the loss is averaged over, as the named trainer does by default.
    pub loss: &'static str,
    /// Runs with exact token ids for every call.
    pub runs_with_token_ids: u64,
    /// Runs of which only the text was stored: the original generation is not recoverable (S-26).
    pub runs_with_text_only: u64,
    /// Calls that did not continue the tokens before them (S-25).
    pub prefix_breaks: u64,
}

impl Units {
    /// How far the original generation is known, in words (S-25, S-26).
    pub fn generation(&self) -> Option<String> {
        let (exact, text, breaks) = (
            self.runs_with_token_ids,
            self.runs_with_text_only,
            self.prefix_breaks,
        );
        if exact + text == 0 {
            return None;
        }
        let mut told = format!("exact token ids: {exact} runs");
        if text > 0 {
            told += &format!(
                "; only text was stored of {text} runs: original generation not recoverable, behaviour log-probs stay empty"
            );
        }
        if breaks > 0 {
            told += &format!(
                "; {breaks} calls did not continue the tokens before them and start rows of their own"
            );
        }
        Some(told)
    }
}

/// The record beside a set.
#[derive(Debug, Clone, Serialize)]
pub struct Manifest {
    /// Program version.
    pub triagent: &'static str,
    /// The consumer.
    pub format: &'static str,
    /// What it teaches.
    pub method: &'static str,
    /// How a supervised row looks.
    pub shape: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// Nothing blocks it and nothing is missing (S-78).
    pub acceptable_for_training: bool,
    /// Gates that are closed; only a draft has any.
    pub blocked: Vec<Block>,
    /// Bindings that are missing.
    pub missing_bindings: Vec<&'static str>,
    /// What a person should know.
    pub warnings: Vec<String>,
    /// What the trainer must be told.
    pub trainer_settings: BTreeMap<&'static str, String>,
    /// Rows on each side.
    pub rows: BTreeMap<&'static str, u64>,
    /// What was read.
    pub read: BTreeMap<&'static str, u64>,
    /// Every file with its hash.
    pub files: Vec<FileRecord>,
    /// The filter as typed.
    pub filter: String,
    /// How rows were held out.
    pub split: Value,
    /// Leak check across the split.
    pub leaks: LeakReport,
    /// Every version it is bound to.
    pub bindings: BTreeMap<&'static str, Bound>,
    /// How rows were made.
    pub units: Units,
    /// What it covers.
    pub coverage: Coverage,
    /// Agreement of the reviewers.
    pub agreement: Value,
    /// Advice of the cohorts.
    pub advice: BTreeMap<String, String>,
    /// SHA-256 of the workspace's decisions.
    pub decisions_sha256: Option<String>,
    /// What the user chose: attempts that may enter (S-24), reasoning, undecided findings.
    pub choices: BTreeMap<&'static str, &'static str>,
    /// Numbers that decided.
    pub limits: Value,
    /// What left as a placeholder.
    pub redacted: BTreeSet<Redacted>,
    /// Left-out rows by reason.
    pub left_out_by_reason: BTreeMap<&'static str, u64>,
    /// Every left-out row.
    pub left_out: Vec<LeftOut>,
}
