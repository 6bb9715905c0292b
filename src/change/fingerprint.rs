//! Fingerprints by name, the thing each belongs to, and what a set of runs carries of them.

use crate::domain::{ChangedThing, Rollout};
use std::collections::{BTreeMap, BTreeSet};

/// A named fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    /// Its name in a change.
    pub name: &'static str,
    /// The thing that changes with it.
    pub thing: ChangedThing,
    /// What it is taken from.
    pub taken_from: &'static str,
}

/// All fingerprints that a change may carry (S-78, S-80).
pub const FINGERPRINTS: &[Fingerprint] = &[
    of(
        "weights",
        ChangedThing::Parameters,
        "hash of the weights, or the checkpoint that logs name",
    ),
    of(
        "tokenizer",
        ChangedThing::Parameters,
        "hash of the tokenizer",
    ),
    of(
        "template",
        ChangedThing::Prompt,
        "hash of the chat template",
    ),
    of(
        "prompt",
        ChangedThing::Prompt,
        "prompt version or hash of the system prompt",
    ),
    of("skill", ChangedThing::Skill, "hash of the skill files"),
    of("memory", ChangedThing::Memory, "hash of the memory files"),
    of(
        "toolset",
        ChangedThing::Tool,
        "tool set version or hash of the schemas",
    ),
    of("index", ChangedThing::Index, "index version"),
    of(
        "context",
        ChangedThing::Context,
        "version of what builds the context",
    ),
    of("harness", ChangedThing::Harness, "harness name and version"),
    of("sampling", ChangedThing::Harness, "sampling settings"),
    of("grader", ChangedThing::Grader, "grader name and version"),
    of(
        "environment",
        ChangedThing::Environment,
        "state hash of the environment",
    ),
    of(
        "data",
        ChangedThing::Parameters,
        "hash of the training data",
    ),
];

const fn of(name: &'static str, thing: ChangedThing, taken_from: &'static str) -> Fingerprint {
    Fingerprint {
        name,
        thing,
        taken_from,
    }
}

/// Returns the fingerprints that runs carry; several values of one name are joined, so a mixture never looks uniform.
pub fn fingerprints<'a>(runs: impl IntoIterator<Item = &'a Rollout>) -> BTreeMap<String, String> {
    let mut seen: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for run in runs {
        let harness = run.harness.name.as_ref().map(|name| {
            let version = run.harness.version.as_deref().unwrap_or("?");
            format!("{name} {version}")
        });
        let all = [
            ("weights", run.checkpoint.clone()),
            ("tokenizer", run.tokenizer.clone()),
            ("prompt", run.prompt_version.clone()),
            ("toolset", run.toolset_version.clone()),
            ("index", run.index_version.clone()),
            ("harness", harness),
        ];
        for (name, value) in all {
            seen.entry(name).or_default().extend(value);
        }
    }
    seen.into_iter()
        .filter(|(_, values)| !values.is_empty())
        .map(|(name, values)| {
            let joined: Vec<String> = values.into_iter().collect();
            (name.to_owned(), joined.join(" | "))
        })
        .collect()
}

/// What differs between the harness that data were recorded under and the one that is deployed (S-29).
pub fn harness_differences(recorded: &Rollout, deployed: &Rollout) -> Vec<String> {
    let (a, b) = (&recorded.harness, &deployed.harness);
    let parts = [
        ("harness", &a.name, &b.name),
        ("harness version", &a.version, &b.version),
        ("stop rule", &a.stop_rule, &b.stop_rule),
        ("context compression", &a.compression, &b.compression),
        (
            "tool set",
            &recorded.toolset_version,
            &deployed.toolset_version,
        ),
    ];
    let named = |v: &Option<String>| v.clone().unwrap_or_else(|| "unknown".to_owned());
    parts
        .into_iter()
        .filter(|(_, x, y)| x != y)
        .map(|(name, x, y)| format!("{name}: {} / {}", named(x), named(y)))
        .collect()
}

/// Things whose fingerprints differ between before and after; training data alone changes nothing at run time.
pub fn changed_layers(
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> Vec<ChangedThing> {
    let mut out: Vec<ChangedThing> = FINGERPRINTS
        .iter()
        .filter(|f| f.name != "data")
        .filter(|f| match (before.get(f.name), after.get(f.name)) {
            (Some(b), Some(a)) => b != a,
            // Named on one side only: it appeared or went, and that is a change.
            (None, Some(_)) | (Some(_), None) => true,
            (None, None) => false,
        })
        .map(|f| f.thing)
        .collect();
    out.sort();
    out.dedup();
    out
}
