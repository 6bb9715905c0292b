//! Fills the matrix of a probe: every distinct context once, the longest first, what is known not again.

use super::model::ProbeModel;
use super::trim::{Answer, compare};
use crate::domain::pair::context_hash;
use crate::domain::{ChatMessage, Progress};
use crate::jobs::JobError;
use crate::score::{ActionScore, ScoreError};
use crate::triage::{Context, PlannedVariant, ProbeMatrix, ProbePlan, VariantScores};
use std::collections::HashMap;

/// What is to be scored.
#[derive(Debug, Clone, Copy)]
pub(in crate::jobs) struct Asked<'a> {
    /// The recorded context.
    pub(in crate::jobs) context: &'a Context,
    /// The plan.
    pub(in crate::jobs) plan: &'a ProbePlan,
    /// The recorded action first, then the verified forms of the corrected one.
    pub(in crate::jobs) actions: &'a [ChatMessage],
    /// When the run took place.
    pub(in crate::jobs) now_us: Option<i64>,
}

/// Answers that were given before.
pub(in crate::jobs) trait Memory {
    /// An answer by the name of its context.
    fn recall(&self, context: &str) -> Result<Option<Answer>, JobError>;
    /// Keeps one.
    fn keep(&mut self, context: &str, answer: &Answer) -> Result<(), JobError>;
}

/// Forgets everything: for work that nobody resumes.
#[derive(Debug, Clone, Copy)]
pub(in crate::jobs) struct Forgetful;

impl Memory for Forgetful {
    fn recall(&self, _: &str) -> Result<Option<Answer>, JobError> {
        Ok(None)
    }

    fn keep(&mut self, _: &str, _: &Answer) -> Result<(), JobError> {
        Ok(())
    }
}

/// A filled matrix.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::jobs) struct Filled {
    /// The matrix.
    pub(in crate::jobs) matrix: ProbeMatrix,
    /// Tokens of the longest prompt.
    pub(in crate::jobs) longest: u32,
    /// What the template left out or changed.
    pub(in crate::jobs) unlike: Vec<String>,
    /// Contexts that were scored now.
    pub(in crate::jobs) scored: u64,
    /// Contexts that were known.
    pub(in crate::jobs) known: u64,
}

/// Scores every context of a plan.
pub(in crate::jobs) fn fill(
    asked: &Asked<'_>,
    model: &mut dyn ProbeModel,
    memory: &mut dyn Memory,
    progress: &Progress,
) -> Result<Filled, JobError> {
    let mut desk = Desk {
        asked,
        model,
        memory,
        progress,
        answers: HashMap::new(),
        scored: 0,
        known: 0,
    };
    desk.longest_first()?;
    let variants = &asked.plan.variants;
    let filled: Vec<VariantScores> = variants
        .iter()
        .map(|v| desk.variant(v))
        .collect::<Result<_, _>>()?;
    Ok(desk.finish(filled))
}

struct Desk<'a> {
    asked: &'a Asked<'a>,
    model: &'a mut dyn ProbeModel,
    memory: &'a mut dyn Memory,
    progress: &'a Progress,
    answers: HashMap<String, Answer>,
    scored: u64,
    known: u64,
}

impl Desk<'_> {
    /// What does not fit is refused before any other work is done. Also measures how much work there is.
    fn longest_first(&mut self) -> Result<(), JobError> {
        let mut longest: Option<(usize, Context)> = None;
        let mut sizes: HashMap<String, usize> = HashMap::new();
        for planned in &self.asked.plan.variants {
            for at in 0..planned.cells.len() {
                let cell = self.asked.plan.cell(self.asked.context, planned, at)?;
                for context in [cell.baseline, cell.changed]
                    .into_iter()
                    .chain(cell.placebos)
                {
                    let size = size(&context);
                    sizes.insert(name(&context), size);
                    if longest.as_ref().is_none_or(|(most, _)| size > *most) {
                        longest = Some((size, context));
                    }
                }
            }
        }
        let Some((most, context)) = longest else {
            return Ok(());
        };
        let before = self.progress.seen().0;
        self.ask(&context)?;
        let tokens = self.progress.seen().0.saturating_sub(before);
        let all: usize = sizes.values().sum();
        // The scorer counts tokens; how many lie ahead is told from the first context's.
        self.progress
            .set_total(before + tokens * all as u64 / most.max(1) as u64);
        Ok(())
    }

    fn variant(&mut self, planned: &PlannedVariant) -> Result<VariantScores, JobError> {
        let mut out = VariantScores {
            variant: planned.variant,
            author: planned.author.clone(),
            diff: planned.diff.clone(),
            cells: planned.cells.clone(),
            baseline: Vec::new(),
            changed: Vec::new(),
            placebos: Vec::new(),
        };
        for at in 0..planned.cells.len() {
            let cell = self.asked.plan.cell(self.asked.context, planned, at)?;
            out.baseline.push(self.ask(&cell.baseline)?.score);
            out.changed.push(self.ask(&cell.changed)?.score);
            let placebos = cell.placebos.iter();
            let scores: Vec<_> = placebos
                .map(|p| self.ask(p).map(|a| a.score))
                .collect::<Result<_, _>>()?;
            out.placebos.push(scores);
        }
        out.placebos.retain(|p| !p.is_empty());
        Ok(out)
    }

    fn ask(&mut self, context: &Context) -> Result<Answer, JobError> {
        if self.progress.is_cancelled() {
            return Err(JobError::Cancelled);
        }
        let name = name(context);
        if let Some(answer) = self.answers.get(&name) {
            return Ok(answer.clone());
        }
        let answer = match self.memory.recall(&name)? {
            Some(answer) => {
                self.known += 1;
                answer
            }
            None => {
                let answer = self.score(context)?;
                self.memory.keep(&name, &answer)?;
                self.scored += 1;
                answer
            }
        };
        self.answers.insert(name, answer.clone());
        Ok(answer)
    }

    fn score(&mut self, context: &Context) -> Result<Answer, JobError> {
        let asked = self.asked;
        let scores = self
            .model
            .score(context, asked.actions, asked.now_us, self.progress);
        let scores: Vec<ActionScore> = scores.map_err(|e| match e {
            ScoreError::Cancelled => JobError::Cancelled,
            other => JobError::Score(other),
        })?;
        let ends = scores.iter().map(|s| s.prompt_tokens + s.tokens);
        let (tokens, window) = (ends.max().unwrap_or(0), self.model.window());
        if tokens as usize > window {
            return Err(super::ProbeError::TooLong { tokens, window }.into());
        }
        let (recorded, forms) = scores.split_first().ok_or(super::ProbeError::Same)?;
        Ok(compare(recorded, forms).ok_or(super::ProbeError::Same)?)
    }

    fn finish(self, variants: Vec<VariantScores>) -> Filled {
        let most = |of: fn(&Answer) -> u32| self.answers.values().map(of).max().unwrap_or(0);
        let mut unlike: Vec<String> = self
            .answers
            .values()
            .flat_map(|a| a.unlike.iter().cloned())
            .collect();
        unlike.sort();
        unlike.dedup();
        Filled {
            matrix: ProbeMatrix {
                corrected_bytes: most(|a| a.corrected_bytes),
                recorded_bytes: most(|a| a.recorded_bytes),
                variants,
            },
            longest: most(|a| a.prompt_tokens),
            unlike,
            scored: self.scored,
            known: self.known,
        }
    }
}

fn name(context: &Context) -> String {
    context_hash(None, &context.messages, &context.tools)
}

/// Bytes that grow with the prompt's length.
fn size(context: &Context) -> usize {
    let messages = context.messages.iter().map(|m| {
        let calls = m
            .tool_calls
            .iter()
            .map(|c| c.name.len() + c.arguments.len());
        m.content.as_ref().map_or(0, String::len) + calls.sum::<usize>()
    });
    let tools = context.tools.iter().map(|t| t.to_string().len());
    messages.chain(tools).sum()
}
