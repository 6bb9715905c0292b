//! Writes datasets that the real trainers read as they are, and the manifest beside them.
//!
//! It takes plain domain data and leaves files in a folder. It knows no store, no model and no clock; a row that
//! cannot be said is listed with its reason, never bent.

mod atif;
mod blocks;
mod card;
mod columns;
mod conversations;
mod copy;
mod coverage;
mod desk;
mod dump;
mod error;
mod folder;
mod gate;
mod grpo;
mod input;
mod kto;
mod leak;
mod llamafactory;
mod manifest;
mod merge;
mod message;
mod openai;
mod options;
mod preview;
mod redact;
mod rl;
mod select;
mod split;
mod talk;
mod target;
mod trl;
mod types;
mod verl;
mod why;

pub use card::CARD;
pub use coverage::{Cell, Coverage, cell_of};
pub use error::Error;
pub use folder::{FileRecord, MANIFEST};
pub use input::{
    Bindings, Cleaning, Facts, Input, PairInput, Pairs, RunHead, RunInput, Runs, SourceError,
};
pub use leak::{Leak, LeakReport};
pub use manifest::{Block, Bound, Manifest, Redacted, Units};
pub use merge::{Combine, TokenRow, token_rows};
pub use options::{
    Attempts, Format, GroupBy, Limits, Method, NearDuplicates, Options, Purpose, Reasoning, Shape,
    SplitOptions, Undecided,
};
pub use preview::{Preview, PreviewRow};
pub use split::{Part, Plan};
pub use target::{Measure, Measured, Segment, Target};
pub use why::{LeftOut, Why};

use crate::domain::{FindingAction, FindingKind, Progress, TaskId};
use desk::{Consumer, Desk};
use folder::Folder;
use preview::Sample;
use std::collections::BTreeMap;
use std::path::Path;

/// Writes a set into a folder and says what is in it.
pub fn write(
    input: Input<'_>,
    options: &Options<'_>,
    out: &Path,
    progress: &Progress,
) -> Result<Manifest, Error> {
    let (manifest, _) = produce(input, options, out, None, progress)?;
    Ok(manifest)
}

/// Returns the first `want` rows exactly as `write` would write them, and the manifest of the whole set. A closed gate
/// stops no preview: it is told.
pub fn preview(
    input: Input<'_>,
    options: &Options<'_>,
    want: usize,
    progress: &Progress,
) -> Result<Preview, Error> {
    let scratch = preview::Scratch::create()?;
    let options = Options {
        purpose: Purpose::Draft,
        ..options.clone()
    };
    let sample = Some(Sample::new(want));
    let (manifest, rows) = produce(input, &options, scratch.path(), sample, progress)?;
    Ok(Preview { rows, manifest })
}

fn produce(
    input: Input<'_>,
    options: &Options<'_>,
    out: &Path,
    sample: Option<Sample>,
    progress: &Progress,
) -> Result<(Manifest, Vec<PreviewRow>), Error> {
    conversations::check(options)?;
    let Input { facts, runs, pairs } = input;
    let (plan, leaks) = plan(&facts, options);
    let mut desk = Desk::new(options, &facts, plan, Folder::create(out)?);
    desk.sample = sample;
    fill(&mut desk, runs, pairs, progress)?;
    let rows = desk.sample.take().map(|s| s.rows).unwrap_or_default();
    Ok((finish(desk, leaks)?, rows))
}

fn plan(facts: &Facts, options: &Options<'_>) -> (Plan, LeakReport) {
    let Some(split) = &options.split else {
        return (Plan::default(), LeakReport::default());
    };
    let plan = Plan::new(&facts.heads, split, &near_duplicates(facts));
    let leaks = leak::check(&facts.heads, &plan);
    (plan, leaks)
}

/// Hands everything to the consumer.
fn fill(
    desk: &mut Desk<'_>,
    runs: Runs<'_>,
    pairs: Pairs<'_>,
    progress: &Progress,
) -> Result<(), Error> {
    let mut consumer = consumer(desk.options);
    for run in runs {
        let run = run.map_err(Error::Source)?;
        step(desk, "runs", progress)?;
        desk.remember(&run);
        consumer.run(&run, desk)?;
    }
    pairs_in_turn(pairs, consumer.as_mut(), desk, progress)?;
    consumer.finish(desk)
}

fn consumer(options: &Options<'_>) -> Box<dyn Consumer> {
    match options.format {
        Format::TrlSft if options.shape == Shape::Messages => {
            Box::new(conversations::Conversations)
        }
        Format::TrlSft => Box::new(trl::Sft),
        Format::TrlDpo => Box::new(trl::Dpo),
        Format::TrlKto => Box::new(kto::Kto::default()),
        Format::TrlGrpo => Box::new(grpo::Grpo::default()),
        Format::OpenaiSft => Box::new(openai::Sft),
        Format::OpenaiDpo => Box::new(openai::Dpo),
        Format::LlamafactorySft => Box::new(llamafactory::Sft::default()),
        Format::LlamafactoryDpo => Box::new(llamafactory::Dpo::default()),
        Format::VerlRl => Box::new(verl::Rl::default()),
        Format::VerlSft => Box::new(verl::Sft::default()),
        Format::AgentLightning => Box::new(grpo::Lightning::default()),
        Format::Atif => Box::new(atif::Atif::default()),
        Format::Jsonl => Box::new(dump::Lines),
        Format::Parquet => Box::new(dump::Tables::default()),
    }
}

fn step(desk: &mut Desk<'_>, what: &'static str, progress: &Progress) -> Result<(), Error> {
    progress.add(1);
    *desk.read.entry(what).or_default() += 1;
    if progress.is_cancelled() {
        return Err(Error::Cancelled);
    }
    Ok(())
}

/// Hands on pairs; records about the same candidates stand together and must agree.
fn pairs_in_turn(
    pairs: Pairs<'_>,
    consumer: &mut dyn Consumer,
    desk: &mut Desk<'_>,
    progress: &Progress,
) -> Result<(), Error> {
    let mut same: Vec<PairInput> = Vec::new();
    for pair in pairs {
        let pair = pair.map_err(Error::Source)?;
        step(desk, "pairs", progress)?;
        desk.remember(&pair.a);
        desk.remember(&pair.b);
        let subject = pair.record.decision.subject();
        if same
            .first()
            .is_some_and(|first| first.record.decision.subject() != subject)
        {
            agreed(&std::mem::take(&mut same), consumer, desk)?;
        }
        same.push(pair);
    }
    agreed(&same, consumer, desk)
}

fn agreed(
    same: &[PairInput],
    consumer: &mut dyn Consumer,
    desk: &mut Desk<'_>,
) -> Result<(), Error> {
    let Some((first, others)) = same.split_first() else {
        return Ok(());
    };
    let choice = |p: &PairInput| p.pair().map(|p| p.choice);
    if others.iter().any(|other| choice(other) != choice(first)) {
        same.iter()
            .for_each(|p| desk.leave_out(&p.record.id, &Why::Disagreement));
        return Ok(());
    }
    let of = first.record.id.to_string();
    others
        .iter()
        .for_each(|p| desk.leave_out(&p.record.id, &Why::SameDecision { of: of.clone() }));
    match redact::pair(first, desk.options.undecided) {
        Ok(pair) => consumer.pair(&pair, desk),
        Err(why) => {
            desk.leave_out(&first.record.id, &why);
            Ok(())
        }
    }
}

/// Task pairs that cleaning found nearly equal and nobody has called different.
fn near_duplicates(facts: &Facts) -> Vec<(TaskId, TaskId)> {
    let states = facts.cleaning.iter().flat_map(|c| &c.findings);
    let open = states.filter(|s| {
        s.finding.kind == FindingKind::Duplicate && s.action != Some(FindingAction::Keep)
    });
    open.filter_map(|s| match s.finding.tasks.as_slice() {
        [a, b, ..] => Some((a.clone(), b.clone())),
        _ => None,
    })
    .collect()
}

fn finish(mut desk: Desk<'_>, leaks: LeakReport) -> Result<Manifest, Error> {
    desk.coverage.close();
    let blocked = blocks::blocks(&desk, &leaks);
    let (format, purpose) = (desk.options.format.word(), desk.options.purpose);
    if !blocked.is_empty() && purpose == Purpose::Training {
        return Err(Error::Blocked {
            format,
            blocks: blocked,
        });
    }
    let files = desk.folder.close_all()?;
    let mut manifest = record(&desk, leaks, blocked);
    manifest.files = files;
    desk.folder
        .whole(CARD, card::card(&manifest).as_bytes(), 0)?;
    manifest.files = desk.folder.close_all()?;
    let text =
        serde_json::to_string_pretty(&manifest).map_err(|e| Error::Options(e.to_string()))?;
    desk.folder
        .whole(MANIFEST, format!("{text}\n").as_bytes(), 0)?;
    desk.folder.publish()?;
    Ok(manifest)
}

fn record(desk: &Desk<'_>, leaks: LeakReport, blocked: Vec<Block>) -> Manifest {
    let options = desk.options;
    let bindings = blocks::bindings(desk);
    let unbound = bindings.iter().filter(|(_, bound)| !bound.is_bound());
    let missing_bindings: Vec<&'static str> = unbound.map(|(name, _)| *name).collect();
    let total: u64 = desk.rows.values().sum();
    let training = options.purpose == Purpose::Training;
    let mut by_reason: BTreeMap<&'static str, u64> = BTreeMap::new();
    for row in &desk.left_out {
        *by_reason.entry(row.code).or_default() += 1;
    }
    Manifest {
        triagent: env!("CARGO_PKG_VERSION"),
        format: options.format.word(),
        method: options.format.method().word(),
        shape: options.shape.word(),
        purpose: options.purpose.word(),
        acceptable_for_training: training
            && blocked.is_empty()
            && missing_bindings.is_empty()
            && total > 0,
        blocked,
        missing_bindings,
        warnings: blocks::warnings(desk, &leaks),
        trainer_settings: desk.settings.clone(),
        rows: desk
            .rows
            .iter()
            .map(|(part, n)| (part.word(), *n))
            .collect(),
        read: desk.read.clone(),
        files: Vec::new(),
        filter: desk.facts.filter.clone(),
        split: split_record(desk),
        leaks,
        bindings,
        units: desk.units.clone(),
        coverage: desk.coverage.clone(),
        agreement: desk.facts.agreement.clone(),
        advice: desk.facts.advice.iter().cloned().collect(),
        decisions_sha256: desk.facts.decisions_sha256.clone(),
        choices: BTreeMap::from([
            ("attempts", options.attempts.word()),
            ("reasoning", options.reasoning.word()),
            ("undecided", options.undecided.word()),
        ]),
        limits: serde_json::json!({
            "tokens": options.limits.tokens,
            "shortest_share": options.limits.shortest_share,
            "clarifications": options.limits.clarifications,
            "template_share": options.limits.template_share,
        }),
        redacted: desk.redacted.clone(),
        left_out_by_reason: by_reason,
        left_out: desk.left_out.clone(),
    }
}

fn split_record(desk: &Desk<'_>) -> serde_json::Value {
    let Some(split) = &desk.options.split else {
        return serde_json::Value::Null;
    };
    let groups: BTreeMap<&str, usize> = desk
        .plan
        .groups
        .iter()
        .map(|(p, n)| (p.word(), *n))
        .collect();
    serde_json::json!({
        "by": split.by.word(), "seed": split.seed, "validation_percent": split.validation,
        "test_percent": split.test, "near_duplicates": split.near_duplicates.word(), "groups": groups,
    })
}
