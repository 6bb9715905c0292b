//! Events of an OpenHands conversation: what the agent said and did, what the environment answered, what the program
//! noted for itself.

use crate::domain::{Ending, Owner, Role, SourceSpan, Step, StepKind, StepStatus, Usage};
use crate::import::chat::{arguments_text, call_step};
use crate::import::content::{Piece, pieces};
use crate::import::json::Node;
use crate::import::out::{Halt, Out};
use crate::import::run::Run;
use crate::import::time::time;
use crate::import::turn::{Context, Turns, event};
use std::collections::HashMap;

/// Events about the program's own state.
const SILENT: &[&str] = &[
    "ConversationStateUpdateEvent",
    "TokenEvent",
    "LLMCompletionLogEvent",
    "StreamingDeltaEvent",
    "HookExecutionEvent",
];

/// What one answer cost.
#[derive(Debug, Clone, Default)]
pub(super) struct Cost {
    pub(super) usage: Option<Usage>,
    pub(super) latency_ms: Option<f64>,
}

/// A conversation under way.
#[derive(Default)]
pub(super) struct Talk {
    turns: Turns,
    /// What each answer cost, by its response id, where the conversation's state tells.
    pub(super) costs: HashMap<String, Cost>,
    finished: bool,
    error: Option<String>,
}

impl Talk {
    /// Takes an event.
    pub(super) fn event(
        &mut self,
        run: &mut Run<'_, '_>,
        node: &Node<'_>,
        span: SourceSpan,
    ) -> Result<(), Halt> {
        match node.str("kind").unwrap_or("") {
            "SystemPromptEvent" => self.system(run, node, span),
            "MessageEvent" => self.message(run, node, span),
            "ActionEvent" => self.action(run, node, span),
            "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" => {
                let steps = placed(observed(run.out, node), node, span);
                self.turns.other(run, steps, Context::GoesOn)
            }
            kind @ ("ConversationErrorEvent" | "PauseEvent" | "InterruptEvent") => {
                let text = ["detail", "code", "reason"]
                    .iter()
                    .find_map(|k| node.id(k))
                    .unwrap_or_else(|| node.compact());
                if kind == "ConversationErrorEvent" {
                    self.error = Some(text.clone());
                }
                self.turns.other(
                    run,
                    placed(vec![event(kind, text)], node, span),
                    Context::GoesOn,
                )
            }
            kind if kind.starts_with("Condensation") => {
                run.head.harness.compression = Some("condensation".to_owned());
                let text = node.str("summary").unwrap_or("").to_owned();
                self.turns.other(
                    run,
                    placed(vec![event(kind, text)], node, span),
                    Context::GoesOn,
                )
            }
            kind if SILENT.contains(&kind) => Ok(()),
            kind => {
                run.out.not_understood(&format!("event {kind:?}"));
                Ok(())
            }
        }
    }

    /// The conversation ends.
    pub(super) fn close(&mut self, run: &mut Run<'_, '_>) -> Result<(), Halt> {
        self.turns.close(run)?;
        if let Some(error) = self.error.take() {
            (run.head.ending, run.head.ending_note) = (Ending::Error, Some(error));
        } else if self.finished && run.head.ending == Ending::Unknown {
            run.head.ending = Ending::Finished;
        }
        Ok(())
    }

    fn system(
        &mut self,
        run: &mut Run<'_, '_>,
        node: &Node<'_>,
        span: SourceSpan,
    ) -> Result<(), Halt> {
        run.head.tools = node.list("tools").iter().map(Node::to_value).collect();
        let found = pieces(run.out, node.get("system_prompt")).into_iter();
        let steps = found
            .map(|p| Step::new(Owner::System, p.kind, Role::System, p.text))
            .collect();
        self.turns
            .other(run, placed(steps, node, span), Context::GoesOn)
    }

    fn message(
        &mut self,
        run: &mut Run<'_, '_>,
        node: &Node<'_>,
        span: SourceSpan,
    ) -> Result<(), Halt> {
        let (owner, role) = match node.str("source") {
            Some("agent") => (Owner::Model, Role::Assistant),
            Some("user") => (Owner::User, Role::User),
            _ => (Owner::Runtime, Role::User),
        };
        let said = node.get("llm_message");
        let found = pieces(run.out, said.and_then(|m| m.get("content"))).into_iter();
        let mut steps: Vec<Step> = Vec::new();
        let thought = said
            .and_then(|m| m.str("reasoning_content"))
            .filter(|t| !t.is_empty() && owner == Owner::Model);
        steps.extend(thought.map(|t| Step::new(owner, StepKind::Reasoning, role, t)));
        steps.extend(found.map(|p| Step::new(owner, p.kind, role, p.text)));
        let steps = placed(steps, node, span);
        self.finished = owner == Owner::Model;
        if owner == Owner::Model {
            return self.answer(run, node, steps, span);
        }
        self.turns.other(run, steps, Context::GoesOn)
    }

    fn action(
        &mut self,
        run: &mut Run<'_, '_>,
        node: &Node<'_>,
        span: SourceSpan,
    ) -> Result<(), Halt> {
        let mut steps = Vec::new();
        let model = |kind, text: &str| Step::new(Owner::Model, kind, Role::Assistant, text);
        let thought = node.str("reasoning_content").filter(|t| !t.is_empty());
        steps.extend(thought.map(|t| model(StepKind::Reasoning, t)));
        for piece in pieces(run.out, node.get("thought")) {
            if !piece.text.is_empty() {
                steps.push(model(StepKind::Text, &piece.text));
            }
        }
        let call = node.get("tool_call");
        let inner = call.and_then(|c| c.get("function").filter(|f| f.is_object()).or(Some(c)));
        let name = node
            .str("tool_name")
            .or_else(|| inner?.str("name"))
            .unwrap_or("");
        let text = inner
            .and_then(|i| i.get("arguments"))
            .map(arguments_text)
            .unwrap_or_default();
        let mut step = call_step(name, node.id("tool_call_id"), text);
        if node.has("action") && node.get("action").is_none() {
            step.extra.insert(
                "parse_error".to_owned(),
                "the arguments failed validation".into(),
            );
        }
        steps.push(step);
        self.finished = name == "finish";
        let steps = placed(steps, node, span);
        self.answer(run, node, steps, span)
    }

    /// Parallel calls of one answer share its response id; what it said before them stands in the first.
    fn answer(
        &mut self,
        run: &mut Run<'_, '_>,
        node: &Node<'_>,
        steps: Vec<Step>,
        span: SourceSpan,
    ) -> Result<(), Halt> {
        let id = node.id("llm_response_id");
        let model = run.head.model.clone();
        let own = node.id("id");
        let cost = id.as_ref().and_then(|id| self.costs.get(id)).cloned();
        let call = self
            .turns
            .model(run, id.as_deref().or(own.as_deref()), steps)?;
        if let Some(cost) = cost {
            call.usage = cost
                .usage
                .unwrap_or_else(|| std::mem::take(&mut call.usage));
            call.latency_ms = cost.latency_ms.or(call.latency_ms);
        }
        call.request_id = id;
        call.model = model;
        call.at_us = call.at_us.or(time(node.get("timestamp")));
        call.source = span;
        Ok(())
    }
}

fn placed(mut steps: Vec<Step>, node: &Node<'_>, span: SourceSpan) -> Vec<Step> {
    for step in &mut steps {
        (step.source, step.at_us) = (span, time(node.get("timestamp")));
    }
    steps
}

/// What the environment answered: one step a piece, at least one.
fn observed(out: &mut Out<'_>, node: &Node<'_>) -> Vec<Step> {
    let inner = node.get("observation");
    let content = inner.and_then(|o| ["content", "output", "error"].iter().find_map(|k| o.get(k)));
    let content = content
        .or_else(|| node.get("error"))
        .or_else(|| node.get("rejection_reason"));
    let mut found = pieces(out, content);
    if found.is_empty() {
        found.push(Piece::text(""));
    }
    let status = status(node, inner);
    let step = |piece: Piece| {
        let kind = if piece.kind == StepKind::Text {
            StepKind::Observation
        } else {
            piece.kind
        };
        let mut step = Step::new(Owner::Tool, kind, Role::Tool, piece.text);
        step.tool = node.id("tool_name");
        step.tool_call_id = node.id("tool_call_id");
        step.status = status;
        step
    };
    found.into_iter().map(step).collect()
}

fn status(node: &Node<'_>, inner: Option<&Node<'_>>) -> StepStatus {
    match node.str("kind") {
        Some("AgentErrorEvent") => return StepStatus::Error,
        Some("UserRejectObservation") => return StepStatus::Denied,
        _ => {}
    }
    let Some(inner) = inner else {
        return StepStatus::Unknown;
    };
    let code = inner.get("exit_code").and_then(Node::as_id);
    let is_error = inner.bool("is_error").or_else(|| inner.bool("error"));
    let has_error = inner
        .get("error")
        .is_some_and(|e| e.text().is_some_and(|t| !t.is_empty()));
    match (inner.bool("timeout"), is_error, code.as_deref()) {
        (Some(true), _, _) => StepStatus::Timeout,
        (_, Some(true), _) => StepStatus::Error,
        _ if has_error => StepStatus::Error,
        // -1: the command still runs.
        (_, _, Some("-1")) => StepStatus::Unknown,
        (_, _, Some("0")) => StepStatus::Ok,
        (_, _, Some(_)) => StepStatus::Error,
        (_, Some(false), None) => StepStatus::Ok,
        _ => StepStatus::Unknown,
    }
}
