//! Logs in which every request repeats the whole conversation: calls in order, the new prompt compared with what is
//! known, only its tail kept. A prompt that does not continue what is known is a context rewrite (compaction,
//! sub-agent, edited or dropped answer): the new text replaces what it no longer holds, and the call says so.

use super::chat;
use super::json::Node;
use super::out::{Halt, Out};
use super::parse::{Flaws, parse};
use super::run::Run;
use crate::domain::{Adopted, Call, Owner, SourceSpan, Step, StepKind, StepStatus};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A message of a prompt or an answer: what tells it from others, and its steps.
pub(crate) struct Said {
    hash: u64,
    steps: Vec<Step>,
}

impl Said {
    /// A message of the OpenAI dialect.
    pub(crate) fn chat(out: &mut Out<'_>, node: &Node<'_>, span: SourceSpan) -> Self {
        Self::of(chat::message(out, node, span))
    }

    /// A message that the thread knows already (see `Thread::shared`): its steps are not needed again.
    pub(crate) fn known(hash: u64) -> Self {
        Self {
            hash,
            steps: Vec::new(),
        }
    }

    /// Its steps.
    pub(crate) fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    /// What tells it from others.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// Steps that any importer made.
    pub(crate) fn of(steps: Vec<Step>) -> Self {
        Self {
            hash: hash(&steps),
            steps,
        }
    }
}

/// Reasoning and call ids do not count: harnesses drop the one and renew the other when they send an answer back.
fn hash(steps: &[Step]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for step in steps {
        if step.kind == StepKind::Reasoning {
            continue;
        }
        let is_call = step.kind == StepKind::ToolCall;
        if is_call {
            // The same arguments come back as an object, or with other spaces.
            (canonical(&step.text), &step.tool).hash(&mut hasher);
        } else {
            (step.role, step.text.trim()).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Arguments without what spelling leaves open.
fn canonical(arguments: &str) -> String {
    let node = parse(arguments, &mut Flaws::default());
    node.map_or_else(|_| arguments.trim().to_owned(), |n| n.compact())
}

struct Known {
    hash: u64,
    steps: std::ops::Range<u32>,
}

struct Pending {
    said: Said,
    call: u32,
    adopted: Adopted,
}

/// One conversation as far as it is known.
#[derive(Default)]
pub(crate) struct Thread {
    known: Vec<Known>,
    /// Answers to the prompt that `known` holds; several if it was sent several times.
    pending: Vec<Pending>,
    tokens: Option<(Vec<u32>, Vec<u32>)>,
    /// Steps that left the context, for the next step to say so.
    replaced: Vec<u32>,
    /// Hash of every message that went out → a model wrote it.
    told: HashMap<u64, bool>,
    /// How tools ended, where something but the prompt tells.
    ends: HashMap<String, (StepStatus, Option<String>)>,
    /// Tools' answers that prompts have shown since they were last taken.
    shown: Vec<(Option<String>, String)>,
    is_watched: bool,
    claimed: HashSet<String>,
}

impl Thread {
    /// Takes the next call. Its prompt's new tail goes out; its answer waits until the next prompt shows whether the
    /// harness went on with it.
    pub(crate) fn call(
        &mut self,
        run: &mut Run<'_, '_>,
        prompt: Vec<Said>,
        answers: Vec<Said>,
        mut call: Call,
    ) -> Result<(), Halt> {
        let is_repeat = self.is_same_prompt(&prompt);
        let mut is_rewrite = false;
        if !is_repeat {
            self.settle(run, &prompt)?;
            is_rewrite = self.go_on(run, prompt)?;
        }
        call.context_rewrite = is_rewrite;
        self.wait(run, answers, call)
    }

    /// The same, where the request names the one before it and holds only what is new.
    pub(crate) fn continued(
        &mut self,
        run: &mut Run<'_, '_>,
        tail: Vec<Said>,
        answers: Vec<Said>,
        call: Call,
    ) -> Result<(), Halt> {
        self.settle(run, &[])?;
        self.add(run, tail, false)?;
        self.wait(run, answers, call)
    }

    fn wait(
        &mut self,
        run: &mut Run<'_, '_>,
        answers: Vec<Said>,
        mut call: Call,
    ) -> Result<(), Halt> {
        self.compare_tokens(&mut call);
        let adopted = call.adopted;
        let call = run.call(call)?;
        let pending = answers.into_iter().map(|said| Pending {
            said,
            call,
            adopted,
        });
        self.pending.extend(pending);
        Ok(())
    }

    /// The log ends: the last answer is on the path, earlier ones to the same prompt are not.
    pub(crate) fn finish(&mut self, run: &mut Run<'_, '_>) -> Result<(), Halt> {
        self.settle(run, &[])
    }

    /// How many leading messages of a prompt the thread knows: for these, `Said::known` does.
    pub(crate) fn shared(&self, prompt: &[u64]) -> usize {
        let same = prompt
            .iter()
            .zip(&self.known)
            .take_while(|(p, k)| **p == k.hash)
            .count();
        let next = prompt.get(same);
        let is_answer =
            same == self.known.len() && self.pending.iter().any(|p| Some(&p.said.hash) == next);
        same + usize::from(is_answer)
    }

    /// The log ends with the conversation as it stood: what it holds beyond the last prompt and answer goes out. A
    /// conversation that was rewritten since says nothing new.
    pub(crate) fn close_with(
        &mut self,
        run: &mut Run<'_, '_>,
        whole: Vec<Said>,
    ) -> Result<(), Halt> {
        self.settle(run, &whole)?;
        let goes_on = whole.len() >= self.known.len()
            && whole.iter().zip(&self.known).all(|(p, k)| p.hash == k.hash);
        if goes_on {
            self.go_on(run, whole)?;
        }
        Ok(())
    }

    /// Says how tools ended whose answers the next prompts show.
    pub(crate) fn hint(&mut self, ends: HashMap<String, (StepStatus, Option<String>)>) {
        self.is_watched = true;
        self.ends.extend(ends);
    }

    /// Tools' answers that prompts have shown: call id and text.
    pub(crate) fn take_shown(&mut self) -> Vec<(Option<String>, String)> {
        std::mem::take(&mut self.shown)
    }

    /// The id of a call in a waiting answer that this tool carries out: by name and arguments, else by name. A call
    /// is given out once.
    pub(crate) fn claim(&mut self, name: &str, arguments: &str) -> Option<String> {
        let wanted = canonical(arguments);
        let waiting = self.pending.iter().flat_map(|p| &p.said.steps);
        let calls: Vec<&Step> = waiting
            .filter(|s| s.kind == StepKind::ToolCall && s.tool.as_deref() == Some(name))
            .filter(|s| {
                s.tool_call_id
                    .as_ref()
                    .is_some_and(|id| !self.claimed.contains(id))
            })
            .collect();
        let exact = calls.iter().find(|s| canonical(&s.text) == wanted);
        let id = exact.or(calls.first())?.tool_call_id.clone()?;
        self.claimed.insert(id.clone());
        Some(id)
    }

    fn is_same_prompt(&self, prompt: &[Said]) -> bool {
        !self.pending.is_empty()
            && prompt.len() == self.known.len()
            && prompt
                .iter()
                .zip(&self.known)
                .all(|(p, k)| p.hash == k.hash)
    }

    /// Sends the waiting answers on; the one that the prompt continues, or else the last, is on the path.
    fn settle(&mut self, run: &mut Run<'_, '_>, prompt: &[Said]) -> Result<(), Halt> {
        let next = prompt.get(self.known.len()).map(|p| p.hash);
        let pending = std::mem::take(&mut self.pending);
        let is_continued = |p: &Pending| Some(p.said.hash) == next;
        let by_word = pending.iter().rposition(|p| p.adopted == Adopted::Yes);
        let by_prompt = pending.iter().rposition(is_continued);
        // Of several choices of one answer the first counts, of several answers the last.
        let last_call = pending
            .iter()
            .rfind(|p| p.adopted != Adopted::No)
            .map(|p| p.call);
        let by_order = pending.iter().position(|p| Some(p.call) == last_call);
        let chosen = by_word.or(by_prompt).or(by_order);
        for (place, answer) in pending.into_iter().enumerate() {
            let is_chosen = Some(place) == chosen;
            let mut steps = answer.said.steps;
            for step in &mut steps {
                step.off_path = !is_chosen;
            }
            self.hand_over_replaced(&mut steps);
            self.told.insert(answer.said.hash, true);
            let first = run.say(steps, Some(answer.call))?;
            if is_chosen {
                self.known.push(Known {
                    hash: answer.said.hash,
                    steps: first..run.steps(),
                });
            }
        }
        Ok(())
    }

    /// Sends the prompt's new tail on. Returns whether something known is gone from it.
    fn go_on(&mut self, run: &mut Run<'_, '_>, prompt: Vec<Said>) -> Result<bool, Halt> {
        let same = prompt
            .iter()
            .zip(&self.known)
            .take_while(|(p, k)| p.hash == k.hash)
            .count();
        let gone: Vec<Known> = self.known.split_off(same);
        let is_rewrite = !gone.is_empty();
        self.replaced.extend(gone.into_iter().flat_map(|k| k.steps));
        self.add(run, prompt.into_iter().skip(same), is_rewrite)?;
        Ok(is_rewrite)
    }

    fn add(
        &mut self,
        run: &mut Run<'_, '_>,
        tail: impl IntoIterator<Item = Said>,
        is_rewrite: bool,
    ) -> Result<(), Halt> {
        for said in tail {
            let mut steps = said.steps;
            // After a rewrite, what had been told before stands there again.
            let before = self.told.get(&said.hash).copied().filter(|_| is_rewrite);
            for step in &mut steps {
                step.copied = before.is_some();
                self.observe(step);
                // No logged inference produced it: an example, or an answer of a call that the log lacks.
                if step.owner == Owner::Model && before != Some(true) {
                    step.owner = Owner::Unknown;
                }
            }
            self.told.insert(said.hash, false);
            self.hand_over_replaced(&mut steps);
            let first = run.say(steps, None)?;
            self.known.push(Known {
                hash: said.hash,
                steps: first..run.steps(),
            });
        }
        Ok(())
    }

    fn observe(&mut self, step: &mut Step) {
        if step.kind != StepKind::Observation {
            return;
        }
        if self.is_watched {
            self.shown
                .push((step.tool_call_id.clone(), step.text.clone()));
        }
        let end = step.tool_call_id.as_ref().and_then(|id| self.ends.get(id));
        if let Some((status, error)) = end {
            step.status = *status;
            if let Some(error) = error {
                step.extra.insert("error".to_owned(), error.clone().into());
            }
        }
    }

    fn hand_over_replaced(&mut self, steps: &mut [Step]) {
        if let Some(first) = steps.first_mut().filter(|s| !s.off_path) {
            first.replaces = std::mem::take(&mut self.replaced);
        }
    }

    /// S-25: the prompt's tokens must start with the last prompt's and answer's, else they are not one sequence.
    fn compare_tokens(&mut self, call: &mut Call) {
        let Some(prompt) = &call.prompt_token_ids else {
            self.tokens = None;
            return;
        };
        if let Some((before, answer)) = &self.tokens {
            let goes_on = prompt
                .strip_prefix(before.as_slice())
                .is_some_and(|rest| rest.starts_with(answer));
            let word = if goes_on { "continues" } else { "broken" };
            call.extra.insert("token_prefix".to_owned(), word.into());
        }
        let answer = call.completion_token_ids.clone().unwrap_or_default();
        self.tokens = Some((prompt.clone(), answer));
    }
}

/// Finds the conversation that a prompt goes on with, where the log names none: by the hash of what was known.
#[derive(Default)]
pub(crate) struct Families {
    known: HashMap<u64, usize>,
    count: usize,
}

impl Families {
    /// Number of the conversation: of the one whose prompt and answer this prompt begins with, or a new one.
    pub(crate) fn of(&mut self, prompt: &[Said], answers: &[Said]) -> usize {
        let chain = |last: u64, said: &Said| {
            let mut hasher = DefaultHasher::new();
            (last, said.hash).hash(&mut hasher);
            hasher.finish()
        };
        let mut at = 0;
        let mut found = None;
        for said in prompt {
            at = chain(at, said);
            found = self.known.get(&at).copied().or(found);
        }
        let family = found.unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        });
        for answer in answers {
            self.known.insert(chain(at, answer), family);
        }
        family
    }
}
