//! Cline, Roo and Kilo: the API history of a task, a list of Anthropic messages (or a document with one), in which the
//! program speaks in the user's name: `<environment_details>`, and in older versions tools' answers as plain text.

use super::openai_chat::inside;
use super::{Importer, Input};
use crate::domain::{Call, Owner, Step, StepKind, Usage};
use crate::import::answer::sum;
use crate::import::anthropic;
use crate::import::detect::{Shape, Sniff, has_all};
use crate::import::document::Document;
use crate::import::json::Node;
use crate::import::markers::is_inserted;
use crate::import::mint::mint;
use crate::import::out::{Halt, Out};
use crate::import::rows::{Row, each_element, opening, tell_damage};
use crate::import::run::Run;
use crate::import::time::time;
use serde_json::Value;

/// Cline.
pub(crate) struct Cline;

impl Importer for Cline {
    fn name(&self) -> &'static str {
        "cline"
    }

    fn title(&self) -> &'static str {
        "Cline, Roo, Kilo: api_conversation_history.json or messages.json of a task"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        let first = sniff.first();
        let message = first.pointer("/messages/0").unwrap_or(first);
        if !has_all(message, &["role", "content"]) {
            return None;
        }
        let is_told =
            |row: &Value| has_all(row, &["modelInfo"]) || has_all(row, &["ts", "metrics"]);
        let listed = first.pointer("/messages").and_then(Value::as_array);
        let mut messages = listed.unwrap_or(&sniff.rows).iter();
        if messages.any(is_told) {
            return Some("messages with modelInfo or metrics".to_owned());
        }
        if sniff.shape != Shape::List {
            return None;
        }
        let has_details = |row: &Value| row.to_string().contains("<environment_details>");
        (sniff.name == "api_conversation_history.json" || sniff.rows.iter().any(has_details))
            .then(|| "a list of messages with environment_details".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        out.advance(input.source.len())?;
        let document = Document::open(input.source, &["", "messages"])?;
        let Some(list) = document.lists.first() else {
            return Err(Halt::file("no list of messages"));
        };
        let start = opening(&document, list, 3);
        let start: Vec<&str> = start.iter().map(String::as_str).collect();
        let mut head = input.minted(mint(&start), self);
        head.span.len = input.source.len();
        head.harness.name = Some("cline".to_owned());
        let mut run = Run::begin(out, head)?;
        each_element(&mut run, &document, list, &mut say)?;
        run.end()?;
        tell_damage(out, &document)
    }
}

fn say(run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
    let node = row.node;
    let mut steps = anthropic::message(run.out, node, inside(row.span, node));
    let mut call = None;
    for step in &mut steps {
        step.at_us = time(node.get("ts"));
        own(step);
    }
    if steps.iter().any(|s| s.owner == Owner::Model) {
        let made = call_of(row);
        run.head.model = run.head.model.take().or_else(|| made.model.clone());
        call = Some(run.call(made)?);
    }
    run.say(steps, call)?;
    Ok(())
}

/// Whose words they are: the program's, or, in older versions, a tool's.
fn own(step: &mut Step) {
    if step.owner != Owner::User {
        return;
    }
    if is_inserted(&step.text) {
        step.owner = Owner::Runtime;
    } else if step.text.starts_with('[')
        && step
            .text
            .lines()
            .next()
            .is_some_and(|l| l.ends_with("Result:"))
    {
        step.owner = Owner::Tool;
        step.kind = StepKind::Observation;
    }
}

fn call_of(row: &Row<'_>) -> Call {
    let metrics = row.node.get("metrics");
    let count = |key: &str| metrics.and_then(|m: &Node<'_>| m.u64(key));
    let (read, written) = (count("cacheReadTokens"), count("cacheWriteTokens"));
    Call {
        model: row.node.at(&["modelInfo", "id"]).and_then(Node::as_id),
        cost_usd: metrics.and_then(|m| m.f64("cost")),
        usage: Usage {
            input: sum(&[count("inputTokens"), read, written]),
            output: count("outputTokens"),
            cached: read,
            reasoning: None,
        },
        at_us: time(row.node.get("ts")),
        source: row.span,
        ..Call::default()
    }
}
