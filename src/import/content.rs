//! Content of a message as all dialects write it: text, a list of parts, a list of texts, one part, null.
//! Bytes of pictures and sounds never become text; a short description stands for them.

use super::json::{Kind, Node};
use super::out::Out;
use crate::domain::StepKind;

/// A piece of content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Text, reasoning or media.
    pub(crate) kind: StepKind,
    /// The text, or the description.
    pub(crate) text: String,
}

impl Piece {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self {
            kind: StepKind::Text,
            text: text.into(),
        }
    }

    fn media(text: String) -> Self {
        Self {
            kind: StepKind::Media,
            text,
        }
    }
}

/// Takes content apart. Parts that nobody knows stay as JSON and are counted.
pub(crate) fn pieces(out: &mut Out<'_>, content: Option<&Node<'_>>) -> Vec<Piece> {
    let Some(content) = content else {
        return Vec::new();
    };
    match &content.kind {
        Kind::Null => Vec::new(),
        Kind::Text(text) => vec![Piece::text(text.as_ref())],
        Kind::List(items) => items.iter().filter_map(|item| piece(out, item)).collect(),
        Kind::Object(_) => piece(out, content).into_iter().collect(),
        Kind::Bool(_) | Kind::Number(_) => vec![Piece::text(content.compact())],
    }
}

fn piece(out: &mut Out<'_>, part: &Node<'_>) -> Option<Piece> {
    if let Some(text) = part.text() {
        return Some(Piece::text(text));
    }
    let kind = part.str("type").unwrap_or("");
    if let Some(name) = media_name(kind) {
        return Some(Piece::media(describe(name, part)));
    }
    // iFlow puts a tool's answer into the parts of Gemini's answer.
    if let Some(answer) = part.at(&["responseParts", "functionResponse", "response"]) {
        let said = answer.get("output").or_else(|| answer.get("error"));
        let said = said.unwrap_or(answer);
        let text = said.text().map_or_else(|| said.compact(), str::to_owned);
        return Some(Piece::text(text));
    }
    match kind {
        "thinking" | "reasoning" => {
            let text = ["thinking", "reasoning", "text", "content", "value"]
                .iter()
                .find_map(|k| part.str(k));
            return text.map(|t| Piece {
                kind: StepKind::Reasoning,
                text: t.to_owned(),
            });
        }
        "redacted_thinking" => {
            return Some(Piece {
                kind: StepKind::Reasoning,
                text: "[reasoning withheld by the provider]".to_owned(),
            });
        }
        _ => {}
    }
    let text = ["text", "content", "refusal", "value"]
        .iter()
        .find_map(|k| part.get(k));
    match text.map(|t| &t.kind) {
        Some(Kind::Text(text)) => Some(Piece::text(text.as_ref())),
        // Kept by AgentDojo and others as the sign of an empty message.
        None if is_plain(kind) => None,
        _ => {
            out.not_understood(&format!("content part {kind:?}"));
            Some(Piece::text(part.compact()))
        }
    }
}

fn is_plain(kind: &str) -> bool {
    matches!(kind, "text" | "input_text" | "output_text" | "refusal")
}

fn media_name(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "image_url" | "image" | "input_image" | "inlineData" => "image",
        "input_audio" | "audio" => "audio",
        "file" | "input_file" | "document" | "container_upload" => "file",
        "video" | "video_url" => "video",
        "blob" => "blob",
        _ => return None,
    })
}

/// `[image image/png, 5120 bytes of base64]` or `[image https://…]`.
pub(crate) fn describe(name: &str, part: &Node<'_>) -> String {
    let inner = [
        "source",
        "image_url",
        "input_audio",
        "file",
        "image",
        "inlineData",
        "audio",
        "video_url",
    ]
    .iter()
    .find_map(|key| part.get(key))
    .unwrap_or(part);
    let link = inner.text().or_else(|| {
        ["url", "data", "file_data", "content", "uri", "file_id"]
            .iter()
            .find_map(|k| inner.str(k))
    });
    let mime = ["media_type", "mime_type", "mimeType", "format", "modality"]
        .iter()
        .find_map(|k| inner.str(k))
        .unwrap_or("");
    let what = link.map_or_else(|| "no data".to_owned(), describe_link);
    if mime.is_empty() {
        format!("[{name} {what}]")
    } else {
        format!("[{name} {mime}, {what}]")
    }
}

fn describe_link(link: &str) -> String {
    const SHORT: usize = 200;
    if let Some(rest) = link.strip_prefix("data:") {
        let (mime, data) = rest.split_once(',').unwrap_or(("", rest));
        let mime = mime.split(';').next().unwrap_or("");
        return format!("{mime}, {} bytes of base64", data.len());
    }
    if link.len() <= SHORT {
        link.to_owned()
    } else {
        format!("{} bytes of base64", link.len())
    }
}
