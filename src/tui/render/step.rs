//! A step's body as a document: JSON laid out, Markdown drawn, colours of a terminal taken out, secrets masked.

use super::{json, markdown};
use crate::domain::{Owner, StepKind};
use crate::store::StepHead;
use crate::text::without_colours;
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;
use std::borrow::Cow;
use std::ops::Range;

/// Stands for a masked secret; its length tells nothing.
const MASK: &str = "▒▒▒▒▒▒";
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

/// Draws the body of a step. `secrets` are stretches of `text`.
pub(crate) fn step(head: &StepHead, text: &str, secrets: &[Range<usize>], dress: Dress) -> Doc {
    let masked = if dress.revealed {
        Cow::Borrowed(text)
    } else {
        mask(text, secrets)
    };
    if dress.raw {
        return Doc::plain(&masked);
    }
    match head.kind {
        StepKind::ToolCall => call(head, &masked),
        StepKind::Observation => observation(&masked),
        StepKind::Text | StepKind::Reasoning => prose(head, &masked),
        StepKind::Media | StepKind::Event => inked(Ink::Quote, &masked),
    }
}

fn mask<'a>(text: &'a str, secrets: &[Range<usize>]) -> Cow<'a, str> {
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for span in secrets {
        if span.start < from {
            continue;
        }
        out.push_str(text.get(from..span.start).unwrap_or_default());
        out.push_str(MASK);
        from = span.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

fn laid_out(text: &str) -> Option<Doc> {
    if text.len() > MAX_JSON_BYTES {
        return None;
    }
    json(text)
}

fn call(head: &StepHead, text: &str) -> Doc {
    let mut doc = Doc::default();
    doc.push(Ink::Strong, head.tool.as_deref().unwrap_or("?"))
        .push(Ink::Text, " ");
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

    #[test]
    fn a_mask_tells_neither_content_nor_length() {
        assert_eq!(
            mask("key=abc; ok", std::slice::from_ref(&(4..7))),
            format!("key={MASK}; ok")
        );
        assert_eq!(
            mask("key=abcdef; ok", &[4..10, 5..7]),
            format!("key={MASK}; ok")
        );
        assert_eq!(mask("nothing", &[]), "nothing");
    }
}
