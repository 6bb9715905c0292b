//! One sample: its conversation rebuilt from model events (their inputs whole, or as ranges of a pool), closed with
//! the messages as they stood at the end; tools' errors, limits, failed attempts before a retry, scores.

use super::super::{Importer, Input};
use super::talk::Talk;
use super::{Eval, no_place, score};
use crate::domain::{Ending, Outcome, Rollout, SourceSpan, TaskId};
use crate::import::document::{Document, LongList};
use crate::import::extra::keep;
use crate::import::json::Node;
use crate::import::mint::mint;
use crate::import::out::{Halt, Out};
use crate::import::run::Run;
use crate::import::time::time;
use serde_json::Value;

/// A document that holds a sample, or a part of one.
pub(super) struct Chunk<'d> {
    pub(super) document: &'d Document<'d>,
    /// Which sample of the document; `None` = it holds one alone.
    pub(super) index: Option<u32>,
    /// Where a sample is split: which of its lists this one continues.
    pub(super) part: Option<&'static str>,
    /// The number in its name.
    pub(super) number: Option<u64>,
}

/// A sample and all its parts.
pub(super) struct Sample<'d, 'n> {
    pub(super) node: &'n Node<'n>,
    pub(super) chunks: Vec<Chunk<'d>>,
    pub(super) eval: &'d Eval,
    /// Its member of the archive.
    pub(super) place: Option<String>,
}

impl Sample<'_, '_> {
    /// Sends the sample and its earlier, failed attempts.
    pub(super) fn tell(
        &self,
        format: &dyn Importer,
        input: &Input<'_>,
        out: &mut Out<'_>,
    ) -> Result<(), Halt> {
        let head = self.head(format, input);
        let pool = self.pool();
        for (number, retry) in self.node.list("error_retries").iter().enumerate() {
            self.failed_attempt(out, &head, retry, number + 1, &pool)?;
        }
        let mut run = Run::begin(out, head)?;
        let mut talk = Talk::new(self, &pool);
        self.each("events", |node, span| talk.event(&mut run, node, span))?;
        talk.close(&mut run)?;
        self.judge(&mut run)?;
        run.end()
    }

    fn head(&self, format: &dyn Importer, input: &Input<'_>) -> Rollout {
        let node = self.node;
        let id = node.id("id").unwrap_or_default();
        let epoch = node.id("epoch").unwrap_or_else(|| "1".to_owned());
        let run_id = self.eval.text("/run_id").unwrap_or_default();
        let mut head = match node.id("uuid") {
            Some(uuid) => input.head(uuid, format),
            None => input.minted(mint(&[&run_id, &id, &epoch, &node.compact()]), format),
        };
        head.span = no_place();
        head.task = Some(TaskId(id.clone()));
        head.family = self.eval.text("/task");
        head.trial = Some(epoch);
        let eval_id = self.eval.text("/eval_id").unwrap_or(run_id);
        head.group = Some(format!("{eval_id}:{id}"));
        head.model = self.eval.text("/model");
        head.harness = self.eval.harness();
        head.started_us = time(node.get("started_at"));
        let extra = &mut head.extra;
        keep(
            extra,
            node,
            &[
                "input",
                "target",
                "metadata",
                "choices",
                "error",
                "limit",
                "total_time",
                "working_time",
            ],
        );
        extra.extend(self.place.clone().map(|p| ("member".to_owned(), p.into())));
        let facts = [
            ("dataset", "/dataset/name"),
            ("solver", "/solver"),
            ("eval_created", "/created"),
        ];
        extra.extend(
            facts
                .into_iter()
                .filter_map(|(key, at)| Some((key.to_owned(), self.eval.text(at)?.into()))),
        );
        head
    }

    /// Lists of this sample whose pattern ends in `name`.
    pub(super) fn each(
        &self,
        name: &str,
        mut take: impl FnMut(&Node<'_>, SourceSpan) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        for chunk in &self.chunks {
            for list in chunk.lists(name) {
                chunk.document.each(list, |element, _| match element {
                    Ok(row) => take(row.node, chunk.span(row.span)),
                    // `tell_damage` says where a document breaks off; one odd element is left out.
                    Err(_) => Ok(()),
                })?;
            }
        }
        Ok(())
    }

    /// The pool of messages that model events point into.
    fn pool(&self) -> Vec<Value> {
        let mut pool = Vec::new();
        for name in ["message_pool", "events_data"] {
            let walked = self.each(name, |node, _| {
                pool.push(node.to_value());
                Ok(())
            });
            // Nothing is sent while the pool is gathered, so nobody can stop it.
            drop(walked);
        }
        pool
    }

    /// Texts that stand elsewhere put back in place.
    pub(super) fn resolved(&self, node: &Node<'_>) -> Option<String> {
        let text = node.compact();
        if !text.contains("attachment://") && !text.contains("\"tc://") {
            return None;
        }
        let mut value = node.to_value();
        self.fill(&mut value);
        Some(value.to_string())
    }

    fn fill(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let hash = text
                    .strip_prefix("attachment://")
                    .or_else(|| text.strip_prefix("tc://"));
                if let Some(found) = hash.and_then(|h| self.attachment(h)) {
                    *text = found;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|v| self.fill(v)),
            Value::Object(map) => map.values_mut().for_each(|v| self.fill(v)),
            _ => {}
        }
    }

    fn attachment(&self, hash: &str) -> Option<String> {
        for chunk in &self.chunks {
            let is_it = |m: &&crate::import::document::LongMember| {
                m.key == hash && chunk.index.is_none_or(|i| m.indices.first() == Some(&i))
            };
            if let Some(member) = chunk.document.members.iter().find(is_it) {
                return chunk.document.text_at(member.span);
            }
        }
        None
    }

    /// An attempt that an exception ended, before the sample was tried again (S-22).
    fn failed_attempt(
        &self,
        out: &mut Out<'_>,
        head: &Rollout,
        retry: &Node<'_>,
        number: usize,
        pool: &[Value],
    ) -> Result<(), Halt> {
        let mut head = head.clone();
        head.extra
            .insert("retried_as".to_owned(), head.id.0.clone().into());
        head.id = format!("{}-failed{number}", head.id).into();
        head.id_minted = true;
        head.ending = Ending::Error;
        head.ending_note = retry.id("message");
        keep(&mut head.extra, retry, &["traceback"]);
        let mut run = Run::begin(out, head)?;
        let mut talk = Talk::new(self, pool);
        for node in retry.list("events") {
            talk.event(&mut run, node, no_place())?;
        }
        talk.finish(&mut run)?;
        run.end()
    }

    fn judge(&self, run: &mut Run<'_, '_>) -> Result<(), Halt> {
        let (rewards, outcome) = score::rewards(self.node);
        run.head.outcome = outcome;
        run.head.outcome_source = (outcome != Outcome::Unknown).then(|| "file:score".to_owned());
        for reward in rewards {
            run.reward(reward)?;
        }
        let error = self.node.at(&["error", "message"]).and_then(Node::as_id);
        let limit = self.node.at(&["limit", "type"]).and_then(Node::as_id);
        let stop = self
            .node
            .at(&["output", "choices"])
            .and_then(|c| c.items().first()?.id("stop_reason"));
        run.head.ending = match (&error, &limit, stop.as_deref()) {
            (Some(_), _, _) => Ending::Error,
            (None, Some(_), _) => Ending::Limit,
            (None, None, Some("max_tokens" | "model_length")) => Ending::Limit,
            (None, None, Some("stop")) if !run.stops_midway() => Ending::Finished,
            _ => Ending::Unknown,
        };
        run.head.ending_note = error.or(limit).or(stop);
        if run.head.ending == Ending::Unknown && self.eval.status == "cancelled" {
            run.head.ending_note = Some("the evaluation was cancelled".to_owned());
        }
        Ok(())
    }
}

impl Chunk<'_> {
    fn lists(&self, name: &str) -> impl Iterator<Item = &LongList> {
        let wanted = self.index;
        let patterns: &[usize] = match name {
            "messages" => &[0],
            "events" => &[1, 2],
            "message_pool" => &[3],
            _ => &[4],
        };
        let (part, is_asked) = (self.part, self.part == Some(name));
        self.document.lists.iter().filter(move |list| {
            let is_ours = wanted.is_none_or(|i| list.indices.first() == Some(&i));
            let is_named = patterns.contains(&list.pattern);
            is_ours && if part.is_some() { is_asked } else { is_named }
        })
    }

    /// Places in an archive are those of the member that the head names; of a split sample's events, the line tells
    /// which chunk.
    fn span(&self, span: SourceSpan) -> SourceSpan {
        if self.index.is_some() {
            return span;
        }
        let line = match (self.part, self.number) {
            (None, _) => 0,
            (Some("events"), Some(number)) => number.saturating_add(1),
            _ => return no_place(),
        };
        SourceSpan { line, ..span }
    }
}
