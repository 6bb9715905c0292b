//! Work that takes time, with progress and cancel. Both faces call these functions; only this room starts threads.
//!
//! Each function ties rooms together and decides nothing itself. The command line calls them as they are; the screen
//! calls them through [`spawn`].

mod advise;
mod agreement;
mod audit;
mod calibrate;
mod card;
mod changes;
mod check;
mod cohort;
mod compare;
mod demo;
pub mod desk;
mod drift;
mod evidence;
mod export;
mod facts;
mod groups;
mod import;
mod index;
mod pairing;
mod probe;
mod queue;
mod raw;
mod registers;
mod report;
mod samples;
mod score;
mod suggest;
mod work;

pub use advise::{CohortAdvice, KeptAdvice, Repeats, advise, kept_advice};
pub use agreement::{adjudication, layer_ratings, pair_ratings, pair_traces};
pub use audit::{
    AskedGrader, Audit, AuditOptions, GraderError, asked_graders, audit_grader, audits,
};
pub use calibrate::{
    CalibrateError, CalibrateOptions, Calibration, CaseResult, Comparison, calibrate,
    calibration_of, recorded_calibrations,
};
pub use card::card_of;
pub use changes::{ChangeSide, ChangeSides, LedgerEntry, ledger};
pub use check::{
    Checked, check, cleaner, ensure_cleaning_key, findings, findings_about_tasks, findings_of,
    fresh_check, last_check, random_key,
};
pub use cohort::{CohortRuns, cohort_of, cohorts, find_cohort};
pub use compare::{Compared, compare};
pub use demo::{DEMO_REVIEWER, Demo, Script, ScriptError, Stage, demo_for_screen, demo_workspace};
pub use drift::{Drift, drift, drift_of};
pub use evidence::{RunFacts, register, run_facts};
pub use export::{ExportChoice, ExportModel, export, preview_export};
pub use facts::{Ground, cohort_facts};
pub use groups::{GroupOptions, JudgedGroup, JudgedGroups, reward_groups};
pub use import::{ImportOptions, ImportTotals, UnitReport, import, try_import};
pub use index::index;
pub use pairing::{PairWords, SideName, WrittenError, build_pair, read_written};
pub use probe::{
    FULL_CELLS, Probe, ProbeError, ProbeModel, ProbeOptions, ReasoningEffect, Trust, probe,
    probes_of,
};
pub use queue::{QueueSpec, draw, is_drawn, keep_queue, queue_spec};
pub use raw::raw_source;
pub use registers::{RegisterReport, import_documents, import_tasks};
pub use report::{ReportOptions, overview};
pub use samples::{SAMPLES, SampleFile, sample};
pub use score::{ScoreOptions, ScoreTotals, Scored, score};
pub use suggest::{CohortSuggestions, suggest, suggest_run, suggestion_tables};
pub use work::{Ended, Job, THREAD_PREFIX, spawn, watched};

use crate::store::StoreError;
use crate::triage::NotComparable;

/// Why a job did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The workspace.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Two candidates do not answer one request.
    #[error(transparent)]
    NotComparable(#[from] NotComparable),
    /// Both sides were written by hand.
    #[error("both sides are written; one must be a recorded decision, or there is no context")]
    TwoWritten,
    /// A written side beside a whole run.
    #[error("a written side stands in for one decision; name it as RUN:STEP")]
    WrittenNeedsStep,
    /// The other run never stood before that request.
    #[error(
        "{run} has no decision with the context of {at}, so nothing in it answers the same request"
    )]
    NoSameRequest {
        /// The decision.
        at: String,
        /// The run.
        run: String,
    },
    /// The export room.
    #[error(transparent)]
    Export(#[from] crate::export::Error),
    /// The advice room.
    #[error(transparent)]
    Advise(#[from] crate::advise::AdviseError),
    /// No cohort is called so.
    #[error("no cohort is called {0:?}; `triagent cohort` lists them")]
    NoCohort(String),
    /// Several cohorts are meant.
    #[error("{typed:?} fits {} cohorts ({}); type more of the name", .names.len(), .names.join("; "))]
    ManyCohorts {
        /// What was typed.
        typed: String,
        /// Those that fit.
        names: Vec<String>,
    },
    /// The rules of cleaning.
    #[error(transparent)]
    Rules(#[from] crate::clean::RulesError),
    /// The demo's own script.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The scoring room.
    #[error(transparent)]
    Score(#[from] crate::score::ScoreError),
    /// The scoring server went away in the middle of the work.
    #[error(
        "{error}; stopped with {left} of {total} runs and pairs left; what is scored is kept, and the same command goes on from there"
    )]
    ServerGone {
        /// What it said last.
        error: crate::score::ScoreError,
        /// Runs and pairs that are not done.
        left: u64,
        /// Runs and pairs in all.
        total: u64,
    },
    /// A source file cannot be shown.
    #[error("{file}: {why}")]
    Raw {
        /// Which file.
        file: String,
        /// Why.
        why: String,
    },
    /// The decision cannot be probed.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// No probe can be planned.
    #[error(transparent)]
    Plan(#[from] crate::triage::PlanError),
    /// A planned change does not apply.
    #[error(transparent)]
    Edit(#[from] crate::triage::EditError),
    /// The reward room.
    #[error(transparent)]
    Reward(#[from] crate::reward::RewardError),
    /// The model cannot be calibrated.
    #[error(transparent)]
    Calibrate(#[from] CalibrateError),
    /// Somebody asked to stop; what was done before is kept.
    #[error("stopped; what was done before is kept")]
    Cancelled,
    /// A worker died, which is our bug.
    #[error("a worker died: {0}")]
    Died(String),
}
