//! Reads two runs and lays them side by side.

use super::JobError;
use crate::domain::{RunId, Step};
use crate::store::Store;
use crate::triage::{RunDiff, RunView, diff_runs};

/// Two runs and their difference.
#[derive(Debug, Clone)]
pub struct Compared {
    /// Steps of the first run.
    pub a: Vec<Step>,
    /// Steps of the second run.
    pub b: Vec<Step>,
    /// The difference.
    pub diff: RunDiff,
}

/// Compares two runs of the workspace.
pub fn compare(store: &Store, a: &RunId, b: &RunId) -> Result<Compared, JobError> {
    let read = |run: &RunId| -> Result<_, JobError> {
        Ok((store.rollout(run)?, store.steps(run)?, store.calls(run)?))
    };
    let (first, second) = (read(a)?, read(b)?);
    let diff = diff_runs(
        &RunView {
            rollout: &first.0,
            steps: &first.1,
            calls: &first.2,
        },
        &RunView {
            rollout: &second.0,
            steps: &second.1,
            calls: &second.2,
        },
    );
    Ok(Compared {
        a: first.1,
        b: second.1,
        diff,
    })
}
