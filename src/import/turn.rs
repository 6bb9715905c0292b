//! Event streams: several records form one inference, and what it cost may stand behind its tools' answers. A turn
//! is held back until the next one begins, so that the call goes out whole and before its steps.

use super::out::Halt;
use super::run::Run;
use crate::domain::{Call, Owner, Step, StepKind, StepStatus};

/// One inference and what followed it.
struct Turn {
    key: Option<String>,
    call: Call,
    model: Vec<Step>,
    after: Vec<(Vec<Step>, Context)>,
}

/// What a message does to the context before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Context {
    /// Stands behind it.
    GoesOn,
    /// Takes its place: a compaction's summary.
    Replaces,
}

/// The turn under way.
#[derive(Default)]
pub(crate) struct Turns {
    open: Option<Turn>,
    /// Calls so far, the open one included.
    pub(crate) count: u32,
}

impl Turns {
    /// Adds model-owned steps. They join the open turn if they bear its key, or, without a key, if nothing has
    /// followed it yet; else a new turn begins. Returns its call, to be filled in.
    pub(crate) fn model(
        &mut self,
        run: &mut Run<'_, '_>,
        key: Option<&str>,
        steps: Vec<Step>,
    ) -> Result<&mut Call, Halt> {
        let joins = self.open.as_ref().is_some_and(|turn| match key {
            Some(key) => turn.key.as_deref() == Some(key),
            None => turn.key.is_none() && turn.after.is_empty(),
        });
        if !joins {
            self.close(run)?;
            self.count += 1;
        }
        let turn = self.open.get_or_insert_with(|| Turn {
            key: key.map(str::to_owned),
            call: Call::default(),
            model: Vec::new(),
            after: Vec::new(),
        });
        turn.model.extend(steps);
        Ok(&mut turn.call)
    }

    /// Adds steps to the open turn, whatever its key.
    pub(crate) fn append(&mut self, steps: Vec<Step>) {
        if let Some(turn) = &mut self.open {
            turn.model.extend(steps);
        }
    }

    /// Adds a message that no model wrote.
    pub(crate) fn other(
        &mut self,
        run: &mut Run<'_, '_>,
        steps: Vec<Step>,
        context: Context,
    ) -> Result<(), Halt> {
        match &mut self.open {
            Some(turn) => turn.after.push((steps, context)),
            None => say(run, steps, context)?,
        }
        Ok(())
    }

    /// The open turn's call.
    pub(crate) fn call(&mut self) -> Option<&mut Call> {
        self.open.as_mut().map(|turn| &mut turn.call)
    }

    /// Model-owned steps of the open turn.
    pub(crate) fn said(&mut self) -> &mut [Step] {
        self.open.as_mut().map_or(&mut [], |turn| &mut turn.model)
    }

    /// Nothing has followed the open turn yet.
    pub(crate) fn is_speaking(&self) -> bool {
        self.open.as_ref().is_some_and(|turn| turn.after.is_empty())
    }

    /// Tells how a tool ended, where that stands apart from its answer.
    pub(crate) fn ended(&mut self, tool_call_id: &str, status: StepStatus) {
        let after = self.open.as_mut().map(|turn| &mut turn.after);
        let steps = after.into_iter().flatten().flat_map(|(steps, _)| steps);
        for step in steps.filter(|s| s.kind == StepKind::Observation) {
            if step.tool_call_id.as_deref() == Some(tool_call_id) {
                step.status = status;
            }
        }
    }

    /// Sends the open turn on.
    pub(crate) fn close(&mut self, run: &mut Run<'_, '_>) -> Result<(), Halt> {
        let Some(turn) = self.open.take() else {
            return Ok(());
        };
        let call = run.call(turn.call)?;
        if !turn.model.is_empty() {
            run.say(turn.model, Some(call))?;
        }
        for (steps, context) in turn.after {
            say(run, steps, context)?;
        }
        Ok(())
    }
}

fn say(run: &mut Run<'_, '_>, mut steps: Vec<Step>, context: Context) -> Result<(), Halt> {
    if context == Context::Replaces {
        let replaced = run.replace_context();
        if let Some(first) = steps.first_mut() {
            first.replaces = replaced;
        }
    }
    run.say(steps, None)?;
    Ok(())
}

/// A step that nobody's context held.
pub(crate) fn event(name: &str, text: impl Into<String>) -> Step {
    let role = crate::domain::Role::User;
    let mut step = Step::new(Owner::Runtime, StepKind::Event, role, text);
    step.name = Some(name.to_owned());
    step
}
