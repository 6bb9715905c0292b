//! Gemini CLI sessions: the old single document and the newer lines with patches. A row with a known id takes the
//! earlier row's place (every answer with tool calls comes twice); `$rewindTo` leaves a branch; tools' answers stand
//! in the answer itself and once more in a user row that no person wrote.

mod talk;

use super::openai_chat::inside;
use super::{Importer, Input};
use crate::domain::{Rollout, SourceSpan};
use crate::import::detect::{Sniff, has_all};
use crate::import::document::Document;
use crate::import::extra::keep;
use crate::import::group::replay;
use crate::import::json::Node;
use crate::import::out::{Halt, Out};
use crate::import::rows::{Row, each_element, each_row, tell_damage};
use crate::import::run::Run;
use crate::import::time::time;
use std::collections::HashMap;
use talk::Talk;

/// Gemini CLI.
pub(crate) struct GeminiCli;

impl Importer for GeminiCli {
    fn name(&self) -> &'static str {
        "gemini-cli"
    }

    fn title(&self) -> &'static str {
        "Gemini CLI session (JSON document or JSONL)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        (sniff.is_json() && has_all(sniff.first(), &["sessionId", "projectHash"]))
            .then(|| "a session with sessionId and projectHash".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let mut session = Session::default();
        if has_all(input.sniff.first(), &["messages"]) {
            out.advance(input.source.len())?;
            let document = Document::open(input.source, &["messages"])?;
            session.about(&document.head()?);
            for list in &document.lists {
                each_element(out, &document, list, &mut |out, row| {
                    session.place(out, row.node, row.span, false);
                    Ok(())
                })?;
            }
            self.tell(input, out, &session)?;
            return tell_damage(out, &document);
        }
        each_row(out, input.source, input.sniff.shape, |out, row| {
            session.row(out, row);
            Ok(())
        })?;
        self.tell(input, out, &session)
    }
}

impl GeminiCli {
    fn tell(&self, input: &Input<'_>, out: &mut Out<'_>, session: &Session) -> Result<(), Halt> {
        let Some(about) = &session.about else {
            return Err(Halt::file("no row says which session this is"));
        };
        let mut head = input.head(about.id.clone(), self);
        head.harness.name = Some("gemini-cli".to_owned());
        head.started_us = about.started_us;
        head.extra.clone_from(&about.extra);
        head.span = session.order.first().map(|e| e.place).unwrap_or_default();
        let mut run = Run::begin(out, head)?;
        let mut talk = Talk::default();
        let last = session.order.len().saturating_sub(1);
        for (number, entry) in session.order.iter().enumerate() {
            replay(input.source, &[entry.place], |row| {
                // Its tool calls come in a second row.
                if number == last && is_bare(row.node) {
                    run.out.note(
                        "the last answer is empty: its writer was stopped, or is still writing",
                    );
                    return Ok(());
                }
                talk.message(&mut run, row, entry.is_left, entry.rewrites)
            })?;
        }
        run.end()
    }
}

/// An answer that says nothing yet.
fn is_bare(node: &Node<'_>) -> bool {
    let content = node.get("content");
    let is_silent =
        content.is_none_or(|c| c.text() == Some("") || (c.is_list() && c.items().is_empty()));
    node.str("type") == Some("gemini")
        && is_silent
        && node.list("thoughts").is_empty()
        && node.list("toolCalls").is_empty()
}

/// Where a message stands now.
struct Entry {
    id: String,
    place: SourceSpan,
    /// A rewind went back before it.
    is_left: bool,
    /// The first message of a history that took the place of the one before.
    rewrites: bool,
}

/// Messages in the order of their first row.
#[derive(Default)]
struct Session {
    about: Option<About>,
    order: Vec<Entry>,
    index: HashMap<String, usize>,
}

struct About {
    id: String,
    started_us: Option<i64>,
    extra: serde_json::Map<String, serde_json::Value>,
}

impl Session {
    fn about(&mut self, node: &Node<'_>) {
        let Some(id) = node.id("sessionId") else {
            return;
        };
        // The outline of a head, only for what its fields hold.
        let mut head = Rollout::new(id, "", "");
        keep(
            &mut head.extra,
            node,
            &["projectHash", "kind", "lastUpdated"],
        );
        self.about.get_or_insert(About {
            id: head.id.0,
            started_us: time(node.get("startTime")),
            extra: head.extra,
        });
    }

    fn row(&mut self, out: &mut Out<'_>, row: &Row<'_>) {
        let node = row.node;
        if let Some(patch) = node.get("$set") {
            let mut rewrites = !self.order.is_empty();
            for message in patch.list("messages") {
                let is_new = self.place(out, message, inside(row.span, message), rewrites);
                rewrites &= !is_new;
            }
            for (key, _) in patch.members() {
                if !matches!(
                    key.as_ref(),
                    "messages" | "lastUpdated" | "summary" | "directories"
                ) {
                    out.not_understood(&format!("field $set.{key}"));
                }
            }
        } else if let Some(id) = node.id("$rewindTo") {
            self.rewind(&id);
        } else if node.has("type") {
            self.place(out, node, row.span, false);
        } else if node.has("sessionId") {
            self.about(node);
        } else {
            out.not_understood("row without a type");
        }
    }

    /// Notes a message; returns whether its id is new.
    fn place(
        &mut self,
        out: &mut Out<'_>,
        node: &Node<'_>,
        place: SourceSpan,
        rewrites: bool,
    ) -> bool {
        let id = node
            .id("id")
            .unwrap_or_else(|| format!("byte {}", place.offset));
        if let Some(known) = self.index.get(&id).and_then(|&at| self.order.get_mut(at)) {
            known.place = place;
            out.repeated();
            return false;
        }
        self.index.insert(id.clone(), self.order.len());
        self.order.push(Entry {
            id,
            place,
            is_left: false,
            rewrites,
        });
        true
    }

    fn rewind(&mut self, id: &str) {
        if !self.index.contains_key(id) {
            return;
        }
        let behind = self.order.iter_mut().rev().take_while(|e| e.id != id);
        behind.for_each(|e| e.is_left = true);
    }
}
