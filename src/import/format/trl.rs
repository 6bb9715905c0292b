//! TRL's completion tables (GRPO and its kin), one sampled completion a row: `step`, `prompt`, `completion`, one
//! column for each reward function, `advantage`. Rows with one prompt in one step were sampled for one comparison.

use super::openai_chat::{inside, tools};
use super::{Importer, Input};
use crate::domain::{Owner, Reward, Role, Rollout, SourceSpan, Step, StepKind};
use crate::import::chat;
use crate::import::detect::Sniff;
use crate::import::extra::bounded;
use crate::import::json::{Kind, Node};
use crate::import::mint::{Twins, mint};
use crate::import::out::{Halt, Out};
use crate::import::rows::{Row, each_row};
use crate::import::run::Run;
use serde_json::Value;
use std::collections::HashSet;

/// TRL.
pub(crate) struct Trl;

impl Importer for Trl {
    fn name(&self) -> &'static str {
        "trl"
    }

    fn title(&self) -> &'static str {
        "TRL completions (parquet tables of GRPO and others)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        (sniff.is_json() && sniff.most_have(&["step", "prompt", "completion", "advantage"]))
            .then(|| "rows with step, prompt, completion and advantage".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let mut twins = Twins::default();
        let mut columns = Columns::of(input.sniff);
        each_row(out, input.source, input.sniff.shape, |out, row| {
            if !row.node.is_object() {
                return out.skip(row.span.line, "not a completion");
            }
            let id = twins.name(mint(&[row.text]));
            completion(out, row, input.minted(id, self), &mut columns)
        })
    }
}

fn completion(
    out: &mut Out<'_>,
    row: &Row<'_>,
    mut head: Rollout,
    columns: &mut Columns,
) -> Result<(), Halt> {
    let node = row.node;
    head.span = row.span;
    head.harness.name = Some("trl".to_owned());
    head.tools = tools(node);
    let step = node.id("step").unwrap_or_default();
    let prompt = node.get("prompt").map(Node::compact).unwrap_or_default();
    head.group = Some(format!("step {step}, prompt {}", mint(&[&prompt])));
    let mut rewards = Vec::new();
    for (key, value) in node.members() {
        match value.kind {
            _ if matches!(key.as_ref(), "prompt" | "completion" | "tools") => {}
            _ if key == "step" || key == "advantage" => {
                head.extra.insert(key.clone().into_owned(), bounded(value));
            }
            _ if columns.is_reward(key, value) => rewards.push(reward(key, value)),
            // An extra column that is empty here.
            Kind::Null => {}
            Kind::Number(_) => {
                out.note(format!(
                    "column {key:?} holds whole numbers, which no reward function gives; it is kept beside the runs"
                ));
                head.extra.insert(key.clone().into_owned(), bounded(value));
            }
            _ => {
                head.extra.insert(key.clone().into_owned(), bounded(value));
            }
        }
    }
    let mut run = Run::begin(out, head)?;
    said(&mut run, node.get("prompt"), row.span, false)?;
    said(&mut run, node.get("completion"), row.span, true)?;
    for reward in rewards {
        run.reward(reward)?;
    }
    run.end()
}

/// Columns of reward functions. Those of the trainer's users stand beside them, and functions bear any name; but the
/// trainer keeps rewards as floats, and counts (`num_tokens`) as whole numbers.
#[derive(Default)]
struct Columns(HashSet<String>);

impl Columns {
    /// Those that the first rows show: a function may have given nothing for the very first one.
    fn of(sniff: &Sniff) -> Self {
        let rows = sniff.rows.iter().filter_map(Value::as_object).flatten();
        let rewards = rows.filter(|(_, value)| value.is_f64());
        Self(rewards.map(|(key, _)| key.clone()).collect())
    }

    fn is_reward(&mut self, column: &str, value: &Node<'_>) -> bool {
        let is_float = match value.kind {
            Kind::Number(spelled) => spelled.contains(['.', 'e', 'E', 'N', 'I']),
            Kind::Null => false,
            _ => return false,
        };
        if is_float && !self.0.contains(column) {
            self.0.insert(column.to_owned());
        }
        self.0.contains(column) || column.to_lowercase().contains("reward")
    }
}

/// One reward function's value. NaN, or nothing, is how the trainer writes that a function gave none.
fn reward(name: &str, value: &Node<'_>) -> Reward {
    let result = value.as_f64();
    result.map_or_else(|| Reward::missing(name), |v| Reward::result(name, v))
}

fn said(
    run: &mut Run<'_, '_>,
    node: Option<&Node<'_>>,
    row: SourceSpan,
    is_sampled: bool,
) -> Result<(), Halt> {
    let Some(node) = node else { return Ok(()) };
    if let Some(text) = node.text() {
        let (owner, role) = if is_sampled {
            (Owner::Model, Role::Assistant)
        } else {
            (Owner::User, Role::User)
        };
        let mut step = Step::new(owner, StepKind::Text, role, text);
        step.source = inside(row, node);
        return answer(run, vec![step], is_sampled, inside(row, node));
    }
    for message in node.items() {
        let span = inside(row, message);
        let mut steps = chat::message(run.out, message, span);
        for step in &mut steps {
            match step.owner {
                // An answer inside the prompt is the data set's, not this policy's.
                Owner::Model if !is_sampled => step.owner = Owner::Unknown,
                Owner::User if is_sampled => step.owner = Owner::Runtime,
                _ => {}
            }
        }
        answer(run, steps, is_sampled, span)?;
    }
    Ok(())
}

fn answer(
    run: &mut Run<'_, '_>,
    steps: Vec<Step>,
    is_sampled: bool,
    span: SourceSpan,
) -> Result<(), Halt> {
    let is_answer = is_sampled && steps.iter().any(|s| s.owner == Owner::Model);
    let call = if is_answer {
        Some(run.call(super::answered(run, span))?)
    } else {
        None
    };
    run.say(steps, call)?;
    Ok(())
}
