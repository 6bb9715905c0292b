//! Probes one failed decision: would the missing document, the cut date, a clearer tool text have mattered?
//!
//! Ties rooms together: `triage` plans and evaluates, `score` computes, `store` keeps plan, cells and report. The plan is
//! on the disk before the first score is computed; a probe that was stopped goes on where it was.

mod fill;
mod keep;
mod model;
mod stock;
mod subject;
mod trim;
mod trust;

pub use keep::probes_of;
pub use model::ProbeModel;
pub use trust::Trust;

pub(in crate::jobs) use fill::{Asked, Forgetful, fill};
pub(in crate::jobs) use keep::binding_key;
pub(in crate::jobs) use stock::Stock;
pub(in crate::jobs) use trust::uses_evidence;

use super::{Calibration, JobError, WrittenError, calibration_of};
use crate::domain::{Binding, ChatMessage, Document, Progress, RunId, StepRef, TaskId};
use crate::store::Store;
use crate::triage::{
    CellScore, Context, GateFacts, PlanFacts, ProbeMatrix, ProbePlan, ProbeReport, ProbeSettings,
    Register, WrittenTexts, evaluate_probe, plan_probe,
};
use keep::{Planned, Shelf};
use serde::{Deserialize, Serialize};
use subject::Subject;

/// Cells of a probe that gives a verdict.
pub const FULL_CELLS: usize = 12;

/// Why a decision cannot be probed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProbeError {
    /// The run passed.
    #[error(
        "{0} passed; a probe asks why a decision failed\nhint: `triagent outcome {0} fail` if it did not"
    )]
    Passed(RunId),
    /// No model decision in the log.
    #[error("{0} holds no decision of a model")]
    NoDecision(RunId),
    /// That step is somebody else's.
    #[error("{0} is no decision of the model\nhint: `triagent show {run}` lists who wrote what", run = .0.run)]
    NotADecision(StepRef),
    /// Nobody said what would have been right.
    #[error(
        "nothing says what {0} should have been\nhint: --corrected @FILE (an assistant message as JSON, or plain words), a pair that prefers a written side at it, or `expected` in the task list"
    )]
    NoCorrected(StepRef),
    /// An answer cannot stand in for a call.
    #[error(
        "{0} calls a tool, and the task list only knows the final answer\nhint: --corrected @FILE with the call that would have been right, or --step N for the answer"
    )]
    AnswerForCall(StepRef),
    /// The task list's action cannot be read.
    #[error("`expected.action` of task {0}: {1}")]
    Expected(TaskId, WrittenError),
    /// The prompt reaches past what the model was made for.
    #[error(
        "{tokens} tokens reach past the {window} that this model was made for\nhint: --model PATH with a longer context"
    )]
    TooLong {
        /// Of prompt and action.
        tokens: u32,
        /// That fit.
        window: usize,
    },
    /// Nothing to compare.
    #[error("the corrected action says the same as the recorded one")]
    Same,
    /// What the program carries is damaged.
    #[error("the program's own placebos cannot be read: {0}")]
    Stock(String),
}

/// How to probe.
#[derive(Debug, Clone, Default)]
pub struct ProbeOptions {
    /// Which decision; without one that of the verdict, else the last.
    pub step: Option<u32>,
    /// What would have been right, and who says so; without one a pair or the task list must know.
    pub corrected: Option<(ChatMessage, String)>,
    /// What a reviewer wrote for the probe.
    pub written: WrittenTexts,
    /// One cell: a look, no verdict.
    pub quick: bool,
    /// The user named the chat template, so that a difference in rendering is declared.
    pub template_declared: bool,
    /// Its rows enter suggestions although no calibration says that they should.
    pub heed: bool,
    /// Thresholds.
    pub settings: ProbeSettings,
}

/// The margin after the recorded reasoning and without it: the reasoning may have decided already.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReasoningEffect {
    /// After the recorded reasoning.
    pub after: CellScore,
    /// Without it.
    pub without: CellScore,
}

/// A probe with everything that it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// The run.
    pub run: RunId,
    /// The decision.
    pub step: u32,
    /// What the model did.
    pub recorded: ChatMessage,
    /// What would have been right; several forms add up.
    pub corrected: Vec<ChatMessage>,
    /// Who says so.
    pub corrected_by: String,
    /// Name of the plan that was kept before any score was seen.
    pub plan: String,
    /// When it was kept.
    pub planned_us: i64,
    /// Plans kept for this decision so far, this one included: many tries until one works prove nothing.
    pub plans: u32,
    /// What could not be planned, and what to know.
    pub notes: Vec<String>,
    /// Which model.
    pub binding: Binding,
    /// Where it computed.
    pub device: String,
    /// Tokens of the longest prompt.
    pub longest_prompt: u32,
    /// Contexts scored now, and known from before.
    pub contexts: (u64, u64),
    /// Wrappers by number.
    pub wrappers: Vec<String>,
    /// Both log-probs of every cell.
    pub matrix: ProbeMatrix,
    /// Effects, intervals, gates.
    pub report: ProbeReport,
    /// Where the log kept the reasoning.
    pub reasoning: Option<ReasoningEffect>,
    /// How far it is trusted.
    pub trust: Trust,
    /// When it was finished.
    pub at_us: i64,
}

/// Probes one decision of a failed run and keeps plan, cells and report.
pub fn probe(
    store: &mut Store,
    model: &mut dyn ProbeModel,
    run: &RunId,
    register: &Register,
    options: &ProbeOptions,
    now_us: i64,
    progress: &Progress,
) -> Result<Probe, JobError> {
    let subject = subject::find(store, run, register, options)?;
    let plan = plan(&subject, model, options)?;
    let planned = Planned::new(&subject, plan, options);
    let (planned_us, plans) = planned.register(store, now_us)?;
    let actions = subject.actions();
    let asked = Asked {
        context: &subject.context,
        plan: &planned.plan,
        actions: &actions,
        now_us: subject.now_us,
    };
    let filled = {
        let mut shelf = Shelf::new(store, &planned, model.binding(), now_us);
        fill(&asked, model, &mut shelf, progress)?
    };
    let reasoning = reasoning(&subject, model, progress)?;
    let calibration = calibration_of(Some(store), model.binding())?;
    let trust = trust::trust(
        calibration.as_ref(),
        model.binding(),
        subject.checkpoint.as_deref(),
        options.heed,
    );
    let facts = GateFacts {
        fits_window: true,
        same_template: filled.unlike.is_empty(),
        template_declared: options.template_declared,
        logged: keep::logged_and_scored(store, run, model.binding())?,
    };
    let report = evaluate_probe(
        &filled.matrix,
        &facts,
        trust.speaks_for_model,
        &options.settings,
    );
    let notes = subject.notes.iter().chain(&planned.plan.notes);
    let probe = Probe {
        notes: notes.cloned().chain(filled.unlike).collect(),
        run: run.clone(),
        step: subject.at.step,
        recorded: subject.recorded,
        corrected: subject.corrected,
        corrected_by: subject.corrected_by,
        plan: planned.hash.clone(),
        planned_us,
        plans,
        binding: model.binding().clone(),
        device: model.device().to_owned(),
        longest_prompt: filled.longest,
        contexts: (filled.scored, filled.known),
        wrappers: planned.plan.wrappers.clone(),
        matrix: filled.matrix,
        report,
        reasoning,
        trust,
        at_us: now_us,
    };
    keep::keep(store, &probe, now_us)?;
    Ok(probe)
}

fn plan(
    subject: &Subject,
    model: &dyn ProbeModel,
    options: &ProbeOptions,
) -> Result<ProbePlan, JobError> {
    let stock = Stock::embedded().map_err(|e| ProbeError::Stock(e.to_string()))?;
    let documents: Vec<Option<&Document>> = subject.documents.iter().map(Option::as_ref).collect();
    let placebos = stock.all();
    let wrappers = stock.wrappers(&subject.context);
    let Some(corrected) = subject.corrected.first() else {
        return Err(ProbeError::NoCorrected(subject.at.clone()).into());
    };
    Ok(plan_probe(&PlanFacts {
        context: &subject.context,
        corrected,
        is_tool_decision: subject.is_tool_decision(),
        evidence: &subject.evidence,
        documents: &documents,
        written: &options.written,
        stock: &placebos,
        wrappers: &wrappers,
        // A tokenizer that refuses a text would refuse it again when it is scored, and say why.
        count: &|text| model.count(text).unwrap_or(text.len()),
        seed: options.settings.seed,
        cells: if options.quick { 1 } else { FULL_CELLS },
    })?)
}

/// Scores the actions after the recorded reasoning, where there is any and the template writes it.
fn reasoning(
    subject: &Subject,
    model: &mut dyn ProbeModel,
    progress: &Progress,
) -> Result<Option<ReasoningEffect>, JobError> {
    let Some(words) = subject.recorded.reasoning.as_deref() else {
        return Ok(None);
    };
    let mut ask = |actions: Vec<ChatMessage>| -> Result<Option<trim::Answer>, JobError> {
        let context: &Context = &subject.context;
        let scores = model.score(context, &actions, subject.now_us, progress)?;
        Ok(scores
            .split_first()
            .and_then(|(recorded, forms)| trim::compare(recorded, forms)))
    };
    let after = ask(subject.with_reasoning(Some(words)))?;
    let without = ask(subject.actions())?;
    let is_written = |a: &trim::Answer| !a.unlike.iter().any(|w| w.contains("reasoning"));
    Ok(after
        .filter(is_written)
        .zip(without)
        .map(|(after, without)| ReasoningEffect {
            after: after.score,
            without: without.score,
        }))
}
