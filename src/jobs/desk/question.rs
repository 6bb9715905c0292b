//! What the screen can ask, and what it gets.

use crate::domain::filter::Field;
use crate::domain::{
    Adopted, Decision, DecisionRecord, ForeignLabel, Owner, Reward, Rollout, RunId, Score, Task,
};
use crate::store::{FacetCount, RunRow, StepHead, Undone};
use crate::triage::FilterError;
use std::ops::Range;
use std::sync::Arc;

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// Which runs pass a filter, in its order?
    Listing {
        /// The filter as typed.
        filter: String,
        /// Who `me` is.
        reviewer: String,
    },
    /// What do these rows say?
    Rows(Vec<i64>),
    /// How many runs of a filter are there by each value?
    Facets {
        /// The filter as typed.
        filter: String,
        /// Who `me` is.
        reviewer: String,
    },
    /// Which runs did this reviewer label?
    Mine(String),
    /// All about one run but its steps.
    Run {
        /// Which.
        run: RunId,
        /// Whose drafts and verdict.
        reviewer: String,
    },
    /// Where a run's turns and failures are.
    Outline(RunId),
    /// Steps, each with the beginning of its text.
    Heads {
        /// Which run.
        run: RunId,
        /// Which steps.
        range: Range<u32>,
    },
    /// Steps with as much text as is shown at once.
    Bodies {
        /// Which run.
        run: RunId,
        /// Which steps.
        range: Range<u32>,
    },
    /// The whole text of one step.
    Whole {
        /// Which run.
        run: RunId,
        /// Which step.
        step: u32,
    },
    /// One step with everything it holds, as JSON.
    StepJson {
        /// Which run.
        run: RunId,
        /// Which step.
        step: u32,
    },
    /// Writes decisions down; several are undone as one.
    Decide {
        /// Who decides.
        reviewer: String,
        /// When, microseconds UTC.
        now_us: i64,
        /// Codebook version.
        codebook: String,
        /// What.
        decisions: Vec<Decision>,
    },
    /// Takes the reviewer's last decision back.
    Undo {
        /// Whose.
        reviewer: String,
        /// When.
        now_us: i64,
    },
    /// Makes it again.
    Redo {
        /// Whose.
        reviewer: String,
        /// When.
        now_us: i64,
    },
    /// Keeps half-written words.
    KeepDraft {
        /// Whose.
        reviewer: String,
        /// About what.
        subject: String,
        /// The words; empty forgets them.
        text: String,
        /// When.
        now_us: i64,
    },
    /// Finds words in all runs.
    Search(String),
    /// Finds words in one run.
    SearchRun {
        /// Which run.
        run: RunId,
        /// What.
        words: String,
    },
    /// Finds runs by a few letters of name, task or family.
    Jump(String),
}

/// What a question gets. Every answer says what it answers.
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
    /// The whole text of a step, its secrets marked.
    Whole {
        /// Which run.
        run: RunId,
        /// Which step.
        step: u32,
        /// The text.
        text: Arc<str>,
        /// Where secrets stand in it.
        secrets: Vec<Range<usize>>,
    },
    /// A step as JSON.
    StepJson(String),
    /// Decisions that are on the disk.
    Decided(Vec<DecisionRecord>),
    /// What was taken back.
    Undone(Undone),
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
    /// It did not work.
    Failed {
        /// What was tried.
        what: &'static str,
        /// Why not.
        error: String,
    },
}

/// Runs that pass a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The filter as typed.
    pub filter: String,
    /// Row keys in order.
    pub seqs: Vec<i64>,
    /// Runs in the workspace.
    pub total: u64,
}

/// All about one run but its steps.
#[derive(Debug, Clone)]
pub struct RunPage {
    /// Its row.
    pub row: RunRow,
    /// Its head.
    pub rollout: Rollout,
    /// Its task, where the list has it.
    pub task: Option<Task>,
    /// Its calls, without their tokens.
    pub calls: Vec<CallHead>,
    /// Its rewards.
    pub rewards: Vec<Reward>,
    /// Labels that came with the file.
    pub labels: Vec<ForeignLabel>,
    /// Live verdicts of all reviewers, oldest first.
    pub verdicts: Vec<DecisionRecord>,
    /// Live notes.
    pub notes: Vec<DecisionRecord>,
    /// Scores of its steps.
    pub scores: Vec<Score>,
    /// The reviewer's half-written note.
    pub draft: Option<String>,
    /// Number of steps.
    pub steps: u32,
}

/// A call without its tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct CallHead {
    /// The call; token lists are emptied.
    pub call: crate::domain::Call,
    /// Prompt tokens logged.
    pub prompt_tokens: Option<usize>,
    /// Generated tokens logged.
    pub completion_tokens: Option<usize>,
    /// Behaviour log-probs logged.
    pub has_logprobs: bool,
}

impl CallHead {
    /// Drops what is long.
    pub fn of(mut call: crate::domain::Call) -> Self {
        Self {
            prompt_tokens: call.prompt_token_ids.take().map(|t| t.len()),
            completion_tokens: call.completion_token_ids.take().map(|t| t.len()),
            has_logprobs: call.logprobs.take().is_some(),
            call,
        }
    }

    /// The harness went on with it.
    pub fn is_adopted(&self) -> bool {
        self.call.adopted == Adopted::Yes
    }
}

/// Where a run's turns and failures are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// Which run.
    pub run: RunId,
    /// Steps whose tool failed.
    pub failed: Vec<u32>,
    /// First step of each model decision.
    pub turns: Vec<u32>,
    /// Who wrote each step.
    pub owners: Vec<Owner>,
}

/// Steps with their text.
#[derive(Debug, Clone)]
pub struct Bodies {
    /// Which run.
    pub run: RunId,
    /// Which steps were asked for.
    pub range: Range<u32>,
    /// The steps; `preview` holds the text, cut at the display limit.
    pub steps: Vec<StepHead>,
    /// Where secrets stand in each text.
    pub secrets: Vec<Vec<Range<usize>>>,
}

/// A place where words were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundStep {
    /// Which run.
    pub run: RunId,
    /// Its row key.
    pub seq: i64,
    /// Which step.
    pub step: u32,
    /// Who wrote it.
    pub owner: Owner,
    /// The words with what stands around them.
    pub around: String,
}

/// A run to jump to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JumpRow {
    /// Row key.
    pub seq: i64,
    /// Which run.
    pub run: RunId,
    /// Its task and family, for the eye.
    pub about: String,
}

impl Ask {
    /// May take its time: the second thread answers.
    pub fn is_slow(&self) -> bool {
        matches!(
            self,
            Self::Facets { .. }
                | Self::Search(_)
                | Self::SearchRun { .. }
                | Self::Jump(_)
                | Self::Outline(_)
                | Self::Whole { .. }
        )
    }

    /// Makes an older question pointless.
    pub fn supersedes(&self, old: &Self) -> bool {
        match (self, old) {
            (Self::Listing { .. }, Self::Listing { .. })
            | (Self::Facets { .. }, Self::Facets { .. })
            | (Self::Mine(_), Self::Mine(_))
            | (Self::Search(_), Self::Search(_))
            | (Self::SearchRun { .. }, Self::SearchRun { .. })
            | (Self::Jump(_), Self::Jump(_)) => true,
            (Self::KeepDraft { subject: new, .. }, Self::KeepDraft { subject: old, .. }) => {
                new == old
            }
            _ => self == old && !self.writes(),
        }
    }

    fn writes(&self) -> bool {
        matches!(
            self,
            Self::Decide { .. } | Self::Undo { .. } | Self::Redo { .. } | Self::KeepDraft { .. }
        )
    }

    /// What it tries, in words.
    pub fn what(&self) -> &'static str {
        match self {
            Self::Listing { .. } => "listing runs",
            Self::Rows(_) => "reading rows",
            Self::Facets { .. } => "counting runs",
            Self::Mine(_) => "reading your labels",
            Self::Run { .. } => "opening the run",
            Self::Outline(_) => "reading the run's outline",
            Self::Heads { .. } | Self::Bodies { .. } => "reading steps",
            Self::Whole { .. } | Self::StepJson { .. } => "reading the step",
            Self::Decide { .. } => "saving",
            Self::Undo { .. } => "undoing",
            Self::Redo { .. } => "redoing",
            Self::KeepDraft { .. } => "keeping the draft",
            Self::Search(_) | Self::SearchRun { .. } => "searching",
            Self::Jump(_) => "looking for runs",
        }
    }
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
