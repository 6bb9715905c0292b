//! Which bytes of a rendered action are reasoning, text, a tool's name or arguments.
//!
//! The template decides how an action looks; here its pieces are looked for in order, in the forms
//! that public templates write. What is found nowhere stays markup.

use super::action::Part;
use super::error::ScoreError;
use super::template::to_json;
use crate::domain::{ChatMessage, ToolCall};
use serde_json::Value;
use std::ops::Range;

/// Ranges of a text with what they are; in order, never overlapping.
#[derive(Debug, Default)]
pub(super) struct Marks {
    ranges: Vec<(Range<usize>, Part)>,
    pub warnings: Vec<String>,
}

impl Marks {
    /// The part that holds the first byte of a token that is in any part at all.
    pub(super) fn part_of(&self, span: &Range<usize>) -> Part {
        let touches = |range: &Range<usize>| range.start < span.end && span.start < range.end;
        let found = self.ranges.iter().find(|(range, _)| touches(range));
        found.map_or(Part::Markup, |(_, part)| *part)
    }
}

/// Finds the pieces of an action inside `within`.
pub(super) fn mark_parts(
    text: &str,
    within: Range<usize>,
    action: &ChatMessage,
) -> Result<Marks, ScoreError> {
    let mut search = Search {
        text,
        within,
        marks: Marks::default(),
    };
    let reasoning = action.reasoning.as_deref().unwrap_or_default();
    if !search.take(reasoning.trim(), Part::Reasoning) {
        search.warn("the chat template leaves the reasoning out");
    }
    let content = action.content.as_deref().unwrap_or_default();
    if !search.take(content, Part::Text) && !search.take(content.trim(), Part::Text) {
        search.warn("the chat template changes or leaves out the text");
    }
    for call in &action.tool_calls {
        if !search.take(&call.name, Part::ToolName) {
            return Err(ScoreError::Action(format!(
                "the chat template leaves the call of {} out; it knows no tool calls; hint: give a template that does",
                call.name
            )));
        }
        if !search.take_arguments(call) {
            search.warn(&format!(
                "the arguments of {} do not stand in the text as logged",
                call.name
            ));
        }
    }
    search.marks.ranges.sort_by_key(|(range, _)| range.start);
    Ok(search.marks)
}

struct Search<'a> {
    text: &'a str,
    within: Range<usize>,
    marks: Marks,
}

impl Search<'_> {
    fn warn(&mut self, what: &str) {
        self.marks.warnings.push(what.to_owned());
    }

    /// Marks the first free place that holds these words. Pieces come in any order: some templates
    /// put calls before text.
    fn take(&mut self, words: &str, part: Part) -> bool {
        if words.is_empty() {
            return true;
        }
        let mut from = self.within.start;
        while let Some(rest) = self.text.get(from..self.within.end) {
            let Some(at) = rest.find(words) else {
                return false;
            };
            let found = from + at..from + at + words.len();
            let taken = self
                .marks
                .ranges
                .iter()
                .find(|(r, _)| r.start < found.end && found.start < r.end);
            match taken {
                Some((range, _)) => from = range.end.max(from + 1),
                None => {
                    self.marks.ranges.push((found, part));
                    return true;
                }
            }
        }
        false
    }

    fn take_arguments(&mut self, call: &ToolCall) -> bool {
        let object = call.arguments_object();
        let mut forms = vec![call.arguments.clone()];
        if let Some(object) = &object {
            forms.push(to_json(object, ", ", ": "));
            forms.push(to_json(object, ",", ":"));
        }
        if forms.iter().any(|form| self.take(form, Part::Arguments)) {
            return true;
        }
        // Templates that write one line or one tag an argument.
        let Some(Value::Object(fields)) = object else {
            return false;
        };
        let mut all = true;
        for (key, value) in &fields {
            let value = value
                .as_str()
                .map_or_else(|| to_json(value, ", ", ": "), str::to_owned);
            all &= self.take(key, Part::Arguments);
            all &= self.take(&value, Part::Arguments) || self.take(value.trim(), Part::Arguments);
        }
        all
    }
}
