//! Suggestions in bulk: statuses, layers, how often the machine keeps quiet, and agreement with blind verdicts.

use super::{Strength, Suggestion};
use crate::domain::{EvidenceStatus, Layer, RunId};
use crate::stats::benjamini_hochberg;
use crate::triage::agreement::{AgreementReport, Ratings, agreement_report};
use serde::Serialize;
use std::collections::BTreeMap;

/// False-discovery rate that a cohort of probes is held to.
const FALSE_DISCOVERY: f64 = 0.10;

/// A cohort's suggestions.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SuggestionTable {
    /// Runs.
    pub runs: usize,
    /// Runs by suggested layer.
    pub layers: BTreeMap<Layer, usize>,
    /// Required documents by status.
    pub statuses: BTreeMap<EvidenceStatus, usize>,
    /// Share of runs for which the machine says `undetermined`.
    pub abstention: Option<f64>,
    /// Suggestions that a probe confirmed.
    pub confirmed: usize,
    /// Of those, still standing at a false-discovery rate of 10% across the cohort (Benjamini–Hochberg).
    pub standing: Vec<RunId>,
}

/// Puts suggestions into one table.
pub fn suggestion_table(suggestions: &[Suggestion]) -> SuggestionTable {
    let mut out = SuggestionTable {
        runs: suggestions.len(),
        ..SuggestionTable::default()
    };
    for suggestion in suggestions {
        *out.layers.entry(suggestion.layer).or_default() += 1;
        for evidence in &suggestion.evidence {
            *out.statuses.entry(evidence.status).or_default() += 1;
        }
    }
    let quiet = out.layers.get(&Layer::Undetermined).copied().unwrap_or(0);
    out.abstention = (!suggestions.is_empty()).then(|| quiet as f64 / suggestions.len() as f64);
    let probed: Vec<(&Suggestion, f64)> = suggestions
        .iter()
        .filter(|s| matches!(s.strength, Strength::Confirmed | Strength::Probe))
        .filter_map(|s| deciding_p(s).map(|p| (s, p)))
        .collect();
    out.confirmed = probed.len();
    let p: Vec<f64> = probed.iter().map(|(_, p)| *p).collect();
    out.standing = probed
        .iter()
        .zip(benjamini_hochberg(&p))
        .filter(|(_, q)| *q <= FALSE_DISCOVERY)
        .map(|((s, _), _)| s.run.clone())
        .collect();
    out
}

/// The smallest corrected p among the effects that decided.
fn deciding_p(suggestion: &Suggestion) -> Option<f64> {
    let effects = &suggestion.probe.as_ref()?.effects;
    effects
        .iter()
        .filter(|e| e.shift || e.falls)
        .filter_map(|e| e.holm_p)
        .reduce(f64::min)
}

/// Agreement of the machine with verdicts that were given before it was seen; others prove nothing.
pub fn machine_agreement<'a>(
    blind: impl IntoIterator<Item = (&'a RunId, Layer, Layer)>,
    seed: u64,
) -> AgreementReport {
    let labels: Vec<(&str, &str, &str)> = blind
        .into_iter()
        .flat_map(|(run, person, machine)| {
            [
                (run.as_str(), "person", person.word()),
                (run.as_str(), "machine", machine.word()),
            ]
        })
        .collect();
    agreement_report(&Ratings::from_labels(labels), seed)
}
