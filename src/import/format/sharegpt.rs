//! ShareGPT and LLaMA-Factory data: `conversations` of `from` and `value`. It has no ids, so a tool's answer is
//! joined with the call before it by position, and says so.

use super::openai_chat::{Tally, inside};
use super::{Importer, Input};
use crate::domain::{Owner, Role, SourceSpan, Step, StepKind};
use crate::import::chat::{tool_call, voice};
use crate::import::detect::Sniff;
use crate::import::extra::leftover;
use crate::import::json::Node;
use crate::import::mint::{Twins, mint};
use crate::import::out::{Halt, Out};
use crate::import::parse::{Flaws, parse};
use crate::import::rows::{Row, each_row};
use crate::import::run::Run;
use serde_json::Value;

/// ShareGPT.
pub(crate) struct ShareGpt;

const KNOWN: &[&str] = &[
    "conversations",
    "system",
    "tools",
    "id",
    "chosen",
    "rejected",
    "kto_tag",
];

impl Importer for ShareGpt {
    fn name(&self) -> &'static str {
        "sharegpt"
    }

    fn title(&self) -> &'static str {
        "ShareGPT / LLaMA-Factory conversations"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        (sniff.is_json() && sniff.most_have(&["conversations"]))
            .then(|| "rows with conversations".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let mut twins = Twins::default();
        each_row(out, input.source, input.sniff.shape, |out, row| {
            if row.node.get("conversations").is_none() {
                return out.skip(row.span.line, "no conversations in this row");
            }
            let base = twins.name(mint(&[row.text]));
            let sides = [
                ("chosen", row.node.get("chosen")),
                ("rejected", row.node.get("rejected")),
            ];
            if sides.iter().all(|(_, side)| side.is_none()) {
                return self.conversation(input, out, row, (&base, None));
            }
            for (label, side) in sides {
                let name = format!("{base}-{label}");
                self.conversation(input, out, row, (&name, side.map(|s| (label, s, &*base))))?;
            }
            Ok(())
        })
    }
}

/// A side of a preference row: its label, its answer, the group of both.
type Side<'n> = (&'static str, &'n Node<'n>, &'n str);

impl ShareGpt {
    fn conversation(
        &self,
        input: &Input<'_>,
        out: &mut Out<'_>,
        row: &Row<'_>,
        (id, side): (&str, Option<Side<'_>>),
    ) -> Result<(), Halt> {
        let mut head = input.minted(id.to_owned(), self);
        head.span = row.span;
        head.tools = tools(row.node);
        head.extra = leftover(out, row.node, KNOWN, "row");
        head.group = side.map(|(_, _, group)| group.to_owned());
        if let Some(tag) = row.node.get("kto_tag") {
            head.extra.insert("kto_tag".to_owned(), tag.to_value());
        }
        let mut run = Run::begin(out, head)?;
        let mut talk = Talk::default();
        if let Some(system) = row.node.str("system").filter(|s| !s.is_empty()) {
            let mut step = Step::new(Owner::System, StepKind::Text, Role::System, system);
            step.source = row.span;
            run.say(vec![step], None)?;
        }
        let answer = side.map(|(_, answer, _)| answer);
        for turn in row.node.list("conversations").iter().chain(answer) {
            talk.turn(&mut run, turn, inside(row.span, turn))?;
        }
        if let Some((label, _, _)) = side {
            run.label(super::openai_chat::preference_label(
                "sharegpt-ranking",
                label,
            ))?;
        }
        run.head.outcome_only = talk.tally.is_outcome_only() && run.head.tools.is_empty();
        run.end()
    }
}

/// Tool schemas, which stand there as JSON in a text; bare functions are put into the OpenAI shape.
fn tools(row: &Node<'_>) -> Vec<Value> {
    super::openai_chat::tools(row)
}

#[derive(Default)]
struct Talk {
    calls: u32,
    /// Names that stand for ids until their answers come.
    waiting: std::collections::VecDeque<String>,
    tally: Tally,
}

impl Talk {
    fn turn(
        &mut self,
        run: &mut Run<'_, '_>,
        turn: &Node<'_>,
        span: SourceSpan,
    ) -> Result<(), Halt> {
        let from = turn.str("from").or_else(|| turn.str("role")).unwrap_or("");
        let value = turn
            .str("value")
            .or_else(|| turn.str("content"))
            .unwrap_or("");
        let mut steps = match from {
            "function_call" => self.function_call(run.out, value),
            "observation" | "tool" | "function_response" => vec![self.observation(value)],
            _ => spoken(run.out, from, value),
        };
        for step in &mut steps {
            step.source = span;
        }
        self.tally.see(&steps);
        run.say(steps, None)?;
        Ok(())
    }

    /// One object, or a list for parallel calls, perhaps with thoughts in front.
    fn function_call(&mut self, out: &mut Out<'_>, value: &str) -> Vec<Step> {
        let (mut steps, rest) = thoughts(value);
        let mut flaws = Flaws::default();
        let Ok(node) = parse(rest.trim(), &mut flaws) else {
            out.not_understood("function_call that is no JSON");
            steps.push(Step::new(
                Owner::Model,
                StepKind::ToolCall,
                Role::Assistant,
                rest,
            ));
            return steps;
        };
        let one = std::slice::from_ref(&node);
        for call in if node.is_list() { node.items() } else { one } {
            let mut step = tool_call(call);
            let id = format!("call-{}", self.calls);
            self.calls += 1;
            step.tool_call_id = Some(id.clone());
            step.extra.insert("id".to_owned(), "by position".into());
            self.waiting.push_back(id);
            steps.push(step);
        }
        steps
    }

    fn observation(&mut self, value: &str) -> Step {
        let mut step = Step::new(Owner::Tool, StepKind::Observation, Role::Tool, value);
        step.tool_call_id = self.waiting.pop_front();
        step.extra.insert("joined".to_owned(), "by position".into());
        step
    }
}

fn spoken(out: &mut Out<'_>, from: &str, value: &str) -> Vec<Step> {
    let Some((owner, role)) = voice(from) else {
        out.not_understood(&format!("from {from:?}"));
        return vec![Step::new(Owner::Unknown, StepKind::Text, Role::User, value)];
    };
    if owner != Owner::Model {
        return vec![Step::new(owner, StepKind::Text, role, value)];
    }
    let (mut steps, rest) = thoughts(value);
    if !rest.trim().is_empty() || steps.is_empty() {
        steps.push(Step::new(owner, StepKind::Text, role, rest));
    }
    steps
}

/// `<think>…</think>` in front of an answer.
fn thoughts(value: &str) -> (Vec<Step>, &str) {
    let inner = value.trim_start().strip_prefix("<think>");
    match inner.and_then(|rest| rest.split_once("</think>")) {
        Some((thought, rest)) => {
            let step = Step::new(
                Owner::Model,
                StepKind::Reasoning,
                Role::Assistant,
                thought.trim(),
            );
            (vec![step], rest.trim_start())
        }
        None => (Vec::new(), value),
    }
}
