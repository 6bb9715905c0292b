//! `triagent agreement` and `triagent adjudicate`: how far reviewers agree, and settling where they do not.

use super::Done;
use super::env::Env;
use super::list::verdict_json;
use super::output::{Cell, Table};
use crate::domain::{Decision, Layer};
use crate::error::{Failure, Result};
use crate::jobs;
use crate::store::{Store, StoreError};
use crate::text;
use crate::triage::{AgreementReport, BiasReport, agreement_report, pair_bias};
use serde_json::json;
use std::collections::HashSet;

/// Say how far reviewers agree, with intervals
///
/// Computed on each reviewer's own labels, before anything was settled: Krippendorff's α as the headline, κ, raw agreement and AC1 beside it.
/// Where a statistic is undefined, the reason stands in its place.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Labels of runs, or decisions on pairs with their bias
    #[arg(value_enum, default_value = "verdicts")]
    what: What,
    /// Only runs that pass
    #[arg(long, short, value_name = "EXPR")]
    filter: Option<String>,
    /// List what reviewers differ on instead
    #[arg(long)]
    differences: bool,
    /// Seed of the bootstrap
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// Layers of runs
    Verdicts,
    /// Choices on pairs
    Pairs,
}

/// Settle what reviewers label differently
///
/// Without arguments: the differences that nobody has settled. The settled label is a record of its own; the original labels stay, and
/// agreement is still computed on them.
#[derive(Debug, clap::Args)]
pub(crate) struct AdjudicateArgs {
    /// The run
    #[arg(value_name = "RUN", requires = "layer")]
    run: Option<String>,
    /// The layer that holds
    #[arg(long, short, value_name = "L", requires = "run", value_parser = super::label::layers())]
    layer: Option<String>,
    /// Why
    #[arg(long, default_value = "", value_name = "TEXT")]
    note: String,
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let store = env.store()?;
    let ratings = match args.what {
        What::Verdicts => jobs::layer_ratings(&store, among(&store, args, env)?.as_ref())?,
        What::Pairs => jobs::pair_ratings(&store)?,
    };
    let report = agreement_report(&ratings, args.seed);
    if args.differences {
        differences(&report, env)?;
        return Ok(Done::Whole);
    }
    statistics(&report, env)?;
    if args.what == What::Pairs {
        bias(&pair_bias(&jobs::pair_traces(&store)?), env)?;
    }
    Ok(Done::Whole)
}

fn among(store: &Store, args: &Args, env: &Env) -> Result<Option<HashSet<String>>> {
    let Some(filter) = &args.filter else {
        return Ok(None);
    };
    let mut names = HashSet::new();
    store.each_run(&env.filter(Some(filter))?, |row| {
        names.insert(row.id.0);
        Ok::<(), StoreError>(())
    })?;
    Ok(Some(names))
}

fn statistics(report: &AgreementReport, env: &mut Env) -> Result<()> {
    let mut table = Table::new(&["statistic", "value", "95 % interval", "n", "reason"]);
    for one in &report.statistics {
        if env.out.is_json() {
            env.out.row(one)?;
            continue;
        }
        let interval = one.interval.map(|i| format!("{:.3}–{:.3}", i.low, i.high));
        table.push(vec![
            Cell::new(&one.statistic),
            Cell::number(one.value.map(|v| format!("{v:.3}"))),
            Cell::maybe(interval),
            Cell::number(Some(one.n)),
            Cell::new(&one.reason),
        ]);
    }
    if table.is_empty() {
        return Ok(());
    }
    env.out.table(&table)?;
    let differing = report.disagreements.len();
    env.out.say(format!(
        "{} on which reviewers differ (--differences lists them), {} with fewer than two labels left out",
        text::plural(differing as u64, "item"),
        report.dropped
    ))
}

fn bias(bias: &BiasReport, env: &mut Env) -> Result<()> {
    if env.out.is_json() {
        return env.out.row(&json!({ "bias": bias }));
    }
    env.out.line(format!(
        "left chosen {} of {} (p = {:.3}); longer side chosen {}, shorter {} (p = {:.3})",
        bias.left_chosen,
        bias.sided,
        bias.side_p,
        bias.chosen_longer,
        bias.rejected_longer,
        bias.length_p
    ))
}

fn differences(report: &AgreementReport, env: &mut Env) -> Result<()> {
    let mut table = Table::new(&["item", "labels"]);
    for one in &report.disagreements {
        if env.out.is_json() {
            env.out.row(one)?;
            continue;
        }
        let labels: Vec<String> = one
            .labels
            .iter()
            .map(|(who, what)| format!("{who}: {what}"))
            .collect();
        table.push(vec![Cell::new(&one.item), Cell::new(labels.join(", "))]);
    }
    if table.is_empty() {
        return if report.disagreements.is_empty() {
            env.out
                .say("reviewers differ on nothing that two of them labelled")
        } else {
            Ok(())
        };
    }
    env.out.table(&table)
}

pub(crate) fn adjudicate(args: &AdjudicateArgs, env: &mut Env) -> Result<Done> {
    let mut store = env.store()?;
    let (Some(run), Some(layer)) = (&args.run, &args.layer) else {
        let mut report = agreement_report(&jobs::layer_ratings(&store, None)?, 0);
        let mut open = Vec::new();
        for one in report.disagreements {
            if store.live_on("adjudication", &one.item)?.is_empty() {
                open.push(one);
            }
        }
        report.disagreements = open;
        differences(&report, env)?;
        return Ok(Done::Whole);
    };
    let run = store.resolve(run)?;
    let layer = Layer::from_word(layer)
        .ok_or_else(|| Failure::usage(format!("unknown layer {layer:?}")))?;
    let decision = jobs::adjudication(&store, &run, layer, &args.note)?;
    let record = env.act(|act| store.decide(act, &decision))??;
    if let Decision::Adjudication(verdict) = &record.decision {
        if env.out.is_json() {
            env.out.row(&verdict_json(&record, verdict))?;
        } else {
            env.out
                .line(text::visible(&format!("{run} settled as {layer}")))?;
        }
    }
    Ok(Done::Whole)
}
