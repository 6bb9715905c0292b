//! What the model had before it when it decided, and whether the required parts were in it.

use super::{Place, SpanFound};
use crate::domain::{Document, Owner, Requirement, Step};
use crate::text::Plain;
use crate::triage::day::{day, written};
use std::collections::HashSet;

/// Steps before a decision, with their plain form.
pub(super) struct View<'a> {
    /// First step of the decision.
    pub(super) before: Option<u32>,
    /// What others wrote before it, in order.
    pub(super) steps: Vec<Seen<'a>>,
}

/// A step that could carry evidence.
pub(super) struct Seen<'a> {
    pub(super) step: &'a Step,
    pub(super) plain: Plain,
    /// Still in the context when the model decided.
    pub(super) in_view: bool,
}

impl<'a> View<'a> {
    /// Without a decision everything counts as seen.
    pub(super) fn new(steps: &'a [Step], before: Option<u32>) -> Self {
        let earlier: Vec<&Step> = steps
            .iter()
            .filter(|s| s.is_in_context() && before.is_none_or(|b| s.index < b))
            .collect();
        let replaced: HashSet<u32> = earlier
            .iter()
            .flat_map(|s| s.replaces.iter().copied())
            .collect();
        let steps = earlier
            .into_iter()
            // What the model itself wrote proves nothing, unless it is the summary that took evidence over.
            .filter(|s| s.owner != Owner::Model || !s.replaces.is_empty())
            .map(|step| Seen {
                step,
                plain: Plain::new(&step.text),
                in_view: !replaced.contains(&step.index),
            })
            .collect();
        Self { before, steps }
    }

    /// The required spans, conditions and validity date, each with the places that hold it.
    pub(super) fn parts(
        &self,
        requirement: &Requirement,
        needed: Option<&Document>,
    ) -> Vec<SpanFound> {
        let spans = requirement.spans.iter().map(|t| ("span", t));
        let conditions = requirement.conditions.iter().map(|t| ("condition", t));
        let mut out: Vec<SpanFound> = spans
            .chain(conditions)
            .filter(|(_, text)| !Plain::new(text).is_empty())
            .map(|(part, text)| self.found(part, text, &[Plain::new(text)]))
            .collect();
        out.extend(needed.and_then(|d| self.date(d)));
        out
    }

    /// The day from which the version holds, or where it has none the day until which it does.
    fn date(&self, document: &Document) -> Option<SpanFound> {
        let text = document
            .valid_from
            .as_ref()
            .or(document.valid_until.as_ref())?;
        Some(self.found("date", text, &written(day(text)?)))
    }

    fn found(&self, part: &'static str, text: &str, forms: &[Plain]) -> SpanFound {
        let places: Vec<Place> = self
            .steps
            .iter()
            .filter_map(|seen| {
                let range = forms.iter().find_map(|f| seen.plain.find(f))?;
                Some(Place {
                    step: seen.step.index,
                    start: range.start,
                    end: range.end,
                    in_view: seen.in_view,
                })
            })
            .collect();
        SpanFound {
            part,
            text: text.to_owned(),
            in_view: places.iter().any(|p| p.in_view),
            places,
        }
    }
}
