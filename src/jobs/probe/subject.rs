//! What is probed: one decision with its context, what it should have been and who says so, and its evidence.

use super::{ProbeError, ProbeOptions};
use crate::domain::chat::{context_before, decision_at, decision_start, decisions};
use crate::domain::{
    Candidate, ChatMessage, Choice, Decision, Document, Outcome, Pair, RunId, StepRef, Task,
};
use crate::jobs::{JobError, read_written, run_facts};
use crate::store::Store;
use crate::triage::{Context, Evidence, Register};
use serde_json::Value;

/// One decision, ready to be probed.
#[derive(Debug, Clone)]
pub(in crate::jobs) struct Subject {
    /// Which.
    pub(in crate::jobs) at: StepRef,
    /// What the model had before it.
    pub(in crate::jobs) context: Context,
    /// What it did.
    pub(in crate::jobs) recorded: ChatMessage,
    /// What would have been right, the main form first.
    pub(in crate::jobs) corrected: Vec<ChatMessage>,
    /// Who says so.
    pub(in crate::jobs) corrected_by: String,
    /// Status of each required document.
    pub(in crate::jobs) evidence: Vec<Evidence>,
    /// Their texts, where the register has them.
    pub(in crate::jobs) documents: Vec<Option<Document>>,
    /// When the run took place.
    pub(in crate::jobs) now_us: Option<i64>,
    /// The weights that the log names.
    pub(in crate::jobs) checkpoint: Option<String>,
    /// What to know about it.
    pub(in crate::jobs) notes: Vec<String>,
}

impl Subject {
    /// Recorded and corrected actions without the text before the answer.
    pub(in crate::jobs) fn actions(&self) -> Vec<ChatMessage> {
        self.with_reasoning(None)
    }

    /// Recorded and corrected actions after one and the same reasoning.
    pub(in crate::jobs) fn with_reasoning(&self, reasoning: Option<&str>) -> Vec<ChatMessage> {
        let all = std::iter::once(&self.recorded).chain(&self.corrected);
        all.map(|m| ChatMessage {
            reasoning: reasoning.map(str::to_owned),
            ..m.clone()
        })
        .collect()
    }

    /// The decision chooses a tool or its arguments, or should have.
    pub(in crate::jobs) fn is_tool_decision(&self) -> bool {
        let corrected = self.corrected.first();
        !self.recorded.tool_calls.is_empty() || corrected.is_some_and(|c| !c.tool_calls.is_empty())
    }
}

/// Gathers one decision of a failed run.
pub(in crate::jobs) fn find(
    store: &Store,
    run: &RunId,
    register: &Register,
    options: &ProbeOptions,
) -> Result<Subject, JobError> {
    let mut facts = run_facts(store, run)?;
    refuse_passed(store, run, facts.rollout.outcome)?;
    let steps = &facts.steps;
    let named = options.step.or(facts.decisive);
    let step = named.or_else(|| decisions(steps).last().copied());
    let step = step.ok_or_else(|| ProbeError::NoDecision(run.clone()))?;
    let at = StepRef {
        run: run.clone(),
        step: decision_start(steps, step),
    };
    let recorded =
        decision_at(steps, at.step).ok_or_else(|| ProbeError::NotADecision(at.clone()))?;
    let (corrected, corrected_by) = corrected(store, &at, &recorded, &facts.task, options)?;
    let (tools, notes) = tools(&facts.rollout.tools, facts.task.as_ref());
    let context = Context {
        messages: context_before(steps, at.step),
        tools,
    };
    facts.decisive = Some(at.step);
    let evidence = facts.evidence(register);
    let document = |e: &Evidence| register.version(&e.doc_id, e.version.as_deref()?).cloned();
    Ok(Subject {
        documents: evidence.iter().map(document).collect(),
        evidence,
        at,
        context,
        recorded,
        corrected,
        corrected_by,
        now_us: facts.rollout.started_us,
        checkpoint: facts.rollout.checkpoint,
        notes,
    })
}

fn refuse_passed(store: &Store, run: &RunId, from_file: Outcome) -> Result<(), JobError> {
    let said = store.live_on("outcome", run.as_str())?.pop();
    let reviewed = said.and_then(|r| match r.decision {
        Decision::Outcome { outcome, .. } => Some(outcome),
        _ => None,
    });
    match reviewed.unwrap_or(from_file) {
        Outcome::Pass => Err(ProbeError::Passed(run.clone()).into()),
        Outcome::Fail | Outcome::Unknown => Ok(()),
    }
}

/// The log's own tools; where it names none, those of the task list.
fn tools(logged: &[Value], task: Option<&Task>) -> (Vec<Value>, Vec<String>) {
    let listed = task.and_then(|t| t.tools.as_array());
    match listed.filter(|l| logged.is_empty() && !l.is_empty()) {
        Some(list) => (
            list.clone(),
            vec!["the log names no tools; those of the task list were shown".to_owned()],
        ),
        None if logged.is_empty() => (
            Vec::new(),
            vec!["neither log nor task list names tools, so none were shown".to_owned()],
        ),
        None => (logged.to_vec(), Vec::new()),
    }
}

/// Forms of the right action, and who says that they are right.
type Corrected = (Vec<ChatMessage>, String);

fn corrected(
    store: &Store,
    at: &StepRef,
    recorded: &ChatMessage,
    task: &Option<Task>,
    options: &ProbeOptions,
) -> Result<Corrected, JobError> {
    let given = options
        .corrected
        .clone()
        .map(|(message, author)| (vec![message], author));
    let found = match given {
        Some(given) => Some(given),
        None => from_pairs(store, at)?,
    };
    let found = match (found, task) {
        (Some(found), _) => found,
        (None, Some(task)) => from_task(task, at, recorded)?,
        (None, None) => return Err(ProbeError::NoCorrected(at.clone()).into()),
    };
    let (mut forms, by) = found;
    let own = without_reasoning(recorded);
    forms.retain(|f| without_reasoning(f) != own && !f.is_empty());
    if forms.is_empty() {
        return Err(ProbeError::Same.into());
    }
    Ok((forms, by))
}

fn without_reasoning(message: &ChatMessage) -> Vec<u8> {
    let bare = ChatMessage {
        reasoning: None,
        ..message.clone()
    };
    bare.fingerprint_bytes()
}

/// Sides that reviewers wrote for this decision or preferred to it.
fn from_pairs(store: &Store, at: &StepRef) -> Result<Option<Corrected>, JobError> {
    let mut out: Vec<(bool, ChatMessage, String)> = Vec::new();
    for (record, pair) in store.pairs()? {
        let Some(better) = better_side(&pair, at) else {
            continue;
        };
        let message = match better {
            Candidate::Human { message, .. } => Some(message.clone()),
            Candidate::Recorded { at } => decision_at(&store.steps(&at.run)?, at.step),
        };
        let by = format!("pair of {}", record.reviewer);
        out.extend(message.map(|m| (better.is_human(), m, by)));
    }
    // What a person wrote for this very decision before what another run happened to do.
    out.sort_by_key(|(is_human, _, _)| !is_human);
    let by = out.first().map(|(_, _, by)| by.clone());
    let forms = out.into_iter().map(|(_, m, _)| m).collect();
    Ok(by.map(|by| (forms, by)))
}

fn better_side<'a>(pair: &'a Pair, at: &StepRef) -> Option<&'a Candidate> {
    let (better, worse) = match pair.choice {
        Choice::A => (&pair.a, &pair.b),
        Choice::B => (&pair.b, &pair.a),
        Choice::Tie | Choice::BothBad | Choice::NotComparable => return None,
    };
    let is_this = matches!(worse, Candidate::Recorded { at: other } if other == at);
    let is_for_this = better.is_human() && better.at() == at;
    (is_this || is_for_this).then_some(better)
}

/// The task list's `expected`: `{"action": message or messages}`, `{"answer": text}`, or the text itself.
fn from_task(task: &Task, at: &StepRef, recorded: &ChatMessage) -> Result<Corrected, JobError> {
    let by = "task list".to_owned();
    if let Some(action) = task.expected.get("action") {
        let listed = action
            .as_array()
            .map_or(std::slice::from_ref(action), Vec::as_slice);
        let forms = listed.iter().map(|m| read_written(&m.to_string()));
        let forms: Result<Vec<ChatMessage>, _> = forms.collect();
        let broken = |e: crate::jobs::WrittenError| ProbeError::Expected(task.task_id.clone(), e);
        return Ok((forms.map_err(broken)?, by));
    }
    let answer = task.expected.get("answer").unwrap_or(&task.expected);
    let Some(answer) = answer.as_str().filter(|a| !a.trim().is_empty()) else {
        return Err(ProbeError::NoCorrected(at.clone()).into());
    };
    if !recorded.tool_calls.is_empty() {
        return Err(ProbeError::AnswerForCall(at.clone()).into());
    }
    let message = ChatMessage::text(crate::domain::Role::Assistant, answer);
    Ok((vec![message], by))
}
