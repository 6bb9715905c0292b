//! Agent Lightning 1.0: events of its gateway as its REST door gives them, with the rollout records beside them.
//! Its legacy spans are another format (`agent_lightning_legacy.rs`), and one dataset never mixes the two (S-31).

use super::openai_chat::{by_result, inside, tools};
use super::{Importer, Input};
use crate::domain::{
    Adopted, Call, Ending, Outcome, Owner, Reward, Role, SourceSpan, Step, StepKind, TaskId,
};
use crate::import::detect::{Sniff, has_all};
use crate::import::extra::{bounded, keep, leftover};
use crate::import::group::{Groups, replay};
use crate::import::json::Node;
use crate::import::mint::mint;
use crate::import::out::{Halt, Out};
use crate::import::parse::{Flaws, decode, parse};
use crate::import::prefix::{Said, Thread};
use crate::import::rows::Row;
use crate::import::run::Run;
use crate::import::source::Source;
use crate::import::time::time;
use crate::import::{answer, own};
use serde_json::Value;
use std::collections::HashMap;

/// Agent Lightning 1.0.
pub(crate) struct AgentLightning;

const KNOWN: &[&str] = &[
    "event_type",
    "rollout_id",
    "attempt_id",
    "timestamp",
    "data",
    "event_id",
    "logical_request_id",
    "request_id",
    "adopted",
];
const KNOWN_DATA: &[&str] = &[
    "model",
    "model_version",
    "request",
    "response",
    "server",
    "latency_ms",
    "http_status",
    "status",
    "retry_count",
    "usage",
    "finish_reason",
    "routed_experts",
    "event_id",
    "logical_request_id",
    "request_id",
    "adopted",
    "error",
    "prompt_token_ids",
    "response_token_ids",
    "response_log_probs",
];

impl Importer for AgentLightning {
    fn name(&self) -> &'static str {
        "agent-lightning-1"
    }

    fn title(&self) -> &'static str {
        "Agent Lightning 1.0 gateway events"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        if !sniff.is_json() {
            return None;
        }
        if sniff.most_have(&["event_type", "rollout_id", "attempt_id", "data"]) {
            return Some("rows with event_type, rollout_id, attempt_id and data".to_owned());
        }
        let first = sniff.first();
        let record = first.get("rollout").unwrap_or(first);
        (has_all(record, &["rollout_id", "status", "config"])
            && record.pointer("/status/state").is_some())
        .then(|| "rollout records with status.state".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        if !sniff_has_events(input.sniff) {
            out.note("rollout records: read together with the events beside them");
            return out.advance(input.source.len());
        }
        if is_derived(input) {
            out.note("triplets: derived from the events beside them, which are read there");
            return out.advance(input.source.len());
        }
        let records = Records::beside(input);
        let mut reports: HashMap<String, u32> = HashMap::new();
        let groups = Groups::of(out, input.source, input.sniff.shape, |out, row| {
            let Some(id) = row.node.id("rollout_id") else {
                out.skip(row.span.line, "an event without rollout_id")?;
                return Ok(None);
            };
            if let Some(key) = report_key(row) {
                *reports.entry(key).or_default() += 1;
            }
            Ok(Some(id))
        })?;
        for (id, spans) in groups.iter() {
            one_rollout(self, input, out, (id, spans), &records, &reports)?;
        }
        Ok(())
    }
}

/// Triplets repeat the token ids of events. Without the events they are all there is.
fn is_derived(input: &Input<'_>) -> bool {
    let is_triplet = |row: &Value| {
        row.pointer("/data/response_token_ids").is_some() && row.pointer("/data/request").is_none()
    };
    let path = &input.unit.path;
    let stem = input.sniff.name.split('.').next().unwrap_or("");
    let beside = [format!("{stem}.events.json"), "events.jsonl".to_owned()];
    let has_events = || {
        let is_other = |name: &&String| **name != input.sniff.name;
        beside
            .iter()
            .filter(is_other)
            .any(|name| path.with_file_name(name).exists())
    };
    input.sniff.rows.iter().any(is_triplet) && has_events()
}

fn sniff_has_events(sniff: &Sniff) -> bool {
    sniff.rows.iter().any(|row| row.get("event_type").is_some())
}

/// What tells one report from another: its event id, else its whole text (id, content and time are in it).
fn report_key(row: &Row<'_>) -> Option<String> {
    row.node.str("event_type")?;
    let rollout = row.node.id("rollout_id").unwrap_or_default();
    Some(match said_id(row.node, "event_id") {
        Some(id) => format!("{rollout}/{id}"),
        None => format!("{rollout}={}", mint(&[row.text.trim()])),
    })
}

/// An id that stands in the row or in its data.
fn said_id(node: &Node<'_>, key: &str) -> Option<String> {
    node.id(key).or_else(|| node.get("data")?.id(key))
}

fn one_rollout(
    format: &dyn Importer,
    input: &Input<'_>,
    out: &mut Out<'_>,
    (id, spans): (&str, &[SourceSpan]),
    records: &Records,
    reports: &HashMap<String, u32>,
) -> Result<(), Halt> {
    let mut head = input.head(id, format);
    head.span = spans.first().copied().unwrap_or_default();
    head.harness.name = Some("agent-lightning".to_owned());
    head.extra.insert("stage".to_owned(), "v1.0".into());
    records.tell(id, &mut head);
    let mut run = Run::begin(out, head)?;
    let mut events = Events {
        reports,
        seen: HashMap::new(),
        thread: Thread::default(),
        rewards: Vec::new(),
    };
    replay(input.source, spans, |row| events.take(&mut run, row))?;
    events.thread.finish(&mut run)?;
    if let Some(reward) = last_reward(events.rewards) {
        run.head.outcome = reward.result.map_or(Outcome::Unknown, by_result);
        run.head.outcome_source = Some("file:reward".to_owned());
        run.reward(reward)?;
    }
    run.end()
}

/// Several rewards are allowed and the last one counts; the earlier ones stay in its details.
fn last_reward(mut rewards: Vec<Reward>) -> Option<Reward> {
    let mut last = rewards.pop()?;
    if !rewards.is_empty() {
        let earlier: Vec<Value> = rewards
            .iter()
            .map(
                |r| serde_json::json!({"grader": r.grader, "result": r.result, "detail": r.detail}),
            )
            .collect();
        if let Value::Object(detail) = &mut last.detail {
            detail.insert("earlier".to_owned(), earlier.into());
        }
    }
    Some(last)
}

struct Events<'r> {
    reports: &'r HashMap<String, u32>,
    seen: HashMap<String, ()>,
    thread: Thread,
    rewards: Vec<Reward>,
}

impl Events<'_> {
    fn take(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>) -> Result<(), Halt> {
        let key = report_key(row);
        if let Some(key) = &key
            && self.seen.insert(key.clone(), ()).is_some()
        {
            run.out.repeated();
            return Ok(());
        }
        let node = row.node;
        match node.str("event_type") {
            Some("model_request") => {
                let reports = key.and_then(|k| self.reports.get(&k)).copied().unwrap_or(1);
                self.request(run, row, reports)
            }
            Some("reward") => {
                self.rewards.push(reward(node));
                Ok(())
            }
            other => self.event(run, row, other.unwrap_or("")),
        }
    }

    fn request(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>, reports: u32) -> Result<(), Halt> {
        let Some(data) = row.node.get("data") else {
            return run.out.skip(row.span.line, "a model_request without data");
        };
        let request = data.get("request");
        let choice = data.get("response").and_then(|r| r.list("choices").first());
        let mut call = call_of(run.out, row, data, choice);
        call.reports = reports;
        if run.head.tools.is_empty() {
            run.head.tools = request.map(tools).unwrap_or_default();
        }
        if run.head.model.is_none() {
            run.head.model.clone_from(&call.model);
        }
        let at_us = call.at_us;
        let messages = request.map_or(&[][..], |r| r.list("messages"));
        let prompt = messages
            .iter()
            .map(|m| Said::chat(run.out, m, inside(row.span, m)))
            .collect();
        let answer = choice.and_then(|c| c.get("message")).map(|message| {
            let mut steps =
                crate::import::chat::message(run.out, message, inside(row.span, message));
            for step in &mut steps {
                step.at_us = at_us;
                step.off_path = call.adopted == Adopted::No;
            }
            Said::of(steps)
        });
        let answer = Vec::from_iter(answer);
        self.thread.call(run, prompt, answer, call)
    }

    /// Any other word is something that the harness noted; the model saw none of it.
    fn event(&mut self, run: &mut Run<'_, '_>, row: &Row<'_>, name: &str) -> Result<(), Halt> {
        let text = row.node.get("data").map(Node::compact).unwrap_or_default();
        let mut step = Step::new(Owner::Runtime, StepKind::Event, Role::User, text);
        step.name = Some(name.to_owned());
        step.at_us = time(row.node.get("timestamp"));
        step.source = row.span;
        run.say(vec![step], None)?;
        Ok(())
    }
}

fn call_of(out: &mut Out<'_>, row: &Row<'_>, data: &Node<'_>, choice: Option<&Node<'_>>) -> Call {
    let mut call = answer::call(data.get("request"), data.get("response"), choice);
    call.attempt = row.node.id("attempt_id");
    call.model_version = data.id("model_version");
    call.retry_count = data.u64("retry_count").and_then(|n| u32::try_from(n).ok());
    call.latency_ms = data.f64("latency_ms");
    call.finish_reason = call.finish_reason.or_else(|| data.id("finish_reason"));
    call.at_us = time(row.node.get("timestamp")).or(call.at_us);
    call.source = row.span;
    let ids = |key: &str| data.get(key).and_then(answer::token_ids);
    call.prompt_token_ids = call.prompt_token_ids.or_else(|| ids("prompt_token_ids"));
    call.completion_token_ids = call
        .completion_token_ids
        .or_else(|| ids("response_token_ids"));
    let logged = data.get("response_log_probs").and_then(answer::logprobs);
    call.logprobs = call.logprobs.or(logged);
    own::call(data, &mut call);
    own::call(row.node, &mut call);
    if data.str("status").is_some_and(|s| s != "ok") {
        let error = data
            .get("error")
            .map(|e| e.as_id().unwrap_or_else(|| e.compact()));
        call.error = call.error.or(error).or_else(|| data.id("http_status"));
    }
    call.extra.extend(leftover(out, row.node, KNOWN, "event"));
    call.extra.extend(leftover(out, data, KNOWN_DATA, "data"));
    keep(&mut call.extra, data, &["server", "http_status"]);
    call
}

fn reward(node: &Node<'_>) -> Reward {
    let data = node.get("data");
    let grader = data
        .and_then(|d| d.str("source"))
        .unwrap_or("agent-lightning");
    let value = data.and_then(|d| d.f64("value"));
    let mut reward = value.map_or_else(|| Reward::missing(grader), |v| Reward::result(grader, v));
    reward.detail = data.map(bounded).unwrap_or_default();
    reward
}

/// Rollout records that stand in files beside the events.
#[derive(Default)]
struct Records(HashMap<String, Value>);

impl Records {
    const MAX_BYTES: u64 = 64 << 20;

    fn beside(input: &Input<'_>) -> Self {
        let mut records = Self::default();
        let path = &input.unit.path;
        let name = path
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default();
        let stem = name.split('.').next().unwrap_or("");
        for neighbour in ["rollouts.json".to_owned(), format!("{stem}.rollout.json")] {
            records.add(&path.with_file_name(neighbour));
        }
        records
    }

    fn add(&mut self, path: &std::path::Path) {
        let small =
            std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= Self::MAX_BYTES);
        let Some(source) = small.then(|| Source::open(path).ok()).flatten() else {
            return;
        };
        let bytes = source.read_at(0, usize::MAX).unwrap_or_default();
        let mut flaws = Flaws::default();
        let text = decode(&bytes, &mut flaws);
        let Ok(node) = parse(&text, &mut flaws) else {
            return;
        };
        let one = std::slice::from_ref(&node);
        for record in if node.is_list() { node.items() } else { one } {
            let record = record.get("rollout").unwrap_or(record);
            if let Some(id) = record.id("rollout_id") {
                self.0.insert(id, record.to_value());
            }
        }
    }

    fn tell(&self, id: &str, head: &mut crate::domain::Rollout) {
        let Some(record) = self.0.get(id) else { return };
        let text = |path: &str| {
            record
                .pointer(path)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        if let Some(task) = text("/input/data_id") {
            head.group = Some(task.clone());
            head.task = Some(TaskId(task));
        }
        head.ending_note = text("/status/error_message").or_else(|| text("/status/state"));
        head.ending = match text("/status/state").as_deref() {
            Some("succeeded") => Ending::Finished,
            Some("failed") => Ending::Error,
            _ => Ending::Unknown,
        };
        head.extra.insert("rollout".to_owned(), record.clone());
    }
}
