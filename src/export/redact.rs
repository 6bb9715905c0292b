//! Puts placeholders where a person said "redact", in every string of a row that leaves.

use super::input::{PairInput, RunInput};
use super::options::Undecided;
use super::why::Why;
use crate::domain::{
    Candidate, ChatMessage, Decision, FindingAction, FindingKind, FindingState, Redaction,
};
use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::Value;
use std::borrow::Cow;

/// The finding's words leave as a placeholder.
pub(crate) fn is_redacted(state: &FindingState, undecided: Undecided) -> bool {
    let sensitive = matches!(
        state.finding.kind,
        FindingKind::Secret | FindingKind::Personal
    );
    match state.action {
        Some(action) => action == FindingAction::Redact,
        None => sensitive && undecided == Undecided::Redact,
    }
}

/// Words of a run that nobody said to keep.
pub(crate) fn guarded(run: &RunInput) -> impl Iterator<Item = &Redaction> {
    run.redactions.iter().filter(|r| {
        let mut states = run.findings.iter().filter(|s| s.finding.id == r.finding);
        states.any(|s| s.action != Some(FindingAction::Keep))
    })
}

/// Redactions of a run that hold.
fn asked(run: &RunInput, undecided: Undecided) -> impl Iterator<Item = &Redaction> {
    run.redactions.iter().filter(move |r| {
        let mut states = run.findings.iter().filter(|s| s.finding.id == r.finding);
        states.any(|s| is_redacted(s, undecided))
    })
}

/// A pair whose own words (reason, evidence, a side that a reviewer wrote) say nothing that leaves its runs as a placeholder.
pub(crate) fn pair(input: &PairInput, undecided: Undecided) -> Result<Cow<'_, PairInput>, Why> {
    let words = asked(&input.a, undecided).chain(asked(&input.b, undecided));
    let redactor = Redactor::new(words);
    if redactor.is_idle() {
        return Ok(Cow::Borrowed(input));
    }
    let mut out = input.clone();
    if let Decision::Pair(pair) = &mut out.record.decision {
        redactor.text(&mut pair.reason);
        pair.evidence
            .iter_mut()
            .for_each(|text| redactor.text(text));
        for side in [&mut pair.a, &mut pair.b] {
            if let Candidate::Human { message, .. } = side {
                redactor.message(message)?;
            }
        }
    }
    Ok(Cow::Owned(out))
}

/// Replaces the words of one run's redactions.
pub(crate) struct Redactor {
    finder: Option<AhoCorasick>,
    placeholders: Vec<String>,
}

impl Redactor {
    /// What a person said to redact, and what the options redact by themselves.
    pub(crate) fn of(run: &RunInput, undecided: Undecided) -> Self {
        Self::new(asked(run, undecided))
    }

    /// Nothing is replaced.
    pub(crate) fn is_idle(&self) -> bool {
        self.finder.is_none()
    }

    pub(crate) fn new<'r>(redactions: impl Iterator<Item = &'r Redaction>) -> Self {
        let mut words = Vec::new();
        let mut placeholders = Vec::new();
        for redaction in redactions.filter(|r| !r.words.is_empty()) {
            for form in forms(&redaction.words) {
                words.push(form);
                placeholders.push(redaction.placeholder.clone());
            }
        }
        // Without words there is nothing to build, and that is the usual run.
        let build = || {
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(&words)
                .ok()
        };
        let finder = if words.is_empty() { None } else { build() };
        Self {
            finder,
            placeholders,
        }
    }

    /// Redacts a text in place.
    pub(crate) fn text(&self, text: &mut String) {
        if let Some(finder) = self.finder.as_ref().filter(|f| f.is_match(text.as_str())) {
            *text = finder.replace_all(text, &self.placeholders);
        }
    }

    fn holds(&self, text: &str) -> bool {
        self.finder.as_ref().is_some_and(|f| f.is_match(text))
    }

    /// Redacts a message; arguments that were JSON stay JSON.
    pub(crate) fn message(&self, message: &mut ChatMessage) -> Result<(), Why> {
        if self.finder.is_none() {
            return Ok(());
        }
        for text in [
            &mut message.content,
            &mut message.reasoning,
            &mut message.name,
        ]
        .into_iter()
        .flatten()
        {
            self.text(text);
        }
        for call in &mut message.tool_calls {
            self.arguments(&mut call.arguments)
                .map_err(|()| Why::RedactionBreaks {
                    tool: call.name.clone(),
                })?;
        }
        Ok(())
    }

    /// Redacts arguments as logged. A bare number that is replaced becomes a string.
    pub(crate) fn arguments(&self, arguments: &mut String) -> Result<(), ()> {
        let Ok(mut tree) = serde_json::from_str::<Value>(arguments) else {
            self.text(arguments);
            return Ok(());
        };
        let before = arguments.clone();
        self.text(arguments);
        if *arguments == before {
            return Ok(());
        }
        match serde_json::from_str::<Value>(arguments) {
            Ok(after) if leaves(&after) == leaves(&tree) => return Ok(()),
            // Two keys became one: an argument would be lost.
            Ok(_) => return Err(()),
            Err(_) => self.value(&mut tree),
        }
        *arguments = serde_json::to_string(&tree).map_err(|_| ())?;
        // Words that span more than one string of the tree are still there.
        if self.holds(arguments) {
            Err(())
        } else {
            Ok(())
        }
    }

    /// Redacts every string of a tree, and numbers whose digits are the words.
    pub(crate) fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|v| self.value(v)),
            Value::Object(map) => {
                map.values_mut().for_each(|v| self.value(v));
                if map.keys().any(|key| self.holds(key)) {
                    for (mut key, v) in std::mem::take(map) {
                        self.text(&mut key);
                        // Nothing is lost where two keys get the same placeholder.
                        while map.contains_key(&key) {
                            key.push('\'');
                        }
                        map.insert(key, v);
                    }
                }
            }
            Value::Number(number) => {
                let mut text = number.to_string();
                let before = text.len();
                self.text(&mut text);
                if text.len() != before || text.parse::<f64>().is_err() {
                    *value = Value::String(text);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }
}

/// Values without an inside, and empty ones.
fn leaves(value: &Value) -> usize {
    match value {
        Value::Array(items) if !items.is_empty() => items.iter().map(leaves).sum(),
        Value::Object(map) if !map.is_empty() => map.values().map(leaves).sum(),
        _ => 1,
    }
}

/// The words as they stand in plain text, and as they stand inside JSON.
fn forms(words: &str) -> Vec<String> {
    let mut out = vec![words.to_owned()];
    if let Ok(quoted) = serde_json::to_string(words) {
        let inner = quoted.trim_matches('"');
        // A word that ends in a quote would lose it here; then its plain form alone must do.
        if inner != words && format!("\"{inner}\"") == quoted {
            out.push(inner.to_owned());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor() -> Redactor {
        let one = |words: &str, placeholder: &str| Redaction {
            finding: "f".to_owned(),
            words: words.to_owned(),
            placeholder: placeholder.to_owned(),
        };
        let all = [
            one("a@b.cn", "[EMAIL_1]"),
            one("4111111111111111", "[CARD_1]"),
            one("x\ny", "[KEY_1]"),
        ];
        Redactor::new(all.iter())
    }

    #[test]
    fn arguments_stay_json_whatever_is_redacted() {
        let check = |before: &str, after: &str| {
            let mut text = before.to_owned();
            redactor().arguments(&mut text).unwrap();
            assert_eq!(text, after);
        };
        check(r#"{"to": "a@b.cn"}"#, r#"{"to": "[EMAIL_1]"}"#);
        check(r#"{"card":4111111111111111}"#, r#"{"card":"[CARD_1]"}"#);
        check(r#"{"key":"x\ny"}"#, r#"{"key":"[KEY_1]"}"#);
        check(r#"{"n": 1.50}"#, r#"{"n": 1.50}"#);
        check("broken a@b.cn", "broken [EMAIL_1]");
        // An argument must not vanish because two names became one.
        let mut two = r#"{"a@b.cn": 1, "[EMAIL_1]": 2}"#.to_owned();
        assert!(redactor().arguments(&mut two).is_err());
        let mut tree = serde_json::json!({"a@b.cn": 1, "[EMAIL_1]": 2});
        redactor().value(&mut tree);
        assert_eq!(tree.as_object().unwrap().len(), 2);
        check(
            r#"{"a@b.cn": {"a@b.cn": 4111111111111111}}"#,
            r#"{"[EMAIL_1]":{"[EMAIL_1]":"[CARD_1]"}}"#,
        );
    }
}
