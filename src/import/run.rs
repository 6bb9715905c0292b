//! One run on its way out: numbers messages, steps and calls as the receiver will, joins tool calls with their
//! answers, and notices how the log stops.

use super::join;
use super::out::{Halt, Out};
use crate::domain::{Call, Ending, ForeignLabel, Item, Owner, Reward, Rollout, Step, StepKind};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

struct OpenCall {
    id: String,
    name: String,
    arguments: u64,
}

fn hash_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// A run that has begun.
pub(crate) struct Run<'o, 's> {
    pub(crate) out: &'o mut Out<'s>,
    /// Filled in while reading; goes out at the end.
    pub(crate) head: Rollout,
    steps: u32,
    calls: u32,
    messages: u32,
    /// Tool calls without an answer yet.
    open: Vec<OpenCall>,
    asked: HashSet<String>,
    last: Option<(Owner, StepKind)>,
    /// Steps that stand in the context now.
    context: Vec<u32>,
    /// The first step of each message.
    firsts: Vec<u32>,
    /// Graders that have spoken.
    graders: Vec<String>,
    is_over: bool,
}

/// What damage cut off leaves its head behind, with all that was found out until then.
impl Drop for Run<'_, '_> {
    fn drop(&mut self) {
        if !self.is_over {
            let head = self.take_head();
            self.out.cut_off(head);
        }
    }
}

impl<'o, 's> Run<'o, 's> {
    /// Begins a run. `head` needs id, format and source.
    pub(crate) fn begin(out: &'o mut Out<'s>, head: Rollout) -> Result<Self, Halt> {
        out.put(Item::Begin(Box::new(head.clone())))?;
        Ok(Self {
            out,
            head,
            steps: 0,
            calls: 0,
            messages: 0,
            open: Vec::new(),
            asked: HashSet::new(),
            last: None,
            context: Vec::new(),
            firsts: Vec::new(),
            graders: Vec::new(),
            is_over: false,
        })
    }

    /// Steps so far; the next step gets this index.
    pub(crate) fn steps(&self) -> u32 {
        self.steps
    }

    /// Calls so far; the next call gets this index.
    pub(crate) fn calls(&self) -> u32 {
        self.calls
    }

    /// Opens a new message and returns its number.
    pub(crate) fn message(&mut self) -> u32 {
        self.firsts.push(self.steps);
        self.messages += 1;
        self.messages - 1
    }

    /// Sends a step into message `message` and returns its index.
    pub(crate) fn step(&mut self, mut step: Step, message: u32) -> Result<u32, Halt> {
        step.index = self.steps;
        step.message = message;
        self.see_times(step.at_us);
        self.join_tool(&mut step);
        if step.kind != StepKind::Event && !step.off_path {
            self.last = Some((step.owner, step.kind));
        }
        if !step.replaces.is_empty() {
            let replaced: HashSet<u32> = step.replaces.iter().copied().collect();
            self.context.retain(|i| !replaced.contains(i));
        }
        if step.is_in_context() {
            self.context.push(self.steps);
        }
        self.out.put(Item::Step(Box::new(step)))?;
        self.steps += 1;
        Ok(self.steps - 1)
    }

    /// Sends several steps as one message; model-owned ones belong to `call`. Returns the first index.
    pub(crate) fn say(&mut self, steps: Vec<Step>, call: Option<u32>) -> Result<u32, Halt> {
        let message = self.message();
        let first = self.steps;
        for mut step in steps {
            if step.owner == Owner::Model {
                step.call = call;
            }
            self.step(step, message)?;
        }
        Ok(first)
    }

    /// Sends a call and returns its index. A call without an event id gets one made from the run and its position.
    pub(crate) fn call(&mut self, mut call: Call) -> Result<u32, Halt> {
        call.index = self.calls;
        if call.event_id.is_none() {
            call.event_id = Some(format!("{}#{}", self.head.id, self.calls));
            call.event_id_minted = true;
        }
        self.see_times(call.at_us);
        self.out.put(Item::Call(Box::new(call)))?;
        self.calls += 1;
        Ok(self.calls - 1)
    }

    /// Steps that stand in the context now, for one that takes their place.
    pub(crate) fn replace_context(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.context)
    }

    /// Steps before this one that stand in the context now; they leave it with the step that `replaces` them.
    pub(crate) fn standing_before(&self, step: u32) -> Vec<u32> {
        let before = self.context.iter().copied();
        before.filter(|&i| i < step).collect()
    }

    /// Sends what a grader said.
    pub(crate) fn reward(&mut self, reward: Reward) -> Result<(), Halt> {
        self.graders.push(reward.grader.clone());
        self.out.put(Item::Reward(Box::new(reward)))
    }

    /// This grader has spoken.
    pub(crate) fn has_reward_of(&self, grader: &str) -> bool {
        self.graders.iter().any(|g| g == grader)
    }

    /// The first step of the message at this place, from 0.
    pub(crate) fn step_of_message(&self, message: usize) -> Option<u32> {
        self.firsts.get(message).copied()
    }

    /// Sends somebody else's label.
    pub(crate) fn label(&mut self, label: ForeignLabel) -> Result<(), Halt> {
        self.out.put(Item::Label(Box::new(label)))
    }

    /// The id of an unanswered call of this tool: by id, else by name and arguments, else by name.
    pub(crate) fn claim(&self, id: Option<&str>, name: &str, arguments: &str) -> Option<String> {
        let wanted = hash_of(arguments.trim());
        let by_id = self.open.iter().find(|c| Some(c.id.as_str()) == id);
        let named = || self.open.iter().filter(|c| id.is_none() && c.name == name);
        let found = by_id
            .or_else(|| named().find(|c| c.arguments == wanted))
            .or_else(|| named().next());
        found.map(|c| c.id.clone())
    }

    /// A call with this id was made.
    pub(crate) fn was_asked(&self, id: Option<&str>) -> bool {
        id.is_some_and(|id| self.asked.contains(id))
    }

    /// Widens the run's time.
    pub(crate) fn see(&mut self, at_us: Option<i64>) {
        self.see_times(at_us);
    }

    /// The last step is a tool's answer, or a call that nobody answered.
    pub(crate) fn stops_midway(&self) -> bool {
        matches!(
            self.last,
            Some((_, StepKind::Observation | StepKind::ToolCall))
        )
    }

    /// Ends the run. A log that stops after a tool's answer, or in an unanswered tool call, ended abruptly.
    pub(crate) fn end(mut self) -> Result<(), Halt> {
        if self.head.ending == Ending::Unknown && self.stops_midway() {
            self.head.ending = Ending::Abrupt;
        }
        join::tell(&mut self)?;
        let head = self.take_head();
        self.out.put(Item::End(Box::new(head)))
    }

    fn take_head(&mut self) -> Rollout {
        self.is_over = true;
        std::mem::replace(&mut self.head, Rollout::new("", "", ""))
    }

    fn see_times(&mut self, at: Option<i64>) {
        let Some(at) = at else { return };
        let head = &mut self.head;
        head.started_us = Some(head.started_us.map_or(at, |t| t.min(at)));
        head.finished_us = Some(head.finished_us.map_or(at, |t| t.max(at)));
    }

    /// An observation without a tool name gets it from the call that it answers.
    fn join_tool(&mut self, step: &mut Step) {
        let Some(id) = &step.tool_call_id else { return };
        match step.kind {
            StepKind::ToolCall => {
                self.asked.insert(id.clone());
                self.open.push(OpenCall {
                    id: id.clone(),
                    name: step.tool.clone().unwrap_or_default(),
                    arguments: hash_of(step.text.trim()),
                });
            }
            // Ids repeat from turn to turn in some providers: the answer belongs to the last call of that id.
            StepKind::Observation if !self.asked.contains(id) => {
                step.extra.insert("orphan".to_owned(), true.into());
            }
            StepKind::Observation => {
                if let Some(at) = self.open.iter().rposition(|c| c.id == *id) {
                    // In order: others are claimed by name, the oldest first.
                    let call = self.open.remove(at);
                    if step.tool.is_none() && !call.name.is_empty() {
                        step.tool = Some(call.name);
                    }
                }
            }
            _ => {}
        }
    }
}
