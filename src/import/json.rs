//! A JSON tree that borrows from its text and knows where in it each part stands. Numbers keep their spelling,
//! so that nothing is rounded. Reading text into it is `parse.rs`; it writes nothing but compact JSON.

use serde_json::{Map, Value};
use std::borrow::Cow;

/// What a part of the text is.
#[derive(Debug, Clone)]
pub(crate) enum Kind<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as spelled, `NaN` and `-Infinity` included.
    Number(&'a str),
    /// Text.
    Text(Cow<'a, str>),
    /// A list.
    List(Vec<Node<'a>>),
    /// An object, in the order of the file; keys are distinct.
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
}

/// A part of the text and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Node<'a> {
    pub(crate) kind: Kind<'a>,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl<'a> Node<'a> {
    /// A member that is there and not null.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Kind::Object(members) = &self.kind else {
            return None;
        };
        let (_, node) = members.iter().find(|(k, _)| k == key)?;
        (!node.is_null()).then_some(node)
    }

    /// A member of members.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The key stands there, even if its value is null.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.members().iter().any(|(k, _)| k == key)
    }

    /// `null`.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    /// An object.
    pub(crate) fn is_object(&self) -> bool {
        matches!(self.kind, Kind::Object(_))
    }

    /// A list.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self.kind, Kind::List(_))
    }

    /// Its text, if it is text.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Text of a member.
    pub(crate) fn str(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// Text of a member as an owned string; numbers count as their spelling, because ids come as both.
    pub(crate) fn id(&self, key: &str) -> Option<String> {
        self.get(key)?.as_id()
    }

    /// Text, or a number's spelling.
    pub(crate) fn as_id(&self) -> Option<String> {
        match &self.kind {
            Kind::Text(text) if !text.is_empty() => Some(text.clone().into_owned()),
            Kind::Number(text) => Some((*text).to_owned()),
            _ => None,
        }
    }

    /// A number, also one that came as text or as a bool. NaN and infinities are not numbers here.
    pub(crate) fn as_f64(&self) -> Option<f64> {
        let number = match &self.kind {
            Kind::Number(text) => text.parse::<f64>().ok()?,
            Kind::Text(text) => text.trim().parse::<f64>().ok()?,
            Kind::Bool(yes) => f64::from(u8::from(*yes)),
            _ => return None,
        };
        number.is_finite().then_some(number)
    }

    /// A number of a member.
    pub(crate) fn f64(&self, key: &str) -> Option<f64> {
        self.get(key)?.as_f64()
    }

    /// A whole number that is not negative, also one that came as text or as `12.0`.
    pub(crate) fn as_u64(&self) -> Option<u64> {
        let (Kind::Number(text) | Kind::Text(Cow::Borrowed(text))) = &self.kind else {
            return self.text()?.trim().parse().ok();
        };
        let text = text.trim();
        text.parse().ok().or_else(|| {
            let whole = text.strip_suffix(".0")?;
            whole.parse().ok()
        })
    }

    /// A whole number of a member.
    pub(crate) fn u64(&self, key: &str) -> Option<u64> {
        self.get(key)?.as_u64()
    }

    /// A bool.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        match self.kind {
            Kind::Bool(yes) => Some(yes),
            _ => None,
        }
    }

    /// A bool of a member.
    pub(crate) fn bool(&self, key: &str) -> Option<bool> {
        self.get(key)?.as_bool()
    }

    /// Elements; of anything but a list, none.
    pub(crate) fn items(&self) -> &[Self] {
        match &self.kind {
            Kind::List(items) => items,
            _ => &[],
        }
    }

    /// Elements of a member.
    pub(crate) fn list(&self, key: &str) -> &[Self] {
        self.get(key).map_or(&[], Self::items)
    }

    /// Members; of anything but an object, none.
    pub(crate) fn members(&self) -> &[(Cow<'a, str>, Self)] {
        match &self.kind {
            Kind::Object(members) => members,
            _ => &[],
        }
    }

    /// As a value that owns its text. NaN and infinities become text, because JSON has no such numbers.
    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(yes) => Value::Bool(*yes),
            Kind::Number(text) => number(text),
            Kind::Text(text) => Value::String(text.clone().into_owned()),
            Kind::List(items) => items.iter().map(Self::to_value).collect(),
            Kind::Object(_) => Value::Object(self.to_map()),
        }
    }

    /// Its members as a map that owns its text.
    pub(crate) fn to_map(&self) -> Map<String, Value> {
        let members = self.members().iter();
        members
            .map(|(key, node)| (key.clone().into_owned(), node.to_value()))
            .collect()
    }

    /// Compact JSON with numbers as they were spelled.
    pub(crate) fn compact(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match &self.kind {
            Kind::Null => out.push_str("null"),
            Kind::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
            Kind::Number(text) => out.push_str(text),
            Kind::Text(text) => quote(text, out),
            Kind::List(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Kind::Object(members) => {
                out.push('{');
                for (i, (key, node)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    quote(key, out);
                    out.push(':');
                    node.write(out);
                }
                out.push('}');
            }
        }
    }
}

fn number(text: &str) -> Value {
    if let Ok(whole) = text.parse::<u64>() {
        return whole.into();
    }
    if let Ok(whole) = text.parse::<i64>() {
        return whole.into();
    }
    let float = text.parse::<f64>().ok();
    float
        .and_then(serde_json::Number::from_f64)
        .map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

fn quote(text: &str, out: &mut String) {
    // Writing a str into a String cannot fail.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}
