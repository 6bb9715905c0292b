//! `atif`: one trajectory a run, lossless but for redactions. What ATIF cannot say travels under `extra.triagent`:
//! the fields of DESIGN §6 for everybody, and `steps`, `call` and `head` so that our own import brings back every
//! step as it was. Texts stand once: `text_at` says where.

use super::copy::{may_leave, pair_may_leave, redacted};
use super::desk::{Consumer, Desk};
use super::error::Error;
use super::input::{PairInput, RunInput};
use crate::domain::{Call, Owner, Role, Step, StepKind};
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap};

/// Version that knows `trajectory_id` and `llm_call_count`.
const SCHEMA: &str = "ATIF-v1.7";
/// Longest file name before it is cut and told apart by a hash.
const MAX_NAME: usize = 80;

/// `atif`.
#[derive(Default)]
pub(crate) struct Atif {
    used: BTreeSet<String>,
}

impl Consumer for Atif {
    fn run(&mut self, run: &RunInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        if let Err(why) = may_leave(run, desk) {
            desk.leave_out(&run.head.id, &why);
            return Ok(());
        }
        desk.versions(run);
        let part = desk.part(run);
        let name = self.file_name(run.head.id.as_str());
        let trajectory = redacted(&trajectory(run), run, desk)?;
        let text =
            serde_json::to_string_pretty(&trajectory).map_err(|e| Error::Options(e.to_string()))?;
        desk.folder
            .whole(&format!("{part}/{name}"), format!("{text}\n").as_bytes(), 1)?;
        desk.count(part);
        Ok(())
    }

    fn pair(&mut self, pair: &PairInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        if pair_may_leave(pair, desk) {
            let row = redacted(&pair.record, &pair.a, desk)?;
            desk.folder.line("pairs.jsonl", &row)?;
        }
        Ok(())
    }

    fn finish(&mut self, desk: &mut Desk<'_>) -> Result<(), Error> {
        desk.units.rows = "one run, one file";
        Ok(())
    }
}

impl Atif {
    /// A name that every file system takes, and that no other run has.
    fn file_name(&mut self, run: &str) -> String {
        let safe = |c: char| {
            if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') {
                c
            } else {
                '_'
            }
        };
        let mut name: String = run.chars().map(safe).take(MAX_NAME).collect();
        // Names that differ only in case are one file on some systems.
        if name != run || name.starts_with('.') || self.used.contains(&name.to_lowercase()) {
            name = format!(
                "{name}-{}",
                super::desk::short(&blake3::hash(run.as_bytes()))
            );
        }
        self.used.insert(name.to_lowercase());
        format!("{name}.json")
    }
}

fn trajectory(run: &RunInput) -> Value {
    let head = &run.head;
    let unknown = || "unknown".to_owned();
    let mut agent = json!({
        "name": head.harness.name.clone().unwrap_or_else(unknown),
        "version": head.harness.version.clone().unwrap_or_else(unknown),
        "model_name": head.model.clone().unwrap_or_else(unknown),
    });
    if !head.tools.is_empty() {
        agent["tool_definitions"] = json!(head.tools);
    }
    json!({
        "schema_version": SCHEMA,
        "session_id": head.id, "trajectory_id": head.id,
        "agent": agent,
        "steps": steps(run),
        "extra": {"triagent": own_head(run)},
    })
}

fn own_head(run: &RunInput) -> Value {
    let head = &run.head;
    let rewards: Vec<Value> = run.rewards.iter().map(|r| json!(r)).collect();
    json!({
        "task_id": head.task, "rollout_id": head.id, "id_minted": head.id_minted, "family": head.family,
        "scenario": head.scenario, "group": head.group, "trial": head.trial, "harness": head.harness,
        "index_version": head.index_version, "prompt_version": head.prompt_version,
        "toolset_version": head.toolset_version, "checkpoint": head.checkpoint, "tokenizer": head.tokenizer,
        "outcome": head.outcome, "rewards": rewards, "head": head, "decisions": run.decisions, "labels": run.labels,
    })
}

/// Steps that become one ATIF step: one message and the answers to its calls, or a call that said nothing.
#[derive(Default)]
struct Group<'a> {
    said: Vec<&'a Step>,
    answers: Vec<&'a Step>,
    call: Option<&'a Call>,
}

fn steps(run: &RunInput) -> Vec<Value> {
    let groups = groups(run);
    let mut place: HashMap<u32, usize> = HashMap::new();
    for (at, group) in groups.iter().enumerate() {
        for step in group.said.iter().chain(&group.answers) {
            place.insert(step.index, at + 1);
        }
    }
    groups
        .iter()
        .enumerate()
        .map(|(at, group)| atif_step(at + 1, group, &place))
        .collect()
}

fn groups(run: &RunInput) -> Vec<Group<'_>> {
    let mut out: Vec<Group<'_>> = Vec::new();
    let mut spoken: BTreeSet<u32> = BTreeSet::new();
    for step in &run.steps {
        let last = out.last_mut();
        let joins = last.as_ref().is_some_and(|g| {
            g.answers.is_empty()
                && g.said.first().is_some_and(|f| {
                    f.message == step.message && f.owner == step.owner && f.call == step.call
                })
        });
        let answers = last.as_ref().is_some_and(|g| answers(g, step));
        match last {
            Some(group) if joins => group.said.push(step),
            Some(group) if answers => group.answers.push(step),
            _ => {
                let call = step
                    .call
                    .filter(|c| spoken.insert(*c))
                    .and_then(|c| run.calls.get(c as usize));
                silent_before(run, call, &mut spoken, &mut out);
                out.push(Group {
                    said: vec![step],
                    answers: Vec::new(),
                    call,
                });
            }
        }
    }
    let rest = run.calls.iter().filter(|c| !spoken.contains(&c.index));
    out.extend(rest.map(|call| Group {
        call: Some(call),
        ..Group::default()
    }));
    out
}

/// Calls that said nothing keep their place before the next one that did.
fn silent_before<'a>(
    run: &'a RunInput,
    call: Option<&Call>,
    spoken: &mut BTreeSet<u32>,
    out: &mut Vec<Group<'a>>,
) {
    let Some(call) = call else { return };
    let has_steps: BTreeSet<u32> = run.steps.iter().filter_map(|s| s.call).collect();
    for silent in run
        .calls
        .iter()
        .filter(|c| c.index < call.index && !has_steps.contains(&c.index))
    {
        if spoken.insert(silent.index) {
            out.push(Group {
                call: Some(silent),
                ..Group::default()
            });
        }
    }
}

/// The step is a tool's answer to a call of the group.
fn answers(group: &Group<'_>, step: &Step) -> bool {
    let asked = |s: &&Step| {
        s.kind == StepKind::ToolCall
            && s.tool_call_id.is_some()
            && s.tool_call_id == step.tool_call_id
    };
    step.kind == StepKind::Observation && step.call.is_none() && group.said.iter().any(asked)
}

fn atif_step(id: usize, group: &Group<'_>, place: &HashMap<u32, usize>) -> Value {
    let first = group.said.first();
    let owner = first.map_or(Owner::Model, |s| s.owner);
    let source = source(first);
    let mut out = Map::new();
    out.insert("step_id".to_owned(), json!(id));
    let at = first
        .and_then(|s| s.at_us)
        .or(group.call.and_then(|c| c.at_us));
    if let Some(time) = at.and_then(iso) {
        out.insert("timestamp".to_owned(), json!(time));
    }
    out.insert("source".to_owned(), json!(source));
    let (message, mut exact) = spoken(&mut out, group, source);
    out.insert("message".to_owned(), message);
    let answered = observation(&mut out, group);
    exact.extend(answered);
    if first.is_some_and(|s| s.copied) {
        out.insert("is_copied_context".to_owned(), json!(true));
    }
    if source == "agent" {
        out.insert(
            "llm_call_count".to_owned(),
            json!(i32::from(group.call.is_some() || owner == Owner::Model)),
        );
        agent_fields(&mut out, group);
    }
    out.insert(
        "extra".to_owned(),
        json!({"triagent": own_step(group, owner, exact, place)}),
    );
    Value::Object(out)
}

fn source(first: Option<&&Step>) -> &'static str {
    match first.map(|s| (s.owner, s.role)) {
        None | Some((Owner::Model, _) | (_, Role::Assistant)) => "agent",
        Some((Owner::System | Owner::Runtime, Role::System | Role::Developer)) => "system",
        Some((Owner::System, _)) => "system",
        Some(_) => "user",
    }
}

/// Text, reasoning and calls; and each step without its text, which stands in them.
fn spoken(out: &mut Map<String, Value>, group: &Group<'_>, source: &str) -> (Value, Vec<Value>) {
    let (mut parts, mut thoughts, mut calls): (Vec<&str>, Vec<&str>, Vec<Value>) =
        Default::default();
    let mut exact = Vec::new();
    for step in &group.said {
        let at = match step.kind {
            StepKind::Reasoning if source == "agent" && thoughts.is_empty() => {
                thoughts.push(&step.text);
                json!("reasoning_content")
            }
            StepKind::ToolCall if source == "agent" && is_object(&step.text) => {
                calls.push(tool_call(step, calls.len()));
                json!({"tool_call": calls.len() - 1})
            }
            StepKind::Text | StepKind::Media | StepKind::Event | StepKind::Observation => {
                parts.push(&step.text);
                json!({"message": parts.len() - 1})
            }
            // A second thought, or arguments that are no object: ATIF has no place, so the text stays with us.
            StepKind::Reasoning | StepKind::ToolCall => Value::Null,
        };
        exact.push(without_text(step, at));
    }
    if let Some(thought) = thoughts.first() {
        out.insert("reasoning_content".to_owned(), json!(thought));
    }
    if !calls.is_empty() {
        out.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    let message = match parts.as_slice() {
        [] => json!(""),
        [one] => json!(one),
        many => many
            .iter()
            .map(|t| json!({"type": "text", "text": t}))
            .collect(),
    };
    (message, exact)
}

fn is_object(arguments: &str) -> bool {
    // Only arguments that come back byte for byte may stand as an object alone.
    serde_json::from_str::<Value>(arguments).is_ok_and(|v| v.is_object())
}

fn tool_call(step: &Step, at: usize) -> Value {
    let arguments: Value = serde_json::from_str(&step.text).unwrap_or(Value::Null);
    json!({
        "tool_call_id": step.tool_call_id.clone().unwrap_or_else(|| format!("call_{at}")),
        "function_name": step.tool.clone().unwrap_or_default(),
        "arguments": arguments,
    })
}

/// An object that is written again gives the same bytes.
fn comes_back(arguments: &str) -> bool {
    let tree: Option<Value> = serde_json::from_str(arguments).ok();
    tree.map(|t| t.to_string()).as_deref() == Some(arguments)
}

/// The step without its text; arguments whose bytes an object would not bring back keep theirs.
fn without_text(step: &Step, at: Value) -> Value {
    let mut value = json!(step);
    let same = match &at {
        Value::Object(o) if o.contains_key("tool_call") => comes_back(&step.text),
        Value::Null => false,
        _ => true,
    };
    if let Value::Object(map) = &mut value {
        if same {
            map.remove("text");
        }
        map.insert("text_at".to_owned(), at);
    }
    value
}

fn observation(out: &mut Map<String, Value>, group: &Group<'_>) -> Vec<Value> {
    if group.answers.is_empty() {
        return Vec::new();
    }
    let results: Vec<Value> = group
        .answers
        .iter()
        .map(|s| json!({"source_call_id": s.tool_call_id, "content": s.text}))
        .collect();
    out.insert("observation".to_owned(), json!({"results": results}));
    group
        .answers
        .iter()
        .enumerate()
        .map(|(n, s)| without_text(s, json!({"result": n})))
        .collect()
}

fn agent_fields(out: &mut Map<String, Value>, group: &Group<'_>) {
    let Some(call) = group.call else { return };
    if let Some(model) = &call.model {
        out.insert("model_name".to_owned(), json!(model));
    }
    let metrics = json!({
        "prompt_tokens": call.usage.input, "completion_tokens": call.usage.output, "cached_tokens": call.usage.cached,
        "cost_usd": call.cost_usd, "prompt_token_ids": call.prompt_token_ids,
        "completion_token_ids": call.completion_token_ids, "logprobs": call.logprobs,
    });
    if let Value::Object(map) = metrics {
        let known: Map<String, Value> = map.into_iter().filter(|(_, v)| !v.is_null()).collect();
        if !known.is_empty() {
            out.insert("metrics".to_owned(), Value::Object(known));
        }
    }
}

fn own_step(
    group: &Group<'_>,
    owner: Owner,
    exact: Vec<Value>,
    place: &HashMap<u32, usize>,
) -> Value {
    let mut own = Map::new();
    own.insert("owner".to_owned(), json!(owner));
    let replaced: BTreeSet<usize> = group
        .said
        .iter()
        .flat_map(|s| &s.replaces)
        .filter_map(|i| place.get(i))
        .copied()
        .collect();
    if !replaced.is_empty() {
        own.insert("replaces".to_owned(), json!(replaced));
    }
    if let [answer] = group.answers.as_slice() {
        own.insert("status".to_owned(), json!(answer.status));
        if !answer.documents.is_empty() {
            own.insert("documents".to_owned(), json!(answer.documents));
        }
    }
    if let Some(call) = group.call {
        for (key, value) in [
            ("logical_request_id", json!(call.logical_request_id)),
            ("request_id", json!(call.request_id)),
            ("attempt", json!(call.attempt)),
            ("event_id", json!(call.event_id)),
            ("adopted", json!(call.adopted)),
            ("model_version", json!(call.model_version)),
            ("call", bare_call(call)),
        ] {
            own.insert(key.to_owned(), value);
        }
    }
    own.insert("steps".to_owned(), Value::Array(exact));
    own.retain(|_, v| !v.is_null());
    Value::Object(own)
}

/// The call without what stands in `metrics`.
fn bare_call(call: &Call) -> Value {
    let mut value = json!(call);
    if let Value::Object(map) = &mut value {
        for key in ["prompt_token_ids", "completion_token_ids", "logprobs"] {
            map.remove(key);
        }
    }
    value
}

/// Microseconds UTC as ISO text.
fn iso(us: i64) -> Option<String> {
    jiff::Timestamp::from_microsecond(us)
        .ok()
        .map(|t| t.to_string())
}
