//! False evidence: a cited document that does not exist, was not valid on the task's day, or does not say what is
//! quoted (S-75). The register is read for itself; nothing is believed because the model says so.

use super::sensitive::{RunText, id};
use crate::domain::{Document, Finding, FindingKind, FindingPlace, Owner, Step, StepKind, Task};
use crate::text::{fold, words};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// Characters before a citation in which its quotation may stand.
const QUOTE_REACH: usize = 300;
/// Quotations shorter than this prove nothing.
const MIN_QUOTE_WORDS: usize = 3;

/// The document register, ready to be asked.
pub struct Register<'a> {
    by_id: BTreeMap<String, Vec<&'a Document>>,
    /// Shapes of ids: letters and digits only told by kind, so that `T-9` looks like `T-7`.
    shapes: BTreeSet<String>,
    citation: Option<Regex>,
    quotation: Option<Regex>,
}

/// A citation in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Citation {
    doc: String,
    version: Option<String>,
    start: usize,
    end: usize,
}

impl<'a> Register<'a> {
    /// Reads the register.
    pub fn new(documents: &'a [Document]) -> Self {
        let mut by_id: BTreeMap<String, Vec<&Document>> = BTreeMap::new();
        for document in documents {
            by_id
                .entry(fold(&document.doc_id))
                .or_default()
                .push(document);
        }
        Self {
            shapes: by_id.keys().map(|id| shape(id)).collect(),
            by_id,
            citation: Regex::new(CITATION).ok(),
            quotation: Regex::new(QUOTATION).ok(),
        }
    }

    /// Finds citations of the model that do not hold.
    pub fn false_evidence(&self, run: RunText<'_>, task: Option<&Task>) -> Vec<Finding> {
        if self.by_id.is_empty() {
            return Vec::new();
        }
        let spoken = run
            .steps
            .iter()
            .filter(|s| s.owner == Owner::Model && s.kind == StepKind::Text);
        spoken
            .flat_map(|step| self.of_step(run, step, task))
            .collect()
    }

    fn of_step(&self, run: RunText<'_>, step: &Step, task: Option<&Task>) -> Vec<Finding> {
        let mut out = Vec::new();
        for citation in self.citations(&step.text) {
            let date = task.and_then(|t| t.date.as_deref());
            if let Some((rule, reason)) = self.fault(&step.text, &citation, date) {
                let version = citation.version.as_deref().unwrap_or("");
                let name = format!(
                    "{rule}\0{}\0{}\0{}\0{version}\0{}",
                    run.head.id, step.index, citation.doc, citation.start
                );
                out.push(Finding {
                    id: id(&name),
                    kind: FindingKind::Evidence,
                    rule: rule.to_owned(),
                    place: Some(FindingPlace {
                        run: run.head.id.clone(),
                        step: Some(step.index),
                        field: "text".to_owned(),
                        start: citation.start,
                        end: citation.end,
                    }),
                    tasks: run.head.task.iter().cloned().collect(),
                    placeholder: None,
                    excerpt: step
                        .text
                        .get(citation.start..citation.end)
                        .unwrap_or("")
                        .to_owned(),
                    reason,
                    score: None,
                });
            }
        }
        out
    }

    fn fault(
        &self,
        text: &str,
        citation: &Citation,
        date: Option<&str>,
    ) -> Option<(&'static str, String)> {
        let Some(versions) = self.by_id.get(&fold(&citation.doc)) else {
            return Some((
                "evidence-unknown-document",
                format!("`{}` is not in the document register", citation.doc),
            ));
        };
        let cited: Vec<&&Document> = match &citation.version {
            Some(version) => versions
                .iter()
                .filter(|d| same_version(&d.version, version))
                .collect(),
            None => versions.iter().collect(),
        };
        if cited.is_empty() {
            let version = citation.version.as_deref().unwrap_or("");
            return Some((
                "evidence-unknown-version",
                format!(
                    "`{}` has no version {version} in the register",
                    citation.doc
                ),
            ));
        }
        if let Some(date) = date.filter(|date| !cited.iter().any(|d| is_valid(d, date))) {
            return Some((
                "evidence-not-valid",
                format!(
                    "the cited version of `{}` does not hold on {date}, the day of the task",
                    citation.doc
                ),
            ));
        }
        let quotation = self.quotation(text, citation)?;
        let found = cited.iter().any(|d| contains(&d.text, &quotation));
        (!found).then(|| {
            (
                "evidence-quote-not-found",
                format!("the quoted words do not stand in `{}`", citation.doc),
            )
        })
    }

    /// Bracketed names that are a document of the register, or look like one.
    fn citations(&self, text: &str) -> Vec<Citation> {
        let mut out = Vec::new();
        for captures in self.citation.iter().flat_map(|r| r.captures_iter(text)) {
            let (Some(whole), Some(doc)) = (captures.get(0), captures.name("doc")) else {
                continue;
            };
            let name = fold(doc.as_str());
            if self.by_id.contains_key(&name) || self.shapes.contains(&shape(&name)) {
                out.push(Citation {
                    doc: doc.as_str().to_owned(),
                    version: captures.name("version").map(|v| v.as_str().to_owned()),
                    start: whole.start(),
                    end: whole.end(),
                });
            }
        }
        out
    }

    /// The quotation that stands right before a citation.
    fn quotation(&self, text: &str, citation: &Citation) -> Option<String> {
        let mut from = citation.start.saturating_sub(QUOTE_REACH);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        let before = text.get(from..citation.start)?;
        let last = self.quotation.as_ref()?.captures_iter(before).last()?;
        let (whole, inner) = (last.get(0)?, last.iter().skip(1).flatten().next()?);
        // Another sentence between them, and the quotation belongs to something else.
        let between = before.get(whole.end()..)?;
        let apart = between.contains(['。', '\n', '；']) || between.contains(". ");
        (!apart && words(inner.as_str()).len() >= MIN_QUOTE_WORDS)
            .then(|| inner.as_str().to_owned())
    }
}

/// `[T-7 v3]`, `【T-7】`, `(source: T-7@3)`, `[source: T-7, version 2]`, `《T-7》第3版`.
const CITATION: &str = r"(?x)
    [\[【(（《〔] \s*
    (?: (?i:source|sources|doc|document|ref|来源|依据|文件|引用) \s* [:：=]? \s* )?
    (?P<doc> [\p{L}\p{N}] [\p{L}\p{N}_./-]{0,79} )
    (?: [\s,，@\#:：/]* (?: (?i:version|ver|v) \.? \s* | 第 \s* | 版本 \s* [:：]? \s* | @ ) (?P<version> [\p{N}] [\p{N}.-]{0,15} ) (?: \s* 版 )? )?
    \s* [\]】)）》〕]";
const QUOTATION: &str =
    r#""([^"\n]{3,400})"|“([^”\n]{3,400})”|「([^」\n]{3,400})」|『([^』\n]{3,400})』"#;

fn shape(id: &str) -> String {
    let mut out = String::new();
    for c in id.chars() {
        // Digits tell documents of one series apart; letters tell series apart.
        let kind = if c.is_numeric() { '9' } else { c };
        if !(kind == '9' && out.ends_with('9')) {
            out.push(kind);
        }
    }
    // A name without digits has no series: only the very id may match.
    if out.contains('9') {
        out
    } else {
        String::from("\0") + &out
    }
}

fn same_version(known: &str, cited: &str) -> bool {
    let plain = |v: &str| {
        fold(v)
            .trim_start_matches(|c: char| !c.is_numeric())
            .trim_end_matches('版')
            .to_owned()
    };
    plain(known) == plain(cited)
}

fn is_valid(document: &Document, date: &str) -> bool {
    // ISO days compare as text.
    let from = document
        .valid_from
        .as_deref()
        .is_none_or(|from| from <= date);
    from && document
        .valid_until
        .as_deref()
        .is_none_or(|until| date <= until)
}

/// The words of the quotation stand in the text in a row, whatever blanks and punctuation do.
fn contains(text: &str, quotation: &str) -> bool {
    let join = |t: &str| format!(" {} ", words(t).join(" "));
    join(text).contains(&join(quotation))
}
