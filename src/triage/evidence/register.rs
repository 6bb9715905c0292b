//! The document register: which versions exist, which index holds them, which is valid when.

use crate::domain::{Document, Requirement};
use crate::text::Plain;
use crate::text::width;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Shortest sentence that can tell a document by its text, in columns (a Chinese character takes two).
const MIN_SENTENCE: usize = 12;

/// Documents by id, with their plain form made once.
#[derive(Debug, Default)]
pub struct Register {
    by_id: BTreeMap<String, Vec<Entry>>,
    /// Answers of `stands_elsewhere`: thousands of runs ask about the same few spans.
    elsewhere: Mutex<HashMap<(String, String, String), bool>>,
}

#[derive(Debug)]
struct Entry {
    document: Document,
    plain: OnceLock<Plain>,
    own: OnceLock<Vec<Plain>>,
}

/// What the register says about one document in one index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum IndexState {
    NotIndexed(String),
    StaleOnly(String),
    Held(String),
    Unknown(String),
}

impl Register {
    /// Builds the register.
    pub fn new(documents: impl IntoIterator<Item = Document>) -> Self {
        let mut by_id: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
        for document in documents {
            by_id
                .entry(document.doc_id.clone())
                .or_default()
                .push(Entry {
                    document,
                    plain: OnceLock::new(),
                    own: OnceLock::new(),
                });
        }
        Self {
            by_id,
            elsewhere: Mutex::default(),
        }
    }

    /// No document is registered.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// All versions of a document.
    pub fn versions(&self, doc_id: &str) -> impl Iterator<Item = &Document> {
        self.entries(doc_id).iter().map(|e| &e.document)
    }

    /// One version of a document.
    pub fn version(&self, doc_id: &str, version: &str) -> Option<&Document> {
        self.versions(doc_id).find(|d| d.version == version)
    }

    /// Whether a version holds on a date; without a version, whether any does.
    pub fn valid(
        &self,
        requirement: &Requirement,
        version: Option<&str>,
        date: Option<&str>,
    ) -> Option<bool> {
        let on = date?;
        match version {
            Some(v) => self.version(&requirement.doc_id, v)?.holds_on(on),
            None => {
                let answers = self.versions(&requirement.doc_id).map(|d| d.holds_on(on));
                // One valid version is enough; without any readable date nothing is known.
                answers.flatten().reduce(|a, b| a || b)
            }
        }
    }

    /// The version that a task needs: the named one, else the one valid on its date, else the only one.
    pub(super) fn needed(
        &self,
        requirement: &Requirement,
        date: Option<&str>,
    ) -> Option<&Document> {
        if let Some(version) = &requirement.version {
            return self.version(&requirement.doc_id, version);
        }
        if let Some(on) = date {
            return self
                .versions(&requirement.doc_id)
                .filter(|d| d.holds_on(on) == Some(true))
                .max_by(|a, b| a.valid_from.cmp(&b.valid_from));
        }
        let mut all = self.versions(&requirement.doc_id);
        all.next().filter(|_| all.next().is_none())
    }

    pub(super) fn index_state(
        &self,
        requirement: &Requirement,
        version: Option<&str>,
        index: Option<&str>,
        date: Option<&str>,
    ) -> IndexState {
        let id = &requirement.doc_id;
        let all: Vec<&Document> = self.versions(id).collect();
        if all.is_empty() {
            return IndexState::Unknown(format!("the register does not know {id}"));
        }
        let lists = all.iter().map(|d| d.indexed_in.as_ref());
        if lists.clone().all(|l| l.is_some_and(Vec::is_empty)) {
            return IndexState::NotIndexed(format!("no index holds any version of {id}"));
        }
        let Some(index) = index else {
            return IndexState::Unknown("the log does not name the index version".to_owned());
        };
        let holds = |d: &Document| d.indexed_in.as_ref().map(|l| l.iter().any(|i| i == index));
        let wanted = version.and_then(|v| all.iter().find(|d| d.version == v));
        if let Some(wanted) = wanted {
            match holds(wanted) {
                Some(true) => {
                    return IndexState::Held(format!(
                        "index {index} holds {id} {}",
                        wanted.version
                    ));
                }
                None => {
                    let version = &wanted.version;
                    let why = format!("the register does not say which index holds {id} {version}");
                    return IndexState::Unknown(why);
                }
                Some(false) => {}
            }
        }
        let held: Vec<&Document> = all
            .iter()
            .copied()
            .filter(|d| holds(d) == Some(true))
            .collect();
        not_held(id, index, &held, date, lists.flatten().count() < all.len())
    }

    /// Whether a plain text stands in some version other than `version`, or in another document.
    pub(super) fn stands_elsewhere(&self, text: &Plain, doc_id: &str, version: &str) -> bool {
        let key = (
            doc_id.to_owned(),
            version.to_owned(),
            text.as_str().to_owned(),
        );
        let mut known = self
            .elsewhere
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *known.entry(key).or_insert_with(|| {
            self.by_id
                .iter()
                .flat_map(|(id, entries)| entries.iter().map(move |e| (id, e)))
                .filter(|(id, e)| *id != doc_id || e.document.version != version)
                .any(|(_, e)| e.plain().contains(text))
        })
    }

    /// Sentences of a version that no other registered text holds, and the whole text.
    pub(super) fn own_sentences(&self, document: &Document) -> &[Plain] {
        let (id, version) = (&document.doc_id, &document.version);
        let entry = self
            .entries(id)
            .iter()
            .find(|e| e.document.version == *version);
        entry.map_or(&[], |e| e.own.get_or_init(|| self.sentences_of(document)))
    }

    fn sentences_of(&self, document: &Document) -> Vec<Plain> {
        document
            .text
            .split(['\n', '.', '。', '！', '!', '？', '?', '；', ';'])
            .chain(std::iter::once(document.text.as_str()))
            .filter(|s| width(s.trim()) >= MIN_SENTENCE)
            .map(Plain::new)
            .filter(|s| !self.stands_elsewhere(s, &document.doc_id, &document.version))
            .collect()
    }

    fn entries(&self, doc_id: &str) -> &[Entry] {
        self.by_id.get(doc_id).map_or(&[], Vec::as_slice)
    }
}

impl Entry {
    fn plain(&self) -> &Plain {
        self.plain.get_or_init(|| Plain::new(&self.document.text))
    }
}

fn not_held(
    id: &str,
    index: &str,
    held: &[&Document],
    date: Option<&str>,
    some_unknown: bool,
) -> IndexState {
    let names: Vec<&str> = held.iter().map(|d| d.version.as_str()).collect();
    if held.is_empty() && some_unknown {
        return IndexState::Unknown(format!("the register does not say which index holds {id}"));
    }
    if held.is_empty() {
        return IndexState::NotIndexed(format!("index {index} holds no version of {id}"));
    }
    let names = names.join(", ");
    let valid = |d: &&Document| date.and_then(|on| d.holds_on(on)) == Some(true);
    if held.iter().any(valid) {
        // Another valid version is there, but not the one that the task names.
        return IndexState::NotIndexed(format!(
            "index {index} holds {id} {names}, not the version that the task requires"
        ));
    }
    let when = date.map_or_else(String::new, |d| format!(" on {d}"));
    IndexState::StaleOnly(format!(
        "index {index} holds only {id} {names}, not the version valid{when}"
    ))
}
