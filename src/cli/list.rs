//! `triagent list`: runs, calls, pairs, verdicts, tasks and groups, filtered by the one language.

mod decisions;
mod runs;
mod tasks;

pub(crate) use decisions::{pair_json, time, verdict_json};
pub(crate) use runs::run_json;

use super::Done;
use super::env::Env;
use crate::error::Result;

/// List runs, calls, pairs, verdicts, tasks or groups
///
/// The filter language is the one of the screen: layer:index outcome:fail family:refund step.tool:search text:"旧政策" -labelled:me
/// reward.result:0 has:error sort:-steps. A bare word searches all texts. Unknown keys and values are errors with a suggestion.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to list
    #[arg(value_enum, default_value = "runs")]
    what: What,
    /// Only runs that pass, or what belongs to them
    #[arg(long, short, value_name = "EXPR")]
    filter: Option<String>,
    /// Rows at the most; 0 = all [default: 200 for people, all with --json]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// One row a run
    Runs,
    /// One row an inference
    Calls,
    /// One row a decided pair
    Pairs,
    /// One row a current verdict
    Verdicts,
    /// One row a task of the task list
    Tasks,
    /// One row a group of runs that were sampled for one comparison
    Groups,
}

/// Rows that a person can still take in.
const SHOWN: usize = 200;

pub(crate) fn run(args: Args, env: &mut Env) -> Result<Done> {
    let store = env.store()?;
    let filter = env.filter(args.filter.as_deref())?;
    let limit = match (args.limit, env.out.is_json()) {
        (Some(0), _) | (None, true) => usize::MAX,
        (Some(n), _) => n,
        (None, false) => SHOWN,
    };
    match args.what {
        What::Runs => runs::runs(&store, &filter, limit, env)?,
        What::Calls => runs::calls(&store, &filter, limit, env)?,
        What::Groups => runs::groups(&store, &filter, limit, env)?,
        What::Pairs => decisions::pairs(&store, &filter, limit, env)?,
        What::Verdicts => decisions::verdicts(&store, &filter, limit, env)?,
        What::Tasks => tasks::tasks(&store, limit, env)?,
    }
    Ok(Done::Whole)
}

/// Says that a list was cut, or why it is empty.
fn close(shown: usize, total: usize, what: &str, empty: &str, env: &mut Env) -> Result<()> {
    if total == 0 {
        return env.out.say(empty);
    }
    if shown < total {
        env.out
            .say(format!("{shown} of {total} {what}; --limit 0 shows all"))?;
    }
    Ok(())
}
