//! Files that hold no run and speak of runs in other files: labels, annotations, reports, settings, predictions. Their
//! content is joined while those runs are read; here each is named, so that nobody takes it for lost.

use super::{Importer, Input};
use crate::import::beside::{Index, Origin};
use crate::import::detect::{Sniff, has_all};
use crate::import::out::{Halt, Out};
use crate::import::rows::each_row;
use std::sync::Arc;

/// Where a row holds a run itself.
const RUNS: &[&str] = &["messages", "trajectory", "history", "conversations"];

/// Such a file.
pub(crate) struct BesideRuns;

impl Importer for BesideRuns {
    fn name(&self) -> &'static str {
        "beside-runs"
    }

    fn title(&self) -> &'static str {
        "labels (AgentRx), annotations (Phoenix), SWE-bench reports and predictions, settings of verifiers"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        if !sniff.is_json() {
            return None;
        }
        let first = sniff.first();
        let page = first.pointer("/data/0").unwrap_or(first);
        if sniff.most_have(&["trajectory_id", "failures"]) {
            return Some("failure labels by trajectory_id".to_owned());
        }
        if has_all(page, &["annotator_kind", "span_id"]) {
            return Some("annotations by span_id".to_owned());
        }
        if has_all(first, &["resolved_ids"]) || has_all(first, &["unresolved_ids"]) {
            return Some("a report with resolved_ids".to_owned());
        }
        let inner = first.as_object().and_then(|o| o.values().next());
        let is_graded =
            |v: &serde_json::Value| v.get("resolved").is_some_and(serde_json::Value::is_boolean);
        if inner.is_some_and(is_graded) {
            return Some("a report with resolved by instance".to_owned());
        }
        // Rows with a conversation are runs that their patch stands in.
        let has_run = |row| RUNS.iter().any(|key| has_all(row, &[key]));
        if sniff.most_have(&["instance_id", "model_patch"]) && !sniff.rows.iter().any(has_run) {
            return Some("predictions with instance_id and model_patch".to_owned());
        }
        let is_settings = has_all(first, &["env", "model", "sampling_args", "num_examples"])
            || has_all(first, &["env_id", "model", "num_examples"])
            || has_all(first, &["env", "model", "sampling", "num_rollouts"]);
        is_settings.then(|| "settings of a verifiers evaluation".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let mut index = Index::default();
        let origin = Arc::new(Origin::of(&input.unit.path));
        each_row(out, input.source, input.sniff.shape, |_, row| {
            index.take(&origin, row.node);
            Ok(())
        })?;
        let count = index.failures.len() + index.annotations.len() + index.verdicts.len();
        out.note(if count == 0 {
            "speaks of runs in other files; holds no run itself".to_owned()
        } else {
            format!(
                "speaks of {count} runs or spans in other files: joined with those that the same import reads; hint: name both folders in one call"
            )
        });
        Ok(())
    }
}
