//! Steps as a model sees them: chat messages. Scoring, pairing and export all go through here, so they
//! cannot disagree about what a context or a decision is.

use super::step::{Owner, Step, StepKind, words};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A chat role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions.
    System,
    /// Instructions of newer OpenAI models.
    Developer,
    /// The request and what is sent as one.
    User,
    /// The model.
    Assistant,
    /// A tool's answer.
    Tool,
}

words!(Role { System => "system", Developer => "developer", User => "user", Assistant => "assistant", Tool => "tool" });

/// A call inside an assistant message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Joins with the tool message.
    pub id: Option<String>,
    /// Tool name.
    pub name: String,
    /// Arguments exactly as logged: usually a JSON object as text, sometimes broken.
    pub arguments: String,
}

impl ToolCall {
    /// The arguments as a JSON object, or nothing when the model's JSON was broken.
    pub fn arguments_object(&self) -> Option<Value> {
        serde_json::from_str::<Value>(&self.arguments)
            .ok()
            .filter(Value::is_object)
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// Chat role.
    pub role: Role,
    /// Text; `None` where the message had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Text before the answer, where the log kept it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Which call a tool message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Tool name of a tool message, or the speaker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl ChatMessage {
    /// A message that is only text.
    pub fn text(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: Some(content.into()),
            reasoning: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            name: None,
        }
    }

    /// Says nothing and does nothing.
    pub fn is_empty(&self) -> bool {
        self.tool_calls.is_empty() && self.content.as_deref().unwrap_or("").trim().is_empty()
    }

    /// Bytes that tell two decisions apart, independent of call ids.
    pub fn fingerprint_bytes(&self) -> Vec<u8> {
        let calls: Vec<_> = self
            .tool_calls
            .iter()
            .map(|c| {
                let arguments = c
                    .arguments_object()
                    .map_or_else(|| c.arguments.clone(), |v| v.to_string());
                (c.name.clone(), arguments)
            })
            .collect();
        // Call ids are invented anew by every run, so they do not count.
        serde_json::to_vec(&(self.role, &self.content, &self.reasoning, calls, &self.name))
            .unwrap_or_default()
    }
}

/// Returns the messages that stood before step `before` on the main path, replaced steps left out.
pub fn context_before(steps: &[Step], before: u32) -> Vec<ChatMessage> {
    messages(visible_before(steps, before))
}

/// Returns the steps that stood before step `before` on the main path, replaced steps left out.
pub fn visible_before(steps: &[Step], before: u32) -> Vec<&Step> {
    let first = decision_start(steps, before);
    let mut visible: Vec<&Step> = steps
        .iter()
        .filter(|s| s.index < first && s.is_in_context())
        .collect();
    let replaced: std::collections::HashSet<u32> = visible
        .iter()
        .flat_map(|s| s.replaces.iter().copied())
        .collect();
    visible.retain(|s| !replaced.contains(&s.index));
    visible
}

/// Returns the decision that step `at` belongs to: all model-owned steps of its message.
pub fn decision_at(steps: &[Step], at: u32) -> Option<ChatMessage> {
    let step = steps.iter().find(|s| s.index == at)?;
    if step.owner != Owner::Model {
        return None;
    }
    let same = steps
        .iter()
        .filter(|s| s.message == step.message && s.owner == Owner::Model);
    messages(same).into_iter().next()
}

/// Index of the first step of the message that `at` belongs to.
pub fn decision_start(steps: &[Step], at: u32) -> u32 {
    let Some(step) = steps.iter().find(|s| s.index == at) else {
        return at;
    };
    steps
        .iter()
        .filter(|s| s.message == step.message)
        .map(|s| s.index)
        .min()
        .unwrap_or(at)
}

/// First step index of every model decision on the main path, in order.
pub fn decisions(steps: &[Step]) -> Vec<u32> {
    let mut seen = None;
    let mut out = Vec::new();
    for step in steps
        .iter()
        .filter(|s| s.owner == Owner::Model && s.is_in_context())
    {
        if seen != Some(step.message) {
            seen = Some(step.message);
            out.push(step.index);
        }
    }
    out
}

/// Joins consecutive steps of one message.
pub fn messages<'a>(steps: impl IntoIterator<Item = &'a Step>) -> Vec<ChatMessage> {
    let mut out: Vec<ChatMessage> = Vec::new();
    let mut open: Option<u32> = None;
    for step in steps {
        if step.kind == StepKind::Event {
            continue;
        }
        if open != Some(step.message) || step.role == Role::Tool {
            out.push(ChatMessage {
                role: step.role,
                content: None,
                reasoning: None,
                tool_calls: Vec::new(),
                tool_call_id: None,
                name: None,
            });
            open = Some(step.message);
        }
        if let Some(last) = out.last_mut() {
            add(last, step);
        }
    }
    out
}

fn add(message: &mut ChatMessage, step: &Step) {
    match step.kind {
        StepKind::Reasoning => append(&mut message.reasoning, &step.text),
        StepKind::ToolCall => message.tool_calls.push(ToolCall {
            id: step.tool_call_id.clone(),
            name: step.tool.clone().unwrap_or_default(),
            arguments: step.text.clone(),
        }),
        StepKind::Observation => {
            append(&mut message.content, &step.text);
            message.tool_call_id.clone_from(&step.tool_call_id);
            message.name.clone_from(&step.tool);
        }
        StepKind::Text | StepKind::Media | StepKind::Event => {
            append(&mut message.content, &step.text);
            if message.name.is_none() {
                message.name.clone_from(&step.name);
            }
        }
    }
}

fn append(slot: &mut Option<String>, text: &str) {
    match slot {
        Some(old) => {
            old.push('\n');
            old.push_str(text);
        }
        None => *slot = Some(text.to_owned()),
    }
}
