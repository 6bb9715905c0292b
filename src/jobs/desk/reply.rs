//! What a question gets. Every answer says what it answers, so a late one can be told.

use super::pages::{
    AgreementPage, Bodies, Findings, FoundStep, JumpRow, Listing, Outline, PairPage, PairRow,
    Preview, Queue, RewardPage, RunPage,
};
use crate::domain::filter::Field;
use crate::domain::{ChatMessage, DecisionRecord, RunId, StepRef, Verdict};
use crate::jobs::{CohortAdvice, Compared, LedgerEntry, Probe};
use crate::store::{FacetCount, RunRow, StepHead, Undone};
use crate::triage::{Card, Evidence, FilterError, PairProblem, Suggestion};
use std::ops::Range;
use std::sync::Arc;

/// An answer.
#[derive(Debug, Clone)]
pub enum Answer {
    /// Runs that pass.
    Listing(Listing),
    /// The filter cannot be read.
    BadFilter {
        /// As typed.
        filter: String,
        /// Why.
        error: FilterError,
    },
    /// Rows, those that still exist.
    Rows(Vec<RunRow>),
    /// Counts.
    Facets {
        /// The filter as typed.
        filter: String,
        /// Each facet with its values.
        facets: Vec<(Field, Vec<FacetCount>)>,
    },
    /// Runs that the reviewer labelled.
    Mine(Vec<i64>),
    /// A run.
    Run(Box<RunPage>),
    /// Where its turns and failures are.
    Outline(Outline),
    /// Steps of a run with the beginning of each text.
    Heads {
        /// Which run.
        run: RunId,
        /// Which steps were asked for.
        range: Range<u32>,
        /// Those there are.
        heads: Vec<StepHead>,
    },
    /// Steps of a run with their text.
    Bodies(Bodies),
    /// The whole text of a step, and masked.
    Whole {
        /// Which run.
        run: RunId,
        /// Which step.
        step: u32,
        /// The text.
        text: Arc<str>,
        /// The text with secrets masked, where it holds some.
        masked: Option<Arc<str>>,
    },
    /// A step as JSON.
    StepJson(String),
    /// Decisions that are on the disk.
    Decided(Vec<DecisionRecord>),
    /// What was taken back.
    Undone {
        /// The decisions.
        records: Undone,
        /// The reviewer's label that stands now, where one label was taken back.
        stands: Option<Box<Verdict>>,
    },
    /// What was made again.
    Redone(Undone),
    /// Half-written words are kept.
    Kept,
    /// A newer question made this one pointless.
    Dropped,
    /// Where words were found.
    Found {
        /// The words.
        words: String,
        /// Where, at most as many as a list shows.
        steps: Vec<FoundStep>,
        /// There are more.
        more: bool,
        /// Texts not yet in the index.
        behind: u64,
    },
    /// Where words were found in one run.
    FoundInRun {
        /// Which run.
        run: RunId,
        /// The words.
        words: String,
        /// Steps that hold them, with how often.
        hits: Vec<(u32, u32)>,
    },
    /// Runs to jump to.
    Jump {
        /// The letters.
        pattern: String,
        /// Best first.
        rows: Vec<JumpRow>,
    },
    /// What became of each required document.
    Evidence {
        /// Which run.
        run: RunId,
        /// The documents.
        evidence: Vec<Evidence>,
    },
    /// The machine's layer.
    Suggestion(Box<Suggestion>),
    /// A card.
    Card {
        /// Which run.
        run: RunId,
        /// The page.
        card: Box<Card>,
    },
    /// A decision of the model.
    Decision {
        /// Where.
        at: StepRef,
        /// What it says.
        message: Box<ChatMessage>,
        /// What the reviewer has half-written in its place.
        draft: Option<String>,
    },
    /// Pairs.
    Pairings(Vec<PairRow>),
    /// Two candidates.
    Pair(Box<PairPage>),
    /// The pair was not saved.
    PairRefused(Vec<PairProblem>),
    /// Two runs, aligned.
    Compared {
        /// First run.
        a: RunId,
        /// Second run.
        b: RunId,
        /// The difference.
        compared: Box<Compared>,
    },
    /// Advice, one a cohort.
    Advice(Vec<CohortAdvice>),
    /// Groups and audits.
    Rewards(Box<RewardPage>),
    /// What cleaning found.
    Findings(Box<Findings>),
    /// Agreement on runs.
    Agreement(Box<AgreementPage>),
    /// The ledger.
    Changes(Vec<LedgerEntry>),
    /// A run's probes, newest first.
    Probes {
        /// Which run.
        run: RunId,
        /// Its probes.
        probes: Vec<Probe>,
    },
    /// What the reviewer labels next.
    Queue(Queue),
    /// The source of a run or step, as it stands in the user's file.
    Source {
        /// Which.
        what: String,
        /// Its bytes, as text.
        text: String,
    },
    /// Name and filter of each saved filter.
    Queues(Vec<(String, String)>),
    /// What an export would write.
    Preview(Box<Preview>),
    /// It did not work.
    Failed {
        /// What was tried.
        what: &'static str,
        /// Why not.
        error: String,
    },
}

impl Answer {
    /// An answer that says why there is none.
    pub fn failed(what: &'static str, error: &dyn std::fmt::Display) -> Self {
        Self::Failed {
            what,
            error: error.to_string(),
        }
    }
}
