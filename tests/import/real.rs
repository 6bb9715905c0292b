//! Real logs against counts that were made without our code (`counts.py` writes `expected.json`).

use super::seen::{Seen, real_logs, see_unit};
use serde::Deserialize;
use std::collections::BTreeMap;
use triagent::domain::Step;
use triagent::import::{Unit, discover};

#[derive(Debug, PartialEq, Deserialize)]
struct Expected {
    format: String,
    runs: usize,
    calls: usize,
    owners: BTreeMap<String, u64>,
    tool_calls: usize,
    tool_errors: usize,
    rewards: usize,
    labels: usize,
}

fn counted(seen: &Seen) -> Expected {
    Expected {
        format: seen.report.format.clone().unwrap_or_default(),
        runs: seen.runs.len(),
        calls: seen.calls().count(),
        owners: seen.owners(),
        tool_calls: seen.tool_calls(),
        tool_errors: seen.steps().filter(|s: &&Step| s.is_failed()).count(),
        rewards: seen.runs.iter().map(|r| r.rewards.len()).sum(),
        labels: seen.runs.iter().map(|r| r.labels.len()).sum(),
    }
}

#[test]
fn real_files_give_the_counts_that_others_made() {
    let Some(root) = real_logs() else { return };
    let expected: BTreeMap<String, Expected> =
        serde_json::from_str(include_str!("expected.json")).unwrap();
    let mut wrong = Vec::new();
    for (path, expected) in expected {
        let unit = one_unit(&root.join(&path));
        let seen = see_unit(&unit, None);
        let got = counted(&seen);
        if got != expected {
            wrong.push(format!(
                "{path}\n  want {expected:?}\n  got  {got:?}\n  skipped {:?}",
                seen.report.skipped
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn one_unit(path: &std::path::Path) -> Unit {
    let found = discover(&[path.to_owned()]);
    assert_eq!(
        found.units.len(),
        1,
        "{} is not one unit: {:?}",
        path.display(),
        found.units
    );
    found.units.into_iter().next().unwrap()
}
