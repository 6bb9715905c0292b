//! The demo's decisions: labels, outcomes, pairs and what becomes of findings.

use super::script::{PairScript, Script};
use super::{DEMO_REVIEWER, Stage};
use crate::domain::chat::Role;
use crate::domain::{
    ChatMessage, Checklist, Choice, Criterion, Decision, FindingAction, FindingKind, Layer,
    Outcome, Progress, RunId, StepRef, Verdict,
};
use crate::jobs::{
    JobError, PairWords, SideName, build_pair, check, ensure_cleaning_key, findings,
};
use crate::store::{Act, Store};
use crate::text;
use crate::triage::{Taxonomy, is_blocked};
use serde_json::json;
use std::collections::BTreeMap;

fn decide_all(store: &mut Store, decisions: &[Decision], now_us: i64) -> Result<(), JobError> {
    let codebook = Taxonomy::embedded().version;
    let act = Act {
        reviewer: DEMO_REVIEWER,
        now_us,
        codebook: &codebook,
    };
    store.decide_batch(act, decisions)?;
    Ok(())
}

pub(super) fn labels(store: &mut Store, script: &Script, now_us: i64) -> Result<Stage, JobError> {
    let mut decisions = Vec::new();
    let mut layers: BTreeMap<Layer, u32> = BTreeMap::new();
    for (name, run) in &script.runs {
        let id = RunId::from(name.as_str());
        if let Some(layer) = run.layer {
            *layers.entry(layer).or_default() += 1;
            let all_seen = layer == Layer::Model;
            decisions.push(Decision::Verdict(Verdict {
                decisive_step: run.decisive_step,
                checklist: Checklist {
                    document_visible: all_seen,
                    version_valid: all_seen,
                    date_in_context: all_seen,
                    tool_text_clear: all_seen,
                },
                note: run.cause.clone().unwrap_or_default(),
                ..Verdict::new(id.clone(), layer)
            }));
        }
        if run.sft_worthy {
            decisions.push(Decision::Outcome {
                run: id,
                outcome: Outcome::Pass,
            });
        }
    }
    decide_all(store, &decisions, now_us)?;
    let labelled: u32 = layers.values().sum();
    let reviewed = decisions.len() - usize::try_from(labelled).unwrap_or(0);
    let shares: Vec<String> = layers.iter().map(|(l, n)| format!("{l} {n}")).collect();
    Ok(Stage {
        stage: "label",
        said: vec![
            format!("{labelled} failures labelled: {}", shares.join(", ")),
            format!("{reviewed} successes accepted as demonstrations"),
        ],
        result: json!({"labelled": labelled, "layers": layers, "reviewed": reviewed}),
    })
}

pub(super) fn pairs(store: &mut Store, script: &Script, now_us: i64) -> Result<Stage, JobError> {
    let mut decisions = Vec::new();
    let mut said = Vec::new();
    let mut keep = |store: &Store, chosen: SideName, rejected: SideName, why: Why<'_>| {
        let (pair, problems) = build_pair(store, &chosen, &rejected, why.words())?;
        if is_blocked(&problems) {
            let first = problems
                .first()
                .map(ToString::to_string)
                .unwrap_or_default();
            said.push(format!("not a pair: {first}"));
        } else {
            decisions.push(Decision::Pair(Box::new(pair)));
        }
        Ok::<(), JobError>(())
    };
    for pair in &script.four.pairs {
        keep(
            store,
            side(&pair.chosen),
            side(&pair.rejected),
            Why::of(pair),
        )?;
    }
    for (name, pass) in &script.teaching.passes {
        if let (Some(other), Some(at)) = (&pass.pair_with, pass.at) {
            let (chosen, rejected) = (at_step(name, at), at_step(other, at));
            keep(
                store,
                chosen,
                rejected,
                Why::plain("the pass decided better on the same request"),
            )?;
        }
    }
    let recorded = script.four.pairs.len() + 2;
    let mut written = 0;
    for (name, run) in &script.runs {
        // Only where all evidence was in view: elsewhere the corrected answer would teach to invent.
        let (Some(Layer::Model), Some(text), Some(at)) =
            (run.layer, &run.corrected, run.decisive_step)
        else {
            continue;
        };
        written += 1;
        let message = ChatMessage::text(Role::Assistant, text.clone());
        let chosen = SideName::Written(Box::new(message));
        let why = Why::plain("it compares the conditions that the document names");
        keep(store, chosen, at_step(name, at), why)?;
    }
    decide_all(store, &decisions, now_us)?;
    let saved = decisions.len();
    said.insert(
        0,
        format!("{saved} pairs decided: {recorded} between recorded decisions, {written} against a side that a reviewer wrote"),
    );
    Ok(Stage {
        stage: "pair",
        said,
        result: json!({"pairs": saved, "written": written}),
    })
}

/// Why a side is better.
struct Why<'a> {
    criterion: Criterion,
    reason: &'a str,
}

impl<'a> Why<'a> {
    fn of(pair: &'a PairScript) -> Self {
        Self {
            criterion: Criterion::from_word(&pair.criterion).unwrap_or(Criterion::Other),
            reason: &pair.reason,
        }
    }

    fn plain(reason: &'a str) -> Self {
        Self {
            criterion: Criterion::ConditionsComplete,
            reason,
        }
    }

    fn words(&self) -> PairWords {
        PairWords {
            choice: Choice::A,
            criteria: vec![self.criterion],
            reason: self.reason.to_owned(),
            evidence: None,
            standard: None,
            author: DEMO_REVIEWER.to_owned(),
            shown: None,
        }
    }
}

fn at_step(run: &str, step: u32) -> SideName {
    SideName::At(StepRef {
        run: RunId::from(run),
        step,
    })
}

/// `RUN:STEP` as the script writes it.
fn side(text: &str) -> SideName {
    let named = text.rsplit_once(':');
    match named.and_then(|(run, step)| Some((run, step.parse().ok()?))) {
        Some((run, step)) => at_step(run, step),
        None => SideName::Run(RunId::from(text)),
    }
}

/// The demo's placeholders are the same on every machine; a user's workspace draws its own key.
const DEMO_KEY: [u8; 32] = *b"triagent demo workspace, no key.";

pub(super) fn clean(
    store: &mut Store,
    now_us: i64,
    progress: &Progress,
) -> Result<Stage, JobError> {
    ensure_cleaning_key(store, DEMO_KEY, now_us)?;
    let checked = check(store, now_us, progress)?;
    let mut kinds: BTreeMap<FindingKind, u32> = BTreeMap::new();
    let mut decisions = Vec::new();
    for state in findings(store)? {
        let finding = state.finding;
        *kinds.entry(finding.kind).or_default() += 1;
        let action = match finding.kind {
            FindingKind::Secret | FindingKind::Personal => FindingAction::Redact,
            FindingKind::Duplicate | FindingKind::Template => FindingAction::Keep,
            // Left open: such a run can be rejected, never demonstrate.
            FindingKind::Tamper | FindingKind::Evidence => continue,
        };
        decisions.push(Decision::Finding {
            finding: finding.id,
            action: action.word().to_owned(),
            reason: "demo".to_owned(),
        });
    }
    decide_all(store, &decisions, now_us)?;
    let counts: Vec<String> = kinds.iter().map(|(k, n)| format!("{k} {n}")).collect();
    Ok(Stage {
        stage: "clean",
        said: vec![format!(
            "{}: {}; {} decided",
            text::plural(checked.findings, "finding"),
            counts.join(", "),
            decisions.len()
        )],
        result: json!({"findings": checked.findings, "kinds": kinds, "decided": decisions.len()}),
    })
}
