//! `triagent calibrate`: is this model any good as a proxy, on failures whose cause is known?

use super::Done;
use super::env::Env;
use super::output::{Cell, Table, Tone};
use super::score::ModelArgs;
use crate::domain::Layer;
use crate::error::{Failure, Result};
use crate::jobs::{self, CalibrateOptions, Calibration, Comparison};
use crate::score::Scorer;
use crate::stats::Interval;
use crate::store::Store;
use crate::text;
use crate::triage::{Quality, Reliability};

/// Measure a model on the fault suite: does its probe beat the rules alone?
///
/// The program carries 180 failed decisions whose cause was put in. All get a look with one cell, a seeded sample all twelve; the
/// suggestions are compared with those of the rules alone: macro-F1, confusion, abstention, reliability, paired bootstrap by task. A
/// model whose probe does not beat the rules stays out of `suggest`. The result is kept in the workspace, if there is one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Failures that get all twelve cells
    #[arg(long, value_name = "N", default_value_t = 20)]
    full: usize,
    /// Draws the sample and the bootstrap
    #[arg(long, value_name = "S", default_value_t = 20_250_701)]
    seed: u64,
    /// Compute nothing: show what is known of this model, from this workspace or shipped with the program
    #[arg(long)]
    known: bool,
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let options = CalibrateOptions {
        full: args.full,
        seed: args.seed,
        template_declared: args.model.names_template(),
        settings: env.config()?.probe,
    };
    let mut store = workspace(env)?;
    let mut scorer = args.model.open(env)?;
    if args.known {
        return known(store.as_ref(), &scorer, env);
    }
    let now = env.now_us();
    let found = env.watch("calibrate", |progress| {
        jobs::calibrate(store.as_mut(), &mut scorer, &options, now, progress)
    })??;
    if store.is_none() {
        env.out
            .say("no workspace here, so the result is shown and not kept")?;
    }
    if env.out.is_json() {
        env.out.row(&found)?;
    } else {
        show(&found, env)?;
    }
    Ok(Done::Whole)
}

fn known(store: Option<&Store>, scorer: &Scorer, env: &mut Env) -> Result<Done> {
    let Some(found) = jobs::calibration_of(store, scorer.binding())? else {
        return Err(Failure::user(format!(
            "nothing is known of {}, so its probes stay out of suggestions",
            scorer.binding().model
        ))
        .hint("`triagent calibrate` without --known measures it"));
    };
    if env.out.is_json() {
        env.out.row(&found)?;
    } else {
        show(&found, env)?;
    }
    Ok(Done::Whole)
}

/// A calibration needs no workspace; where one can be written, a stopped one goes on.
fn workspace(env: &Env) -> Result<Option<Store>> {
    match env.existing_workspace()? {
        Some(_) if !env.global.read_only => Ok(Some(env.store()?)),
        Some(_) | None => Ok(None),
    }
}

fn show(found: &Calibration, env: &mut Env) -> Result<()> {
    let binding = &found.binding;
    let name = env.out.tone(Tone::Bold, &text::visible(&binding.model));
    env.out.line(format!(
        "{name}  {}, weights {}",
        binding.dtype, binding.weights
    ))?;
    comparison("all failures, one cell (point values)", &found.screen, env)?;
    let title = format!("{} failures, all cells", found.full.cases.len());
    comparison(&title, &found.full, env)?;
    confusion(&found.screen.probe, env)?;
    if let Some(table) = &found.screen.reliability {
        reliability(table, env)?;
    }
    let tone = if found.ship { Tone::Good } else { Tone::Warn };
    let word = if found.ship {
        "✓ on"
    } else {
        "✗ off by default"
    };
    let word = env.out.tone(tone, &format!("probe {word}"));
    env.out.line(format!("\n{word}: {}", found.verdict))?;
    if !found.uses_evidence {
        env.out.line(
            "rows 7 and 8 stay undetermined: this model was not shown to turn on evidence (recall of index and context below 0.7)",
        )?;
    }
    Ok(())
}

fn comparison(title: &str, c: &Comparison, env: &mut Env) -> Result<()> {
    let title = env.out.tone(Tone::Bold, title);
    env.out.line(format!("\n{title}"))?;
    let mut table = Table::new(&["", "macro-F1", "right", "right if named", "abstains"]);
    for (name, q) in [("rules alone", &c.rules), ("rules and probe", &c.probe)] {
        table.push(vec![
            Cell::new(name),
            number(q.macro_f1),
            share(q.accuracy),
            share(q.right_when_named),
            share(Some(q.abstention)),
        ]);
    }
    env.out.table(&table)?;
    if let Some(gain) = &c.gain {
        let interval = gain.interval.map_or_else(String::new, range);
        env.out.line(format!(
            "difference {:+.3} {interval}, {} draws of {} tasks",
            gain.difference, gain.draws, gain.groups
        ))?;
    }
    by_class(c, env)?;
    let failed: Vec<String> = c
        .failed_gates
        .iter()
        .map(|(gate, n)| format!("{gate} {n}"))
        .collect();
    if !failed.is_empty() {
        env.out
            .line(format!("gates that failed first: {}", failed.join(", ")))?;
    }
    let unscored = c.cases.iter().filter(|r| r.not_scored.is_some()).count();
    if unscored > 0 {
        env.out.line(format!(
            "{unscored} could not be scored; there the rules speak"
        ))?;
    }
    Ok(())
}

fn by_class(c: &Comparison, env: &mut Env) -> Result<()> {
    let mut table = Table::new(&["cause", "n", "F1 rules", "F1 both", "precision", "recall"]);
    for class in &c.probe.classes {
        let alone = c.rules.classes.iter().find(|r| r.layer == class.layer);
        table.push(vec![
            Cell::new(class.layer),
            Cell::number(Some(class.support)),
            number(alone.and_then(|a| a.f1)),
            number(class.f1),
            number(class.precision),
            number(class.recall),
        ]);
    }
    env.out.table(&table)
}

fn confusion(q: &Quality, env: &mut Env) -> Result<()> {
    let title = env.out.tone(
        Tone::Bold,
        "put in (rows) and said (columns), rules and probe, one cell",
    );
    env.out.line(format!("\n{title}"))?;
    let mut heads = vec!["cause"];
    heads.extend(Layer::ALL.iter().map(|l| l.word()));
    let mut table = Table::new(&heads);
    for truth in q.classes.iter().filter(|c| c.support > 0) {
        let mut row = vec![Cell::new(truth.layer)];
        row.extend(Layer::ALL.iter().map(|said| {
            let cell = q
                .confusion
                .iter()
                .find(|c| c.truth == truth.layer && c.said == *said);
            Cell::number(Some(cell.map_or(0, |c| c.n)))
        }));
        table.push(row);
    }
    env.out.table(&table)
}

fn reliability(r: &Reliability, env: &mut Env) -> Result<()> {
    let title = env.out.tone(
        Tone::Bold,
        "probability by row, learnt on other tasks, against what was right (one cell)",
    );
    env.out.line(format!("\n{title}"))?;
    let mut table = Table::new(&["said", "n", "mean", "right"]);
    for bin in &r.bins {
        table.push(vec![
            Cell::new(format!("{:.1}–{:.1}", bin.from, bin.to)),
            Cell::number(Some(bin.n)),
            number(Some(bin.said)),
            number(Some(bin.right)),
        ]);
    }
    env.out.table(&table)?;
    env.out.line(format!(
        "Brier {:.3} over {} named layers; {:.3} with one probability for all",
        r.brier, r.n, r.brier_constant
    ))
}

fn number(value: Option<f64>) -> Cell {
    Cell::number(value.map(|v| format!("{v:.3}")))
}

fn share(value: Option<f64>) -> Cell {
    Cell::number(value.map(text::per_cent))
}

fn range(interval: Interval) -> String {
    format!("[{:+.3}, {:+.3}]", interval.low, interval.high)
}
