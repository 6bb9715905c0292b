//! Evidence status: what became of each required document by the time the model decided (DESIGN §6).
//!
//! Facts only: register, run and task go in. It never guesses a layer; `suggest` does that.

mod carriers;
mod parts;
mod register;

pub use register::Register;

use crate::domain::chat::{decision_start, decisions};
use crate::domain::{Document, EvidenceStatus, Requirement, Rollout, Step, Task};
use carriers::Carriers;
use parts::View;
use register::IndexState;
use serde::Serialize;

/// What the status is read from.
#[derive(Debug, Clone, Copy)]
pub struct EvidenceFacts<'a> {
    /// The run.
    pub rollout: &'a Rollout,
    /// Its steps.
    pub steps: &'a [Step],
    /// Its task, where the task list holds it.
    pub task: Option<&'a Task>,
    /// What reviewers say was required; counts like the task list's.
    pub requires: &'a [Requirement],
    /// The document register.
    pub register: &'a Register,
    /// The decisive step; without one the last decision of the run.
    pub decisive: Option<u32>,
}

/// What became of one required document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// Register id.
    pub doc_id: String,
    /// The version that the task needs.
    pub version: Option<String>,
    /// The first status that holds.
    pub status: EvidenceStatus,
    /// Whether that version is valid on the task's date: a separate answer.
    pub valid: Option<bool>,
    /// Why, in one line.
    pub reason: String,
    /// The decision that it was read at.
    pub decisive_step: Option<u32>,
    /// What had to be in view, and where it was found.
    pub spans: Vec<SpanFound>,
    /// Versions of the document that reached the model.
    pub seen: Vec<SeenVersion>,
}

/// One thing that had to be in view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpanFound {
    /// `span`, `condition`, `date` or `text`.
    pub part: &'static str,
    /// The words, as the task or register has them.
    pub text: String,
    /// It was before the model when it decided.
    pub in_view: bool,
    /// Where it stood, whether still in view or not.
    pub places: Vec<Place>,
}

/// A stretch of a step's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The step.
    pub step: u32,
    /// First byte.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// The step was still in the context when the model decided.
    pub in_view: bool,
}

/// A version that reached the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SeenVersion {
    /// The version; `None` where neither the log nor the text tells.
    pub version: Option<String>,
    /// Whether it is valid on the task's date.
    pub valid: Option<bool>,
    /// Steps that brought it.
    pub steps: Vec<u32>,
}

/// Returns the status of each required document, the task list's first.
pub fn evidence_status(facts: &EvidenceFacts) -> Vec<Evidence> {
    let mut required: Vec<&Requirement> = Vec::new();
    let listed = facts.task.map_or(&[][..], |t| &t.requires);
    for requirement in listed.iter().chain(facts.requires) {
        if !required.contains(&requirement) {
            required.push(requirement);
        }
    }
    if required.is_empty() {
        return Vec::new();
    }
    let view = View::new(facts.steps, decisive_step(facts));
    required
        .iter()
        .map(|r| status_of(facts, &view, r))
        .collect()
}

fn decisive_step(facts: &EvidenceFacts) -> Option<u32> {
    let named = facts
        .decisive
        .filter(|d| facts.steps.iter().any(|s| s.index == *d));
    named
        .or_else(|| decisions(facts.steps).last().copied())
        .map(|at| decision_start(facts.steps, at))
}

fn status_of(facts: &EvidenceFacts, view: &View, requirement: &Requirement) -> Evidence {
    let date = facts.task.and_then(|t| t.date.as_deref());
    let needed = facts.register.needed(requirement, date);
    let spans = view.parts(requirement, needed);
    let carriers = Carriers::find(view, requirement, needed, facts.register);
    let version = needed
        .map(|d| d.version.clone())
        .or_else(|| requirement.version.clone());
    let index = facts.register.index_state(
        requirement,
        version.as_deref(),
        facts.rollout.index_version.as_deref(),
        date,
    );
    let (status, reason) = judge(facts, requirement, needed, &spans, &carriers, &index);
    Evidence {
        doc_id: requirement.doc_id.clone(),
        valid: facts.register.valid(requirement, version.as_deref(), date),
        version,
        status,
        reason,
        decisive_step: view.before,
        spans,
        seen: carriers.seen(facts.register, requirement, date),
    }
}

fn judge(
    facts: &EvidenceFacts,
    requirement: &Requirement,
    needed: Option<&Document>,
    spans: &[SpanFound],
    carriers: &Carriers,
    index: &IndexState,
) -> (EvidenceStatus, String) {
    let name = name_of(requirement, needed);
    if facts.steps.is_empty() {
        return (EvidenceStatus::Unknown, "the log holds no step".to_owned());
    }
    if !carriers.brought() {
        return not_brought(facts, requirement, needed, carriers, index, &name);
    }
    let lost: Vec<&SpanFound> = spans.iter().filter(|s| !s.in_view).collect();
    let steps = steps_text(&carriers.steps());
    if let Some(first) = lost.first() {
        let others = match lost.len() {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        let gone = if first.places.is_empty() {
            "was never there"
        } else {
            "had left the context"
        };
        let reason = format!(
            "{name} was brought by {steps}, but when the model decided its {} \"{}\"{others} {gone}",
            first.part, first.text
        );
        return (EvidenceStatus::NotInPrompt, reason);
    }
    if !carriers.in_view() {
        let reason = format!("{name} was brought by {steps}, which had left the context");
        return (EvidenceStatus::NotInPrompt, reason);
    }
    let reason = format!("{name} came with {steps}; all that was required was in view");
    (EvidenceStatus::InPrompt, reason)
}

fn not_brought(
    facts: &EvidenceFacts,
    requirement: &Requirement,
    needed: Option<&Document>,
    carriers: &Carriers,
    index: &IndexState,
    name: &str,
) -> (EvidenceStatus, String) {
    let instead = carriers.instead();
    match index {
        IndexState::NotIndexed(why) => (EvidenceStatus::NotIndexed, format!("{why}{instead}")),
        IndexState::StaleOnly(why) => (EvidenceStatus::StaleOnly, format!("{why}{instead}")),
        IndexState::Held(why) => {
            if facts.rollout.outcome_only {
                return (EvidenceStatus::Unknown, OUTCOME_ONLY.to_owned());
            }
            let reason = format!("{why}, and no tool result brought {name}{instead}");
            (EvidenceStatus::NotRetrieved, reason)
        }
        IndexState::Unknown(why) => {
            let can_look = !requirement.spans.is_empty()
                || needed.is_some_and(|d| !d.text.trim().is_empty())
                || facts.steps.iter().any(|s| !s.documents.is_empty());
            if facts.rollout.outcome_only {
                (EvidenceStatus::Unknown, OUTCOME_ONLY.to_owned())
            } else if can_look {
                let reason = format!("no tool result brought {name}{instead}; {why}");
                (EvidenceStatus::NotRetrieved, reason)
            } else {
                let reason = format!(
                    "nothing tells what {name} looks like; supply its text (docs import) or required spans (tasks import)"
                );
                (EvidenceStatus::Unknown, reason)
            }
        }
    }
}

const OUTCOME_ONLY: &str =
    "only the final answer was kept, so the log cannot tell what was retrieved";

fn name_of(requirement: &Requirement, needed: Option<&Document>) -> String {
    let version = needed
        .map(|d| d.version.as_str())
        .or(requirement.version.as_deref());
    match version {
        Some(v) => format!("{} {v}", requirement.doc_id),
        None => requirement.doc_id.clone(),
    }
}

fn steps_text(steps: &[u32]) -> String {
    let list: Vec<String> = steps.iter().map(u32::to_string).collect();
    match list.len() {
        1 => format!("step {}", list.join("")),
        _ => format!("steps {}", list.join(", ")),
    }
}

#[cfg(test)]
mod tests;
