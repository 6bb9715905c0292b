//! Edits in words: the text that one brings, its placebo, its line in the table, a version as text, the hint.
//!
//! Decides nothing about which variants are planned.

use super::edit::{Edit, TextEdit, ToolEdit};
use super::plan::WrittenTexts;
use crate::domain::{ChatMessage, Document};

/// A placebo goes the way of the text it is compared with.
pub(super) fn in_place_of(edit: &Edit, text: String) -> Edit {
    match edit {
        Edit::RemoveText { message, text: old } => Edit::ReplaceText {
            message: *message,
            edits: vec![TextEdit {
                find: old.clone(),
                put: format!("{old} {text}"),
            }],
        },
        Edit::ReplaceText { message, edits } => Edit::ReplaceText {
            message: *message,
            edits: edits
                .iter()
                .take(1)
                .map(|e| TextEdit {
                    find: e.find.clone(),
                    put: format!("{} {text}", e.find),
                })
                .collect(),
        },
        Edit::InsertText { .. } | Edit::MoveText { .. } | Edit::ReplaceTool { .. } => {
            Edit::InsertText { text }
        }
    }
}

/// The text that an edit brings or takes, to which placebos are cut.
pub(super) fn changed_text(edit: &Edit) -> String {
    match edit {
        Edit::InsertText { text } | Edit::RemoveText { text, .. } | Edit::MoveText { text, .. } => {
            text.clone()
        }
        Edit::ReplaceText { edits, .. } => edits
            .iter()
            .map(|e| e.put.as_str())
            .collect::<Vec<_>>()
            .join(" "),
        Edit::ReplaceTool { edits } => edits
            .iter()
            .map(|e| e.description.as_str())
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// What exactly is changed, for the table.
pub(super) fn diff(edit: &Edit) -> String {
    match edit {
        Edit::InsertText { text } => format!("+ {text}"),
        Edit::RemoveText { text, message } => format!("message {message}: - {text}"),
        Edit::MoveText { text, message } => format!("message {message}: moved {text}"),
        Edit::ReplaceText { message, edits } => {
            let lines: Vec<String> = edits
                .iter()
                .map(|e| format!("- {}\n+ {}", e.find, e.put))
                .collect();
            format!("message {message}:\n{}", lines.join("\n"))
        }
        Edit::ReplaceTool { edits } => {
            let lines: Vec<String> = edits.iter().map(tool_diff).collect();
            lines.join("\n")
        }
    }
}

fn tool_diff(edit: &ToolEdit) -> String {
    let more = edit.arguments.iter().map(|(n, t)| format!("\n+ {n}: {t}"));
    format!(
        "tool {}:\n+ {}{}",
        edit.tool,
        edit.description,
        more.collect::<String>()
    )
}

/// A version as a search would bring it: its name, its date, its words.
pub(super) fn as_text(document: &Document) -> String {
    let title = document
        .title
        .as_deref()
        .map_or_else(String::new, |t| format!(" {t}"));
    let head = format!("[{} {}]{title}", document.doc_id, document.version);
    let from = document
        .valid_from
        .as_deref()
        .map_or_else(String::new, |d| format!(" valid from {d}"));
    format!("{head}{from}\n{}", document.text)
}

/// The positive control: a text that names the right action.
pub(super) fn hint(written: &WrittenTexts, corrected: &ChatMessage) -> String {
    if let Some(text) = &written.hint {
        return text.clone();
    }
    let said = corrected.content.clone().into_iter();
    let calls = corrected
        .tool_calls
        .iter()
        .map(|c| format!("{}({})", c.name, c.arguments));
    let action: Vec<String> = said.chain(calls).collect();
    format!("Hint: the right answer here is: {}", action.join(" "))
}
