//! Gathers what the evidence rule needs for one run, and asks it.

use super::JobError;
use crate::domain::{Decision, Requirement, Rollout, RunId, Step, Task};
use crate::store::Store;
use crate::triage::{Evidence, EvidenceFacts, Register, evidence_status};

/// A run with everything that rules look at.
#[derive(Debug, Clone)]
pub struct RunFacts {
    /// Its head.
    pub rollout: Rollout,
    /// Its steps.
    pub steps: Vec<Step>,
    /// Its task, where the task list holds it.
    pub task: Option<Task>,
    /// What reviewers say was required.
    pub requires: Vec<Requirement>,
    /// The decisive step of its current verdict.
    pub decisive: Option<u32>,
}

/// Reads a run with everything that rules look at.
pub fn run_facts(store: &Store, run: &RunId) -> Result<RunFacts, JobError> {
    let rollout = store.rollout(run)?;
    let task = match &rollout.task {
        Some(id) => store.task(id)?,
        None => None,
    };
    let mut requires: Vec<Requirement> = Vec::new();
    for record in store.live_on("verdict", run.as_str())? {
        if let Decision::Verdict(verdict) = record.decision {
            let new = verdict
                .requires
                .into_iter()
                .filter(|r| !requires.contains(r));
            requires.extend(new.collect::<Vec<_>>());
        }
    }
    let decisive = store
        .verdict(run)?
        .and_then(|record| match record.decision {
            Decision::Verdict(v) | Decision::Adjudication(v) => v.decisive_step,
            _ => None,
        });
    Ok(RunFacts {
        steps: store.steps(run)?,
        rollout,
        task,
        requires,
        decisive,
    })
}

/// Reads the document register once, for many runs.
pub fn register(store: &Store) -> Result<Register, JobError> {
    Ok(Register::new(store.documents()?))
}

impl RunFacts {
    /// What became of each required document.
    pub fn evidence(&self, register: &Register) -> Vec<Evidence> {
        evidence_status(&EvidenceFacts {
            rollout: &self.rollout,
            steps: &self.steps,
            task: self.task.as_ref(),
            requires: &self.requires,
            register,
            decisive: self.decisive,
        })
    }
}
