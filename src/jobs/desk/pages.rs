//! What answers are made of: plain data for a screen.

use crate::domain::{
    Adopted, Choice, Criterion, DecisionRecord, FindingState, ForeignLabel, Layer, Owner, Reward,
    Rollout, RunId, Score, Side, Task, Verdict,
};
use crate::domain::{Candidate, ChatMessage};
use crate::export::PreviewRow;
use crate::jobs::{Audit, JudgedGroups, SideName};
use crate::store::{RunRow, StepHead};
use crate::triage::{AgreementReport, Standard};
use std::ops::Range;
use std::sync::Arc;

/// Runs that pass a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The filter as typed.
    pub filter: String,
    /// Row keys in order.
    pub seqs: Vec<i64>,
    /// All of them; else only the first, and the rest is to be asked for.
    pub is_whole: bool,
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
    /// Scores of its steps, oldest first; shared, for they hold every token.
    pub scores: Vec<Arc<Score>>,
    /// Weights of those that are far from the recorded policy.
    pub far: Vec<String>,
    /// The reviewer's half-written note.
    pub draft: Option<String>,
    /// What the reviewer marked before there was a label.
    pub marks: Option<Box<Verdict>>,
    /// Number of steps.
    pub steps: u32,
}

impl RunPage {
    /// Name under which marks are kept that were made before the label.
    pub fn marks_draft(run: &RunId) -> String {
        format!("marks {run}")
    }
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
    /// Each text with its secrets masked, where it holds some.
    pub masked: Vec<Option<String>>,
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

/// A pair that is decided or worth deciding.
#[derive(Debug, Clone, PartialEq)]
pub struct PairRow {
    /// First candidate.
    pub a: SideName,
    /// Second candidate.
    pub b: SideName,
    /// The task.
    pub task: String,
    /// Why it is here.
    pub why: String,
    /// What the reviewer decided.
    pub choice: Option<Choice>,
    /// It is decided and shown once more, with its sides swapped and as if it were new.
    pub again: bool,
}

/// Two candidates with everything that the screen shows.
#[derive(Debug, Clone)]
pub struct PairPage {
    /// Both, in canonical order.
    pub sides: [PairSide; 2],
    /// What stood before the model in both cases.
    pub context: Vec<ChatMessage>,
    /// The same texts with secrets masked, where they hold some.
    pub masked: Option<Box<MaskedPair>>,
    /// The two answer one request.
    pub is_comparable: bool,
    /// The task, where the list has it.
    pub task: Option<Task>,
    /// Its standard.
    pub standard: Option<Standard>,
    /// The side to show left.
    pub left: Side,
    /// The seed that chose it.
    pub seed: u64,
    /// The reviewer's decision on these two.
    pub decided: Option<DecisionRecord>,
}

/// The texts of a pair with secrets masked.
#[derive(Debug, Clone)]
pub struct MaskedPair {
    /// Of [`PairPage::context`].
    pub context: Vec<ChatMessage>,
    /// Of the two sides, in canonical order.
    pub sides: [ChatMessage; 2],
}

/// One candidate.
#[derive(Debug, Clone)]
pub struct PairSide {
    /// How it was named.
    pub name: SideName,
    /// Which decision, or who wrote it.
    pub candidate: Candidate,
    /// What it says or does.
    pub message: ChatMessage,
    /// Its run's row; hidden until the reviewer has decided.
    pub row: RunRow,
    /// Scores of it; hidden as well.
    pub scores: Vec<Score>,
}

/// A pair to write down.
#[derive(Debug, Clone, PartialEq)]
pub struct PairWrite {
    /// First candidate.
    pub a: SideName,
    /// Second candidate.
    pub b: SideName,
    /// The decision.
    pub choice: Choice,
    /// Criteria that decided.
    pub criteria: Vec<Criterion>,
    /// Why.
    pub reason: String,
    /// Words that prove it.
    pub evidence: Option<String>,
    /// Side that was shown left, and the seed that chose it.
    pub shown: (Side, u64),
    /// Time spent.
    pub active_ms: u64,
    /// Who.
    pub reviewer: String,
    /// When.
    pub now_us: i64,
    /// Codebook version.
    pub codebook: String,
}

/// What is known of rewards: groups, and graders that met the hack suite.
#[derive(Debug, Clone)]
pub struct RewardPage {
    /// Groups by name, at most as many as a list shows.
    pub groups: JudgedGroups,
    /// Audits, the newest first.
    pub audits: Vec<Audit>,
}

/// What cleaning found.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// Nothing was added to the workspace since the last check.
    pub is_fresh: bool,
    /// There was a check at all.
    pub was_checked: bool,
    /// The findings.
    pub rows: Vec<FindingRow>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq)]
pub struct FindingRow {
    /// The finding and what became of it.
    pub state: FindingState,
    /// Row key of its run, where it has one.
    pub seq: Option<i64>,
}

/// What an export would write.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// Format's word.
    pub format: String,
    /// Rows that would leave.
    pub rows: u64,
    /// The first of them, with what the loss counts told apart.
    pub first: Vec<PreviewRow>,
    /// Rows by scenario, and by kind of decision in each (S-36).
    pub coverage: Vec<(String, String)>,
    /// How many stay out, by reason, with an example.
    pub left_out: Vec<(String, u64, String)>,
    /// What forbids training on it.
    pub blocked: Vec<String>,
    /// What to know.
    pub warnings: Vec<String>,
    /// Versions that must still be bound.
    pub missing: Vec<String>,
}

/// What a reviewer labels next, in the order drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// Row key and name of each run.
    pub items: Vec<(i64, RunId)>,
    /// Labelled by the reviewer.
    pub done: usize,
    /// The reviewer's in all.
    pub total: usize,
    /// What it is drawn from.
    pub filter: String,
}

/// How far reviewers agree, and where they do not.
#[derive(Debug, Clone)]
pub struct AgreementPage {
    /// The statistics.
    pub report: AgreementReport,
    /// Runs on which reviewers differ, open ones first.
    pub disputes: Vec<Dispute>,
}

/// A run on which reviewers differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Dispute {
    /// The run.
    pub run: RunId,
    /// Its row key.
    pub seq: i64,
    /// Each reviewer's own label, oldest first.
    pub labels: Vec<DecisionRecord>,
    /// What it was settled as, and by whom.
    pub settled: Option<(Layer, String)>,
}
