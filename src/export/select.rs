//! Which decisions may teach, and which may not: every refusal has a reason (S-15, S-16, S-24, S-41…S-46).
//!
//! It only chooses. What a chosen row looks like is each consumer's own matter.

use super::gate::{self, RunView};
use super::input::{PairInput, RunInput};
use super::options::{Options, Reasoning};
use super::redact::Redactor;
use super::why::Why;
use crate::domain::chat::{context_before, decision_at, decisions};
use crate::domain::pair::context_hash;
use crate::domain::{Candidate, ChatMessage, Choice, Criterion, Pair, Side, StepRef, Task, TaskId};
use std::collections::HashMap;

/// One decision of a model, or one that a reviewer wrote, with what stood before it.
#[derive(Debug, Clone)]
pub(crate) struct Example<'a> {
    pub(crate) run: &'a RunInput,
    pub(crate) at: StepRef,
    pub(crate) prompt: Vec<ChatMessage>,
    pub(crate) target: ChatMessage,
    /// `recorded`, or `human:` and the author.
    pub(crate) source: String,
}

/// One decided pair, ready to leave.
#[derive(Debug, Clone)]
pub(crate) struct Preference<'a> {
    pub(crate) pair: &'a Pair,
    pub(crate) input: &'a PairInput,
    pub(crate) chosen: Example<'a>,
    pub(crate) rejected: Example<'a>,
    pub(crate) standard: String,
}

/// Chooses.
pub(crate) struct Select<'a> {
    pub(crate) options: &'a Options<'a>,
    pub(crate) tasks: HashMap<&'a str, &'a Task>,
}

impl<'a> Select<'a> {
    pub(crate) fn new(options: &'a Options<'a>, tasks: &'a [Task]) -> Self {
        let tasks = tasks.iter().map(|t| (t.task_id.as_str(), t)).collect();
        Self { options, tasks }
    }

    pub(crate) fn task(&self, id: Option<&TaskId>) -> Option<&'a Task> {
        id.and_then(|id| self.tasks.get(id.as_str()).copied())
    }

    /// Every decision of a run, each with its example or its reason.
    pub(crate) fn decisions<'r>(
        &self,
        run: &'r RunInput,
    ) -> Vec<(StepRef, Result<Example<'r>, Why>)> {
        let view = RunView::new(run, self.options.undecided);
        let on_path = decisions(&run.steps);
        let mut all: Vec<u32> = on_path.clone();
        all.extend(gate::left_attempts(&run.steps, &on_path));
        all.sort_unstable();
        all.into_iter()
            .map(|step| {
                let at = StepRef {
                    run: run.head.id.clone(),
                    step,
                };
                let example = self.example(run, &view, &at);
                (at, example)
            })
            .collect()
    }

    /// One recorded decision.
    pub(crate) fn example<'r>(
        &self,
        run: &'r RunInput,
        view: &RunView<'_>,
        at: &StepRef,
    ) -> Result<Example<'r>, Why> {
        let prompt = || context_before(&run.steps, at.step);
        self.recorded(run, view, at, prompt)
    }

    fn recorded<'r>(
        &self,
        run: &'r RunInput,
        view: &RunView<'_>,
        at: &StepRef,
        prompt: impl FnOnce() -> Vec<ChatMessage>,
    ) -> Result<Example<'r>, Why> {
        view.target(at.step, self.options.attempts)?;
        view.context(at.step)?;
        let target = decision_at(&run.steps, at.step).ok_or(Why::NotTheModels { step: at.step })?;
        let prompt = prompt();
        self.dress(Example {
            run,
            at: at.clone(),
            prompt,
            target,
            source: "recorded".to_owned(),
        })
    }

    /// Redacts, drops what the options drop, and looks whether something is left to learn.
    fn dress<'r>(&self, mut example: Example<'r>) -> Result<Example<'r>, Why> {
        let redactor = Redactor::of(example.run, self.options.undecided);
        for message in example.prompt.iter_mut().chain([&mut example.target]) {
            redactor.message(message)?;
            if self.options.reasoning == Reasoning::Drop {
                message.reasoning = None;
            }
        }
        gate::speaks(&example.target, "the target")?;
        Ok(example)
    }

    /// A decided pair, or why it stays out.
    pub(crate) fn preference<'p>(&self, input: &'p PairInput) -> Result<Preference<'p>, Why> {
        let pair = input.pair().ok_or(Why::NoTarget)?;
        let side = preferred(pair)?;
        let standard = self.standard(pair, input)?;
        let [before_a, before_b] = self.contexts(pair, input)?;
        let a = self.side(&pair.a, &input.a, before_a);
        let b = self.side(&pair.b, &input.b, before_b);
        let (chosen, rejected) = match side {
            Side::A => (a, b),
            Side::B => (b, a),
        };
        let (chosen, rejected) = (
            name(chosen, "the chosen side")?,
            name(rejected, "the rejected side")?,
        );
        if chosen.target.fingerprint_bytes() == rejected.target.fingerprint_bytes() {
            return Err(Why::IdenticalSides);
        }
        if chosen.source == "recorded" {
            gate::can_demonstrate(chosen.run)?;
        }
        gate::is_proven(rejected.run)?;
        Ok(Preference {
            pair,
            input,
            chosen,
            rejected,
            standard,
        })
    }

    /// Both sides of a pair on which nobody prefers one, for marks good and bad.
    pub(crate) fn both_sides<'p>(&self, input: &'p PairInput) -> Result<[Example<'p>; 2], Why> {
        let pair = input.pair().ok_or(Why::NoTarget)?;
        has_reason(pair)?;
        self.standard(pair, input)?;
        let [before_a, before_b] = self.contexts(pair, input)?;
        let a = name(self.side(&pair.a, &input.a, before_a), "side a")?;
        let b = name(self.side(&pair.b, &input.b, before_b), "side b")?;
        Ok([a, b])
    }

    fn side<'p>(
        &self,
        candidate: &'p Candidate,
        run: &'p RunInput,
        prompt: Vec<ChatMessage>,
    ) -> Result<Example<'p>, Why> {
        let view = RunView::new(run, self.options.undecided);
        match candidate {
            Candidate::Recorded { at } => self.recorded(run, &view, at, || prompt),
            Candidate::Human {
                at,
                message,
                author,
            } => {
                view.context(at.step)?;
                let source = format!("human:{author}");
                self.dress(Example {
                    run,
                    at: at.clone(),
                    prompt,
                    target: message.clone(),
                    source,
                })
            }
        }
    }

    /// S-41: one request, and the one that the reviewer saw. Returns what stood before each side.
    fn contexts(&self, pair: &Pair, input: &PairInput) -> Result<[Vec<ChatMessage>; 2], Why> {
        // A pair handed in with other runs than it names answers nothing that we could check.
        if input.a.head.id != pair.a.at().run || input.b.head.id != pair.b.at().run {
            return Err(Why::ContextMismatch);
        }
        let before = |run: &RunInput, at: &StepRef| context_before(&run.steps, at.step);
        let hash = |run: &RunInput, context: &[ChatMessage]| {
            context_hash(run.head.task.as_ref(), context, &run.head.tools)
        };
        let a = before(&input.a, pair.a.at());
        let b = if pair.a.at() == pair.b.at() {
            a.clone()
        } else {
            before(&input.b, pair.b.at())
        };
        let hash_a = hash(&input.a, &a);
        // Equal word for word is equal; only what differs, perhaps in call ids alone, needs a second hash.
        let (head_a, head_b) = (&input.a.head, &input.b.head);
        let same = a == b && head_a.task == head_b.task && head_a.tools == head_b.tools;
        if !same && hash_a != hash(&input.b, &b) {
            return Err(Why::ContextMismatch);
        }
        if hash_a != pair.context_hash {
            return Err(Why::ContextChanged);
        }
        Ok([a, b])
    }

    /// S-42, S-43: the standard that decided, by the pair itself or by its task.
    fn standard(&self, pair: &Pair, input: &PairInput) -> Result<String, Why> {
        let task = self.task(input.a.head.task.as_ref());
        let known = pair
            .standard
            .clone()
            .or_else(|| task.and_then(standard_version));
        let standard = known
            .filter(|s| !s.trim().is_empty())
            .ok_or(Why::MissingStandard)?;
        let alone = pair.criteria == [Criterion::OnlySmoother];
        let allowed = task.is_some_and(|t| t.standard["smoother_alone"] == true);
        if alone && !allowed {
            return Err(Why::OnlySmoother);
        }
        Ok(standard)
    }
}

fn preferred(pair: &Pair) -> Result<Side, Why> {
    let choice = pair.choice;
    let side = choice.preferred().ok_or(Why::NoPreference {
        choice: choice.word().to_owned(),
    })?;
    has_reason(pair)?;
    Ok(side)
}

fn has_reason(pair: &Pair) -> Result<(), Why> {
    if pair.reason.trim().is_empty() {
        return Err(Why::MissingReason);
    }
    if pair.criteria.is_empty() && pair.choice != Choice::BothBad {
        return Err(Why::MissingCriteria);
    }
    Ok(())
}

/// A task's standard, as a name with its version.
pub(crate) fn standard_version(task: &Task) -> Option<String> {
    let text = |v: &serde_json::Value| match v {
        serde_json::Value::String(s) => Some(s.clone()),
        serde_json::Value::Number(n) => Some(n.to_string()),
        _ => None,
    };
    text(&task.standard).or_else(|| text(&task.standard["version"]))
}

fn name<'a>(side: Result<Example<'a>, Why>, word: &'static str) -> Result<Example<'a>, Why> {
    side.map_err(|why| match why {
        Why::EmptySide { .. } => Why::EmptySide { side: word },
        other => other,
    })
}
