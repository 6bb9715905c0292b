//! The gates that one run, one context or one target must pass. Each asks one question.

use super::input::RunInput;
use super::options::{Attempts, Undecided};
use super::redact::is_redacted;
use super::why::Why;
use crate::domain::chat::{decision_start, visible_before};
use crate::domain::{
    Adopted, ChatMessage, FindingAction, FindingKind, FindingState, Outcome, Owner, Reward,
    RewardStatus, Step,
};
use std::collections::{HashMap, HashSet};

/// A run, looked at once for all its decisions.
pub(crate) struct RunView<'a> {
    run: &'a RunInput,
    /// Findings by step; `None` holds those of the head.
    findings: HashMap<Option<u32>, Vec<&'a FindingState>>,
    /// Calls under one logical request that has more than one of them.
    retried: HashSet<u32>,
    /// Findings whose words are known, so that a placeholder can stand for them.
    sayable: HashSet<&'a str>,
    undecided: Undecided,
}

impl<'a> RunView<'a> {
    pub(crate) fn new(run: &'a RunInput, undecided: Undecided) -> Self {
        let mut findings: HashMap<Option<u32>, Vec<&FindingState>> = HashMap::new();
        for state in &run.findings {
            if let Some(place) = &state.finding.place {
                findings.entry(place.step).or_default().push(state);
            }
        }
        Self {
            run,
            findings,
            retried: retried(run),
            sayable: run.redactions.iter().map(|r| r.finding.as_str()).collect(),
            undecided,
        }
    }

    /// The step may be a target: the model wrote it, on the path that went on, whole (S-15, S-24).
    pub(crate) fn target(&self, at: u32, attempts: Attempts) -> Result<(), Why> {
        let step = self.step(at).ok_or(Why::NotTheModels { step: at })?;
        let same = || self.run.steps.iter().filter(|s| s.message == step.message);
        if same().any(|s| s.owner == Owner::Unknown) {
            return Err(Why::UnknownOwner { step: at });
        }
        if step.owner != Owner::Model {
            return Err(Why::NotTheModels { step: at });
        }
        self.adopted(step, attempts)?;
        if same().any(|s| s.copied) {
            return Err(Why::Copied { step: at });
        }
        same().try_for_each(|s| self.findings_of(Some(s.index)))
    }

    /// Everything that stood before the step may be a condition: owners known, findings resolved (S-16).
    pub(crate) fn context(&self, at: u32) -> Result<(), Why> {
        self.findings_of(None)?;
        for step in visible_before(&self.run.steps, at) {
            if step.owner == Owner::Unknown {
                return Err(Why::UnknownOwner { step: step.index });
            }
            self.findings_of(Some(step.index))?;
        }
        Ok(())
    }

    fn adopted(&self, step: &Step, attempts: Attempts) -> Result<(), Why> {
        let at = step.index;
        let call = step.call.and_then(|c| self.run.calls.get(c as usize));
        match call.map_or(Adopted::Unknown, |c| c.adopted) {
            Adopted::No => return Err(Why::NotAdopted { step: at }),
            Adopted::Unknown if self.is_retried(step) && attempts == Attempts::Adopted => {
                return Err(Why::AdoptionUnknown { step: at });
            }
            Adopted::Yes | Adopted::Unknown => {}
        }
        if step.off_path {
            return Err(Why::OffPath { step: at });
        }
        let finish = call.and_then(|c| c.finish_reason.as_deref());
        if matches!(
            finish,
            Some("length" | "max_tokens" | "MAX_TOKENS" | "incomplete")
        ) {
            return Err(Why::CutByLimit { step: at });
        }
        Ok(())
    }

    fn is_retried(&self, step: &Step) -> bool {
        step.call.is_some_and(|c| self.retried.contains(&c))
    }

    fn step(&self, at: u32) -> Option<&'a Step> {
        self.run.steps.iter().find(|s| s.index == at)
    }

    fn findings_of(&self, step: Option<u32>) -> Result<(), Why> {
        let states = self.findings.get(&step).map_or(&[][..], Vec::as_slice);
        states.iter().try_for_each(|state| {
            if !is_redacted(state, self.undecided) {
                return resolved(state);
            }
            let known = self.sayable.contains(state.finding.id.as_str());
            replaceable(state, known)?;
            let field = state.finding.place.as_ref().map(|p| p.field.as_str());
            match (step, field) {
                // Schemas go to the trainer as the model saw them.
                (None, Some("tools")) => Err(Why::RedactedTools {
                    finding: state.finding.id.clone(),
                }),
                _ => Ok(()),
            }
        })
    }
}

/// A placeholder needs the words that it stands for; without them they would leave.
pub(crate) fn replaceable(state: &FindingState, words_known: bool) -> Result<(), Why> {
    let finding = &state.finding;
    let sensitive = matches!(finding.kind, FindingKind::Secret | FindingKind::Personal);
    if sensitive && !words_known {
        return Err(Why::WordsNotFound {
            finding: finding.id.clone(),
        });
    }
    Ok(())
}

/// A finding in the row's own text must have been decided, and not to drop it.
pub(crate) fn resolved(state: &FindingState) -> Result<(), Why> {
    // A false citation or a tampering deed is what a rejected side is rejected for. Whether a run that holds one may
    // demonstrate is asked by `can_demonstrate`.
    let is_deed = matches!(
        state.finding.kind,
        FindingKind::Tamper | FindingKind::Evidence
    );
    if is_deed && state.action.is_none() {
        return Ok(());
    }
    let (finding, rule) = (state.finding.id.clone(), state.finding.rule.clone());
    match state.action {
        None => Err(Why::UnresolvedFinding { finding, rule }),
        Some(FindingAction::Drop) => Err(Why::DroppedFinding { finding, rule }),
        Some(FindingAction::Keep | FindingAction::Redact) => Ok(()),
    }
}

/// Calls that share a logical request with another one.
fn retried(run: &RunInput) -> HashSet<u32> {
    let mut by_request: HashMap<&str, Vec<u32>> = HashMap::new();
    for call in &run.calls {
        if let Some(request) = &call.logical_request_id {
            by_request.entry(request).or_default().push(call.index);
        }
    }
    by_request
        .into_values()
        .filter(|calls| calls.len() > 1)
        .flatten()
        .collect()
}

/// Model-owned decisions that the path left behind: they are listed, not forgotten.
pub(crate) fn left_attempts(steps: &[Step], on_path: &[u32]) -> Vec<u32> {
    let mut seen: HashSet<u32> = on_path
        .iter()
        .filter_map(|at| steps.iter().find(|s| s.index == *at))
        .map(|s| s.message)
        .collect();
    steps
        .iter()
        .filter(|s| s.owner == Owner::Model && s.off_path)
        .filter(|s| seen.insert(s.message))
        .map(|s| decision_start(steps, s.index))
        .collect()
}

/// The run succeeded, and its success can be relied on (S-36, S-52).
pub(crate) fn is_success(run: &RunInput) -> Result<(), Why> {
    if run.head.outcome != Outcome::Pass {
        return Err(Why::NotASuccess {
            outcome: run.head.outcome.word().to_owned(),
        });
    }
    let by_reviewer = run
        .head
        .outcome_source
        .as_deref()
        .is_some_and(|s| s.starts_with("reviewer"));
    if !by_reviewer {
        run.rewards.iter().try_for_each(is_clean)?;
    }
    if run.head.outcome_only && (run.head.task.is_none() || !run.head.tools.is_empty()) {
        return Err(Why::OutcomeOnly);
    }
    can_demonstrate(run)
}

fn is_clean(reward: &Reward) -> Result<(), Why> {
    match reward.status {
        RewardStatus::Ok | RewardStatus::Missing => Ok(()),
        RewardStatus::Contaminated | RewardStatus::Untrusted => Err(Why::Contaminated {
            grader: reward.grader.clone(),
            status: reward.status.word().to_owned(),
        }),
    }
}

/// Nothing forbidden happened in it, and no finding speaks against it (S-54, S-72, S-75).
pub(crate) fn can_demonstrate(run: &RunInput) -> Result<(), Why> {
    for reward in &run.rewards {
        if let Some(effect) = reward.side_effects.iter().flatten().next() {
            return Err(Why::SideEffect {
                effect: effect.clone(),
            });
        }
    }
    let against = |s: &&FindingState| {
        let kind = matches!(s.finding.kind, FindingKind::Tamper | FindingKind::Evidence);
        kind && s.action != Some(FindingAction::Keep)
    };
    match run.findings.iter().find(against) {
        Some(s) => Err(Why::CannotDemonstrate {
            finding: s.finding.id.clone(),
            rule: s.finding.rule.clone(),
        }),
        None => Ok(()),
    }
}

/// A `model` verdict with an incomplete checklist keeps its run out (S-04).
pub(crate) fn is_proven(run: &RunInput) -> Result<(), Why> {
    match &run.verdict {
        Some(verdict) if !verdict.is_proven() => Err(Why::UnprovenModel),
        Some(_) | None => Ok(()),
    }
}

/// A target says or does something, in calls that have a name and an argument object.
pub(crate) fn speaks(message: &ChatMessage, side: &'static str) -> Result<(), Why> {
    if message.is_empty() {
        return Err(Why::EmptySide { side });
    }
    message.tool_calls.iter().try_for_each(|call| {
        if call.name.trim().is_empty() {
            return Err(Why::NamelessTool);
        }
        arguments_are_object(&call.name, &call.arguments)
    })
}

/// The prompt's calls are argument objects too: a consumer that wants objects cannot say anything else.
pub(crate) fn prompt_is_sayable(prompt: &[ChatMessage]) -> Result<(), Why> {
    let mut calls = prompt.iter().flat_map(|m| &m.tool_calls);
    calls.try_for_each(|call| arguments_are_object(&call.name, &call.arguments))
}

fn arguments_are_object(tool: &str, arguments: &str) -> Result<(), Why> {
    match super::message::compact_object(arguments) {
        Some(_) => Ok(()),
        None => Err(Why::MalformedArguments {
            tool: tool.to_owned(),
        }),
    }
}
