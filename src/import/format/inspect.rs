//! Inspect AI logs: `.eval` archives (deflate or zstd, samples as one member or split into chunks, journal alone
//! after a crash) and `.json` documents. A sample is a run; its model events are the calls.

mod sample;
mod score;
mod talk;

use super::{Importer, Input};
use crate::domain::{Harness, SourceSpan};
use crate::import::archive::Archive;
use crate::import::detect::{Shape, Sniff, has_all};
use crate::import::document::Document;
use crate::import::json::Node;
use crate::import::out::{Halt, Out};
use crate::import::rows::tell_damage;
use crate::import::source::Source;
use sample::{Chunk, Sample};
use serde_json::Value;
use std::collections::BTreeMap;

/// Inspect AI.
pub(crate) struct Inspect;

/// What a sample keeps in long lists.
const PARTS: &[&str] = &[
    "messages",
    "events",
    "transcript.events",
    "message_pool",
    "events_data.messages",
    "attachments.{}",
];
/// The same inside a document of many samples.
const PARTS_OF_MANY: &[&str] = &[
    "samples.*.messages",
    "samples.*.events",
    "samples.*.transcript.events",
    "samples.*.message_pool",
    "samples.*.events_data.messages",
    "samples.*.attachments.{}",
];
/// Logs of version 3 read like those of 2 wherever we have seen them.
const NEWEST: u64 = 3;

impl Importer for Inspect {
    fn name(&self) -> &'static str {
        "inspect"
    }

    fn title(&self) -> &'static str {
        "Inspect AI log (.eval, .json)"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        if sniff.shape == Shape::Zip {
            let marks = ["header.json", "_journal/start.json"];
            let found = marks
                .into_iter()
                .find(|m| sniff.members.iter().any(|n| n == m))?;
            return Some(format!("a zip archive with {found}"));
        }
        let first = sniff.first();
        (sniff.shape == Shape::Object
            && has_all(first, &["version", "eval"])
            && first.pointer("/eval/task").is_some())
        .then(|| "a document with version and eval.task".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        out.advance(input.source.len())?;
        match input.sniff.shape {
            Shape::Zip => self.archive(input, out),
            _ => self.document(input, out),
        }
    }
}

/// What the log says of all its samples.
#[derive(Default)]
struct Eval {
    value: Value,
    status: String,
}

impl Eval {
    fn of(out: &mut Out<'_>, head: &Node<'_>) -> Result<Self, Halt> {
        if let Some(version) = head.u64("version").filter(|v| *v > NEWEST) {
            out.note(format!(
                "log version {version} is newer than what this reader was made for ({NEWEST})"
            ));
        }
        let status = head.str("status").unwrap_or("started").to_owned();
        if status != "success" {
            out.note(format!(
                "the evaluation's status is {status}; samples may be missing"
            ));
        }
        Ok(Self {
            value: head.get("eval").map(Node::to_value).unwrap_or_default(),
            status,
        })
    }

    fn text(&self, at: &str) -> Option<String> {
        self.value
            .pointer(at)
            .and_then(Value::as_str)
            .filter(|t| !t.is_empty())
            .map(str::to_owned)
    }

    fn harness(&self) -> Harness {
        let limit = |key: &str| {
            let value = self.value.pointer(&format!("/config/{key}"))?;
            (!value.is_null()).then(|| format!("{key}={value}"))
        };
        let names = [
            "message_limit",
            "token_limit",
            "time_limit",
            "working_limit",
            "cost_limit",
        ];
        let limits: Vec<String> = names.into_iter().filter_map(limit).collect();
        Harness {
            name: Some("inspect_ai".to_owned()),
            version: self.text("/packages/inspect_ai"),
            stop_rule: (!limits.is_empty()).then(|| limits.join(" ")),
            compression: None,
        }
    }
}

impl Inspect {
    fn document(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let document = Document::open(input.source, PARTS_OF_MANY)?;
        let head = document.head()?;
        let eval = Eval::of(out, &head)?;
        let samples = head.list("samples");
        if samples.is_empty() {
            out.note("the log holds no samples");
        }
        for (index, node) in (0_u32..).zip(samples) {
            let chunk = Chunk {
                document: &document,
                index: Some(index),
                part: None,
                number: None,
            };
            Sample {
                node,
                chunks: vec![chunk],
                eval: &eval,
                place: None,
            }
            .tell(self, input, out)?;
        }
        tell_damage(out, &document)
    }

    fn archive(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let archive = Archive::open(input.source)
            .map_err(|e| Halt::file(format!("not a readable zip archive: {e}")))?;
        if archive.is_cut {
            out.skip(
                0,
                "the archive breaks off; what its whole members hold is kept",
            )?;
        }
        let eval = self.eval(&archive, out)?;
        let mut split: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, member) in archive.members.iter().enumerate() {
            let Some(name) = member.name.strip_prefix("samples/") else {
                continue;
            };
            if name.ends_with(".json") && is_whole_sample(name) {
                self.member(input, out, &archive, &[at], &eval)?;
            } else if let Some(folder) = sample_folder(name) {
                split.entry(folder.to_owned()).or_default().push(at);
            }
        }
        for members in split.values() {
            self.member(input, out, &archive, members, &eval)?;
        }
        Ok(())
    }

    fn eval(&self, archive: &Archive<'_>, out: &mut Out<'_>) -> Result<Eval, Halt> {
        let names = ["header.json", "_journal/start.json"];
        let Some(member) = names.into_iter().find_map(|n| archive.find(n)) else {
            return Ok(Eval::default());
        };
        if member.name != "header.json" {
            out.note("the evaluation crashed: its header is missing, the journal alone is left");
        }
        let source = archive
            .read(member)
            .map_err(|e| Halt::file(format!("{}: {e}", member.name)))?;
        let document = Document::open(&source, &[])?;
        let head = document.head()?;
        Eval::of(out, &head)
    }

    /// A sample that is one member, or one that is split into chunks.
    fn member(
        &self,
        input: &Input<'_>,
        out: &mut Out<'_>,
        archive: &Archive<'_>,
        members: &[usize],
        eval: &Eval,
    ) -> Result<(), Halt> {
        let mut sources: Vec<(String, Source)> = Vec::new();
        for member in members.iter().filter_map(|&at| archive.members.get(at)) {
            match archive.read(member) {
                Ok(source) => sources.push((member.name.clone(), source)),
                Err(error) => out.skip(0, format!("{}: {error}", member.name))?,
            }
        }
        sources.sort_by_key(|(name, _)| chunk_number(name));
        let documents: Vec<(&str, Document<'_>)> = sources
            .iter()
            .filter_map(|(name, source)| {
                Some((name.as_str(), Document::open(source, parts_of(name)).ok()?))
            })
            .collect();
        let is_head = |name: &str| members.len() == 1 || name.ends_with("/sample.json");
        let Some((name, first)) = documents.iter().find(|(name, _)| is_head(name)) else {
            return match members.first().and_then(|&at| archive.members.get(at)) {
                Some(member) => out.skip(0, format!("{}: its sample.json is missing", member.name)),
                None => Ok(()),
            };
        };
        let Ok(head) = first.head() else {
            return out.skip(0, format!("{name}: not JSON"));
        };
        let chunks = documents
            .iter()
            .map(|(name, document)| Chunk {
                document,
                index: None,
                part: part_of(name),
                number: Some(chunk_number(name).1),
            })
            .collect();
        let sample = Sample {
            node: &head,
            chunks,
            eval,
            place: Some((*name).to_owned()),
        };
        sample.tell(self, input, out)?;
        documents
            .iter()
            .try_for_each(|(_, document)| tell_damage(out, document))
    }
}

/// `<id>_epoch_<n>.json`; ids may hold slashes.
fn is_whole_sample(name: &str) -> bool {
    let stem = name.strip_suffix(".json").unwrap_or(name);
    stem.rsplit_once("_epoch_")
        .is_some_and(|(_, epoch)| epoch.bytes().all(|b| b.is_ascii_digit()))
}

/// `<id>_epoch_<n>/` in front of a chunk.
fn sample_folder(name: &str) -> Option<&str> {
    let (_, behind) = name.rsplit_once("_epoch_")?;
    let digits = behind.find(|c: char| !c.is_ascii_digit())?;
    let end = name.len() - behind.len() + digits;
    name.get(..end)
        .filter(|_| behind.get(digits..).is_some_and(|r| r.starts_with('/')))
}

/// Chunks are named by the index of their first element.
fn chunk_number(name: &str) -> (String, u64) {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    let number = file.split('.').next().and_then(|stem| stem.parse().ok());
    (folder.to_owned(), number.unwrap_or(0))
}

/// A chunk of messages or events is a list itself.
fn part_of(name: &str) -> Option<&'static str> {
    ["messages", "events"]
        .into_iter()
        .find(|part| name.contains(&format!("/{part}/")))
}

fn parts_of(name: &str) -> &'static [&'static str] {
    if part_of(name).is_some() {
        &[""]
    } else {
        PARTS
    }
}

/// Where a run stands, for a sample of an archive: the archive's bytes are packed.
fn no_place() -> SourceSpan {
    SourceSpan::default()
}
