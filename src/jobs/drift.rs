//! Holds the log-probs that a log recorded against ours of the very same tokens, for each version of the policy.

use super::JobError;
use crate::domain::{Binding, Call, Filter, Progress};
use crate::reward::{ImportanceReport, TokenPair, importance};
use crate::score::{ScoreError, Scorer};
use crate::store::{RunRow, Store, StoreError};
use serde::Serialize;
use std::collections::BTreeMap;

/// Results of this kind are kept under the weights' hash and the policy's version.
const KIND: &str = "drift";

/// One version of the recorded policy against a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drift {
    /// The policy as the log names it.
    pub version: String,
    /// Calls whose tokens this model could not score, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// The comparison; none if no call was left.
    pub report: Option<ImportanceReport>,
}

impl Drift {
    /// As near as two engines with the same weights are; none if nothing was compared.
    pub fn passes(&self) -> Option<bool> {
        self.report.as_ref().map(|report| report.passes)
    }
}

/// A call's tokens with both log-probs.
struct Both {
    version: String,
    recorded: Vec<f64>,
    rescored: Vec<f64>,
}

/// Scores the logged tokens of every call that has prompt tokens, generated tokens and their log-probs, and keeps the result.
pub fn drift(
    store: &mut Store,
    scorer: &mut Scorer,
    filter: &Filter,
    now_us: i64,
    progress: &Progress,
) -> Result<Vec<Drift>, JobError> {
    let mut rows: Vec<RunRow> = Vec::new();
    store.each_run(filter, |row| {
        rows.push(row);
        Ok(())
    })?;
    progress.set_total(rows.len() as u64);
    let mut left_out: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let mut found: Vec<Both> = Vec::new();
    for row in &rows {
        for call in store.calls(&row.id)? {
            let Some((prompt, written, recorded)) = logged(&call) else {
                continue;
            };
            let version = version_of(&call, row);
            let seen = left_out.entry(version.clone()).or_default();
            match scorer.rescore(prompt, written, progress) {
                Ok(rescored) => found.push(Both {
                    version,
                    recorded: recorded.to_vec(),
                    rescored,
                }),
                Err(ScoreError::Cancelled) => return Err(JobError::Cancelled),
                Err(error) => *seen.entry(error.to_string()).or_default() += 1,
            }
        }
        progress.add(1);
    }
    let told = by_version(&found, left_out, !scorer.binding().is_proxy);
    if !store.is_read_only() {
        for one in &told {
            store.put_result(KIND, &scorer.binding().weights, &one.version, now_us, one)?;
        }
    }
    Ok(told)
}

/// Whether a model that was held against a recorded policy is far from one; none if it never was.
pub fn drift_of(store: &Store, binding: &Binding) -> Result<Option<bool>, StoreError> {
    let kept = store.results::<serde_json::Value>(KIND, Some(&binding.weights))?;
    let passes = |value: &serde_json::Value| value["report"]["passes"].as_bool();
    let said: Vec<bool> = kept.iter().filter_map(|(_, _, _, v)| passes(v)).collect();
    Ok((!said.is_empty()).then(|| said.iter().all(|passes| *passes)))
}

/// Only what the log holds exactly can be held against it.
fn logged(call: &Call) -> Option<(&[u32], &[u32], &[f64])> {
    let prompt = call.prompt_token_ids.as_deref()?;
    let written = call.completion_token_ids.as_deref()?;
    let recorded = call.logprobs.as_deref()?;
    (!prompt.is_empty() && !recorded.is_empty()).then_some((prompt, written, recorded))
}

fn version_of(call: &Call, row: &RunRow) -> String {
    let named = [
        &call.model_version,
        &row.checkpoint,
        &call.model,
        &row.model,
    ];
    let named = named.into_iter().flatten().next();
    named.map_or_else(|| "unknown".to_owned(), Clone::clone)
}

fn by_version(
    found: &[Both],
    left_out: BTreeMap<String, BTreeMap<String, u64>>,
    is_policy: bool,
) -> Vec<Drift> {
    let newest = left_out.keys().filter_map(|v| v.parse::<i64>().ok()).max();
    let report = |version: &String| {
        let staleness = newest
            .zip(version.parse::<i64>().ok())
            .map(|(newest, this)| newest.saturating_sub(this));
        let pairs: Vec<TokenPair> = found
            .iter()
            .filter(|both| both.version == *version)
            .map(|both| TokenPair {
                recorded: &both.recorded,
                rescored: &both.rescored,
                staleness,
            })
            .collect();
        importance(&pairs, is_policy).ok()
    };
    left_out
        .into_iter()
        .map(|(version, left_out)| Drift {
            report: report(&version),
            version,
            left_out,
        })
        .collect()
}
