//! `triagent suggest`: the machine's layer by rules and evidence, for scripts and for after labelling.

use super::Done;
use super::env::Env;
use super::output::{Cell, Table};
use crate::error::Result;
use crate::jobs;
use crate::triage::Suggestion;

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
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let store = env.store()?;
    let register = jobs::register(&store)?;
    let said = match &args.run {
        Some(typed) => vec![jobs::suggest_run(
            &store,
            &store.resolve(typed)?,
            &register,
        )?],
        None => {
            let filter = env.filter(args.filter.as_deref())?;
            env.watch("suggest", move |progress| {
                jobs::suggest(&store, &filter, &register, progress)
            })??
        }
    };
    if env.out.is_json() {
        said.iter().try_for_each(|one| env.out.row(one))?;
        return Ok(Done::Whole);
    }
    if said.is_empty() {
        env.out
            .say("no failed run passes; a suggestion needs a failure")?;
        return Ok(Done::Whole);
    }
    let mut table = Table::new(&["run", "layer", "row", "strength", "reason"]);
    said.iter().for_each(|one| table.push(row(one)));
    env.out.table(&table)?;
    Ok(Done::Whole)
}

fn row(one: &Suggestion) -> Vec<Cell> {
    let strength = serde_json::to_value(one.strength).unwrap_or_default();
    vec![
        Cell::new(&one.run),
        Cell::new(one.layer),
        Cell::number(one.row),
        Cell::maybe(strength.as_str()),
        Cell::new(&one.reason),
    ]
}
