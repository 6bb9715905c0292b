//! Unrelated texts and harmless wrappers: those of the fault suite, in the language of the conversation.

use crate::domain::Role;
use crate::text::is_cjk;
use crate::triage::Context;
use serde::Deserialize;
use std::collections::BTreeMap;

const PLACEBOS: &str = include_str!("../../../assets/fault-suite/placebos.jsonl");
const WRAPPERS: &str = include_str!("../../../assets/fault-suite/wrappers.json");

/// Language of a conversation that is neither mostly Chinese nor anything else that has wrappers.
const FALLBACK: &str = "en";

#[derive(Deserialize)]
struct Placebo {
    id: String,
    text: String,
}

/// Placebos by name, wrappers by language.
#[derive(Debug)]
pub(in crate::jobs) struct Stock {
    placebos: BTreeMap<String, String>,
    wrappers: BTreeMap<String, Vec<String>>,
}

impl Stock {
    /// Reads what the program carries.
    pub(in crate::jobs) fn embedded() -> Result<Self, serde_json::Error> {
        let rows = PLACEBOS.lines().map(serde_json::from_str::<Placebo>);
        let placebos = rows.map(|row| row.map(|p| (p.id, p.text)));
        Ok(Self {
            placebos: placebos.collect::<Result<_, _>>()?,
            wrappers: serde_json::from_str(WRAPPERS)?,
        })
    }

    /// All unrelated texts.
    pub(in crate::jobs) fn all(&self) -> Vec<&str> {
        self.placebos.values().map(String::as_str).collect()
    }

    /// Some of them, by name.
    pub(in crate::jobs) fn named(&self, ids: &[String]) -> Vec<&str> {
        let found = ids.iter().filter_map(|id| self.placebos.get(id));
        found.map(String::as_str).collect()
    }

    /// Wrappers in the language of a conversation; the first is empty.
    pub(in crate::jobs) fn wrappers(&self, context: &Context) -> Vec<&str> {
        let language = if is_chinese(context) { "zh" } else { FALLBACK };
        let of = self.wrappers.get(language);
        of.map_or_else(Vec::new, |w| w.iter().map(String::as_str).collect())
    }
}

/// By what people and tools say: system prompts are often English whatever the users speak.
fn is_chinese(context: &Context) -> bool {
    let said = context
        .messages
        .iter()
        .filter(|m| matches!(m.role, Role::User | Role::Tool));
    let letters = said
        .filter_map(|m| m.content.as_deref())
        .flat_map(str::chars)
        .filter(|c| c.is_alphabetic());
    let (cjk, all) = letters.fold((0_usize, 0_usize), |(cjk, all), c| {
        (cjk + usize::from(is_cjk(c)), all + 1)
    });
    cjk * 2 > all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ChatMessage;

    #[test]
    fn twelve_wrappers_in_the_language_of_the_conversation() {
        let stock = Stock::embedded().unwrap();
        let say = |text: &str| Context {
            messages: vec![
                ChatMessage::text(Role::System, "You are a helpful assistant at a counter."),
                ChatMessage::text(Role::User, text),
            ],
            tools: vec![],
        };
        let en = stock.wrappers(&say("How much is it?"));
        let zh = stock.wrappers(&say("酒店每晚最多多少钱？"));
        assert_eq!((en.len(), zh.len()), (12, 12));
        assert_eq!((en[0], zh[0]), ("", ""));
        assert!(en[1].is_ascii() && !zh[1].is_ascii());
        assert!(stock.all().len() > 900);
        assert_eq!(stock.named(&["p-en-001".into(), "no".into()]).len(), 1);
    }
}
