//! pi sessions: JSONL rows that form a tree by `parentId`. The path to the last row is the one that went on; rows off
//! it are branches that were left. A compaction keeps what stands behind the entry that it names.

use super::{Importer, Input};
use crate::domain::{Call, Ending, Owner, Role, Step, StepKind, StepStatus, Usage};
use crate::import::answer::sum;
use crate::import::chat::{arguments_text, call_step};
use crate::import::content::pieces;
use crate::import::detect::{Sniff, has_all};
use crate::import::extra::keep;
use crate::import::group::{Groups, opening, replay};
use crate::import::json::Node;
use crate::import::out::{Halt, Out};
use crate::import::rows::Row;
use crate::import::run::Run;
use crate::import::time::time;
use crate::import::turn::event;
use std::collections::{HashMap, HashSet};

/// pi.
pub(crate) struct Pi;

impl Importer for Pi {
    fn name(&self) -> &'static str {
        "pi"
    }

    fn title(&self) -> &'static str {
        "pi session (JSONL)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        let first = sniff.first();
        let is_session = first.get("type").and_then(|t| t.as_str()) == Some("session");
        (sniff.is_json() && is_session && has_all(first, &["id", "cwd"]))
            .then(|| "a first row of type session with id and cwd".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let mut tree = Tree::default();
        let groups = Groups::of(out, input.source, input.sniff.shape, |out, row| {
            if !row.node.is_object() {
                out.skip(row.span.line, "a row that is no object")?;
                return Ok(None);
            }
            tree.place(row.node);
            Ok(Some(String::new()))
        })?;
        for (_, spans) in groups.iter() {
            let mut head = match &tree.session {
                Some(id) => input.head(id.clone(), self),
                None => input.minted(opening(input.source, spans, 3), self),
            };
            head.span = spans.first().copied().unwrap_or_default();
            head.harness.name = Some("pi".to_owned());
            let mut run = Run::begin(out, head)?;
            let mut talk = Talk {
                path: tree.path(),
                order: &tree.order,
                starts: HashMap::new(),
                stop: None,
            };
            replay(input.source, spans, |row| talk.row(&mut run, row))?;
            talk.ending(&mut run);
            run.end()?;
        }
        Ok(())
    }
}

/// Which row stands below which.
#[derive(Default)]
struct Tree {
    session: Option<String>,
    parents: HashMap<String, Option<String>>,
    /// Ids in the order of the file, the first row included.
    order: Vec<Option<String>>,
    last: Option<String>,
}

impl Tree {
    fn place(&mut self, node: &Node<'_>) {
        let id = node.id("id");
        self.order.push(id.clone());
        if node.str("type") == Some("session") {
            self.session = self.session.take().or(id);
        } else if let Some(id) = id {
            self.parents.insert(id.clone(), node.id("parentId"));
            self.last = Some(id);
        }
    }

    /// The rows from the root to the last one; `None` where the rows form no tree.
    fn path(&self) -> Option<HashSet<String>> {
        let mut at = self.last.clone();
        let has_parents = self.parents.values().any(Option::is_some);
        let mut path = HashSet::new();
        while let Some(id) = at {
            at = self.parents.get(&id).cloned().flatten();
            if !path.insert(id) {
                break;
            }
        }
        has_parents.then_some(path)
    }
}

struct Talk<'t> {
    path: Option<HashSet<String>>,
    order: &'t [Option<String>],
    /// The first step of each row.
    starts: HashMap<String, u32>,
    stop: Option<String>,
}

impl Talk<'_> {
    fn row(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
        let node = row.node;
        if let Some(id) = node.id("id") {
            self.starts.insert(id, run.steps());
        }
        match node.str("type").unwrap_or("") {
            "session" => {
                run.head.harness.version = node.id("version");
                run.head.started_us = time(node.get("timestamp"));
                keep(
                    &mut run.head.extra,
                    node,
                    &["cwd", "branchedFrom", "parentSession"],
                );
                Ok(())
            }
            "message" => self.message(run, row),
            "compaction" => {
                let replaced = run.standing_before(self.kept_from(run, node));
                run.head.harness.compression = Some("compaction".to_owned());
                self.summary(run, row, replaced)
            }
            "branch_summary" => self.summary(run, row, Vec::new()),
            "custom_message" => {
                let said = pieces(run.out, node.get("content")).into_iter();
                let said = said.map(|p| Step::new(Owner::Runtime, p.kind, Role::User, p.text));
                self.say(run, row, said.collect(), None)
            }
            kind @ ("model_change" | "thinking_level_change" | "session_info") => {
                let told = ["modelId", "thinkingLevel", "name"];
                let text = told.iter().find_map(|key| node.id(key));
                let step = event(kind, text.unwrap_or_default());
                self.say(run, row, vec![step], None)
            }
            // Bookkeeping of extensions and bookmarks; not in anybody's context.
            "custom" | "label" => Ok(()),
            kind => {
                run.out.not_understood(&format!("row type {kind:?}"));
                Ok(())
            }
        }
    }

    /// The first step that a compaction keeps. Older versions count rows, newer ones name the row.
    fn kept_from(&self, run: &Run<'_, '_>, node: &Node<'_>) -> u32 {
        let counted = || {
            let at = usize::try_from(node.u64("firstKeptEntryIndex")?).ok()?;
            // Row 0 is the session itself: nothing is kept.
            (at > 0).then(|| self.order.get(at).cloned().flatten())?
        };
        let kept = node.id("firstKeptEntryId").or_else(counted);
        let start = kept.and_then(|id| self.starts.get(&id).copied());
        start.unwrap_or_else(|| run.steps())
    }

    fn summary(
        &self,
        run: &mut Run<'_, '_>,
        row: &Row<'_>,
        replaced: Vec<u32>,
    ) -> Result<(), Halt> {
        let text = row.node.str("summary").unwrap_or("");
        let mut step = Step::new(Owner::Runtime, StepKind::Text, Role::User, text);
        step.replaces = replaced;
        self.say(run, row, vec![step], None)
    }

    fn message(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
        let Some(message) = row.node.get("message").filter(|m| m.is_object()) else {
            return run
                .out
                .skip(row.span.line, "a message row without a message");
        };
        match message.str("role").unwrap_or("") {
            "assistant" => self.answer(run, row, message),
            "toolResult" => {
                let steps = observations(run.out, message);
                self.say(run, row, steps, None)
            }
            "bashExecution" => self.say(run, row, vec![bash(message)], None),
            role => {
                let owner = match role {
                    "user" => Owner::User,
                    // Hooks, extensions, summaries.
                    _ => Owner::Runtime,
                };
                let content = message.get("content").or_else(|| message.get("summary"));
                let said = pieces(run.out, content).into_iter();
                let said = said.map(|p| Step::new(owner, p.kind, Role::User, p.text));
                self.say(run, row, said.collect(), None)
            }
        }
    }

    fn answer(
        &mut self,
        run: &mut Run<'_, '_>,
        row: &Row<'_>,
        message: &Node<'_>,
    ) -> Result<(), Halt> {
        let mut call = call_of(row, message);
        call.event_id = row.node.id("id");
        self.stop.clone_from(&call.finish_reason);
        run.head.model = run.head.model.take().or_else(|| call.model.clone());
        let call = run.call(call)?;
        let mut steps = Vec::new();
        for block in message.list("content") {
            steps.extend(block_steps(run.out, block));
        }
        if steps.is_empty() {
            steps.push(Step::new(Owner::Model, StepKind::Text, Role::Assistant, ""));
        }
        self.say(run, row, steps, Some(call))
    }

    fn say(
        &self,
        run: &mut Run<'_, '_>,
        row: &Row<'_>,
        mut steps: Vec<Step>,
        call: Option<u32>,
    ) -> Result<(), Halt> {
        let id = row.node.id("id");
        let is_left = |path: &HashSet<String>| id.as_ref().is_some_and(|id| !path.contains(id));
        let off_path = self.path.as_ref().is_some_and(is_left);
        for step in &mut steps {
            step.source = row.span;
            step.at_us = time(row.node.get("timestamp"));
            step.off_path = off_path;
        }
        if !steps.is_empty() {
            run.say(steps, call)?;
        }
        Ok(())
    }

    fn ending(&self, run: &mut Run<'_, '_>) {
        run.head.ending_note.clone_from(&self.stop);
        run.head.ending = match self.stop.as_deref() {
            Some("stop") if run.stops_midway() => Ending::Abrupt,
            Some("stop") => Ending::Finished,
            Some("length") => Ending::Limit,
            Some("error") => Ending::Error,
            Some("aborted") => Ending::Abrupt,
            _ => Ending::Unknown,
        };
    }
}

fn block_steps(out: &mut Out<'_>, block: &Node<'_>) -> Vec<Step> {
    if block.str("type") == Some("toolCall") {
        let arguments = block
            .get("arguments")
            .map_or_else(String::new, arguments_text);
        let name = block.str("name").unwrap_or("");
        return vec![call_step(name, block.id("id"), arguments)];
    }
    if block.bool("redacted") == Some(true) {
        let text = "[reasoning withheld by the provider]";
        return vec![Step::new(
            Owner::Model,
            StepKind::Reasoning,
            Role::Assistant,
            text,
        )];
    }
    let said = pieces(out, Some(block)).into_iter();
    said.map(|p| Step::new(Owner::Model, p.kind, Role::Assistant, p.text))
        .collect()
}

fn observations(out: &mut Out<'_>, message: &Node<'_>) -> Vec<Step> {
    let mut said = pieces(out, message.get("content"));
    if said.is_empty() {
        said.push(crate::import::content::Piece::text(""));
    }
    let status = match message.bool("isError") {
        Some(true) => StepStatus::Error,
        Some(false) => StepStatus::Ok,
        None => StepStatus::Unknown,
    };
    let step = |piece: crate::import::content::Piece| {
        let kind = match piece.kind {
            StepKind::Text => StepKind::Observation,
            kind => kind,
        };
        let mut step = Step::new(Owner::Tool, kind, Role::Tool, piece.text);
        step.tool = message.id("toolName");
        step.tool_call_id = message.id("toolCallId");
        step.status = status;
        step
    };
    said.into_iter().map(step).collect()
}

/// A command that the person ran; the program shows it to the model as one text.
fn bash(message: &Node<'_>) -> Step {
    let part = |key: &str| message.str(key).unwrap_or("");
    let text = format!("$ {}\n{}", part("command"), part("output"));
    let mut step = Step::new(Owner::Runtime, StepKind::Text, Role::User, text);
    keep(
        &mut step.extra,
        message,
        &["exitCode", "cancelled", "truncated"],
    );
    step
}

fn call_of(row: &Row<'_>, message: &Node<'_>) -> Call {
    let usage = message.get("usage");
    let count = |key: &str| usage.and_then(|u| u.u64(key));
    let cached = count("cacheRead");
    Call {
        model: message.id("model"),
        finish_reason: message.id("stopReason"),
        error: message.id("errorMessage"),
        cost_usd: usage
            .and_then(|u| u.at(&["cost", "total"]))
            .and_then(Node::as_f64),
        // Cached tokens are counted apart.
        usage: Usage {
            input: sum(&[count("input"), cached, count("cacheWrite")]),
            output: count("output"),
            cached,
            reasoning: None,
        },
        at_us: time(row.node.get("timestamp")),
        source: row.span,
        ..Call::default()
    }
}
