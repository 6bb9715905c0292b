//! Finds secrets and personal data in one text. It says where; what it means is for a person.

use super::checks::entropy;
use super::rules::{Rule, Rules};
use crate::domain::FindingKind;
use regex::Captures;
use std::collections::BTreeMap;
use std::ops::Range;

/// How far before a match a context word may stand, in bytes.
const BEFORE: usize = 60;
/// How far after.
const AFTER: usize = 20;

/// Something found in a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hit<'r> {
    pub(crate) rule: &'r Rule,
    /// The secret words.
    pub(crate) words: Range<usize>,
    /// What is replaced as a whole: the words, or more where they alone are too common.
    pub(crate) span: Range<usize>,
    pub(crate) entropy: f64,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// Returns what the rules find, in order, without overlaps: the earlier rule of the file wins.
pub(crate) fn hits<'r>(rules: &'r Rules, text: &str) -> Vec<Hit<'r>> {
    let mut found: Vec<(usize, Hit<'r>)> = Vec::new();
    let wanted = wanted(rules, text);
    for (at, rule) in rules.rules.iter().enumerate() {
        if rule.keywords && !wanted[at] {
            continue;
        }
        found.extend(matches(rules, rule, text).map(|hit| (at, hit)));
    }
    // By rule first, so that the owner of a stretch is settled before others are looked at.
    found.sort_by_key(|(at, hit)| (*at, hit.span.start));
    let mut kept: BTreeMap<usize, Hit<'r>> = BTreeMap::new();
    for (_, hit) in found {
        // Kept stretches do not overlap, so only the last one that starts before our end can touch us.
        let last = kept.range(..hit.span.end).next_back();
        if last.is_none_or(|(_, k)| k.span.end <= hit.span.start) {
            kept.insert(hit.span.start, hit);
        }
    }
    kept.into_values().collect()
}

/// Which rules have a keyword in the text: one pass over it for all of them.
fn wanted(rules: &Rules, text: &str) -> Vec<bool> {
    let mut wanted = vec![false; rules.rules.len()];
    if let Some(keywords) = &rules.keywords {
        for hit in keywords.find_overlapping_iter(text) {
            wanted[rules.keyword_rule[hit.pattern().as_usize()]] = true;
        }
    }
    wanted
}

fn matches<'r, 't>(
    rules: &'r Rules,
    rule: &'r Rule,
    text: &'t str,
) -> impl Iterator<Item = Hit<'r>> + use<'r, 't> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let captures = rule.pattern.captures_at(text, from)?;
            let whole = captures.get(0)?;
            let inner = captures.get(1).unwrap_or(whole);
            // The next match may begin where these words end: a boundary can belong to both.
            from = inner.end().max(from + 1);
            while !text.is_char_boundary(from) {
                from += 1;
            }
            if let Some(hit) = judge(rules, rule, text, &captures) {
                return Some(hit);
            }
            if from > text.len() {
                return None;
            }
        }
    })
}

fn judge<'r>(
    rules: &'r Rules,
    rule: &'r Rule,
    text: &str,
    captures: &Captures<'_>,
) -> Option<Hit<'r>> {
    let whole = captures.get(0)?;
    let inner = captures.get(1).unwrap_or(whole);
    let words = inner.as_str();
    let bits = entropy(words);
    let everywhere = if rule.kind == FindingKind::Secret {
        rules.allow.as_slice()
    } else {
        &[]
    };
    let harmless = everywhere
        .iter()
        .chain(&rule.allow)
        .any(|allow| allow.is_match(words));
    let fails = rule.check.is_some_and(|check| !check.holds(words));
    if harmless || fails || bits < rule.entropy || !has_context(rule, text, inner.range()) {
        return None;
    }
    let span = if rule.whole {
        whole.range()
    } else {
        inner.range()
    };
    Some(Hit {
        rule,
        words: inner.range(),
        span,
        entropy: bits,
    })
}

fn has_context(rule: &Rule, text: &str, at: Range<usize>) -> bool {
    let Some(context) = &rule.context else {
        return true;
    };
    let floor = |mut i: usize| {
        while !text.is_char_boundary(i) {
            i -= 1;
        }
        i
    };
    let before = text
        .get(floor(at.start.saturating_sub(BEFORE))..at.start)
        .unwrap_or("");
    let after = text
        .get(at.end..floor((at.end + AFTER).min(text.len())))
        .unwrap_or("");
    context.is_match(before) || context.is_match(after)
}
