//! A decision: one row of the append-only log. Nothing is updated or deleted; undo appends.

use super::change::{Change, ChangeState};
use super::id::{DecisionId, RunId};
use super::pair::Pair;
use super::rollout::Outcome;
use super::verdict::{Pin, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a person decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body", rename_all = "snake_case")]
pub enum Decision {
    /// A label of a run.
    Verdict(Verdict),
    /// A comparison.
    Pair(Box<Pair>),
    /// Settles what reviewers labelled differently.
    Adjudication(Verdict),
    /// Pass or fail by a reviewer.
    Outcome {
        /// The run.
        run: RunId,
        /// Pass or fail.
        outcome: Outcome,
    },
    /// Free words on a run.
    Note {
        /// The run.
        run: RunId,
        /// The words.
        text: String,
    },
    /// A span quoted as evidence.
    Pin {
        /// The run.
        run: RunId,
        /// The span.
        pin: Pin,
    },
    /// A fact about a cohort that no log holds.
    Fact {
        /// The cohort's name.
        cohort: String,
        /// Which fact.
        fact: String,
        /// Its value.
        value: String,
        /// What shows it.
        evidence: String,
    },
    /// A thing that somebody changed.
    Change(Box<Change>),
    /// What became of a change, decided by a person.
    ChangeState {
        /// The change's short name.
        change: String,
        /// The entry that was looked at: a later entry under the same name is another change.
        entry: DecisionId,
        /// Accepted or rolled back.
        state: ChangeState,
        /// Why.
        reason: String,
    },
    /// What to do with a cleaning finding: keep, redact or drop.
    Finding {
        /// The finding's stable id.
        finding: String,
        /// `keep`, `redact` or `drop`.
        action: String,
        /// Why.
        reason: String,
    },
    /// A lead goes against the advice.
    Override {
        /// The cohort's name.
        cohort: String,
        /// What the lead decides instead.
        headline: String,
        /// Why.
        reason: String,
    },
    /// Anything a later room needs to record.
    Other {
        /// Its word.
        word: String,
        /// What it is about.
        subject: String,
        /// Its data.
        data: Value,
    },
}

impl Decision {
    /// What a person typed, as against names and what was picked from a list.
    pub fn words_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Verdict(verdict) | Self::Adjudication(verdict) => vec![&mut verdict.note],
            Self::Pair(pair) => pair
                .evidence
                .iter_mut()
                .chain(std::iter::once(&mut pair.reason))
                .collect(),
            Self::Note { text, .. } => vec![text],
            Self::Fact { evidence, .. } => vec![evidence],
            Self::Change(change) => vec![&mut change.claim],
            Self::ChangeState { reason, .. }
            | Self::Finding { reason, .. }
            | Self::Override { reason, .. } => vec![reason],
            Self::Outcome { .. } | Self::Pin { .. } | Self::Other { .. } => Vec::new(),
        }
    }

    /// The word in the log's `kind` column.
    pub fn kind(&self) -> &str {
        match self {
            Self::Verdict(_) => "verdict",
            Self::Pair(_) => "pair",
            Self::Adjudication(_) => "adjudication",
            Self::Outcome { .. } => "outcome",
            Self::Note { .. } => "note",
            Self::Pin { .. } => "pin",
            Self::Fact { .. } => "fact",
            Self::Change(_) => "change",
            Self::ChangeState { .. } => "change_state",
            Self::Finding { .. } => "finding",
            Self::Override { .. } => "override",
            Self::Other { .. } => "other",
        }
    }

    /// What it is about: a run, a pair's context, a cohort, a change.
    pub fn subject(&self) -> String {
        match self {
            Self::Verdict(v) | Self::Adjudication(v) => v.run.0.clone(),
            Self::Pair(p) => format!("{}|{}", p.a.at(), p.b.at()),
            Self::Outcome { run, .. } | Self::Note { run, .. } | Self::Pin { run, .. } => {
                run.0.clone()
            }
            Self::Fact { cohort, fact, .. } => format!("{cohort}|{fact}"),
            Self::Change(c) => c.id.clone(),
            Self::ChangeState { change, .. } => change.clone(),
            Self::Finding { finding, .. } => finding.clone(),
            Self::Override { cohort, .. } => cohort.clone(),
            Self::Other { subject, .. } => subject.clone(),
        }
    }
}

/// A row of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionRecord {
    /// UUIDv7.
    pub id: DecisionId,
    /// Who.
    pub reviewer: String,
    /// When, microseconds UTC.
    pub at_us: i64,
    /// What.
    pub decision: Decision,
    /// Codebook version that was in force.
    pub codebook: String,
    /// The reviewer's earlier decision on the same subject.
    pub replaces: Option<DecisionId>,
    /// Decisions of one batch are undone together.
    pub batch: Option<DecisionId>,
}
