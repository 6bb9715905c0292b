//! Codex CLI rollouts, in all layouts since 2025: rows `{type, payload}`, and the oldest one of bare items. Rows of
//! type `event_msg` repeat what items say; only what they add counts: exit codes, token counts, how a turn ended.

mod events;

use super::{Importer, Input};
use crate::domain::{Owner, Role, SourceSpan, Step, StepKind, StepStatus};
use crate::import::detect::{Shape, Sniff, has_all};
use crate::import::extra::keep;
use crate::import::json::Node;
use crate::import::markers::is_inserted;
use crate::import::mint::mint;
use crate::import::out::{Halt, Out};
use crate::import::parse::{Flaws, parse};
use crate::import::responses;
use crate::import::rows::{Row, each_row};
use crate::import::run::Run;
use crate::import::time::time;
use crate::import::turn::{Context, Turns, event};
use events::Ends;
use serde_json::Value;

/// Codex.
pub(crate) struct Codex;

const ROW_TYPES: &[&str] = &[
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "world_state",
];
const ITEM_TYPES: &[&str] = &[
    "message",
    "function_call",
    "function_call_output",
    "reasoning",
];

impl Importer for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn title(&self) -> &'static str {
        "Codex CLI rollout (JSONL, all layouts)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        if !matches!(sniff.shape, Shape::Lines | Shape::Object) {
            return None;
        }
        let is_row = |row: &&Value| has_all(row, &["payload"]) && is_one_of(row, ROW_TYPES);
        let rows = sniff.rows.iter().filter(is_row).count();
        if rows > 0 && rows * 2 >= sniff.rows.len() {
            return Some(
                "rows with type session_meta, response_item, event_msg and payload".to_owned(),
            );
        }
        let first = sniff.first();
        let is_meta = has_all(first, &["id", "timestamp"]) && first.get("type").is_none();
        let tells = first.get("instructions").is_some() || first.get("git").is_some();
        let has_items = sniff
            .rows
            .iter()
            .skip(1)
            .any(|row| is_one_of(row, ITEM_TYPES));
        (is_meta && tells && has_items)
            .then(|| "a bare first row with id and instructions, then bare items".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let mut head = match session_id(input.sniff) {
            Some(id) => input.head(id, self),
            None => input.minted(mint(&[&input.sniff.first().to_string()]), self),
        };
        head.span.len = input.source.len();
        head.harness.name = Some("codex".to_owned());
        head.harness.compression = None;
        let mut run = Run::begin(out, head)?;
        let mut talk = Talk::default();
        each_row(&mut run, input.source, input.sniff.shape, |run, row| {
            talk.row(run, row)
        })?;
        talk.turns.close(&mut run)?;
        talk.ends.finish(&mut run);
        run.end()
    }
}

fn is_one_of(row: &Value, types: &[&str]) -> bool {
    row.get("type")
        .and_then(Value::as_str)
        .is_some_and(|kind| types.contains(&kind))
}

fn session_id(sniff: &Sniff) -> Option<String> {
    let meta = sniff
        .rows
        .iter()
        .find(|row| is_one_of(row, &["session_meta"]));
    let id = meta.map_or_else(|| sniff.first().get("id"), |row| row.pointer("/payload/id"));
    id.and_then(Value::as_str).map(str::to_owned)
}

#[derive(Default)]
struct Talk {
    turns: Turns,
    ends: Ends,
    has_meta: bool,
    model: Option<String>,
    effort: Option<String>,
    /// Rows before this ordinal are the parent's.
    own_from: u64,
}

impl Talk {
    fn row(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
        let Some(payload) = row.node.get("payload") else {
            return self.bare(run, row);
        };
        match row.node.str("type").unwrap_or("") {
            "session_meta" => self.meta(run, payload, row.span),
            "turn_context" => {
                self.model = payload.id("model").or(self.model.take());
                self.effort = payload.id("effort").or(self.effort.take());
                keep(
                    &mut run.head.extra,
                    payload,
                    &["approval_policy", "sandbox_policy"],
                );
                Ok(())
            }
            "response_item" => self.item(run, row, payload),
            "event_msg" => events::message(self, run, row, payload),
            "token_usage_record" => {
                events::usage_record(self, payload);
                Ok(())
            }
            "compacted" => self.compacted(run, row, payload),
            "world_state" | "ghost_snapshot" => Ok(()),
            kind => {
                run.out.not_understood(&format!("row type {kind:?}"));
                Ok(())
            }
        }
    }

    /// The layout of 2025's first half: the first row is the session, the others are items.
    fn bare(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
        let node = row.node;
        if !self.has_meta && node.str("type").is_none() && node.has("id") {
            return self.meta(run, node, row.span);
        }
        match node.str("type") {
            Some(_) => self.item(run, row, node),
            None if node.has("record_type") => Ok(()),
            None => {
                run.out.not_understood("row without a type");
                Ok(())
            }
        }
    }

    /// A resumed session writes its meta again; the first one counts.
    fn meta(
        &mut self,
        run: &mut Run<'_, '_>,
        node: &Node<'_>,
        span: SourceSpan,
    ) -> Result<(), Halt> {
        if std::mem::replace(&mut self.has_meta, true) {
            return Ok(());
        }
        run.head.harness.version = node.id("cli_version");
        run.head.started_us = time(node.get("timestamp"));
        keep(
            &mut run.head.extra,
            node,
            &[
                "cwd",
                "originator",
                "source",
                "model_provider",
                "git",
                "forked_from_id",
                "thread_source",
            ],
        );
        self.own_from = node.u64("subagent_history_start_ordinal").unwrap_or(0);
        let prompt = node
            .at(&["base_instructions", "text"])
            .or_else(|| node.get("instructions"));
        if let Some(text) = prompt.and_then(Node::text).filter(|t| !t.is_empty()) {
            let mut step = Step::new(Owner::System, StepKind::Text, Role::System, text);
            step.source = span;
            self.turns.other(run, vec![step], Context::GoesOn)?;
        }
        Ok(())
    }

    fn item(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>, node: &Node<'_>) -> Result<(), Halt> {
        let item = responses::item(run.out, node, row.span);
        let is_model = item.is_model;
        let mut steps = item.steps;
        let is_copied = row.node.u64("ordinal").is_some_and(|n| n < self.own_from);
        own_words(node, &mut steps);
        for step in &mut steps {
            step.at_us = time(row.node.get("timestamp"));
            step.copied = is_copied;
            if step.kind == StepKind::Observation {
                step.status = self.ends.of_tool(step);
            }
        }
        if !is_model || is_copied {
            return self.turns.other(run, steps, Context::GoesOn);
        }
        let (model, effort) = (self.model.clone(), self.effort.clone());
        let call = self.turns.model(run, None, steps)?;
        call.at_us = call.at_us.or(time(row.node.get("timestamp")));
        call.model = model.clone().or(call.model.take());
        call.source = row.span;
        if let Some(effort) = effort {
            call.sampling.insert("effort".to_owned(), effort.into());
        }
        run.head.model = run.head.model.take().or(model);
        Ok(())
    }

    /// The summary that takes the context's place, or the history that does.
    fn compacted(
        &mut self,
        run: &mut Run<'_, '_>,
        row: &Row<'_>,
        payload: &Node<'_>,
    ) -> Result<(), Halt> {
        run.head.harness.compression = Some("compaction".to_owned());
        let history = payload.list("replacement_history");
        let mut steps: Vec<Step> = Vec::new();
        for node in history {
            let mut item = responses::item(run.out, node, row.span).steps;
            own_words(node, &mut item);
            for step in &mut item {
                step.copied = true;
            }
            steps.extend(item);
        }
        if let Some(text) = payload.str("message").filter(|t| !t.is_empty()) {
            let mut step = Step::new(Owner::Runtime, StepKind::Text, Role::User, text);
            step.source = row.span;
            steps.push(step);
        }
        for step in &mut steps {
            step.at_us = time(row.node.get("timestamp"));
        }
        self.turns.other(run, steps, Context::Replaces)
    }
}

/// Whose words a message is: developer messages are the harness's; newer rows say of each part whether the user
/// wrote it; in older ones inserted text shows by how it begins.
fn own_words(node: &Node<'_>, steps: &mut [Step]) {
    let kinds = node
        .at(&[
            "internal_chat_message_metadata_passthrough",
            "content_item_kinds",
        ])
        .map_or(&[][..], Node::items);
    for (place, step) in steps.iter_mut().enumerate() {
        let kind = kinds.get(place).and_then(Node::text);
        match (step.owner, kind) {
            (Owner::System, _) if step.role == Role::Developer => step.owner = Owner::Runtime,
            (Owner::User, Some(kind)) if !kind.starts_with("user.") => step.owner = Owner::Runtime,
            (Owner::User, None) if is_inserted(&step.text) => step.owner = Owner::Runtime,
            _ => {}
        }
    }
}

/// Exit code in a tool's answer: a header line, or JSON with metadata in older versions.
fn written_exit(text: &str) -> Option<StepStatus> {
    const FAILURES: &[&str] = &[
        "failed to parse function arguments",
        "unsupported call:",
        "unsupported custom tool call",
        "execution error",
        "failed in sandbox",
        "apply_patch verification failed",
    ];
    if FAILURES.iter().any(|failure| text.starts_with(failure)) {
        return Some(StepStatus::Error);
    }
    let head = text.split("\nOutput:").next().unwrap_or("");
    let line = head.lines().find_map(|line| {
        line.strip_prefix("Process exited with code ")
            .or_else(|| line.strip_prefix("Exit code: "))
    });
    let code = match line {
        Some(code) => code.trim().to_owned(),
        None if text.starts_with('{') => {
            let node = parse(text, &mut Flaws::default()).ok()?;
            node.at(&["metadata", "exit_code"])?.as_id()?
        }
        None => return None,
    };
    Some(if code == "0" {
        StepStatus::Ok
    } else {
        StepStatus::Error
    })
}

/// A note that the harness made.
fn noted(row: &Row<'_>, name: &str, text: String) -> Vec<Step> {
    let mut step = event(name, text);
    step.at_us = time(row.node.get("timestamp"));
    step.source = row.span;
    vec![step]
}
