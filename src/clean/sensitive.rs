//! Secrets and personal data of one run: findings with stable ids, what stands in their place, and text that is
//! safe to show.

use super::rules::Rules;
use super::scan::{Hit, hits};
use crate::domain::{
    Call, Finding, FindingKind, FindingPlace, FindingState, Redaction, Rollout, Step,
};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Texts longer than this are scanned piece by piece, so that a rule never sees more at once.
const PIECE_BYTES: usize = 4 << 20;
/// How far pieces overlap, so that nothing hides on a seam.
const SEAM_BYTES: usize = 32 << 10;

/// A run, as far as cleaning looks at it.
#[derive(Debug, Clone, Copy)]
pub struct RunText<'a> {
    /// Its head.
    pub head: &'a Rollout,
    /// Its steps.
    pub steps: &'a [Step],
    /// Its calls.
    pub calls: &'a [Call],
}

/// Finds and replaces. The key keeps placeholders of short numbers from being guessed back; a workspace has one.
pub struct Cleaner {
    pub(crate) rules: Rules,
    key: [u8; 32],
}

/// A text of a run with its place.
struct Field<'a> {
    step: Option<u32>,
    name: &'static str,
    text: Cow<'a, str>,
}

impl Cleaner {
    /// Takes rules and the workspace's key.
    pub fn new(rules: Rules, key: [u8; 32]) -> Self {
        Self { rules, key }
    }

    /// Version of the rules.
    pub fn version(&self) -> &str {
        &self.rules.version
    }

    /// Finds secrets and personal data in a run; the same words in one field are one finding.
    pub fn sensitive(&self, run: RunText<'_>) -> Vec<Finding> {
        let mut out = Vec::new();
        for field in fields(run) {
            let mut seen = BTreeSet::new();
            for (hit, placeholder, words) in self.hits(&field.text) {
                if seen.insert((hit.rule.id.clone(), placeholder.clone())) {
                    let place = place(run.head, &field, &hit);
                    out.push(self.finding(&hit, place, placeholder, &words));
                }
            }
        }
        out
    }

    /// Returns the words that the findings stand for, read from the run itself: they are stored nowhere else.
    pub fn redactions(&self, run: RunText<'_>, findings: &[FindingState]) -> Vec<Redaction> {
        let mut out = Vec::new();
        for field in fields(run) {
            let here: Vec<&FindingState> = findings
                .iter()
                .filter(|s| {
                    s.finding
                        .place
                        .as_ref()
                        .is_some_and(|p| p.step == field.step && p.field == field.name)
                })
                .collect();
            if here.is_empty() {
                continue;
            }
            for (hit, placeholder, _) in self.hits(&field.text) {
                let asked = here.iter().find(|s| {
                    s.finding.rule == hit.rule.id
                        && s.finding.placeholder.as_ref() == Some(&placeholder)
                });
                if let Some(state) = asked {
                    out.push(redaction(
                        &state.finding.id,
                        &hit,
                        &field.text,
                        &placeholder,
                    ));
                }
            }
        }
        out.sort_by(|a, b| (&a.words, &a.finding).cmp(&(&b.words, &b.finding)));
        out.dedup();
        out
    }

    /// Returns the text with every hit replaced: what a screen shows by default.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let hits = self.hits(text);
        if hits.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for (hit, placeholder, _) in hits {
            out.push_str(text.get(from..hit.words.start).unwrap_or(""));
            out.push_str(&placeholder);
            from = hit.words.end;
        }
        out.push_str(text.get(from..).unwrap_or(""));
        Cow::Owned(out)
    }

    /// Hits with their placeholders and words, long texts piece by piece.
    fn hits(&self, text: &str) -> Vec<(Hit<'_>, String, String)> {
        let mut out: Vec<(Hit<'_>, String, String)> = Vec::new();
        for (start, piece) in pieces(text) {
            for mut hit in hits(&self.rules, piece) {
                let words = piece.get(hit.words.clone()).unwrap_or("").to_owned();
                hit.words = hit.words.start + start..hit.words.end + start;
                hit.span = hit.span.start + start..hit.span.end + start;
                if out
                    .last()
                    .is_none_or(|(last, _, _)| last.span.end <= hit.span.start)
                {
                    let placeholder = self.placeholder(&hit.rule.label, &words);
                    out.push((hit, placeholder, words));
                }
            }
        }
        out
    }

    /// The same person, the same placeholder, however the number is written.
    fn placeholder(&self, label: &str, words: &str) -> String {
        let compact: String = words
            .chars()
            .filter(|c| !c.is_whitespace() && *c != '-')
            .collect();
        let normal = if label == "SECRET" || label.ends_with("KEY") {
            words.to_owned()
        } else {
            compact.to_lowercase()
        };
        let hash = blake3::keyed_hash(&self.key, format!("{label}\0{normal}").as_bytes());
        let short: String = hash.to_hex().chars().take(8).collect();
        format!("[{label}_{short}]")
    }

    fn finding(
        &self,
        hit: &Hit<'_>,
        place: FindingPlace,
        placeholder: String,
        words: &str,
    ) -> Finding {
        let rule = hit.rule;
        let step = place.step.map_or(-1, i64::from);
        let name = format!(
            "{}\0{}\0{step}\0{}\0{placeholder}",
            rule.id, place.run, place.field
        );
        Finding {
            id: id(&name),
            kind: rule.kind,
            rule: rule.id.clone(),
            place: Some(place),
            tasks: Vec::new(),
            placeholder: Some(placeholder),
            excerpt: excerpt(words),
            reason: rule.why.clone(),
            score: (rule.kind == FindingKind::Secret)
                .then(|| (hit.entropy * 100.0).round() / 100.0),
        }
    }
}

/// A stable name from what a finding is about.
pub(crate) fn id(name: &str) -> String {
    blake3::hash(name.as_bytes())
        .to_hex()
        .chars()
        .take(12)
        .collect()
}

fn redaction(finding: &str, hit: &Hit<'_>, text: &str, placeholder: &str) -> Redaction {
    let get = |range: std::ops::Range<usize>| text.get(range).unwrap_or("");
    let (before, after) = (
        get(hit.span.start..hit.words.start),
        get(hit.words.end..hit.span.end),
    );
    Redaction {
        finding: finding.to_owned(),
        words: get(hit.span.clone()).to_owned(),
        placeholder: format!("{before}{placeholder}{after}"),
    }
}

fn place(head: &Rollout, field: &Field<'_>, hit: &Hit<'_>) -> FindingPlace {
    FindingPlace {
        run: head.id.clone(),
        step: field.step,
        field: field.name.to_owned(),
        start: hit.words.start,
        end: hit.words.end,
    }
}

/// Enough to recognise, too little to use.
fn excerpt(words: &str) -> String {
    let length = words.chars().count();
    let shown = match length {
        0..=7 => 0,
        8..=15 => 1,
        _ => 3,
    };
    let first: String = words.chars().take(shown).collect();
    format!("{first}… ({length} characters)")
}

fn fields(run: RunText<'_>) -> Vec<Field<'_>> {
    let mut out = Vec::with_capacity(run.steps.len() + 3);
    let json = |map: &serde_json::Map<String, serde_json::Value>| {
        serde_json::to_string(map).unwrap_or_default()
    };
    for step in run.steps {
        let at = Some(step.index);
        out.push(Field {
            step: at,
            name: "text",
            text: Cow::Borrowed(&step.text),
        });
        if !step.extra.is_empty() {
            out.push(Field {
                step: at,
                name: "extra",
                text: Cow::Owned(json(&step.extra)),
            });
        }
    }
    if !run.head.extra.is_empty() {
        out.push(Field {
            step: None,
            name: "extra",
            text: Cow::Owned(json(&run.head.extra)),
        });
    }
    if !run.head.tools.is_empty() {
        let text = serde_json::to_string(&run.head.tools).unwrap_or_default();
        out.push(Field {
            step: None,
            name: "tools",
            text: Cow::Owned(text),
        });
    }
    let calls: Vec<_> = run
        .calls
        .iter()
        .map(|c| (&c.extra, &c.error))
        .filter(|(e, error)| !e.is_empty() || error.is_some())
        .collect();
    if !calls.is_empty() {
        let text = serde_json::to_string(&calls).unwrap_or_default();
        out.push(Field {
            step: None,
            name: "calls",
            text: Cow::Owned(text),
        });
    }
    out
}

/// Cuts at character boundaries; pieces overlap by a seam.
fn pieces(text: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let mut start = 0;
    let floor = |mut i: usize| {
        while !text.is_char_boundary(i) {
            i -= 1;
        }
        i
    };
    loop {
        let end = floor((start + PIECE_BYTES).min(text.len()));
        out.push((start, text.get(start..end).unwrap_or("")));
        if end == text.len() {
            return out;
        }
        start = floor(end - SEAM_BYTES);
    }
}
