//! Our own export comes back as it was: `extra.triagent` holds each step, call and head without the texts that stand
//! in ATIF's own fields. Anything amiss in there, and the ordinary reading is used.

use crate::domain::{Call, ForeignLabel, Rollout, SourceSpan, Step};
use crate::import::json::Node;
use crate::import::out::Halt;
use crate::import::run::Run;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// What one ATIF step stands for.
pub(super) struct Exact {
    steps: Vec<Step>,
    call: Option<Call>,
}

/// Numbers of the file and numbers of this reading.
#[derive(Default)]
pub(super) struct Numbers {
    messages: HashMap<u32, u32>,
    calls: HashMap<u32, u32>,
}

/// Reads the step as we wrote it.
pub(super) fn read(node: &Node<'_>) -> Option<Exact> {
    let own = node.at(&["extra", "triagent"])?;
    let list = own.get("steps").filter(|n| n.is_list())?;
    let steps: Option<Vec<Step>> = list.items().iter().map(|n| step(node, n)).collect();
    let call = match own.get("call") {
        Some(bare) => Some(call(node, bare)?),
        None => None,
    };
    Some(Exact {
        steps: steps?,
        call,
    })
}

fn step(node: &Node<'_>, bare: &Node<'_>) -> Option<Step> {
    let mut map = bare.to_map();
    let at = map.remove("text_at")?;
    if !map.contains_key("text") {
        map.insert("text".to_owned(), Value::String(text(node, &at)?));
    }
    serde_json::from_value(Value::Object(map)).ok()
}

/// The text, where the step says that it stands.
fn text(node: &Node<'_>, at: &Value) -> Option<String> {
    if at == "reasoning_content" {
        return node.str("reasoning_content").map(str::to_owned);
    }
    let number = |key: &str| usize::try_from(at.get(key)?.as_u64()?).ok();
    if let Some(n) = number("message") {
        let message = node.get("message")?;
        return match message.text() {
            Some(whole) if n == 0 => Some(whole.to_owned()),
            Some(_) => None,
            None => message.items().get(n)?.str("text").map(str::to_owned),
        };
    }
    if let Some(n) = number("tool_call") {
        return node
            .list("tool_calls")
            .get(n)?
            .get("arguments")
            .map(Node::compact);
    }
    let results = node.at(&["observation", "results"])?;
    results
        .items()
        .get(number("result")?)?
        .str("content")
        .map(str::to_owned)
}

fn call(node: &Node<'_>, bare: &Node<'_>) -> Option<Call> {
    let mut map: Map<String, Value> = bare.to_map();
    for key in ["prompt_token_ids", "completion_token_ids", "logprobs"] {
        if let Some(value) = node.at(&["metrics", key]) {
            map.insert(key.to_owned(), value.to_value());
        }
    }
    serde_json::from_value(Value::Object(map)).ok()
}

impl Exact {
    /// Sends everything on, numbered anew.
    pub(super) fn send(
        self,
        run: &mut Run<'_, '_>,
        span: SourceSpan,
        numbers: &mut Numbers,
    ) -> Result<(), Halt> {
        if let Some(mut call) = self.call {
            let was = call.index;
            call.source = span;
            numbers.calls.insert(was, run.call(call)?);
        }
        for mut step in self.steps {
            let message = match numbers.messages.get(&step.message) {
                Some(known) => *known,
                None => {
                    let new = run.message();
                    numbers.messages.insert(step.message, new);
                    new
                }
            };
            step.call = step.call.and_then(|c| numbers.calls.get(&c).copied());
            step.source = span;
            run.step(step, message)?;
        }
        Ok(())
    }
}

/// Puts the head as we wrote it in place of the one that ATIF's fields tell; where it stands is today's file.
pub(super) fn head(own: &Node<'_>, head: &mut Rollout) {
    let read = own.get("head").map(Node::to_value);
    let Some(exact) = read.and_then(|v| serde_json::from_value::<Rollout>(v).ok()) else {
        return;
    };
    let (format, source) = (
        std::mem::take(&mut head.format),
        std::mem::take(&mut head.source),
    );
    *head = Rollout {
        format,
        source,
        span: head.span,
        ..exact
    };
}

/// The trajectory holds a head of ours.
pub(super) fn has_head(top: &Node<'_>) -> bool {
    top.at(&["extra", "triagent", "head"]).is_some()
}

/// Labels that somebody else put into the log before us.
pub(super) fn labels(run: &mut Run<'_, '_>, top: &Node<'_>) -> Result<(), Halt> {
    let list = top
        .at(&["extra", "triagent", "labels"])
        .map_or(&[][..], Node::items);
    for label in list {
        if let Ok(label) = serde_json::from_value::<ForeignLabel>(label.to_value()) {
            run.label(label)?;
        }
    }
    Ok(())
}
