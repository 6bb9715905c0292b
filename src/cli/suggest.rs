//! `triagent suggest`: the machine's layer by rules and evidence, for scripts and for after labelling.

mod cohorts;

use super::Done;
use super::env::Env;
use super::output::{Cell, Table};
use crate::error::Result;
use crate::jobs;
use crate::text;
use crate::triage::{Suggestion, suggestion_table};
use std::collections::BTreeMap;

/// Suggest a layer for failed runs, by rules and evidence
///
/// Deterministic rows first; rows that need a probe use one only where it was run; `undetermined` where nothing holds. A suggestion is
/// never a label: on the screen it stays hidden until the reviewer has saved one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this run [default: every failed run]
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// Only failed runs that pass
    #[arg(long, short, value_name = "EXPR", conflicts_with = "run")]
    filter: Option<String>,
    /// One row a cohort instead: statuses, layers, abstention, agreement with blind verdicts
    #[arg(long, conflicts_with = "run")]
    cohorts: bool,
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let mut store = env.store()?;
    let register = jobs::register(&store)?;
    let said = match &args.run {
        Some(typed) => vec![jobs::suggest_run(
            &store,
            &store.resolve(typed)?,
            &register,
        )?],
        None => {
            let (filter, store) = (env.filter(args.filter.as_deref())?, &mut store);
            env.watch("suggest", move |progress| {
                jobs::suggest(store, &filter, &register, progress)
            })??
        }
    };
    if args.cohorts {
        cohorts::show(&jobs::suggestion_tables(&store, &said)?, env)?;
        return Ok(Done::Whole);
    }
    if env.out.is_json() {
        said.iter().try_for_each(|one| env.out.row(one))?;
        return Ok(Done::Whole);
    }
    if said.is_empty() {
        env.out
            .say("no failed run here; a suggestion needs a failure, and `triagent outcome fail RUN` says that a run is one")?;
        return Ok(Done::Whole);
    }
    let mut table = Table::new(&["run", "layer", "row", "strength", "reason"]);
    let notes = repeated(&said);
    said.iter().for_each(|one| table.push(row(one, &notes)));
    env.out.table(&table)?;
    for (n, reason) in (1..).zip(&notes) {
        env.out.line(text::visible(&format!("[{n}] {reason}")))?;
    }
    if said.len() > 1 {
        let layers = suggestion_table(&said);
        let abstains = layers.abstention.map(text::per_cent).unwrap_or_default();
        env.out.say(format!(
            "{} failed runs, no layer named for {abstains}; --cohorts shows statuses, layers and agreement with people",
            said.len()
        ))?;
    }
    Ok(Done::Whole)
}

/// Reasons that several runs share, in the order of their first run: said once, below the table.
fn repeated(said: &[Suggestion]) -> Vec<&str> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for one in said {
        *seen.entry(&one.reason).or_default() += 1;
    }
    let mut notes: Vec<&str> = Vec::new();
    for one in said {
        let reason = one.reason.as_str();
        if seen.get(reason).is_some_and(|n| *n > 1) && !notes.contains(&reason) {
            notes.push(reason);
        }
    }
    notes
}

fn row(one: &Suggestion, notes: &[&str]) -> Vec<Cell> {
    let note = (1..).zip(notes).find(|(_, reason)| **reason == one.reason);
    let reason = note.map_or_else(|| one.reason.clone(), |(n, _): (usize, _)| format!("[{n}]"));
    let strength = serde_json::to_value(one.strength).unwrap_or_default();
    vec![
        Cell::new(&one.run),
        Cell::new(one.layer),
        Cell::number(one.row),
        Cell::maybe(strength.as_str()),
        Cell::new(reason),
    ]
}
