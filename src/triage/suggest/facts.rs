//! What the rows look at, read off a run: failures at the decisive step, graders that disagree, queries that were made.

use crate::domain::chat::{decision_start, decisions};
use crate::domain::{Outcome, Owner, Reward, RewardStatus, Step, StepKind};
use crate::triage::evidence::Evidence;
use crate::triage::fault::{Fault, tool_fault};
use crate::triage::probe::ProbeReport;
use crate::triage::variants::tool_name;
use crate::triage::view::RunView;

/// What a suggestion is read from.
#[derive(Debug, Clone, Copy)]
pub struct SuggestFacts<'a> {
    /// The failed run.
    pub run: RunView<'a>,
    /// Status of each required document.
    pub evidence: &'a [Evidence],
    /// What graders said.
    pub rewards: &'a [Reward],
    /// Pass or fail by a reviewer, where one decided.
    pub reviewed: Option<Outcome>,
    /// The decisive step; without one the last decision.
    pub decisive: Option<u32>,
    /// The probe, where one was run.
    pub probe: Option<&'a ProbeReport>,
}

/// A tool failure that the decision ran into.
pub(super) struct Failure<'a> {
    pub(super) step: &'a Step,
    pub(super) fault: Fault,
}

impl<'a> SuggestFacts<'a> {
    pub(super) fn decision(&self) -> Option<u32> {
        let steps = self.run.steps;
        let at = self.decisive.or_else(|| decisions(steps).last().copied())?;
        Some(decision_start(steps, at))
    }

    /// Failures that the decision had just seen, or that its own tool calls met.
    pub(super) fn failures_at_decision(&self) -> Vec<Failure<'a>> {
        let Some(at) = self.decision() else {
            return self.failures(|_| true);
        };
        let steps = decisions(self.run.steps);
        let before = steps.iter().rev().find(|d| **d < at).copied().unwrap_or(0);
        let after = steps.iter().find(|d| **d > at).copied().unwrap_or(u32::MAX);
        self.failures(|s| (before..after).contains(&s.index))
    }

    /// Every tool result of the run failed for the system's own reasons.
    pub(super) fn all_tools_down(&self) -> bool {
        let observations = self
            .run
            .steps
            .iter()
            .filter(|s| s.kind == StepKind::Observation);
        let mut faults = observations.map(tool_fault).peekable();
        faults.peek().is_some() && faults.all(|f| f.is_some_and(Fault::is_environment))
    }

    fn failures(&self, wanted: impl Fn(&Step) -> bool) -> Vec<Failure<'a>> {
        let steps = self.run.steps.iter().filter(|s| !s.off_path && wanted(s));
        steps
            .filter_map(|step| tool_fault(step).map(|fault| Failure { step, fault }))
            .collect()
    }

    /// Who says what, where a grader failed a run that an isolated verifier or a reviewer passes.
    ///
    /// The other way round the run did fail, and the grader's hole does not explain why.
    pub(super) fn graders_disagree(&self) -> Option<String> {
        let usable = |r: &&Reward| r.status == RewardStatus::Ok && r.result.is_some();
        let passes = |r: &Reward| r.result.is_some_and(|v| v > 0.5);
        // Isolated beats reachable, and one that read the evidence beats one that did not.
        let trust = |r: &Reward| (r.isolated == Some(true), r.evidence.is_some());
        let graded: Vec<&Reward> = self.rewards.iter().filter(usable).collect();
        let failing = graded
            .iter()
            .filter(|r| !passes(r))
            .min_by_key(|r| trust(r))?;
        let verifier = graded
            .iter()
            .filter(|r| trust(r).0)
            .max_by_key(|r| trust(r));
        if let Some(verifier) = verifier.filter(|v| trust(v) > trust(failing)) {
            return passes(verifier).then(|| {
                format!(
                    "{} says fail and the independent {} says pass",
                    failing.grader, verifier.grader
                )
            });
        }
        (self.reviewed == Some(Outcome::Pass))
            .then(|| format!("{} says fail and a reviewer says pass", failing.grader))
    }

    /// The model asked no tool anything before it decided, so no index could have answered.
    pub(super) fn asked_nothing(&self) -> bool {
        let Some(at) = self.decision() else {
            return false;
        };
        let has_tools = !self.run.rollout.tools.is_empty();
        let asked = self.run.steps.iter().any(|s| {
            s.index < at
                && (s.kind == StepKind::Observation
                    || (s.owner == Owner::Model && s.kind == StepKind::ToolCall))
        });
        has_tools && !asked
    }

    /// Tools that were offered and never asked, where nothing that came back was a document: the query may have gone to
    /// the wrong one.
    pub(super) fn tools_not_asked(&self, seen: bool) -> Vec<String> {
        let at = self.decision().unwrap_or(u32::MAX);
        let before = || self.run.steps.iter().filter(move |s| s.index < at);
        if seen || before().any(|s| !s.documents.is_empty()) {
            return Vec::new();
        }
        let asked: Vec<&str> = before()
            .filter(|s| s.kind == StepKind::ToolCall)
            .filter_map(|s| s.tool.as_deref())
            .collect();
        let names = self.run.rollout.tools.iter().filter_map(tool_name);
        names
            .filter(|n| !asked.contains(n))
            .map(str::to_owned)
            .collect()
    }

    /// The decision chose a tool or its arguments.
    pub(super) fn is_tool_decision(&self) -> bool {
        let Some(at) = self.decision() else {
            return false;
        };
        let message = self
            .run
            .steps
            .iter()
            .find(|s| s.index == at)
            .map(|s| s.message);
        self.run
            .steps
            .iter()
            .any(|s| Some(s.message) == message && s.kind == StepKind::ToolCall)
    }
}
