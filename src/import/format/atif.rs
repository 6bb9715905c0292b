//! ATIF trajectories (Harbor, Terminal-Bench 2) and our own interchange, which is ATIF with `extra.triagent`.
//! The trial folder around one, with its reward, is `harbor.rs`.

mod exact;
mod observed;

use super::openai_chat::inside;
use super::{Importer, Input};
use crate::domain::chat::Role;
use crate::domain::{Adopted, Call, Outcome, Owner, Reward, Rollout, Step, StepKind, Usage};
use crate::import::answer::{logprobs, token_ids};
use crate::import::chat::{arguments_text, call_step};
use crate::import::content::pieces;
use crate::import::detect::Sniff;
use crate::import::document::{Document, LongList};
use crate::import::extra::{keep, leftover};
use crate::import::json::Node;
use crate::import::mint::mint;
use crate::import::out::{Halt, Out};
use crate::import::own;
use crate::import::rows::{each_element, opening, tell_damage};
use crate::import::run::Run;
use crate::import::time::time;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// ATIF.
pub(crate) struct Atif;

const KNOWN: &[&str] = &[
    "schema_version",
    "session_id",
    "trajectory_id",
    "agent",
    "steps",
    "notes",
    "final_metrics",
    "continued_trajectory_ref",
    "subagent_trajectories",
    "extra",
];
const KNOWN_AGENT: &[&str] = &["name", "version", "model_name", "tool_definitions", "extra"];
const KNOWN_STEP: &[&str] = &[
    "step_id",
    "timestamp",
    "source",
    "model_name",
    "reasoning_effort",
    "message",
    "reasoning_content",
    "tool_calls",
    "observation",
    "metrics",
    "is_copied_context",
    "llm_call_count",
    "extra",
];

impl Importer for Atif {
    fn name(&self) -> &'static str {
        "atif"
    }

    fn title(&self) -> &'static str {
        "ATIF trajectory (Harbor, Terminal-Bench 2; triagent's own interchange)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        let first = sniff.first();
        let version = first.get("schema_version").and_then(Value::as_str)?;
        (version.starts_with("ATIF-") && first.get("steps").is_some())
            .then(|| format!("schema_version is {version:?}"))
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        if input.sniff.shape == crate::import::detect::Shape::Object {
            return self.document(input, out);
        }
        crate::import::rows::each_row(out, input.source, input.sniff.shape, |out, row| {
            let id = mint(&[row.text]);
            let mut head = input.minted(id, self);
            head.span = row.span;
            let rewards = about(out, row.node, &mut head);
            let mut run = Run::begin(out, head)?;
            exact::labels(&mut run, row.node)?;
            let mut reader = Reader::default();
            let steps = row.node.list("steps");
            steps
                .iter()
                .for_each(|step| count(&mut reader.reports, step));
            for step in steps {
                reader.step(&mut run, step, inside(row.span, step))?;
            }
            finish(run, rewards, exact::has_head(row.node))
        })
    }
}

impl Atif {
    fn document(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        out.advance(input.source.len())?;
        let document = read_document(input.source)?;
        tell(out, &document, |id| input.minted(id, self), |_| Ok(()))?;
        tell_damage(out, &document)
    }
}

/// Opens a trajectory of any size.
pub(crate) fn read_document(source: &crate::import::source::Source) -> Result<Document<'_>, Halt> {
    Document::open(source, &["steps"])
}

/// Sends one trajectory and those embedded in it; `adjust` adds what stands beside the file.
pub(crate) fn tell<'s>(
    out: &mut Out<'s>,
    document: &Document<'_>,
    head: impl FnOnce(String) -> Rollout,
    adjust: impl FnOnce(&mut Run<'_, 's>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let top = document.head()?;
    let Some(list) = document.lists.first() else {
        return Err(Halt::file("no steps"));
    };
    let start = opening(document, list, 3);
    let start: Vec<&str> = start.iter().map(String::as_str).collect();
    let mut head = head(mint(&start));
    let rewards = about(out, &top, &mut head);
    let (format, source, parent) = (head.format.clone(), head.source.clone(), head.id.clone());
    let mut run = Run::begin(out, head)?;
    exact::labels(&mut run, &top)?;
    let mut reader = Reader {
        reports: reports(document, list),
        ..Reader::default()
    };
    each_element(&mut run, document, list, &mut |run, row| {
        reader.step(run, row.node, row.span)
    })?;
    adjust(&mut run)?;
    finish(run, rewards, exact::has_head(&top))?;
    for (number, inner) in top.list("subagent_trajectories").iter().enumerate() {
        let id = format!("{parent}-sub{}", number + 1);
        let mut head = Rollout::new(id, &format, &source);
        head.id_minted = true;
        let rewards = about(out, inner, &mut head);
        head.extra
            .insert("parent".to_owned(), parent.0.clone().into());
        let mut run = Run::begin(out, head)?;
        let mut reader = Reader::default();
        for step in inner.list("steps") {
            reader.step(&mut run, step, crate::domain::SourceSpan::default())?;
        }
        finish(run, rewards, false)?;
    }
    Ok(())
}

/// How often each event is reported. Only harnesses that say so in their first steps are read twice.
fn reports(document: &Document<'_>, list: &LongList) -> HashMap<String, u32> {
    const LOOK_AT: usize = 8;
    let first = opening(document, list, LOOK_AT);
    let mut reports = HashMap::new();
    if first.iter().any(|text| text.contains("\"event_id\"")) {
        let walked = document.each(list, |element, _| {
            if let Ok(row) = element {
                count(&mut reports, row.node);
            }
            Ok(())
        });
        // The reading that follows tells what cannot be read.
        drop(walked);
    }
    reports
}

fn count(reports: &mut HashMap<String, u32>, step: &Node<'_>) {
    let id = step.at(&["extra", "triagent", "event_id"]);
    if let Some(id) = id.and_then(Node::as_id) {
        *reports.entry(id).or_default() += 1;
    }
}

fn finish(mut run: Run<'_, '_>, rewards: Vec<Reward>, has_head: bool) -> Result<(), Halt> {
    // Our own head says what was known; an unknown outcome is then a fact and no gap.
    if run.head.outcome == Outcome::Unknown
        && !has_head
        && let Some(value) = rewards.last().and_then(|r| r.result)
    {
        run.head.outcome = super::openai_chat::by_result(value);
        run.head.outcome_source = Some("file:reward".to_owned());
    }
    for reward in rewards {
        run.reward(reward)?;
    }
    run.end()
}

fn about(out: &mut Out<'_>, top: &Node<'_>, head: &mut Rollout) -> Vec<Reward> {
    if let Some(id) = top.id("trajectory_id").or_else(|| top.id("session_id")) {
        head.id = id.into();
        head.id_minted = false;
    }
    head.extra.extend(leftover(out, top, KNOWN, "trajectory"));
    keep(
        &mut head.extra,
        top,
        &[
            "schema_version",
            "session_id",
            "notes",
            "final_metrics",
            "continued_trajectory_ref",
        ],
    );
    if let Some(agent) = top.get("agent") {
        head.harness.name = agent.id("name");
        head.harness.version = agent.id("version").filter(|v| v != "unknown");
        head.model = agent.id("model_name").filter(|m| m != "unknown");
        head.tools = agent
            .list("tool_definitions")
            .iter()
            .map(Node::to_value)
            .collect();
        head.extra
            .extend(leftover(out, agent, KNOWN_AGENT, "agent"));
        if let Some(extra) = agent.get("extra") {
            head.extra
                .insert("agent".to_owned(), crate::import::extra::bounded(extra));
        }
    }
    let mut rewards = Vec::new();
    for (key, value) in top.get("extra").map_or(&[][..], Node::members) {
        if key == "triagent" {
            rewards = own::head(value, head);
            exact::head(value, head);
        } else {
            head.extra.insert(
                key.clone().into_owned(),
                crate::import::extra::bounded(value),
            );
        }
    }
    rewards
}

/// What must be remembered from step to step.
#[derive(Default)]
struct Reader {
    has_begun: bool,
    /// Step id of the file → indices of our steps.
    places: HashMap<u64, Vec<u32>>,
    /// Event id → how often the file reports it.
    reports: HashMap<String, u32>,
    /// Event ids seen.
    events: HashSet<String>,
    /// Numbers of our own exports.
    numbers: exact::Numbers,
}

impl Reader {
    fn step(
        &mut self,
        run: &mut Run<'_, '_>,
        node: &Node<'_>,
        span: crate::domain::SourceSpan,
    ) -> Result<(), Halt> {
        if let Some(exact) = exact::read(node) {
            self.has_begun = true;
            return exact.send(run, span, &mut self.numbers);
        }
        let own = node.at(&["extra", "triagent"]);
        let mut call = call_of(node, own, span);
        if let Some(call) = &mut call
            && let Some(id) = &call.event_id
        {
            if !self.events.insert(id.clone()) {
                run.out.repeated();
                return Ok(());
            }
            call.reports = self.reports.get(id).copied().unwrap_or(1);
        }
        let before = run.steps();
        let steps = self.said(run.out, node, own);
        let off_path = call.as_ref().is_some_and(|c| c.adopted == Adopted::No);
        let call = call.map(|c| run.call(c)).transpose()?;
        let message = run.message();
        for mut step in steps {
            if step.owner == Owner::Model {
                step.call = call;
            }
            place(node, span, off_path, &mut step);
            step.replaces = self.replaced(own);
            run.step(step, message)?;
        }
        for mut step in observed::steps(run.out, node) {
            place(node, span, off_path, &mut step);
            let message = run.message();
            run.step(step, message)?;
        }
        if let Some(id) = node.u64("step_id") {
            self.places
                .entry(id)
                .or_default()
                .extend(before..run.steps());
        }
        self.has_begun |= node.str("source") != Some("system");
        Ok(())
    }

    /// The message itself: reasoning, text, tool calls.
    fn said(&self, out: &mut Out<'_>, node: &Node<'_>, own: Option<&Node<'_>>) -> Vec<Step> {
        let (owner, role) = self.voice(out, node);
        let is_note = owner == Owner::Runtime && node.str("source") == Some("system");
        let mut steps = Vec::new();
        let text = node.str("message");
        let thought = node.str("reasoning_content").filter(|t| !t.is_empty());
        // Some converters write the message a second time as reasoning.
        if let Some(thought) = thought.filter(|t| Some(*t) != text) {
            steps.push(Step::new(owner, StepKind::Reasoning, role, thought));
        }
        let calls = node.list("tool_calls");
        for piece in pieces(out, node.get("message")) {
            if piece.text.is_empty() && !calls.is_empty() {
                continue;
            }
            let kind = if is_note { StepKind::Event } else { piece.kind };
            steps.push(Step::new(owner, kind, role, piece.text));
        }
        for call in calls {
            let name = call.str("function_name").unwrap_or("");
            let text = call
                .get("arguments")
                .map(arguments_text)
                .unwrap_or_default();
            let mut step = call_step(name, call.id("tool_call_id"), text);
            step.owner = owner;
            steps.push(step);
        }
        if steps.is_empty() {
            steps.push(Step::new(owner, StepKind::Text, role, ""));
        }
        if let Some(own) = own {
            for step in &mut steps {
                own::step(own, step);
            }
        }
        if let Some(first) = steps.first_mut() {
            first.extra = leftover(out, node, KNOWN_STEP, "step");
            keep(&mut first.extra, node, &["reasoning_effort"]);
            for (key, value) in node.get("extra").map_or(&[][..], Node::members) {
                if key != "triagent" {
                    first.extra.insert(
                        key.clone().into_owned(),
                        crate::import::extra::bounded(value),
                    );
                }
            }
        }
        steps
    }

    /// `system` is the prompt at the start; later it is something that the harness did (ATIF 1.2).
    fn voice(&self, out: &mut Out<'_>, node: &Node<'_>) -> (Owner, Role) {
        match node.str("source") {
            Some("system") if self.has_begun => (Owner::Runtime, Role::System),
            Some("system") => (Owner::System, Role::System),
            Some("user") => (Owner::User, Role::User),
            Some("agent") if node.u64("llm_call_count") == Some(0) => {
                (Owner::Runtime, Role::Assistant)
            }
            Some("agent") => (Owner::Model, Role::Assistant),
            other => {
                out.not_understood(&format!("source {other:?}"));
                (Owner::Unknown, Role::User)
            }
        }
    }

    fn replaced(&self, own: Option<&Node<'_>>) -> Vec<u32> {
        let ids = own.map_or(&[][..], |own| own.list("replaces"));
        let places = ids
            .iter()
            .filter_map(Node::as_u64)
            .filter_map(|id| self.places.get(&id));
        places.flatten().copied().collect()
    }
}

fn place(node: &Node<'_>, span: crate::domain::SourceSpan, off_path: bool, step: &mut Step) {
    step.source = span;
    step.at_us = time(node.get("timestamp"));
    step.copied = node.bool("is_copied_context").unwrap_or(false);
    step.off_path = off_path;
}

/// An agent's step is one inference, unless it says that no model took part or that it is a copy.
fn call_of(
    node: &Node<'_>,
    own: Option<&Node<'_>>,
    span: crate::domain::SourceSpan,
) -> Option<Call> {
    let is_inference = node.str("source") == Some("agent")
        && node.u64("llm_call_count") != Some(0)
        && node.bool("is_copied_context") != Some(true)
        && own
            .and_then(|o| o.str("owner"))
            .is_none_or(|o| o == "model");
    if !is_inference {
        return None;
    }
    let mut call = Call {
        model: node.id("model_name").filter(|m| m != "unknown"),
        at_us: time(node.get("timestamp")),
        source: span,
        ..Call::default()
    };
    keep(&mut call.sampling, node, &["reasoning_effort"]);
    if let Some(metrics) = node.get("metrics") {
        call.usage = Usage {
            input: metrics.u64("prompt_tokens"),
            output: metrics.u64("completion_tokens"),
            cached: metrics.u64("cached_tokens"),
            reasoning: None,
        };
        call.cost_usd = metrics.f64("cost_usd");
        call.prompt_token_ids = metrics.get("prompt_token_ids").and_then(token_ids);
        call.completion_token_ids = metrics.get("completion_token_ids").and_then(token_ids);
        call.logprobs = metrics.get("logprobs").and_then(logprobs);
        keep(&mut call.extra, metrics, &["extra"]);
    }
    keep(&mut call.extra, node, &["llm_call_count"]);
    if let Some(own) = own {
        own::call(own, &mut call);
        keep(&mut call.sampling, own, &["sampling"]);
    }
    Some(call)
}
