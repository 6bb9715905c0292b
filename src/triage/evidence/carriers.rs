//! Which steps brought a required document, and which brought another version of it instead.

use super::SeenVersion;
use super::parts::{Seen, View};
use super::register::Register;
use crate::domain::{Document, Owner, Requirement, Step, StepKind};
use crate::text::Plain;
use std::collections::BTreeMap;

/// Steps that brought the document.
pub(super) struct Carriers {
    /// Step and whether it was still in view.
    needed: Vec<(u32, bool)>,
    /// Versions that the log or the text tells apart, with the steps that brought them.
    versions: BTreeMap<Option<String>, Vec<u32>>,
    doc_id: String,
}

impl Carriers {
    pub(super) fn find(
        view: &View,
        requirement: &Requirement,
        needed: Option<&Document>,
        register: &Register,
    ) -> Self {
        let marks = marks(requirement, needed, register);
        let others: Vec<(&Document, &[Plain])> = register
            .versions(&requirement.doc_id)
            .filter(|d| Some(d.version.as_str()) != needed.map(|n| n.version.as_str()))
            .map(|d| (d, register.own_sentences(d)))
            .collect();
        let wanted = needed
            .map(|d| d.version.clone())
            .or_else(|| requirement.version.clone());
        let mut out = Self {
            needed: Vec::new(),
            versions: BTreeMap::new(),
            doc_id: requirement.doc_id.clone(),
        };
        for seen in view.steps.iter().filter(|s| may_carry(s.step)) {
            out.look(seen, wanted.as_deref(), &marks, &others);
        }
        out
    }

    fn look(
        &mut self,
        seen: &Seen,
        wanted: Option<&str>,
        marks: &Marks,
        others: &[(&Document, &[Plain])],
    ) {
        let step = seen.step.index;
        let mut told: Vec<Option<String>> = seen
            .step
            .documents
            .iter()
            .filter(|d| d.doc_id == self.doc_id)
            .map(|d| d.version.clone())
            .collect();
        let read: Vec<&Document> = others
            .iter()
            .filter(|(_, sentences)| sentences.iter().any(|s| seen.plain.contains(s)))
            .map(|(d, _)| *d)
            .collect();
        let by_text = marks.stand_in(seen);
        // A log that names the document without its version, with another version's text, brought that one.
        let unnamed = told.contains(&None) && (by_text || read.is_empty());
        let named = told.iter().flatten().any(|v| Some(v.as_str()) == wanted);
        let any_version = wanted.is_none() && !told.is_empty();
        told.extend(read.iter().map(|d| Some(d.version.clone())));
        if named || by_text || unnamed || any_version {
            self.needed.push((step, seen.in_view));
            told.push(wanted.map(str::to_owned));
        }
        told.retain(|v| v.is_some() || (unnamed && wanted.is_none()));
        told.sort();
        told.dedup();
        for version in told {
            self.versions.entry(version).or_default().push(step);
        }
    }

    pub(super) fn brought(&self) -> bool {
        !self.needed.is_empty()
    }

    pub(super) fn in_view(&self) -> bool {
        self.needed.iter().any(|(_, in_view)| *in_view)
    }

    pub(super) fn steps(&self) -> Vec<u32> {
        self.needed.iter().map(|(step, _)| *step).collect()
    }

    /// What came in its place, for the reason.
    pub(super) fn instead(&self) -> String {
        let names: Vec<&str> = self.versions.keys().flatten().map(String::as_str).collect();
        if names.is_empty() {
            String::new()
        } else {
            format!(" (version {} came instead)", names.join(", "))
        }
    }

    pub(super) fn seen(
        &self,
        register: &Register,
        requirement: &Requirement,
        date: Option<&str>,
    ) -> Vec<SeenVersion> {
        let valid = |version: &Option<String>| {
            let document = register.version(&requirement.doc_id, version.as_deref()?)?;
            document.holds_on(date?)
        };
        self.versions
            .iter()
            .map(|(version, steps)| SeenVersion {
                version: version.clone(),
                valid: valid(version),
                steps: steps.clone(),
            })
            .collect()
    }
}

/// Texts that only the required version holds.
struct Marks {
    all: Vec<Plain>,
    /// How many of them, from the front, are required spans.
    spans: usize,
}

impl Marks {
    fn stand_in(&self, seen: &Seen) -> bool {
        let stands = |m: &Plain| seen.plain.contains(m);
        if seen.step.owner != Owner::User {
            return self.all.iter().any(stands);
        }
        // A question may quote a rule; only one that holds all of it brings it.
        let spans = self.all.get(..self.spans).unwrap_or_default();
        !spans.is_empty() && spans.iter().all(stands)
    }
}

/// Tool results bring documents; so does whatever else was put before the model as text.
fn may_carry(step: &Step) -> bool {
    matches!(step.kind, StepKind::Observation | StepKind::Text) || !step.documents.is_empty()
}

/// Required spans and the version's own sentences, where no other registered text holds them.
fn marks(requirement: &Requirement, needed: Option<&Document>, register: &Register) -> Marks {
    let version = needed
        .map(|d| d.version.as_str())
        .or(requirement.version.as_deref())
        .unwrap_or("");
    let mut out: Vec<Plain> = requirement
        .spans
        .iter()
        .map(|s| Plain::new(s))
        .filter(|s| !s.is_empty())
        .filter(|s| !register.stands_elsewhere(s, &requirement.doc_id, version))
        .collect();
    let spans = out.len();
    out.extend(
        needed
            .into_iter()
            .flat_map(|d| register.own_sentences(d))
            .cloned(),
    );
    Marks { all: out, spans }
}
