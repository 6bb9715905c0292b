//! verl's and SkyRL's dumps of rollouts, one sample a line: the decoded `input` and `output`, the score, the step.
//! Decoding took the special tokens away, and with them the borders of turns: text of several speakers has no owner.

use super::openai_chat::{by_result, inside};
use super::{Importer, Input};
use crate::domain::{Owner, Reward, Role, Rollout, Step, StepKind};
use crate::import::detect::Sniff;
use crate::import::extra::bounded;
use crate::import::json::{Kind, Node};
use crate::import::mint::{Twins, mint};
use crate::import::out::{Halt, Out};
use crate::import::rows::{Row, each_row};
use crate::import::run::Run;
use serde_json::{Map, Value};

/// verl.
pub(crate) struct Verl;

const PROMPTS: &[&str] = &["input", "input_prompt"];
const ANSWERS: &[&str] = &["output", "output_response"];

impl Importer for Verl {
    fn name(&self) -> &'static str {
        "verl"
    }

    fn title(&self) -> &'static str {
        "verl and SkyRL rollout dumps (JSONL)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        if !sniff.is_json() {
            return None;
        }
        if sniff.most_have(&["input", "output", "score", "step"]) {
            return Some("rows with input, output, score and step".to_owned());
        }
        sniff
            .most_have(&["input_prompt", "output_response", "score"])
            .then(|| "rows with input_prompt, output_response and score".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        out.note("the dump has no borders of turns: where several speakers share a text, its owner is unknown");
        let mut twins = Twins::default();
        each_row(out, input.source, input.sniff.shape, |out, row| {
            if !row.node.is_object() {
                return out.skip(row.span.line, "not a sample");
            }
            let id = twins.name(mint(&[row.text]));
            sample(out, row, input.minted(id, self))
        })
    }
}

fn first<'n, 'a>(node: &'n Node<'a>, keys: &[&str]) -> Option<&'n Node<'a>> {
    keys.iter().find_map(|key| node.get(key))
}

fn sample(out: &mut Out<'_>, row: &Row<'_>, mut head: Rollout) -> Result<(), Halt> {
    let node = row.node;
    head.span = row.span;
    let is_verl = node.has("step");
    head.harness.name = Some(if is_verl { "verl" } else { "skyrl" }.to_owned());
    let prompt = first(node, PROMPTS).map(Node::compact).unwrap_or_default();
    let step = node.id("step").unwrap_or_default();
    head.group = Some(format!("step {step}, prompt {}", mint(&[&prompt])));
    head.family = node.id("data_source").or_else(|| node.id("env_class"));
    for (key, value) in node.members() {
        let is_text = PROMPTS.contains(&key.as_ref()) || ANSWERS.contains(&key.as_ref());
        if !is_text && !value.is_null() && !is_metric(key, value) {
            head.extra.insert(key.clone().into_owned(), bounded(value));
        }
    }
    let reward = reward(node, if is_verl { "verl" } else { "skyrl" });
    if let Some(value) = reward.result {
        head.outcome = by_result(value);
        head.outcome_source = Some("file:score".to_owned());
    }
    let mut run = Run::begin(out, head)?;
    if let Some(prompt) = first(node, PROMPTS) {
        let step = text(prompt, row, Owner::Unknown, Role::User);
        run.say(vec![step], None)?;
    }
    if let Some(answer) = first(node, ANSWERS) {
        let owner = owner_of(answer.text().unwrap_or(""));
        let step = text(answer, row, owner, Role::Assistant);
        let call = run.call(super::answered(&run, step.source))?;
        run.say(vec![step], Some(call))?;
    }
    run.reward(reward)?;
    run.end()
}

fn text(node: &Node<'_>, row: &Row<'_>, owner: Owner, role: Role) -> Step {
    let text = node.text().map_or_else(|| node.compact(), str::to_owned);
    let mut step = Step::new(owner, StepKind::Text, role, text);
    step.source = inside(row.span, node);
    step
}

/// What is left of a template between two turns is a line with nothing but the speaker's name.
fn owner_of(output: &str) -> Owner {
    let is_border = |line: &str| {
        matches!(
            line.trim_end(),
            "user" | "assistant" | "tool" | "system" | "ipython" | "observation"
        )
    };
    let has_answer = output.contains("<tool_response>") || output.contains("<|im_start|>");
    if has_answer || output.lines().any(is_border) {
        Owner::Unknown
    } else {
        Owner::Model
    }
}

fn is_metric(key: &str, value: &Node<'_>) -> bool {
    matches!(value.kind, Kind::Number(_)) && !matches!(key, "step" | "gts")
}

/// The score, with every other number of the row as its details. A list of scores, one a token, is no result.
fn reward(node: &Node<'_>, grader: &str) -> Reward {
    let score = node.get("score");
    let mut reward = score
        .and_then(Node::as_f64)
        .map_or_else(|| Reward::missing(grader), |v| Reward::result(grader, v));
    let metrics = node.members().iter().filter(|(k, v)| is_metric(k, v));
    let mut detail: Map<String, Value> = metrics
        .filter(|(key, _)| key != "score")
        .map(|(key, value)| (key.clone().into_owned(), value.to_value()))
        .collect();
    if let Some(list) = score.filter(|s| s.is_list()) {
        detail.insert("scores by token".to_owned(), bounded(list));
    }
    reward.detail = Value::Object(detail);
    reward
}
