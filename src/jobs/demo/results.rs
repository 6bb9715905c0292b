//! The demo's results: evidence, scores, relative signal, advice, datasets.

use super::Stage;
use super::script::Script;
use crate::advise::Rules;
use crate::domain::{EvidenceStatus, Filter, Outcome, Progress, ScoreSubject, Side};
use crate::export::{Bindings, Format, Options, Purpose};
use crate::jobs::{
    ExportChoice, JobError, ScoreOptions, Scored, export as write, register, score as score_all,
    suggest,
};
use crate::reward::{Convention, advantages};
use crate::score::Scorer;
use crate::store::{Store, StoreError};
use crate::text;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Cohorts whose advice the demo prints.
const COHORTS_SHOWN: usize = 2;

pub(super) fn evidence(
    store: &Store,
    script: &Script,
    progress: &Progress,
) -> Result<Stage, JobError> {
    let said = suggest(store, &Filter::default(), &register(store)?, progress)?;
    let mut statuses: BTreeMap<EvidenceStatus, u32> = BTreeMap::new();
    let (mut agree, mut known) = (0, 0);
    for one in &said {
        for evidence in &one.evidence {
            *statuses.entry(evidence.status).or_default() += 1;
        }
        let expected = script
            .runs
            .get(one.run.as_str())
            .and_then(|r| r.evidence_status.as_deref());
        if let (Some(expected), Some(found)) = (expected, one.evidence.first()) {
            known += 1;
            agree += u32::from(found.status.word() == expected);
        }
    }
    let unnamed = said.iter().filter(|s| s.evidence.is_empty()).count();
    let mut counts: Vec<String> = statuses.iter().map(|(s, n)| format!("{s} {n}")).collect();
    if unnamed > 0 {
        counts.push(format!("task names none {unnamed}"));
    }
    let decided = said.iter().filter(|s| s.row.is_some()).count();
    Ok(Stage {
        stage: "evidence",
        said: vec![
            format!(
                "required documents of {} failures: {}",
                said.len(),
                counts.join(", ")
            ),
            format!("{agree} of {known} statuses are those written beside the logs"),
            format!(
                "a layer is suggested for {decided}, {} stay undetermined",
                said.len() - decided
            ),
        ],
        result: json!({"failures": said.len(), "statuses": statuses, "agree": agree, "known": known, "suggested": decided}),
    })
}

pub(super) fn score(
    store: &mut Store,
    scorer: &mut Scorer,
    now_us: i64,
    progress: &Progress,
) -> Result<Stage, JobError> {
    let options = ScoreOptions {
        pairs_only: true,
        ..ScoreOptions::default()
    };
    let mut sides: BTreeMap<String, [Option<f64>; 2]> = BTreeMap::new();
    let mut first_failure = None;
    let mut each = |one: &Scored| match one {
        Scored::Score { score, .. } => {
            if let ScoreSubject::PairSide { pair, side } = &score.subject {
                let slot = usize::from(*side == Side::B);
                sides.entry(pair.0.clone()).or_default()[slot] = Some(score.logp_per_byte());
            }
        }
        Scored::Failed { error, .. } => {
            first_failure.get_or_insert_with(|| error.to_string());
        }
    };
    let totals = score_all(store, scorer, &options, now_us, progress, &mut each)?;
    let complete = sides.values().filter_map(|[a, b]| Some((*a)? > (*b)?));
    let outcomes: Vec<bool> = complete.collect();
    let prefers = outcomes.iter().filter(|p| **p).count();
    let mut said = vec![format!(
        "{} sides scored with {} on {}",
        totals.scored,
        scorer.binding().model,
        scorer.device()
    )];
    said.push(format!(
        "it finds the preferred side likelier a byte in {prefers} of {} pairs; a proxy speaks for itself, not for the logged policy",
        outcomes.len()
    ));
    if let Some(why) = first_failure {
        said.push(format!("{} could not be scored: {why}", totals.failed));
    }
    Ok(Stage {
        stage: "score",
        said,
        result: json!({
            "scored": totals.scored, "failed": totals.failed, "pairs": outcomes.len(), "prefers_chosen": prefers,
            "binding": scorer.binding(),
        }),
    })
}

pub(super) fn rewards(store: &Store) -> Result<Stage, JobError> {
    let mut groups: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
    store.each_run(&Filter::default(), |row| {
        if let Some(group) = row.group.filter(|_| row.outcome != Outcome::Unknown) {
            groups.entry(group).or_default().push(row.reward_result);
        }
        Ok::<(), StoreError>(())
    })?;
    let mut said = Vec::new();
    let mut rows = Vec::new();
    for (group, rewards) in &groups {
        let Ok(found) = advantages(rewards, Convention::Population, None) else {
            continue;
        };
        let numbers = |list: &[Option<f64>]| {
            let words: Vec<String> = list
                .iter()
                .map(|v| v.map_or_else(|| "_".to_owned(), |v| format!("{v}")))
                .collect();
            words.join(" ")
        };
        said.push(format!(
            "{group}: rewards {} → {} ({}, {})",
            numbers(rewards),
            numbers(&found.advantages),
            found.convention.word(),
            found.signal_words
        ));
        rows.push(json!({"group": group, "rewards": rewards, "advantages": found}));
    }
    Ok(Stage {
        stage: "rewards",
        said,
        result: json!({ "groups": rows }),
    })
}

pub(super) fn advise(
    store: &mut Store,
    now_us: i64,
    progress: &Progress,
) -> Result<Stage, JobError> {
    let advice = crate::jobs::advise(store, None, &toml::Table::new(), now_us, progress)?;
    let version = Rules::embedded().map(|r| r.version).unwrap_or_default();
    let mut said = vec![format!(
        "{} by rules version {version}",
        text::plural(advice.len() as u64, "cohort")
    )];
    for one in advice.iter().take(COHORTS_SHOWN) {
        let book = &one.book.advice;
        said.push(format!("{}: {}", book.cohort, book.headline));
        let system = book.shares.system.as_ref();
        if let Some(share) = system {
            said.push(format!(
                "  system share {} [{}–{}] of {} labelled failures",
                text::per_cent(share.share),
                text::per_cent(share.low),
                text::per_cent(share.high),
                book.shares.n
            ));
        }
        said.extend(book.next.iter().map(|step| format!("  next: {step}")));
        let first = book
            .refusals
            .iter()
            .find(|r| r.gate == "G2")
            .or(book.refusals.first());
        if let Some(refusal) = first {
            said.push(format!(
                "  {} refused by {}: {} (needs {})",
                refusal.method, refusal.gate, refusal.value, refusal.threshold
            ));
        }
    }
    let rows: Vec<Value> = advice
        .iter()
        .map(|a| json!({"cohort": a.book.advice.cohort, "rule": a.book.advice.rule, "headline": a.book.advice.headline}))
        .collect();
    Ok(Stage {
        stage: "advise",
        said,
        result: json!({ "cohorts": rows }),
    })
}

pub(super) fn export(store: &Store, out: &Path, progress: &Progress) -> Result<Stage, JobError> {
    let mut said = Vec::new();
    let mut sets = Vec::new();
    for format in [Format::TrlSft, Format::TrlDpo] {
        let choice = ExportChoice {
            bindings: Bindings {
                reference: Some("desk-7b-r5".to_owned()),
                ..Bindings::default()
            },
            ..ExportChoice::default()
        };
        let options = Options {
            // The sample workspace has too few of everything to train on, and its manifest says so.
            purpose: Purpose::Draft,
            ..Options::new(format)
        };
        let folder = out.join(format.word());
        let manifest = write(store, &choice, &options, &folder, progress)?;
        let rows: u64 = manifest.rows.values().sum();
        said.push(format!(
            "{}: {} in {}; {} left out, each with its reason in the manifest",
            format.word(),
            text::plural(rows, "row"),
            folder.display(),
            manifest.left_out.len()
        ));
        said.extend(
            manifest
                .blocked
                .iter()
                .map(|b| format!("  must not train: {b}")),
        );
        sets.push(json!({"format": format.word(), "folder": folder.display().to_string(), "rows": rows, "left_out": manifest.left_out_by_reason}));
    }
    Ok(Stage {
        stage: "export",
        said,
        result: json!({ "sets": sets }),
    })
}
