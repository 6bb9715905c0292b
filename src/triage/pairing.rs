//! Pairs: which two decisions may be compared, which are worth comparing, and what a decided pair must carry.

mod check;

pub use check::{PairFacts, PairProblem, check_pair, is_blocked};

use super::view::RunView;
use crate::domain::chat::{decision_at, decisions};
use crate::domain::{Outcome, Owner, Step, StepRef};
use std::collections::BTreeMap;

/// At most this many pairings are suggested for one task: more would only be variations.
const MAX_PER_TASK: usize = 50;

/// Why two runs hold no comparable pair.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotComparable {
    /// They belong to different tasks.
    #[error("{0} and {1} answer different tasks\nhint: compare two runs of one task")]
    Tasks(String, String),
    /// The context parts before any decision does.
    #[error(
        "the visible context differs from step {0} of the one and step {1} of the other on, before any decision does (S-41)\nhint: name two decisions with equal context as RUN:STEP, or write the better side yourself"
    )]
    Context(u32, u32),
    /// All decisions are equal.
    #[error("all their decisions are equal\nhint: there is nothing to prefer")]
    SameDecisions,
    /// A step is no decision of the model.
    #[error("{0} is no decision of the model\nhint: name a step that the model wrote")]
    NotADecision(StepRef),
    /// Two named decisions have different contexts.
    #[error(
        "the context before {0} and before {1} differs, so they answer different requests (S-41)\nhint: pick decisions with the same context, or write the better side yourself"
    )]
    HashMismatch(StepRef, StepRef),
}

/// Two decisions with equal context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparable {
    /// First decision.
    pub a: StepRef,
    /// Second decision.
    pub b: StepRef,
    /// Their shared hash.
    pub context_hash: String,
}

/// A pairing worth a reviewer's time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairSuggestion {
    /// The two decisions.
    pub pair: Comparable,
    /// The first one belongs to a run that passed.
    pub passed: bool,
    /// Why it is suggested.
    pub why: String,
}

/// Returns the first decision in which two runs differ with equal context before it.
pub fn first_differing_decision(a: &RunView, b: &RunView) -> Result<Comparable, NotComparable> {
    if a.rollout.task != b.rollout.task {
        return Err(NotComparable::Tasks(
            a.rollout.id.0.clone(),
            b.rollout.id.0.clone(),
        ));
    }
    let visible = |run: &RunView| -> Vec<usize> {
        let steps = run.steps.iter().enumerate();
        steps
            .filter(|(_, s)| s.is_in_context())
            .map(|(i, _)| i)
            .collect()
    };
    let (in_a, in_b) = (visible(a), visible(b));
    let parting = in_a
        .iter()
        .zip(&in_b)
        .map(|(i, j)| (&a.steps[*i], &b.steps[*j]))
        .find(|(x, y)| !same_content(x, y));
    // One run may simply stop inside the other's next decision.
    let Some((x, y)) = parting else {
        return Err(NotComparable::SameDecisions);
    };
    if x.owner != Owner::Model || y.owner != Owner::Model {
        return Err(NotComparable::Context(x.index, y.index));
    }
    compare_decisions(a, x.index, b, y.index)
}

/// Checks two named decisions: both the model's, and equal context before them.
pub fn compare_decisions(
    a: &RunView,
    step_a: u32,
    b: &RunView,
    step_b: u32,
) -> Result<Comparable, NotComparable> {
    let (at_a, at_b) = (
        a.step_ref(a.decision_start(step_a)),
        b.step_ref(b.decision_start(step_b)),
    );
    for (run, at) in [(a, &at_a), (b, &at_b)] {
        if decision_at(run.steps, at.step).is_none() {
            return Err(NotComparable::NotADecision(at.clone()));
        }
    }
    let hash = a.context_hash(at_a.step);
    if hash != b.context_hash(at_b.step) {
        return Err(NotComparable::HashMismatch(at_a, at_b));
    }
    Ok(Comparable {
        a: at_a,
        b: at_b,
        context_hash: hash,
    })
}

/// Suggests pairings among the runs of one task: a passed run's decision against a failed run's, same context first.
pub fn suggest_pairings(runs: &[RunView]) -> Vec<PairSuggestion> {
    let mut out: BTreeMap<(StepRef, StepRef), PairSuggestion> = BTreeMap::new();
    let with = |outcome: Outcome| runs.iter().filter(move |r| r.rollout.outcome == outcome);
    for good in with(Outcome::Pass) {
        for bad in with(Outcome::Fail) {
            let Ok(pair) = first_differing_decision(good, bad) else {
                continue;
            };
            let why = format!("{} passed and {} failed from here", pair.a.run, pair.b.run);
            let key = (pair.a.clone(), pair.b.clone());
            out.insert(
                key,
                PairSuggestion {
                    pair,
                    passed: true,
                    why,
                },
            );
            if out.len() == MAX_PER_TASK {
                return out.into_values().collect();
            }
        }
    }
    out.into_values().collect()
}

/// All decisions of a run with the hash of what stood before them; for finding equal requests across runs.
pub fn decision_hashes(run: &RunView) -> Vec<(StepRef, String)> {
    decisions(run.steps)
        .into_iter()
        .map(|at| (run.step_ref(at), run.context_hash(at)))
        .collect()
}

fn same_content(x: &Step, y: &Step) -> bool {
    let arguments = |s: &Step| serde_json::from_str::<serde_json::Value>(&s.text).ok();
    let same_text = x.text == y.text
        || (x.kind == crate::domain::StepKind::ToolCall
            && arguments(x).is_some_and(|v| Some(v) == arguments(y)));
    x.owner == y.owner && x.kind == y.kind && x.role == y.role && x.tool == y.tool && same_text
}

#[cfg(test)]
mod tests;
