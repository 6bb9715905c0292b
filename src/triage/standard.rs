//! A task's standard: ordered criteria that decide which of two candidates is better (S-43). Length never votes.

use crate::domain::{Side, Task};
use serde_json::Value;
use std::collections::BTreeMap;

/// The standard that a pair is judged by where its task has none: the desk's own list of criteria (S-42), in its first version.
/// The list and this name change together, so that an exported pair always says what decided it.
pub const DEFAULT_STANDARD: &str = "triagent-default-1";

/// A versioned standard.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standard {
    /// Its version, or its plain name.
    pub version: String,
    /// Criteria, the most important first.
    pub criteria: Vec<String>,
    /// "Only smoother" may stand alone.
    pub smoother_alone: bool,
}

/// Which side the standard prefers, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StandardVerdict {
    /// The first criterion in which they differ.
    Prefers {
        /// The better side.
        side: Side,
        /// The criterion.
        by: String,
    },
    /// All criteria are equal.
    Tie,
    /// A criterion was not assessed before any difference was found.
    NotAssessed(String),
}

impl Standard {
    /// Reads a task's standard: an object with version and criteria, or a plain name.
    pub fn of(task: &Task) -> Option<Self> {
        match &task.standard {
            Value::String(name) if !name.trim().is_empty() => Some(Self {
                version: name.clone(),
                ..Self::default()
            }),
            Value::Object(fields) => {
                let version = fields.get("version").map(|v| match v {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                });
                let criteria = fields.get("criteria").and_then(Value::as_array);
                Some(Self {
                    version: version.unwrap_or_default(),
                    criteria: criteria.map_or_else(Vec::new, |list| {
                        list.iter()
                            .filter_map(Value::as_str)
                            .map(str::to_owned)
                            .collect()
                    }),
                    smoother_alone: fields.get("smoother_alone").and_then(Value::as_bool)
                        == Some(true),
                })
            }
            _ => None,
        }
    }

    /// Compares two assessed candidates: the first criterion that differs decides.
    pub fn compare(
        &self,
        a: &BTreeMap<String, bool>,
        b: &BTreeMap<String, bool>,
    ) -> StandardVerdict {
        for criterion in &self.criteria {
            match (a.get(criterion), b.get(criterion)) {
                (Some(x), Some(y)) if x == y => {}
                (Some(x), Some(_)) => {
                    return StandardVerdict::Prefers {
                        side: if *x { Side::A } else { Side::B },
                        by: criterion.clone(),
                    };
                }
                (_, _) => return StandardVerdict::NotAssessed(criterion.clone()),
            }
        }
        StandardVerdict::Tie
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(all: &[(&str, bool)]) -> BTreeMap<String, bool> {
        all.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect()
    }

    #[test]
    fn s43_the_order_of_the_criteria_decides_not_speed() {
        let standard = Standard {
            version: "desk-1".into(),
            criteria: ["citation-valid", "conditions-complete", "fast"]
                .map(str::to_owned)
                .to_vec(),
            smoother_alone: false,
        };
        let slow = marks(&[
            ("citation-valid", true),
            ("conditions-complete", true),
            ("fast", false),
        ]);
        let hasty = marks(&[
            ("citation-valid", false),
            ("conditions-complete", true),
            ("fast", true),
        ]);
        let by = "citation-valid".to_owned();
        assert_eq!(
            standard.compare(&slow, &hasty),
            StandardVerdict::Prefers {
                side: Side::A,
                by: by.clone()
            }
        );
        assert_eq!(
            standard.compare(&hasty, &slow),
            StandardVerdict::Prefers { side: Side::B, by }
        );
        assert_eq!(standard.compare(&slow, &slow), StandardVerdict::Tie);
        let unknown = marks(&[("fast", true)]);
        assert_eq!(
            standard.compare(&slow, &unknown),
            StandardVerdict::NotAssessed("citation-valid".into())
        );
    }
}
