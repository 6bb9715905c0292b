//! Template repetition: how much of a set is one skeleton with other numbers and names in it.

use super::sensitive::id;
use crate::domain::{Finding, FindingKind};
use std::collections::HashMap;

/// Skeletons that count as the top.
const TOP: usize = 20;
/// Fewer texts than this have no distribution to speak of.
const MIN_TEXTS: usize = 10;

/// How texts repeat.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TemplateReport {
    /// Texts looked at.
    pub texts: usize,
    /// Different skeletons.
    pub skeletons: usize,
    /// Share of texts that the twenty commonest skeletons cover.
    pub top_share: f64,
    /// The commonest ones: skeleton, count, share.
    pub top: Vec<(String, usize, f64)>,
}

/// Counts skeletons.
pub fn templates<'a>(texts: impl IntoIterator<Item = &'a str>) -> TemplateReport {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut total = 0;
    for text in texts {
        *counts.entry(skeleton(text)).or_default() += 1;
        total += 1;
    }
    let skeletons = counts.len();
    let mut top: Vec<(String, usize)> = counts.into_iter().collect();
    top.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    top.truncate(TOP);
    let covered: usize = top.iter().map(|(_, n)| n).sum();
    let top = top
        .into_iter()
        .map(|(s, n)| (s, n, share(n, total)))
        .collect();
    TemplateReport {
        texts: total,
        skeletons,
        top_share: share(covered, total),
        top,
    }
}

/// Skeletons that cover more than `limit` of the texts, as findings about the whole set.
pub fn template_findings(report: &TemplateReport, limit: f64) -> Vec<Finding> {
    if report.texts < MIN_TEXTS {
        return Vec::new();
    }
    let over = report
        .top
        .iter()
        .filter(|(_, n, share)| *share > limit && *n > 1);
    over.map(|(skeleton, n, share)| Finding {
        id: id(&format!("template\0{skeleton}")),
        kind: FindingKind::Template,
        rule: "template-repetition".to_owned(),
        place: None,
        tasks: Vec::new(),
        placeholder: None,
        excerpt: crate::text::one_line(skeleton, 120),
        reason: format!(
            "one skeleton covers {n} of {} texts; the model would learn the template",
            report.texts
        ),
        score: Some((share * 1000.0).round() / 1000.0),
    })
    .collect()
}

/// The text with numbers, quoted words, ids and capitalised names masked.
fn skeleton(text: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    let mut previous_ends = true;
    for word in text.split_whitespace() {
        let core = word.trim_matches(|c: char| !c.is_alphanumeric());
        let digits = core.chars().any(char::is_numeric);
        let quoted = word.starts_with(['"', '\'', '“', '「', '《', '`', '[']);
        let named = !previous_ends && core.chars().next().is_some_and(char::is_uppercase);
        let shown = if digits {
            "#"
        } else if quoted || named {
            "@"
        } else {
            word
        };
        // A run of masked words is one slot, whatever its length.
        if !(out.last() == Some(&shown) && (shown == "#" || shown == "@")) {
            out.push(shown);
        }
        previous_ends = word.ends_with(['.', '!', '?', ':']);
    }
    let joined = out.join(" ");
    mask_digits(&joined)
}

/// Chinese has no blanks: numbers inside are masked where they stand.
fn mask_digits(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let c = if c.is_numeric() { '#' } else { c };
        if !(c == '#' && out.ends_with('#')) {
            out.push(c);
        }
    }
    out
}

fn share(n: usize, total: usize) -> f64 {
    if total == 0 {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    let share = n as f64 / total as f64;
    share
}
