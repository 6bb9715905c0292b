//! What `jobs` hands in: plain domain data, run by run and pair by pair, so that a set of any size passes
//! through bounded memory.
//!
//! Nothing here is read from disk, and nothing is judged.

use crate::domain::{Call, decision::Decision};
use crate::domain::{
    DecisionRecord, Document, FindingState, ForeignLabel, Pair, Redaction, Reward, Rollout, RunId,
    Step, Task, TaskId, Verdict,
};
use serde_json::Value;
use std::sync::Arc;

/// A failure of whoever reads the rows for us.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;
/// Runs, one after the other, in an order that does not change between two exports.
pub type Runs<'a> = Box<dyn Iterator<Item = Result<RunInput, SourceError>> + 'a>;
/// Pairs, one after the other; records about the same two candidates stand together.
pub type Pairs<'a> = Box<dyn Iterator<Item = Result<PairInput, SourceError>> + 'a>;

/// Everything that an export reads.
pub struct Input<'a> {
    /// What holds for the whole set.
    pub facts: Facts,
    /// The selected runs.
    pub runs: Runs<'a>,
    /// The selected pairs.
    pub pairs: Pairs<'a>,
}

/// One run with everything that belongs to it, as it was logged: redactions are applied here, not before.
#[derive(Debug, Clone)]
pub struct RunInput {
    /// Its head.
    pub head: Rollout,
    /// Its steps, in order.
    pub steps: Vec<Step>,
    /// Its calls, in order.
    pub calls: Vec<Call>,
    /// What graders said.
    pub rewards: Vec<Reward>,
    /// Its current verdict; an adjudicated one before a reviewer's.
    pub verdict: Option<Verdict>,
    /// Every current decision about it, for the formats that carry all.
    pub decisions: Vec<DecisionRecord>,
    /// Labels that travelled in the log.
    pub labels: Vec<ForeignLabel>,
    /// Cleaning findings in it, with what became of them.
    pub findings: Vec<FindingState>,
    /// Words of it that leave as placeholders.
    pub redactions: Vec<Redaction>,
}

impl RunInput {
    /// Returns a bare run.
    pub fn new(head: Rollout, steps: Vec<Step>) -> Self {
        Self {
            head,
            steps,
            calls: Vec::new(),
            rewards: Vec::new(),
            verdict: None,
            decisions: Vec::new(),
            labels: Vec::new(),
            findings: Vec::new(),
            redactions: Vec::new(),
        }
    }
}

/// A decided pair with the runs of both sides; both are one where they are the same run.
#[derive(Debug, Clone)]
pub struct PairInput {
    /// The record; its decision is a pair.
    pub record: DecisionRecord,
    /// Run of the first candidate.
    pub a: Arc<RunInput>,
    /// Run of the second candidate.
    pub b: Arc<RunInput>,
}

impl PairInput {
    /// The pair inside the record.
    pub fn pair(&self) -> Option<&Pair> {
        match &self.record.decision {
            Decision::Pair(pair) => Some(pair),
            _ => None,
        }
    }
}

/// What holds for the whole set.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The task list.
    pub tasks: Vec<Task>,
    /// The document register.
    pub documents: Vec<Document>,
    /// Every run that the set touches, for the split; cheap to list.
    pub heads: Vec<RunHead>,
    /// Versions that no row carries.
    pub bindings: Bindings,
    /// The filter as it was typed.
    pub filter: String,
    /// Whether `triagent check` has run over the set, and what it found about tasks.
    pub cleaning: Option<Cleaning>,
    /// Agreement figures as `triage` computed them.
    pub agreement: Value,
    /// SHA-256 of the workspace's decisions.
    pub decisions_sha256: Option<String>,
    /// Steps of every success of the cohorts that the set draws on, selected or not, for the shortest-only
    /// warning; empty = compare with what was read.
    pub success_steps: Vec<u64>,
    /// Cohorts of the set with the headline of their advice.
    pub advice: Vec<(String, String)>,
}

/// What the split needs to know of a run before the first row is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunHead {
    /// The run.
    pub run: RunId,
    /// Its task.
    pub task: Option<TaskId>,
    /// Its scenario.
    pub scenario: Option<String>,
    /// Documents that its task requires or its observations brought.
    pub documents: Vec<String>,
    /// The request, as the first user step says it; for the leak check.
    pub request: String,
}

/// Result of the cleaning stage, as far as it is about tasks and not about rows.
#[derive(Debug, Clone, Default)]
pub struct Cleaning {
    /// Version of the rules that ran.
    pub rules: String,
    /// Findings about tasks: near-duplicates and templates.
    pub findings: Vec<FindingState>,
}

/// Versions that people or other rooms know (S-78).
#[derive(Debug, Clone, Default)]
pub struct Bindings {
    /// Model to be trained, by weights hash or name.
    pub model: Option<String>,
    /// Its tokenizer.
    pub tokenizer: Option<String>,
    /// Its chat template.
    pub template: Option<String>,
    /// Reference policy of a preference loss (S-45).
    pub reference: Option<String>,
    /// Document index and register version.
    pub data: Option<String>,
    /// Codebook that reviewers used.
    pub codebook: Option<String>,
}
