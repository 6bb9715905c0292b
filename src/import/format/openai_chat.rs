//! Chat examples in the OpenAI shape, one a line or in a list: `messages` with `tools`, and preference rows with
//! two answers. They record no inference, so they give no calls. Requests with their responses are `request_log.rs`.

use super::{Importer, Input};
use crate::domain::{
    ForeignLabel, Outcome, Owner, Reward, Rollout, SourceSpan, Step, StepKind, TaskId,
};
use crate::import::chat;
use crate::import::detect::{Shape, Sniff, has_all};
use crate::import::document::Document;
use crate::import::extra::leftover;
use crate::import::json::Node;
use crate::import::mint::{Twins, mint};
use crate::import::out::{Halt, Out};
use crate::import::own;
use crate::import::parse::{Flaws, parse};
use crate::import::rows::{Row, each_element, each_row, opening, tell_damage};
use crate::import::run::Run;
use serde_json::Value;

/// OpenAI chat JSONL.
pub(crate) struct OpenAiChat;

const KNOWN: &[&str] = &[
    "messages",
    "tools",
    "functions",
    "parallel_tool_calls",
    "triagent",
    "rollout_id",
    "trajectory_id",
    "run_id",
    "id",
    "task_id",
    "instance_id",
    "reward",
    "input",
    "preferred_output",
    "non_preferred_output",
];

impl Importer for OpenAiChat {
    fn name(&self) -> &'static str {
        "openai-chat"
    }

    fn title(&self) -> &'static str {
        "OpenAI chat examples (fine-tuning, preference), JSONL or a list"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        if !sniff.is_json() {
            return None;
        }
        if is_message_list(sniff) {
            return Some("a list of messages with role and content".to_owned());
        }
        if sniff.most_have(&["preferred_output", "non_preferred_output"]) {
            return Some("rows with input, preferred_output and non_preferred_output".to_owned());
        }
        let has_messages = |row: &&Value| row.get("messages").is_some_and(Value::is_array);
        let with = sniff.rows.iter().filter(has_messages).count();
        (with > 0 && with * 2 > sniff.rows.len()).then(|| "rows with a messages list".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        if is_message_list(input.sniff) {
            return one_list(self, input, out);
        }
        let mut twins = Twins::default();
        each_row(out, input.source, input.sniff.shape, |out, row| {
            let base = twins.name(mint(&[row.text]));
            if row.node.has("preferred_output") {
                preference(self, input, out, row, &base)
            } else if row.node.get("messages").is_some_and(Node::is_list) {
                example(self, input, out, row, base)
            } else {
                out.skip(row.span.line, "no messages in this row")
            }
        })
    }
}

fn is_message_list(sniff: &Sniff) -> bool {
    sniff.shape == Shape::List
        && sniff.most_have(&["role", "content"])
        && !has_all(sniff.first(), &["messages"])
}

fn example(
    format: &dyn Importer,
    input: &Input<'_>,
    out: &mut Out<'_>,
    row: &Row<'_>,
    base: String,
) -> Result<(), Halt> {
    let mut head = head_of(format, input, out, row, base);
    let mut rewards = Vec::new();
    if let Some(own) = row.node.get("triagent") {
        rewards = own::head(own, &mut head);
    } else if let Some(value) = row.node.f64("reward") {
        rewards.push(Reward::result("reward", value));
        head.outcome = by_result(value);
        head.outcome_source = Some("file:reward".to_owned());
    }
    head.tools = tools(row.node);
    let mut run = Run::begin(out, head)?;
    let mut tally = Tally::default();
    for message in row.node.list("messages") {
        say(&mut run, message, row.span, &mut tally)?;
    }
    run.head.outcome_only = tally.is_outcome_only() && run.head.tools.is_empty();
    for reward in rewards {
        run.reward(reward)?;
    }
    run.end()
}

/// 1 is solved, 0 and less is not; what lies between, nobody said.
pub(crate) fn by_result(value: f64) -> Outcome {
    if value >= 1.0 - 1e-6 {
        Outcome::Pass
    } else if value <= 0.0 {
        Outcome::Fail
    } else {
        Outcome::Unknown
    }
}

/// Tool schemas in the OpenAI shape: `tools` may be JSON in a text; bare functions, the old `functions` and
/// Anthropic's tools are put into it.
pub(crate) fn tools(node: &Node<'_>) -> Vec<Value> {
    let Some(found) = node.get("tools").or_else(|| node.get("functions")) else {
        return Vec::new();
    };
    match found.text().map(|text| parse(text, &mut Flaws::default())) {
        Some(Ok(inner)) => inner.items().iter().map(tool).collect(),
        Some(Err(_)) => Vec::new(),
        None => found.items().iter().map(tool).collect(),
    }
}

fn tool(node: &Node<'_>) -> Value {
    if node.get("function").is_some() || !node.has("name") {
        return node.to_value();
    }
    let mut function = node.to_value();
    if let Value::Object(map) = &mut function {
        map.remove("type");
        if let Some(schema) = map.remove("input_schema") {
            map.insert("parameters".to_owned(), schema);
        }
    }
    serde_json::json!({"type": "function", "function": function})
}

fn head_of(
    format: &dyn Importer,
    input: &Input<'_>,
    out: &mut Out<'_>,
    row: &Row<'_>,
    base: String,
) -> Rollout {
    let own_id = ["rollout_id", "trajectory_id", "run_id", "id"]
        .iter()
        .find_map(|k| row.node.id(k));
    let mut head = match own_id {
        Some(id) => input.head(id, format),
        None => input.minted(base, format),
    };
    head.span = row.span;
    head.task = ["task_id", "instance_id"]
        .iter()
        .find_map(|k| row.node.id(k))
        .map(TaskId);
    head.extra = leftover(out, row.node, KNOWN, "row");
    head
}

/// What a run holds, to tell whether only the final answer was kept (S-18).
#[derive(Default)]
pub(crate) struct Tally {
    answers: u32,
    tool_steps: u32,
}

impl Tally {
    /// Counts the steps of one message.
    pub(crate) fn see(&mut self, steps: &[Step]) {
        self.answers += u32::from(steps.iter().any(|s| s.owner == Owner::Model));
        let is_tool = |s: &&Step| s.owner == Owner::Tool || s.kind == StepKind::ToolCall;
        self.tool_steps += u32::from(steps.iter().any(|s| is_tool(&s)));
    }

    /// One answer, and nothing that led to it.
    pub(crate) fn is_outcome_only(&self) -> bool {
        self.answers == 1 && self.tool_steps == 0
    }
}

fn say(
    run: &mut Run<'_, '_>,
    message: &Node<'_>,
    row: SourceSpan,
    tally: &mut Tally,
) -> Result<(), Halt> {
    let span = inside(row, message);
    let mut steps = chat::message_of(run.out, message, span, &["weight"]);
    if let (Some(first), Some(weight)) = (steps.first_mut(), message.get("weight")) {
        first.extra.insert("weight".to_owned(), weight.to_value());
    }
    tally.see(&steps);
    run.say(steps, None)?;
    Ok(())
}

/// Where a part of a row stands in the file.
pub(crate) fn inside(row: SourceSpan, part: &Node<'_>) -> SourceSpan {
    SourceSpan {
        offset: row.offset + u64::from(part.start),
        len: u64::from(part.end - part.start),
        line: row.line,
    }
}

/// A side that the file prefers, or does not.
pub(crate) fn preference_label(source: &str, category: &str) -> ForeignLabel {
    ForeignLabel {
        source: source.to_owned(),
        step: None,
        category: category.to_owned(),
        reason: String::new(),
        detail: Value::Null,
    }
}

/// Two answers to one request become two runs of one group, labelled by the file.
fn preference(
    format: &dyn Importer,
    input: &Input<'_>,
    out: &mut Out<'_>,
    row: &Row<'_>,
    base: &str,
) -> Result<(), Halt> {
    let sides = [
        ("preferred", "preferred_output"),
        ("non-preferred", "non_preferred_output"),
    ];
    for (label, key) in sides {
        let mut head = input.minted(format!("{base}-{label}"), format);
        head.span = row.span;
        head.group = Some(base.to_owned());
        let request = row.node.get("input");
        head.tools = request.map(tools).unwrap_or_default();
        head.extra = leftover(out, row.node, KNOWN, "row");
        let mut run = Run::begin(out, head)?;
        let mut tally = Tally::default();
        let prompt = request.map_or(&[][..], |r| r.list("messages"));
        for message in prompt.iter().chain(row.node.list(key)) {
            say(&mut run, message, row.span, &mut tally)?;
        }
        run.label(preference_label("openai-preference", label))?;
        run.end()?;
    }
    Ok(())
}

fn one_list(format: &dyn Importer, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
    let document = Document::open(input.source, &[""])?;
    out.advance(input.source.len())?;
    let Some(list) = document.lists.first() else {
        return Err(Halt::file("no list of messages"));
    };
    let opening = opening(&document, list, 3);
    let opening: Vec<&str> = opening.iter().map(String::as_str).collect();
    let mut run = Run::begin(out, input.minted(mint(&opening), format))?;
    let mut tally = Tally::default();
    each_element(&mut run, &document, list, &mut |run, row| {
        say(run, row.node, row.span, &mut tally)
    })?;
    run.end()?;
    tell_damage(out, &document)
}
