//! Edits of a context: each says exactly what it puts in or takes out, and refuses where it does not apply.

use crate::domain::{ChatMessage, Role};
use crate::triage::probe::Placement;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Messages and tools before a decision.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Context {
    /// Messages.
    pub messages: Vec<ChatMessage>,
    /// Tool schemas, in the OpenAI shape.
    pub tools: Vec<Value>,
}

/// A change of a context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Edit {
    /// A text put in: a missing document, a placebo, a hint.
    #[serde(alias = "insert_document")]
    InsertText {
        /// The text.
        text: String,
    },
    /// Stretches of one message replaced: a shortened text restored.
    ReplaceText {
        /// Which message.
        message: usize,
        /// Find and put; each `find` must stand there exactly once.
        edits: Vec<TextEdit>,
    },
    /// A text taken out of one message.
    RemoveText {
        /// Which message.
        message: usize,
        /// The text.
        text: String,
    },
    /// A text taken out of its place and put in elsewhere.
    MoveText {
        /// Which message.
        message: usize,
        /// The text.
        text: String,
    },
    /// Descriptions of tools and of their arguments rewritten.
    ReplaceTool {
        /// Which tools, and what they say afterwards.
        edits: Vec<ToolEdit>,
    },
}

/// New texts of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolEdit {
    /// Tool name.
    pub tool: String,
    /// Its new description.
    pub description: String,
    /// New descriptions of arguments, by name.
    #[serde(default)]
    pub arguments: BTreeMap<String, String>,
}

/// Find and put.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextEdit {
    /// What stands there.
    pub find: String,
    /// What stands there afterwards.
    pub put: String,
}

/// Why an edit does not apply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// There is no such message.
    #[error("message {0} does not exist\nhint: messages count from 0")]
    NoMessage(usize),
    /// The text is not there, or more than once.
    #[error("\"{0}\" stands {1} times in message {2}, not once\nhint: quote a longer stretch")]
    NotOnce(String, usize, usize),
    /// There is no such tool.
    #[error("tool `{0}` is not among the tools that the model saw")]
    NoTool(String),
    /// Nothing to put a text into.
    #[error("the context holds no message with text")]
    NoSlot,
}

/// Applies an edit at a placement. Only inserted, moved and tool texts have more than one place.
pub fn apply_edit(
    context: &Context,
    edit: &Edit,
    placement: Placement,
) -> Result<Context, EditError> {
    let mut out = context.clone();
    match edit {
        Edit::InsertText { text } => insert(&mut out.messages, text, placement)?,
        Edit::ReplaceText { message, edits } => {
            for e in edits {
                replace(&mut out.messages, *message, &e.find, &e.put)?;
            }
        }
        Edit::RemoveText { message, text } => replace(&mut out.messages, *message, text, "")?,
        Edit::MoveText { message, text } => {
            replace(&mut out.messages, *message, text, "")?;
            insert(&mut out.messages, text, placement)?;
        }
        Edit::ReplaceTool { edits } => rewrite_tools(&mut out.tools, edits, placement)?,
    }
    Ok(out)
}

/// Start: before the first message's text. Natural: after the last tool result. End: after the last message.
fn insert(messages: &mut [ChatMessage], text: &str, placement: Placement) -> Result<(), EditError> {
    let holds_text = |m: &ChatMessage| m.role != Role::Assistant;
    let first = messages.iter().position(holds_text);
    let last = messages.iter().rposition(holds_text);
    let result = messages.iter().rposition(|m| m.role == Role::Tool);
    let slot = match placement {
        Placement::Start => first,
        Placement::Natural => result.or(last),
        Placement::End => last,
    };
    let message = slot
        .and_then(|i| messages.get_mut(i))
        .ok_or(EditError::NoSlot)?;
    let old = message.content.take().unwrap_or_default();
    message.content = Some(match (placement, old.is_empty()) {
        (_, true) => text.to_owned(),
        (Placement::Start, false) => format!("{text}\n{old}"),
        (Placement::Natural | Placement::End, false) => format!("{old}\n{text}"),
    });
    Ok(())
}

fn replace(
    messages: &mut [ChatMessage],
    at: usize,
    find: &str,
    put: &str,
) -> Result<(), EditError> {
    let message = messages.get_mut(at).ok_or(EditError::NoMessage(at))?;
    let content = message.content.as_deref().unwrap_or("");
    let times = if find.is_empty() {
        0
    } else {
        content.matches(find).count()
    };
    if times != 1 {
        return Err(EditError::NotOnce(find.to_owned(), times, at));
    }
    message.content = Some(content.replacen(find, put, 1));
    Ok(())
}

/// Start and end: the rewritten tools stand first or last in the list, in the order of the edits.
fn rewrite_tools(
    tools: &mut [Value],
    edits: &[ToolEdit],
    placement: Placement,
) -> Result<(), EditError> {
    for edit in edits {
        let tool = tools
            .iter_mut()
            .find(|t| tool_name(t) == Some(edit.tool.as_str()))
            .ok_or_else(|| EditError::NoTool(edit.tool.clone()))?;
        rewrite_tool(tool, edit);
    }
    // A stable sort leaves everything else where it was.
    let rank = |tool: &Value| {
        let named = |e: &ToolEdit| Some(e.tool.as_str()) == tool_name(tool);
        edits.iter().position(named)
    };
    match placement {
        Placement::Natural => {}
        Placement::Start => tools.sort_by_key(|t| rank(t).unwrap_or(usize::MAX)),
        Placement::End => tools.sort_by_key(|t| rank(t).map_or(0, |r| r + 1)),
    }
    Ok(())
}

fn rewrite_tool(tool: &mut Value, edit: &ToolEdit) {
    let body = if tool.get("function").is_some() {
        &mut tool["function"]
    } else {
        tool
    };
    body["description"] = Value::from(edit.description.as_str());
    for (argument, text) in &edit.arguments {
        if let Some(slot) = body.pointer_mut(&format!("/parameters/properties/{argument}")) {
            slot["description"] = Value::from(text.as_str());
        }
    }
}

/// The name of a tool in the OpenAI shape or without its wrapping.
pub(in crate::triage) fn tool_name(tool: &Value) -> Option<&str> {
    let body = tool.get("function").unwrap_or(tool);
    body.get("name").and_then(Value::as_str)
}
