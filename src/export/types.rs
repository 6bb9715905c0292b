//! Arguments whose type changes from call to call: an old JSON reader bends such rows or refuses them (TRAINING A2). It says where;
//! the rows stay as the model wrote them.

use super::options::Format;
use serde_json::Value;
use std::collections::BTreeMap;

/// How deep argument objects are looked at.
const MAX_DEPTH: usize = 8;
/// Places that the warnings name; the rest is counted.
const MAX_TOLD: usize = 5;

/// What was seen at each path of the arguments. The tool's name is no part of it: a reader merges the calls of all tools.
#[derive(Debug, Default)]
pub(crate) struct ArgumentTypes {
    first: BTreeMap<String, (&'static str, String)>,
    mixed: BTreeMap<String, String>,
}

impl ArgumentTypes {
    /// Looks at the arguments of one call.
    pub(crate) fn add(&mut self, subject: &str, arguments: &str) {
        if let Ok(value) = serde_json::from_str::<Value>(arguments) {
            self.look("", &value, subject, 0);
        }
    }

    fn look(&mut self, path: &str, value: &Value, subject: &str, depth: usize) {
        let Some(word) = word(value) else { return };
        if depth > 0 {
            self.note(path, word, subject);
        }
        if depth == MAX_DEPTH {
            return;
        }
        match value {
            Value::Object(fields) => fields
                .iter()
                .for_each(|(key, inner)| self.look(&joined(path, key), inner, subject, depth + 1)),
            Value::Array(items) => items
                .iter()
                .for_each(|inner| self.look(&joined(path, "[]"), inner, subject, depth + 1)),
            _ => {}
        }
    }

    fn note(&mut self, path: &str, word: &'static str, subject: &str) {
        match self.first.get(path) {
            None => {
                self.first
                    .insert(path.to_owned(), (word, subject.to_owned()));
            }
            Some((before, at)) if *before != word && !self.mixed.contains_key(path) => {
                let told = format!("`{path}` is a {before} in {at} and a {word} in {subject}");
                self.mixed.insert(path.to_owned(), told);
            }
            Some(_) => {}
        }
    }

    /// One line a path, for formats that write arguments as objects.
    pub(crate) fn warnings(&self, format: Format) -> Vec<String> {
        let as_objects = matches!(
            format,
            Format::TrlSft | Format::TrlDpo | Format::TrlKto | Format::TrlGrpo
        );
        if !as_objects || self.mixed.is_empty() {
            return Vec::new();
        }
        let mut out: Vec<String> = (self.mixed.values().take(MAX_TOLD))
            .map(|told| {
                format!("arguments of mixed type: {told}; read with datasets 4.7 or newer (TRL 1.0 asks for it), older ones refuse the file")
            })
            .collect();
        if self.mixed.len() > MAX_TOLD {
            let rest = self.mixed.len() - MAX_TOLD;
            out.push(format!(
                "arguments of mixed type at {rest} more places of the calls"
            ));
        }
        out
    }
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// A null fits every type.
fn word(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some("boolean"),
        Value::Number(_) => Some("number"),
        Value::String(_) => Some("string"),
        Value::Array(_) => Some("list"),
        Value::Object(_) => Some("object"),
    }
}
