//! The first rows exactly as they would be written, with what the loss counts told apart from what it does not.

use super::error::Error;
use super::manifest::Manifest;
use super::select::Example;
use super::talk::Talk;
use super::target::{Measured, Segment};
use crate::domain::chat::visible_before;
use crate::domain::{ChatMessage, Owner, Role};
use serde::Serialize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Owner of what a template puts around the messages.
const MARKUP: &str = "markup";

/// A row as it would be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreviewRow {
    /// The file that it would stand in.
    pub file: String,
    /// The line itself.
    pub line: String,
    /// Its text for shading: one list for a row, two for a pair (chosen, rejected). With the target model at hand the
    /// segments of the target are its tokens, else message parts.
    pub segments: Vec<Vec<Segment>>,
}

/// The first rows, and the manifest that would lie beside all of them.
#[derive(Debug, Clone, Serialize)]
pub struct Preview {
    /// The first rows.
    pub rows: Vec<PreviewRow>,
    /// Counts, reasons, closed gates: of everything, not only of these rows.
    pub manifest: Manifest,
}

/// Rows that are kept while a preview is made.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    want: usize,
    pub(crate) rows: Vec<PreviewRow>,
    pending: Vec<Vec<Segment>>,
}

impl Sample {
    pub(crate) fn new(want: usize) -> Self {
        Self {
            want,
            ..Self::default()
        }
    }

    fn has_enough(&self) -> bool {
        self.rows.len() >= self.want
    }

    /// Remembers a side of the row that comes next.
    pub(crate) fn shade(&mut self, example: &Example<'_>, measured: Option<&Measured>) {
        if self.has_enough() {
            return;
        }
        let tokens = measured
            .map(|m| m.segments.clone())
            .filter(|s| !s.is_empty());
        let own = || message_segments(&example.target, Owner::Model, true);
        let mut side = conditions(example);
        if let Some(prompt) = measured.map(|m| &m.prompt).filter(|p| !p.is_empty()) {
            side = by_owner(prompt, &side);
        }
        side.extend(tokens.unwrap_or_else(own));
        self.pending.push(side);
    }

    /// Remembers a whole conversation in the place of its last side.
    pub(crate) fn shade_talk(&mut self, talk: &Talk<'_>) {
        let all = talk.turns.iter().flat_map(|turn| {
            let owner = match turn.message.role {
                Role::System | Role::Developer => Owner::System,
                Role::User => Owner::User,
                Role::Assistant => Owner::Model,
                Role::Tool => Owner::Tool,
            };
            message_segments(&turn.message, owner, turn.target)
        });
        self.pending = vec![all.collect()];
    }

    /// The row that was being made stays out.
    pub(crate) fn forget(&mut self) {
        self.pending.clear();
    }

    /// Keeps a row, unless there are enough.
    pub(crate) fn keep<T: Serialize>(&mut self, file: &str, row: &T) -> Result<(), Error> {
        let segments = std::mem::take(&mut self.pending);
        if !self.has_enough() {
            let line = serde_json::to_string(row).map_err(|e| Error::Options(e.to_string()))?;
            self.rows.push(PreviewRow {
                file: file.to_owned(),
                line,
                segments,
            });
        }
        Ok(())
    }
}

/// What stands before the target, by its owners.
fn conditions(example: &Example<'_>) -> Vec<Segment> {
    let before = visible_before(&example.run.steps, example.at.step);
    // A redacted prompt has other words than its steps, so the messages that leave are shown, the owners of the steps
    // beside them.
    let mut owners = before
        .iter()
        .fold(Vec::new(), |mut list: Vec<(u32, Owner)>, step| {
            if step.role == Role::Tool || list.last().is_none_or(|(m, _)| *m != step.message) {
                list.push((step.message, step.owner));
            }
            list
        });
    owners.truncate(example.prompt.len());
    let mut out = Vec::new();
    for (at, message) in example.prompt.iter().enumerate() {
        let owner = owners.get(at).map_or(Owner::Unknown, |(_, owner)| *owner);
        out.extend(message_segments(message, owner, false));
    }
    out
}

/// The prompt's tokens, each with the owner of the text that it stands in; what the template puts around is markup.
fn by_owner(tokens: &[String], parts: &[Segment]) -> Vec<Segment> {
    let whole: String = tokens.concat();
    let mut owned: Vec<(Range<usize>, &str)> = Vec::new();
    let mut from = 0;
    for part in parts.iter().filter(|p| !p.text.trim().is_empty()) {
        let text = part.text.trim();
        // A call is written in the template's own way and found nowhere; then it stays markup.
        if let Some(at) = whole.get(from..).and_then(|rest| rest.find(text)) {
            owned.push((from + at..from + at + text.len(), &part.owner));
            from += at + text.len();
        }
    }
    let (mut at, mut next) = (0, owned.iter().peekable());
    let token = |text: &String| {
        let middle = at + text.len() / 2;
        at += text.len();
        while next.next_if(|(range, _)| range.end <= middle).is_some() {}
        let inside = next.peek().filter(|(range, _)| range.contains(&middle));
        Segment {
            text: text.clone(),
            owner: inside.map_or(MARKUP, |(_, owner)| *owner).to_owned(),
            trained: false,
        }
    };
    tokens.iter().map(token).collect()
}

fn message_segments(message: &ChatMessage, owner: Owner, trained: bool) -> Vec<Segment> {
    let one = |text: &str| Segment {
        text: text.to_owned(),
        owner: owner.word().to_owned(),
        trained,
    };
    let texts = [&message.reasoning, &message.content].into_iter().flatten();
    let mut out: Vec<Segment> = texts.map(|t| one(t)).collect();
    out.extend(
        message
            .tool_calls
            .iter()
            .map(|c| one(&format!("{}({})", c.name, c.arguments))),
    );
    out
}

/// A folder for the files of a preview; it goes away with it.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn create() -> Result<Self, Error> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("triagent-rows-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).map_err(|e| Error::io(&path, e))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder left in the system's temporary folder does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
