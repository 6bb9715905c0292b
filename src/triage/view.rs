//! A run as the pure rooms look at it: head, steps and calls together.

use crate::domain::chat::{context_before, decision_start};
use crate::domain::pair::context_hash;
use crate::domain::{Call, Rollout, Step, StepRef};

/// A run, borrowed from whoever read it.
#[derive(Debug, Clone, Copy)]
pub struct RunView<'a> {
    /// Its head.
    pub rollout: &'a Rollout,
    /// Its steps, in order.
    pub steps: &'a [Step],
    /// Its calls, in order; empty where the log has none.
    pub calls: &'a [Call],
}

impl RunView<'_> {
    /// Names one of its steps.
    pub fn step_ref(&self, step: u32) -> StepRef {
        StepRef {
            run: self.rollout.id.clone(),
            step,
        }
    }

    /// Returns the hash of the request that the decision at `step` answered (S-41).
    pub fn context_hash(&self, step: u32) -> String {
        let context = context_before(self.steps, step);
        context_hash(self.rollout.task.as_ref(), &context, &self.rollout.tools)
    }

    /// First step of the decision that `step` belongs to.
    pub fn decision_start(&self, step: u32) -> u32 {
        decision_start(self.steps, step)
    }
}
