//! Makes a pair out of what a reviewer names: two decisions, two runs, or a decision and a side that somebody wrote.
//!
//! Finds the candidates and their contexts; whether the pair may be saved is `triage`'s word.

mod written;

pub use written::{WrittenError, read_written};

use super::JobError;
use crate::domain::chat::{context_before, decision_at, decision_start};
use crate::domain::{
    Call, Candidate, ChatMessage, Choice, Criterion, Pair, Rollout, RunId, Side, Step, StepRef,
    Task,
};
use crate::store::Store;
use crate::triage::{
    DEFAULT_STANDARD, NotComparable, PairFacts, PairProblem, RunView, Standard, check_pair,
    compare_decisions, decision_hashes, first_differing_decision,
};

/// How a side is named.
#[derive(Debug, Clone, PartialEq)]
pub enum SideName {
    /// A run; the decision is found.
    Run(RunId),
    /// A decision.
    At(StepRef),
    /// A side that the reviewer wrote, for the other side's context.
    Written(Box<ChatMessage>),
}

/// What a reviewer says about two sides.
#[derive(Debug, Clone, PartialEq)]
pub struct PairWords {
    /// The decision.
    pub choice: Choice,
    /// Criteria that decided.
    pub criteria: Vec<Criterion>,
    /// Compulsory reason.
    pub reason: String,
    /// Words that prove it.
    pub evidence: Option<String>,
    /// Standard that was applied; `None` = the task's own, else the default one.
    pub standard: Option<String>,
    /// Who wrote a written side.
    pub author: String,
    /// Side that was shown left, and the seed that chose it.
    pub shown: Option<(Side, u64)>,
}

/// A run with its calls, owned.
struct Loaded {
    rollout: Rollout,
    steps: Vec<Step>,
    calls: Vec<Call>,
}

impl Loaded {
    fn read(store: &Store, run: &RunId) -> Result<Self, JobError> {
        Ok(Self {
            rollout: store.rollout(run)?,
            steps: store.steps(run)?,
            calls: store.calls(run)?,
        })
    }

    fn view(&self) -> RunView<'_> {
        RunView {
            rollout: &self.rollout,
            steps: &self.steps,
            calls: &self.calls,
        }
    }

    fn decision(&self, step: u32) -> Result<(StepRef, ChatMessage), NotComparable> {
        let at = self.view().step_ref(decision_start(&self.steps, step));
        let message = decision_at(&self.steps, at.step);
        let message = message.ok_or_else(|| NotComparable::NotADecision(at.clone()))?;
        Ok((at, message))
    }
}

/// A candidate with what it says and the hash of the request that it answers.
struct Found {
    candidate: Candidate,
    message: ChatMessage,
    hash: String,
}

/// Builds a pair and says what is wrong with it; problems that block forbid saving it.
pub fn build_pair(
    store: &Store,
    a: &SideName,
    b: &SideName,
    words: PairWords,
) -> Result<(Pair, Vec<PairProblem>), JobError> {
    let ([a, b], context, task) = find(store, a, b, &words)?;
    let standard = task.as_ref().and_then(Standard::of);
    let own = match &standard {
        Some(own) => Some(own.version.clone()),
        // A side that cannot be compared was judged by no standard.
        None if words.choice == Choice::NotComparable => None,
        None => Some(DEFAULT_STANDARD.to_owned()),
    };
    let pair = Pair {
        a: a.candidate,
        b: b.candidate,
        context_hash: a.hash.clone(),
        choice: words.choice,
        criteria: words.criteria,
        reason: words.reason,
        evidence: words.evidence,
        standard: words.standard.or(own).filter(|s| !s.is_empty()),
        left: words.shown.map(|(side, _)| side),
        side_seed: words.shown.map(|(_, seed)| seed),
        active_ms: None,
    };
    let facts = PairFacts {
        hash_a: &a.hash,
        hash_b: &b.hash,
        message_a: &a.message,
        message_b: &b.message,
        context: &context,
        standard: standard.as_ref(),
    };
    let problems = check_pair(&pair, &facts);
    Ok((pair, problems))
}

type Sides = ([Found; 2], Vec<ChatMessage>, Option<Task>);

fn find(store: &Store, a: &SideName, b: &SideName, words: &PairWords) -> Result<Sides, JobError> {
    match (a, b) {
        (SideName::Written(_), SideName::Written(_)) => Err(JobError::TwoWritten),
        (SideName::Written(message), other) => {
            let (written, recorded, context, task) = beside(store, message, other, words)?;
            Ok(([written, recorded], context, task))
        }
        (other, SideName::Written(message)) => {
            let (written, recorded, context, task) = beside(store, message, other, words)?;
            Ok(([recorded, written], context, task))
        }
        (SideName::Run(a), SideName::Run(b)) => recorded(store, (a, None), (b, None), words.choice),
        (SideName::Run(a), SideName::At(b)) => {
            recorded(store, (a, None), (&b.run, Some(b.step)), words.choice)
        }
        (SideName::At(a), SideName::Run(b)) => {
            recorded(store, (&a.run, Some(a.step)), (b, None), words.choice)
        }
        (SideName::At(a), SideName::At(b)) => recorded(
            store,
            (&a.run, Some(a.step)),
            (&b.run, Some(b.step)),
            words.choice,
        ),
    }
}

/// A written side answers the context of the decision that it stands in for.
fn beside(
    store: &Store,
    message: &ChatMessage,
    other: &SideName,
    words: &PairWords,
) -> Result<(Found, Found, Vec<ChatMessage>, Option<Task>), JobError> {
    let SideName::At(at) = other else {
        return Err(JobError::WrittenNeedsStep);
    };
    let run = Loaded::read(store, &at.run)?;
    let recorded = found(&run, at.step)?;
    let written = Found {
        candidate: Candidate::Human {
            at: recorded.candidate.at().clone(),
            message: message.clone(),
            author: words.author.clone(),
        },
        message: message.clone(),
        hash: recorded.hash.clone(),
    };
    let context = context_before(&run.steps, at.step);
    Ok((written, recorded, context, task_of(store, &run)?))
}

/// A run and, where the reviewer named it, a step.
type Named<'a> = (&'a RunId, Option<u32>);

fn recorded(store: &Store, a: Named<'_>, b: Named<'_>, choice: Choice) -> Result<Sides, JobError> {
    let (run_a, run_b) = (Loaded::read(store, a.0)?, Loaded::read(store, b.0)?);
    let (step_a, step_b) = match (a.1, b.1) {
        (Some(x), Some(y)) if choice == Choice::NotComparable => (x, y),
        (Some(x), Some(y)) => {
            let pair = compare_decisions(&run_a.view(), x, &run_b.view(), y)?;
            (pair.a.step, pair.b.step)
        }
        (Some(x), None) => (x, same_request(&run_a, x, &run_b)?),
        (None, Some(y)) => (same_request(&run_b, y, &run_a)?, y),
        (None, None) => {
            let pair = first_differing_decision(&run_a.view(), &run_b.view())?;
            (pair.a.step, pair.b.step)
        }
    };
    let context = context_before(&run_a.steps, step_a);
    let task = task_of(store, &run_a)?;
    Ok((
        [found(&run_a, step_a)?, found(&run_b, step_b)?],
        context,
        task,
    ))
}

/// The decision of `other` that answers the same request as the decision at `step` of `run`.
fn same_request(run: &Loaded, step: u32, other: &Loaded) -> Result<u32, JobError> {
    let hash = run.view().context_hash(step);
    decision_hashes(&other.view())
        .into_iter()
        .find(|(_, h)| *h == hash)
        .map(|(at, _)| at.step)
        .ok_or_else(|| JobError::NoSameRequest {
            at: run.view().step_ref(step).to_string(),
            run: other.rollout.id.to_string(),
        })
}

fn found(run: &Loaded, step: u32) -> Result<Found, JobError> {
    let (at, message) = run.decision(step)?;
    Ok(Found {
        hash: run.view().context_hash(at.step),
        candidate: Candidate::Recorded { at },
        message,
    })
}

fn task_of(store: &Store, run: &Loaded) -> Result<Option<Task>, JobError> {
    match &run.rollout.task {
        Some(id) => Ok(store.task(id)?),
        None => Ok(None),
    }
}
