//! What the screen can ask.

use super::pages::PairWrite;
use crate::domain::{Decision, Layer, RunId, StepRef};
use crate::jobs::SideName;
use std::ops::Range;

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// Which runs pass a filter, in its order? At once: all, or where that takes long the first screen of them.
    FirstRuns {
        /// The filter as typed.
        filter: String,
        /// Who `me` is.
        reviewer: String,
    },
    /// Which runs pass a filter: all of them, in their time.
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
    /// Settles a run on which reviewers differ.
    Adjudicate {
        /// Which.
        run: RunId,
        /// As what.
        layer: Layer,
        /// Why; may be empty.
        note: String,
        /// Who settles it.
        reviewer: String,
        /// When, microseconds UTC.
        now_us: i64,
        /// Codebook version.
        codebook: String,
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
    /// What became of each required document of a run?
    Evidence(RunId),
    /// Which layer does the machine name?
    Suggest(RunId),
    /// One redacted page of a run.
    Card(RunId),
    /// What does the decision at a step say, and what has the reviewer half-written in its place?
    Decision {
        /// Where.
        at: StepRef,
        /// Whose draft.
        reviewer: String,
    },
    /// Which pairs are decided, and which are worth deciding?
    Pairings(String),
    /// Two candidates with everything that the screen shows.
    Pair {
        /// First candidate.
        a: SideName,
        /// Second candidate.
        b: SideName,
        /// Whose screen.
        reviewer: String,
        /// Decided before, and shown again as if it were new.
        again: bool,
    },
    /// Writes a pair down, unless something forbids it.
    SavePair(Box<PairWrite>),
    /// Two runs, aligned.
    Compare(RunId, RunId),
    /// Advice for every cohort.
    Advice {
        /// Thresholds that the settings change.
        overrides: toml::Table,
        /// When.
        now_us: i64,
    },
    /// Groups with their rewards and advantages.
    Groups,
    /// What cleaning found, and what became of it.
    Findings,
    /// A run's probes.
    Probes(RunId),
    /// Who agrees with whom.
    Agreement,
    /// The ledger of changes.
    Changes,
    /// What does the reviewer label next?
    Queue {
        /// Who.
        reviewer: String,
        /// When: the first draw makes its seed of it.
        now_us: i64,
    },
    /// How does a step stand in the user's file?
    Source {
        /// Which run.
        run: RunId,
        /// Which step.
        step: u32,
    },
    /// Filters that were kept under a name.
    Queues,
    /// Keeps a filter under a name; an empty filter forgets it.
    SaveQueue {
        /// The name.
        name: String,
        /// The filter as typed.
        filter: String,
        /// When.
        now_us: i64,
    },
    /// What an export would write: its first rows and what would stay out.
    Preview {
        /// Format's word.
        format: String,
        /// Filter as typed.
        filter: String,
        /// Who `me` is.
        reviewer: String,
        /// Folder or file of the model to be trained, for its tokens; empty = none.
        model: String,
    },
}

impl Ask {
    /// Is about the board's whole list: a thread of its own answers, so that neither a page nor a key waits for it.
    pub fn is_of_list(&self) -> bool {
        matches!(self, Self::Listing { .. } | Self::Facets { .. })
    }

    /// May take its time: another thread than that of the keys answers.
    pub fn is_slow(&self) -> bool {
        self.is_of_list() || self.is_of_page()
    }

    fn is_of_page(&self) -> bool {
        matches!(
            self,
            Self::Search(_)
                | Self::SearchRun { .. }
                | Self::Jump(_)
                | Self::Outline(_)
                | Self::Whole { .. }
                | Self::Evidence(_)
                | Self::Suggest(_)
                | Self::Card(_)
                | Self::Pairings(_)
                | Self::Compare(..)
                | Self::Advice { .. }
                | Self::Groups
                | Self::Changes
                | Self::Probes(_)
                | Self::Findings
                | Self::Agreement
                | Self::Queue { .. }
                | Self::Source { .. }
                | Self::Preview { .. }
        )
    }

    /// Makes an older question pointless.
    pub fn supersedes(&self, old: &Self) -> bool {
        match (self, old) {
            (Self::FirstRuns { .. }, Self::FirstRuns { .. })
            | (Self::Listing { .. }, Self::Listing { .. })
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
            Self::Decide { .. }
                | Self::Adjudicate { .. }
                | Self::Undo { .. }
                | Self::Redo { .. }
                | Self::KeepDraft { .. }
                | Self::SavePair(_)
                | Self::SaveQueue { .. }
        )
    }

    /// What it tries, in words.
    pub fn what(&self) -> &'static str {
        match self {
            Self::FirstRuns { .. } | Self::Listing { .. } => "listing runs",
            Self::Rows(_) => "reading rows",
            Self::Facets { .. } => "counting runs",
            Self::Mine(_) => "reading your labels",
            Self::Run { .. } => "opening the run",
            Self::Outline(_) => "reading the run's outline",
            Self::Heads { .. } | Self::Bodies { .. } => "reading steps",
            Self::Whole { .. } | Self::StepJson { .. } => "reading the step",
            Self::Decide { .. } | Self::Adjudicate { .. } => "saving",
            Self::Undo { .. } => "undoing",
            Self::Redo { .. } => "redoing",
            Self::KeepDraft { .. } => "keeping the draft",
            Self::Search(_) | Self::SearchRun { .. } => "searching",
            Self::Jump(_) => "looking for runs",
            Self::Evidence(_) => "reading the evidence",
            Self::Suggest(_) => "asking the machine",
            Self::Card(_) => "making the card",
            Self::Decision { .. } => "reading the decision",
            Self::Pairings(_) => "looking for pairs",
            Self::Pair { .. } => "opening the pair",
            Self::SavePair(_) => "saving the pair",
            Self::Compare(..) => "comparing",
            Self::Advice { .. } => "advising",
            Self::Groups => "reading the groups",
            Self::Probes(_) => "reading the probes",
            Self::Agreement => "working out agreement",
            Self::Changes => "reading the ledger",
            Self::Queue { .. } => "drawing the queue",
            Self::Source { .. } => "reading the log",
            Self::Queues | Self::SaveQueue { .. } => "keeping filters",
            Self::Findings => "reading the findings",
            Self::Preview { .. } => "previewing the export",
        }
    }
}
