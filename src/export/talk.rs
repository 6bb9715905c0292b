//! A run as whole conversations, for consumers that want them: cut where the context was rewritten, every
//! assistant message marked as a target or as a condition (S-15, S-25).

use super::desk::Desk;
use super::gate::{RunView, is_success, left_attempts, prompt_is_sayable};
use super::input::RunInput;
use super::options::Reasoning;
use super::redact::Redactor;
use super::select::{Example, Select};
use super::why::Why;
use crate::domain::chat::{decisions, messages, visible_before};
use crate::domain::{ChatMessage, Owner, Role, Step, StepRef};
use std::collections::BTreeSet;

/// One message of a conversation.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    pub(crate) message: ChatMessage,
    /// The loss should count it.
    pub(crate) target: bool,
    /// First step that it came from.
    pub(crate) step: u32,
}

/// One conversation.
#[derive(Debug, Clone)]
pub(crate) struct Talk<'a> {
    pub(crate) run: &'a RunInput,
    /// Its last target.
    pub(crate) at: StepRef,
    pub(crate) turns: Vec<Turn>,
    /// Examples of its targets, for counts.
    pub(crate) targets: Vec<Example<'a>>,
}

impl Talk<'_> {
    /// Messages alone.
    pub(crate) fn messages(&self) -> Vec<ChatMessage> {
        self.turns.iter().map(|t| t.message.clone()).collect()
    }

    /// A consumer of object arguments that trains every assistant message can say it.
    pub(crate) fn is_sayable(&self, consumer: &'static str) -> Result<Vec<ChatMessage>, Why> {
        self.all_targets(consumer)?;
        let messages = self.messages();
        prompt_is_sayable(&messages)?;
        Ok(messages)
    }

    /// A consumer that trains every assistant message can say it only if every one is a target.
    pub(crate) fn all_targets(&self, consumer: &'static str) -> Result<(), Why> {
        let other = |t: &&Turn| t.message.role == Role::Assistant && !t.target;
        match self.turns.iter().find(other) {
            Some(turn) => Err(Why::CannotSay {
                consumer,
                what: format!(
                    "it trains every assistant message, and the one of step {} is only a condition",
                    turn.step
                ),
            }),
            None => Ok(()),
        }
    }
}

/// What a run gives: conversations, and decisions that are no targets.
struct Talks<'a> {
    talks: Vec<Talk<'a>>,
    refused: Vec<(StepRef, Why)>,
}

/// Conversations of a run that succeeded; what stays out of them is noted.
pub(crate) fn of_success<'r>(run: &'r RunInput, desk: &mut Desk<'_>) -> Vec<Talk<'r>> {
    if let Err(why) = is_success(run) {
        desk.leave_out(&run.head.id, &why);
        return Vec::new();
    }
    desk.coverage.success(run);
    let all = talks(&desk.select, run);
    for (at, why) in &all.refused {
        desk.leave_out(at, why);
    }
    all.talks
}

/// The last questions before a conversation is written: `said` is what the consumer makes of it, `mark` tells the consumer's
/// kinds of rows apart. Nothing = it stays out, which is noted.
pub(crate) fn accept<T>(
    desk: &mut Desk<'_>,
    talk: &Talk<'_>,
    subject: &str,
    mark: &str,
    said: Result<T, Why>,
) -> Option<T> {
    let last = talk.targets.last()?;
    let ready = said.and_then(|said| {
        desk.measure(last)?;
        desk.once(subject, last, mark)?;
        Ok(said)
    });
    match ready {
        Ok(said) => {
            desk.shade_talk(talk);
            talk.targets.iter().for_each(|t| desk.tally(t));
            Some(said)
        }
        Err(why) => {
            desk.leave_out(subject, &why);
            None
        }
    }
}

/// Makes conversations of a run.
fn talks<'a>(select: &Select<'_>, run: &'a RunInput) -> Talks<'a> {
    let view = RunView::new(run, select.options.undecided);
    let mut out = Talks {
        talks: Vec::new(),
        refused: Vec::new(),
    };
    for stretch in stretches(run) {
        let mut targets: Vec<Example<'a>> = Vec::new();
        for step in stretch {
            let at = StepRef {
                run: run.head.id.clone(),
                step,
            };
            match select.example(run, &view, &at) {
                Ok(example) => targets.push(example),
                Err(why) => out.refused.push((at, why)),
            }
        }
        match talk(select, run, targets) {
            Ok(Some(talk)) => out.talks.push(talk),
            Ok(None) => {}
            Err((at, why)) => out.refused.push((at, why)),
        }
    }
    // Attempts that the path left behind stand in no stretch, and are listed all the same.
    for step in left_attempts(&run.steps, &decisions(&run.steps)) {
        let at = StepRef {
            run: run.head.id.clone(),
            step,
        };
        if let Err(why) = select.example(run, &view, &at) {
            out.refused.push((at, why));
        }
    }
    out
}

/// A conversation that ends with a side that a reviewer wrote.
pub(crate) fn written<'a>(example: Example<'a>) -> Talk<'a> {
    let condition = |message: &ChatMessage| Turn {
        message: message.clone(),
        target: false,
        step: example.at.step,
    };
    let mut turns: Vec<Turn> = example.prompt.iter().map(condition).collect();
    turns.push(Turn {
        message: example.target.clone(),
        target: true,
        step: example.at.step,
    });
    Talk {
        run: example.run,
        at: example.at.clone(),
        turns,
        targets: vec![example],
    }
}

/// Decisions that share one growing context.
fn stretches(run: &RunInput) -> Vec<Vec<u32>> {
    let mut out: Vec<Vec<u32>> = Vec::new();
    let mut from = 0;
    for step in decisions(&run.steps) {
        let new = run
            .steps
            .iter()
            .filter(|s| s.index >= from && s.index <= step && s.is_in_context());
        let rewritten = new.into_iter().any(|s| !s.replaces.is_empty()) || is_rewrite(run, step);
        match out.last_mut().filter(|_| !rewritten) {
            Some(open) => open.push(step),
            None => out.push(vec![step]),
        }
        from = step;
    }
    out
}

fn is_rewrite(run: &RunInput, step: u32) -> bool {
    let call = run
        .steps
        .iter()
        .find(|s| s.index == step)
        .and_then(|s| s.call);
    let call = call.and_then(|c| run.calls.get(c as usize));
    // The first call rewrites nothing: there was no context before it.
    call.is_some_and(|c| c.context_rewrite && c.index > 0)
}

fn talk<'a>(
    select: &Select<'_>,
    run: &'a RunInput,
    targets: Vec<Example<'a>>,
) -> Result<Option<Talk<'a>>, (StepRef, Why)> {
    let Some(last) = targets.last() else {
        return Ok(None);
    };
    let at = last.at.clone();
    let wanted: BTreeSet<u32> = targets.iter().map(|t| t.at.step).collect();
    let mut steps = visible_before(&run.steps, at.step);
    let message = run
        .steps
        .iter()
        .find(|s| s.index == at.step)
        .map(|s| s.message);
    steps.extend(
        run.steps
            .iter()
            .filter(|s| Some(s.message) == message && s.owner == Owner::Model),
    );
    let redactor = Redactor::of(run, select.options.undecided);
    let mut turns = Vec::new();
    for group in groups(&steps) {
        let Some(mut message) = messages(group.iter().copied()).into_iter().next() else {
            continue;
        };
        redactor
            .message(&mut message)
            .map_err(|why| (at.clone(), why))?;
        if select.options.reasoning == Reasoning::Drop {
            message.reasoning = None;
        }
        let step = group.first().map_or(0, |s| s.index);
        let own = group.iter().all(|s| s.owner == Owner::Model);
        turns.push(Turn {
            message,
            target: own && wanted.contains(&step),
            step,
        });
    }
    Ok(Some(Talk {
        run,
        at,
        turns,
        targets,
    }))
}

/// Steps of one message, as `domain::chat` joins them: a tool's answer always stands alone.
fn groups<'a>(steps: &[&'a Step]) -> Vec<Vec<&'a Step>> {
    let mut out: Vec<Vec<&Step>> = Vec::new();
    for step in steps {
        let joins = |g: &Vec<&Step>| g.first().is_some_and(|f| f.message == step.message);
        match out
            .last_mut()
            .filter(|g| step.role != Role::Tool && joins(g))
        {
            Some(group) => group.push(step),
            None => out.push(vec![step]),
        }
    }
    out
}
