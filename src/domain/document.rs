//! Documents of the register, and what became of a required one in a run.

use super::step::words;
use serde::{Deserialize, Serialize};

/// A document and, where known, its version.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DocRef {
    /// Register id.
    pub doc_id: String,
    /// Version.
    #[serde(default)]
    pub version: Option<String>,
}

/// One version of one document of the register.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Register id.
    pub doc_id: String,
    /// Version.
    pub version: String,
    /// Title.
    #[serde(default)]
    pub title: Option<String>,
    /// Text.
    pub text: String,
    /// First day it holds (YYYY-MM-DD).
    #[serde(default)]
    pub valid_from: Option<String>,
    /// Last day it holds; `None` = still valid.
    #[serde(default)]
    pub valid_until: Option<String>,
    /// Index versions that hold it; `None` = unknown.
    #[serde(default)]
    pub indexed_in: Option<Vec<String>>,
}

impl Document {
    /// Whether this version holds on a day (YYYY-MM-DD, with or without a time behind it). `None` where a date cannot be read.
    pub fn holds_on(&self, day: &str) -> Option<bool> {
        let on = iso_day(day)?;
        // Days in this form compare as text.
        let from = self.valid_from.as_deref().map_or(Some(""), iso_day)?;
        let until = self
            .valid_until
            .as_deref()
            .map_or(Some("9999-99-99"), iso_day)?;
        Some(from <= on && on <= until)
    }
}

fn iso_day(text: &str) -> Option<&str> {
    let day = text.trim().get(..10)?;
    let is_day = day.bytes().enumerate().all(|(i, b)| match i {
        4 | 7 => b == b'-',
        _ => b.is_ascii_digit(),
    });
    is_day.then_some(day)
}

/// What became of a required document at the decisive step; the first that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceStatus {
    /// The run's index held no version of it.
    NotIndexed,
    /// The run's index held only versions not valid on the task's date.
    StaleOnly,
    /// Indexed, and no observation brought it.
    NotRetrieved,
    /// Brought, and a required span, condition or date was not before the model when it decided.
    NotInPrompt,
    /// All of it was before the model.
    InPrompt,
    /// The log or the register cannot tell.
    Unknown,
}

words!(EvidenceStatus {
    NotIndexed => "not indexed", StaleOnly => "stale only", NotRetrieved => "not retrieved",
    NotInPrompt => "not in prompt", InPrompt => "in prompt", Unknown => "unknown",
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validity_counts_both_ends_and_leaves_open_ends_open() {
        let doc = |from: Option<&str>, until: Option<&str>| Document {
            doc_id: "d".into(),
            version: "1".into(),
            title: None,
            text: String::new(),
            valid_from: from.map(str::to_owned),
            valid_until: until.map(str::to_owned),
            indexed_in: None,
        };
        let d = doc(Some("2025-01-01"), Some("2025-06-30"));
        assert_eq!(d.holds_on("2025-01-01"), Some(true));
        assert_eq!(d.holds_on("2025-06-30T23:59:00Z"), Some(true));
        assert_eq!(d.holds_on("2025-07-01"), Some(false));
        assert_eq!(doc(None, None).holds_on("1999-01-01"), Some(true));
        assert_eq!(doc(Some("soon"), None).holds_on("2025-01-01"), None);
        assert_eq!(d.holds_on("not a day at all"), None);
    }
}
