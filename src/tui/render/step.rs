//! A step's body as a document: JSON laid out, Markdown drawn, colours of a terminal taken out, secrets masked.

use super::{json, markdown};
use crate::domain::{ChatMessage, Owner, Step, StepKind};
use crate::store::StepHead;
use crate::text::without_colours;
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;

/// Longer JSON is shown as it stands: laying out tens of megabytes helps nobody.
const MAX_JSON_BYTES: usize = 4 << 20;

/// How a body is dressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Dress {
    /// Exactly as stored, only made harmless.
    pub(crate) raw: bool,
    /// Secrets are seen.
    pub(crate) revealed: bool,
}

/// Draws the body of a step; `text` is what may be shown of it.
pub(crate) fn step(head: &StepHead, text: &str, dress: Dress) -> Doc {
    if dress.raw {
        return Doc::plain(text);
    }
    match head.kind {
        StepKind::ToolCall => call(head.tool.as_deref().unwrap_or("?"), text),
        StepKind::Observation => observation(text),
        StepKind::Text | StepKind::Reasoning => prose(head, text),
        StepKind::Media | StepKind::Event => inked(Ink::Quote, text),
    }
}

/// The head of a step that was read whole.
pub(crate) fn head_of(step: &Step) -> StepHead {
    StepHead {
        index: step.index,
        owner: step.owner,
        kind: step.kind,
        role: step.role,
        message: step.message,
        call: step.call,
        status: step.status,
        off_path: step.off_path,
        copied: step.copied,
        tool: step.tool.clone(),
        at_us: step.at_us,
        size: step.text.len() as u64,
        preview: String::new(),
    }
}

/// Draws a decision of the model as it stands in a pair: reasoning, words, calls.
pub(crate) fn message(message: &ChatMessage) -> Doc {
    let mut doc = Doc::default();
    if let Some(reasoning) = &message.reasoning {
        doc.line(Ink::Quote, &without_colours(reasoning)).end_line();
    }
    if let Some(content) = message.content.as_deref().filter(|c| !c.is_empty()) {
        let clean = without_colours(content);
        let drawn = laid_out(&clean).or_else(|| markdown(&clean));
        doc.append(&drawn.unwrap_or_else(|| Doc::plain(&clean)))
            .end_line();
    }
    for one in &message.tool_calls {
        doc.push(Ink::Model, "→ ")
            .append(&call(&one.name, &one.arguments))
            .end_line();
    }
    doc
}

fn laid_out(text: &str) -> Option<Doc> {
    if text.len() > MAX_JSON_BYTES {
        return None;
    }
    json(text)
}

fn call(tool: &str, text: &str) -> Doc {
    let mut doc = Doc::default();
    doc.push(Ink::Strong, tool).push(Ink::Text, " ");
    match laid_out(text) {
        Some(arguments) => doc.append(&arguments),
        None => doc.push(Ink::Text, text),
    };
    doc
}

fn observation(text: &str) -> Doc {
    let clean = without_colours(text);
    laid_out(&clean).unwrap_or_else(|| Doc::plain(&clean))
}

fn prose(head: &StepHead, text: &str) -> Doc {
    if let Some(doc) = laid_out(text) {
        return doc;
    }
    let clean = without_colours(text);
    let written = matches!(head.owner, Owner::Model | Owner::User);
    let drawn = if written { markdown(&clean) } else { None };
    drawn.unwrap_or_else(|| {
        let ink = if head.kind == StepKind::Reasoning {
            Ink::Quote
        } else {
            Ink::Text
        };
        inked(ink, &clean)
    })
}

fn inked(ink: Ink, text: &str) -> Doc {
    let mut doc = Doc::default();
    doc.push(ink, text);
    doc
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Role, ToolCall};

    #[test]
    fn a_decision_is_drawn_as_words_then_calls() {
        let mut decision = ChatMessage::text(Role::Assistant, "I look it up.");
        decision.tool_calls.push(ToolCall {
            id: None,
            name: "find".to_owned(),
            arguments: "{\"q\": \"退款\"}".to_owned(),
        });
        assert_eq!(
            message(&decision).text(),
            "I look it up.\n→ find {\"q\": \"退款\"}\n"
        );
    }
}
