//! Writes chat messages the way a consumer wants them, straight from borrowed data: no tree is built, so
//! arguments keep the model's own key order and numbers.

use crate::domain::{ChatMessage, Role, ToolCall};
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// How a consumer wants messages (TRAINING section 0).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// `arguments` as a JSON object; else as a JSON string.
    pub(crate) object_arguments: bool,
    /// A message without text says `""`; else `null`.
    pub(crate) empty_text: bool,
    /// `developer` stays; else it becomes `system`, which is all that templates know.
    pub(crate) developer: bool,
    /// Every call has an id; a missing one is made from its position.
    pub(crate) ids: bool,
}

impl Dialect {
    /// TRL conversational rows: the very dicts that scoring renders, so that log-probs agree.
    pub(crate) const TRL: Self = Self {
        object_arguments: true,
        empty_text: false,
        developer: true,
        ids: false,
    };
    /// OpenAI-shaped rows.
    pub(crate) const OPENAI: Self = Self {
        object_arguments: false,
        empty_text: false,
        developer: true,
        ids: true,
    };
    /// verl: every message needs `content`, and parquet merges argument objects.
    pub(crate) const VERL: Self = Self {
        object_arguments: false,
        empty_text: true,
        developer: false,
        ids: true,
    };
}

/// Messages in a dialect.
pub(crate) struct Messages<'a>(pub(crate) &'a [ChatMessage], pub(crate) Dialect);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        let ids = call_ids(self.0);
        for (at, message) in self.0.iter().enumerate() {
            let (dialect, ids) = (self.1, &ids[at]);
            list.serialize_element(&Message {
                message,
                dialect,
                ids,
                weight: None,
            })?;
        }
        list.end()
    }
}

/// One message in a dialect.
pub(crate) struct Message<'a> {
    pub(crate) message: &'a ChatMessage,
    pub(crate) dialect: Dialect,
    pub(crate) ids: &'a [String],
    /// OpenAI's `weight` of an assistant message.
    pub(crate) weight: Option<u8>,
}

impl Serialize for Message<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self {
            message: m,
            dialect,
            ids,
            weight,
        } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", role_word(m.role, *dialect))?;
        match (&m.content, dialect.empty_text) {
            (None, true) => map.serialize_entry("content", "")?,
            (content, _) => map.serialize_entry("content", content)?,
        }
        if let Some(reasoning) = &m.reasoning {
            map.serialize_entry("reasoning_content", reasoning)?;
        }
        if !m.tool_calls.is_empty() {
            let calls: Vec<_> = (m.tool_calls.iter().enumerate())
                .map(|(at, call)| Call {
                    call,
                    dialect: *dialect,
                    id: ids.get(at),
                })
                .collect();
            map.serialize_entry("tool_calls", &calls)?;
        }
        let answers = ids
            .first()
            .filter(|_| dialect.ids)
            .or(m.tool_call_id.as_ref());
        if let Some(id) = answers.filter(|_| m.role == Role::Tool) {
            map.serialize_entry("tool_call_id", id)?;
        }
        if let Some(name) = &m.name {
            map.serialize_entry("name", name)?;
        }
        if let Some(weight) = weight {
            map.serialize_entry("weight", weight)?;
        }
        map.end()
    }
}

struct Call<'a> {
    call: &'a ToolCall,
    dialect: Dialect,
    id: Option<&'a String>,
}

impl Serialize for Call<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let id = self
            .id
            .filter(|_| self.dialect.ids)
            .or(self.call.id.as_ref());
        if let Some(id) = id {
            map.serialize_entry("id", id)?;
        }
        map.serialize_entry("type", "function")?;
        let (name, arguments) = (&self.call.name, &self.call.arguments);
        if self.dialect.object_arguments {
            let raw = compact_object(arguments)
                .ok_or_else(|| S::Error::custom(format!("arguments of `{name}` are no object")))?;
            map.serialize_entry(
                "function",
                &Function {
                    name,
                    arguments: raw,
                },
            )?;
        } else {
            map.serialize_entry("function", &Function { name, arguments })?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct Function<'a, A: Serialize> {
    name: &'a str,
    arguments: A,
}

/// The role's word in a dialect.
pub(crate) fn role_word(role: Role, dialect: Dialect) -> &'static str {
    match role {
        Role::Developer if !dialect.developer => Role::System.word(),
        other => other.word(),
    }
}

/// Returns, for each message, the ids of its calls, or the id of the call that it answers. Ids that the log
/// lacks are made from positions; an answer without one goes to the first call still open.
pub(crate) fn call_ids(messages: &[ChatMessage]) -> Vec<Vec<String>> {
    let mut open: Vec<String> = Vec::new();
    let mut out = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        if message.role == Role::Tool {
            let id = match &message.tool_call_id {
                Some(id) => id.clone(),
                None if open.is_empty() => format!("call_{at}"),
                None => open.remove(0),
            };
            open.retain(|o| *o != id);
            out.push(vec![id]);
            continue;
        }
        let made =
            |n: usize, call: &ToolCall| call.id.clone().unwrap_or_else(|| format!("call_{at}_{n}"));
        let ids: Vec<String> = (message.tool_calls.iter().enumerate())
            .map(|(n, call)| made(n, call))
            .collect();
        open.extend(ids.iter().cloned());
        out.push(ids);
    }
    out
}

/// Returns a JSON object on one line without blanks, everything else as it was; nothing when it is no object.
pub(crate) fn compact_object(text: &str) -> Option<Box<RawValue>> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in text.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            out.push(c);
        } else if !c.is_ascii_whitespace() {
            in_string = c == '"';
            out.push(c);
        }
    }
    RawValue::from_string(out).ok()
}

/// Returns the tool list as one JSON string. Without tools it is `null`, not `[]`: some templates print a
/// tool section for an empty list.
pub(crate) fn tools_text(tools: &[Value]) -> String {
    if tools.is_empty() {
        "null".to_owned()
    } else {
        serde_json::to_string(tools).unwrap_or_else(|_| "null".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compact(text: &str) -> Option<String> {
        compact_object(text).map(|raw| raw.get().to_owned())
    }

    #[test]
    fn arguments_keep_order_numbers_and_strings() {
        // By hand: blanks inside strings stay, 1.0 and a 20-digit integer keep their digits.
        let text = "{ \"b\" : 1.0,\n \"a\": \"x \\\" y\", \"n\": 12345678901234567890123 }";
        let expected = r#"{"b":1.0,"a":"x \" y","n":12345678901234567890123}"#;
        assert_eq!(compact(text).as_deref(), Some(expected));
        assert_eq!(compact("[1]"), None);
        assert_eq!(compact("{\"a\": }"), None);
        assert_eq!(compact(""), None);
    }

    #[test]
    fn answers_without_ids_go_to_open_calls_in_order() {
        let call = |id: Option<&str>| ToolCall {
            id: id.map(str::to_owned),
            name: "f".to_owned(),
            arguments: "{}".to_owned(),
        };
        let asks = ChatMessage {
            tool_calls: vec![call(None), call(Some("x"))],
            ..ChatMessage::text(Role::Assistant, "")
        };
        let answer = ChatMessage::text(Role::Tool, "ok");
        let ids = call_ids(&[asks, answer.clone(), answer]);
        assert_eq!(ids, [vec!["call_0_0", "x"], vec!["call_0_0"], vec!["x"]]);
    }
}
