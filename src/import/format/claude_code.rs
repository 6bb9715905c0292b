//! Claude Code sessions and their forks: JSONL files, `stream-json` output, and the web export. One answer is spread
//! over several rows with one message id; tools' answers stand in user rows; rewinds leave branches; sub-agents are
//! runs of their own.

mod tree;

use super::openai_chat::inside;
use super::{Importer, Input};
use crate::domain::{Ending, Owner, Rollout, SourceSpan, Step, StepKind, StepStatus};
use crate::import::answer::usage;
use crate::import::anthropic;
use crate::import::detect::{Sniff, has_all};
use crate::import::extra::keep;
use crate::import::group::{Groups, opening, replay};
use crate::import::json::Node;
use crate::import::markers::is_inserted;
use crate::import::mint::mint;
use crate::import::out::{Halt, Out};
use crate::import::rows::{Layout, Row};
use crate::import::run::Run;
use crate::import::time::time;
use crate::import::turn::{Context, Turns, event};
use serde_json::Value;
use std::collections::HashSet;
use tree::Tree;

/// Claude Code.
pub(crate) struct ClaudeCode;

/// Row types that say nothing about the conversation.
const SILENT: &[&str] = &[
    "file-history-snapshot",
    "queue-operation",
    "progress",
    "last-prompt",
    "agent-name",
    "custom-title",
    "ai-title",
    "permission-mode",
    "pr-link",
    "worktree-state",
];

impl Importer for ClaudeCode {
    fn name(&self) -> &'static str {
        "claude-code"
    }

    fn title(&self) -> &'static str {
        "Claude Code session (JSONL, stream-json, web export) and its forks"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        let is_row = |row: &Value| {
            let is_session = row.get("sessionId").or(row.get("session_id")).is_some();
            let has_id = row.get("uuid").or(row.get("leafUuid")).is_some();
            is_session && has_id && row.get("type").is_some() && row.get("projectHash").is_none()
        };
        if sniff.first().get("loglines").is_some_and(Value::is_array) {
            return Some("a document with loglines".to_owned());
        }
        if !sniff.is_json() {
            return None;
        }
        let rows = sniff.rows.iter().filter(|row| is_row(row)).count();
        (rows > 0 && rows * 2 >= sniff.rows.len())
            .then(|| "rows with type, uuid and sessionId".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let is_web = has_all(input.sniff.first(), &["loglines"]);
        let layout = if is_web {
            Layout::List("loglines")
        } else {
            input.sniff.shape.into()
        };
        let mut tree = Tree::new(&input.sniff.name);
        let groups = Groups::of(out, input.source, layout, |out, row| {
            if !row.node.is_object() {
                out.skip(row.span.line, "a row that is no object")?;
                return Ok(None);
            }
            Ok(tree.place(out, row.node))
        })?;
        for (key, spans) in groups.iter() {
            let mut head = if tree.names_session() {
                input.head(key, self)
            } else {
                input.minted(opening(input.source, spans, 3), self)
            };
            head.span = spans.first().copied().unwrap_or_default();
            head.harness.name = Some("claude-code".to_owned());
            if let Some((session, _)) = key.split_once('/') {
                head.extra.insert("parent".to_owned(), session.into());
            }
            session(out, input, head, spans, &tree)?;
        }
        Ok(())
    }
}

fn session(
    out: &mut Out<'_>,
    input: &Input<'_>,
    head: Rollout,
    spans: &[SourceSpan],
    tree: &Tree,
) -> Result<(), Halt> {
    let mut run = Run::begin(out, head)?;
    let mut talk = Talk {
        turns: Turns::default(),
        seen: HashSet::new(),
        tools: HashSet::new(),
        left: HashSet::new(),
        tree,
        stop: None,
    };
    replay(input.source, spans, |row| talk.row(&mut run, row))?;
    talk.turns.close(&mut run)?;
    talk.ending(&mut run);
    run.end()
}

struct Talk<'t> {
    turns: Turns,
    /// Rows repeated by a resumed session.
    seen: HashSet<String>,
    /// Tool calls: some forks write one twice.
    tools: HashSet<String>,
    /// Rows on a branch that was left.
    left: HashSet<String>,
    tree: &'t Tree,
    stop: Option<String>,
}

impl Talk<'_> {
    fn row(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
        let node = row.node;
        if let Some(id) = node.str("uuid") {
            // A resumed session repeats rows; broken writers reuse ids for other content.
            let message = row
                .node
                .get("message")
                .map(|m| (m.start as usize, m.end as usize));
            let said = message
                .and_then(|(start, end)| row.text.get(start..end))
                .unwrap_or("");
            if !self.seen.insert(mint(&[id, said])) {
                run.out.repeated();
                return Ok(());
            }
            let parent = node.str("parentUuid").unwrap_or("");
            if self.left.contains(parent) || self.tree.is_left(id) {
                self.left.insert(id.to_owned());
            }
        }
        about(run, node);
        match node.str("type").unwrap_or("") {
            "assistant" => self.assistant(run, row),
            "user" => self.user(run, row),
            "system" => self.system(run, row),
            "result" => self.result(run, row),
            kind @ ("summary" | "attachment") => {
                let step = event(
                    kind,
                    node.str("summary")
                        .map_or_else(|| node.compact(), str::to_owned),
                );
                self.other(run, row, vec![step], Context::GoesOn)
            }
            kind if SILENT.contains(&kind) => Ok(()),
            kind => {
                run.out.not_understood(&format!("row type {kind:?}"));
                Ok(())
            }
        }
    }

    /// A part of one answer. Rows of one message id are one inference; so are rows that repeat a tool call.
    fn assistant(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
        let Some(message) = row.node.get("message").filter(|m| m.is_object()) else {
            return run
                .out
                .skip(row.span.line, "an assistant row without a message");
        };
        if message.str("model") == Some("<synthetic>") {
            return self.synthetic(run, row, message);
        }
        let mut steps = anthropic::message(run.out, message, inside(row.span, message));
        let is_repeat = self.forget_repeated(run, &mut steps);
        let id = message.id("id");
        let key = if is_repeat && self.turns.is_speaking() {
            None
        } else {
            id.as_deref()
        };
        self.finish(row, &mut steps);
        if key.is_none() && self.turns.is_speaking() {
            self.turns.append(steps);
        } else {
            self.turns.model(run, key, steps)?;
        }
        let model = message.id("model");
        run.head.model = run.head.model.take().or_else(|| model.clone());
        self.stop = message.id("stop_reason").or(self.stop.take());
        if let Some(call) = self.turns.call() {
            call.request_id = row.node.id("requestId").or(call.request_id.take());
            call.event_id = call.event_id.take().or(id);
            call.model = model.or(call.model.take());
            call.at_us = call.at_us.or(time(row.node.get("timestamp")));
            // Usage grows from row to row of one answer; the last one is the whole.
            call.usage = message
                .get("usage")
                .map_or(std::mem::take(&mut call.usage), usage);
            call.finish_reason = message.id("stop_reason").or(call.finish_reason.take());
            call.source = row.span;
            keep(&mut call.extra, row.node, &["costUSD"]);
        }
        Ok(())
    }

    fn forget_repeated(&mut self, run: &mut Run<'_, '_>, steps: &mut Vec<Step>) -> bool {
        let before = steps.len();
        steps.retain(|step| match (&step.tool_call_id, step.kind) {
            (Some(id), StepKind::ToolCall) => self.tools.insert(id.clone()),
            _ => true,
        });
        for _ in steps.len()..before {
            run.out.repeated();
        }
        steps.len() < before
    }

    /// The program speaks in the model's name: an API error, an interruption.
    fn synthetic(
        &mut self,
        run: &mut Run<'_, '_>,
        row: &Row<'_>,
        message: &Node<'_>,
    ) -> Result<(), Halt> {
        let mut steps = anthropic::message(run.out, message, inside(row.span, message));
        let is_error = row.node.bool("isApiErrorMessage") == Some(true);
        for step in &mut steps {
            step.owner = Owner::Runtime;
            step.kind = StepKind::Event;
            step.name = Some(if is_error { "api error" } else { "synthetic" }.to_owned());
        }
        self.stop = is_error
            .then(|| "api error".to_owned())
            .or(self.stop.take());
        self.other(run, row, steps, Context::GoesOn)
    }

    fn user(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
        let Some(message) = row.node.get("message").filter(|m| m.is_object()) else {
            return run.out.skip(row.span.line, "a user row without a message");
        };
        let mut steps = anthropic::message(run.out, message, inside(row.span, message));
        let is_summary = row.node.bool("isCompactSummary") == Some(true);
        let is_meta = row.node.bool("isMeta") == Some(true) || is_summary;
        for step in &mut steps {
            match step.owner {
                Owner::User if is_meta || is_inserted(&step.text) => step.owner = Owner::Runtime,
                Owner::Tool => outcome(row.node, step),
                _ => {}
            }
        }
        let context = if is_summary {
            Context::Replaces
        } else {
            Context::GoesOn
        };
        // Forks write one answer per row, so parallel answers each are a message, as they are in the file.
        self.other(run, row, steps, context)
    }

    fn system(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
        let kind = row.node.str("subtype").unwrap_or("system");
        if kind == "init" {
            let names = row.node.list("tools").iter().filter_map(Node::text);
            run.head
                .extra
                .insert("tool_names".to_owned(), names.map(Value::from).collect());
            run.head.model = row.node.id("model").or(run.head.model.take());
            return Ok(());
        }
        let text = row
            .node
            .str("content")
            .map_or_else(|| kind.to_owned(), str::to_owned);
        self.other(run, row, vec![event(kind, text)], Context::GoesOn)
    }

    /// The last row of `stream-json` says how it ended.
    fn result(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
        let word = row.node.str("subtype").unwrap_or("");
        run.head.ending_note = Some(word.to_owned());
        run.head.ending = match word {
            "success" if row.node.bool("is_error") != Some(true) => Ending::Finished,
            "error_max_turns" | "error_max_budget_usd" => Ending::Limit,
            _ => Ending::Error,
        };
        keep(
            &mut run.head.extra,
            row.node,
            &["total_cost_usd", "num_turns", "duration_ms"],
        );
        Ok(())
    }

    fn other(
        &mut self,
        run: &mut Run<'_, '_>,
        row: &Row<'_>,
        mut steps: Vec<Step>,
        context: Context,
    ) -> Result<(), Halt> {
        self.finish(row, &mut steps);
        self.turns.other(run, steps, context)
    }

    fn finish(&self, row: &Row<'_>, steps: &mut [Step]) {
        let id = row.node.str("uuid").unwrap_or("");
        let off_path = self.left.contains(id);
        for step in steps.iter_mut() {
            step.at_us = time(row.node.get("timestamp"));
            step.source = row.span;
            step.off_path = off_path;
        }
    }

    /// A session has no end of its own: it rests after a closed answer, or it broke off.
    fn ending(&mut self, run: &mut Run<'_, '_>) {
        if run.head.ending != Ending::Unknown {
            return;
        }
        run.head.ending_note.clone_from(&self.stop);
        run.head.ending = match self.stop.as_deref() {
            Some("end_turn" | "stop_sequence") if run.stops_midway() => Ending::Abrupt,
            Some("end_turn" | "stop_sequence") => Ending::Finished,
            Some("max_tokens" | "model_context_window_exceeded") => Ending::Limit,
            Some("api error") => Ending::Error,
            _ => Ending::Unknown,
        };
    }
}

/// What a row tells about its session.
fn about(run: &mut Run<'_, '_>, node: &Node<'_>) {
    let head = &mut run.head;
    if head.harness.version.is_none() {
        head.harness.version = node.id("version");
    }
    for key in ["cwd", "gitBranch", "slug"] {
        if !head.extra.contains_key(key) {
            keep(&mut head.extra, node, &[key]);
        }
    }
}

/// What stands beside a tool's answer: an interruption, an exit code.
fn outcome(row: &Node<'_>, step: &mut Step) {
    let Some(result) = row.get("toolUseResult") else {
        return;
    };
    if result.bool("interrupted") == Some(true) {
        step.status = StepStatus::Timeout;
    }
    if step.is_failed()
        && step
            .text
            .contains("doesn't want to proceed with this tool use")
    {
        step.status = StepStatus::Denied;
    }
    keep(
        &mut step.extra,
        result,
        &["exitCode", "interrupted", "status", "toolName"],
    );
    if result.str("status") == Some("error") {
        step.status = StepStatus::Error;
    }
}
