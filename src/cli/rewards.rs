//! `triagent rewards`: relative signal of numbers, health of recorded groups, what fools a grader.

mod advantages;
mod audit;
mod groups;

use super::Done;
use super::env::Env;
use crate::error::Result;

/// Look at rewards: relative signal, group health, graders
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Advantages(advantages::Args),
    Groups(groups::Args),
    Audit(audit::Args),
}

pub(crate) fn run(args: Args, env: &mut Env) -> Result<Done> {
    match args.verb {
        Verb::Advantages(args) => advantages::run(&args, env),
        Verb::Groups(args) => groups::run(&args, env),
        Verb::Audit(args) => audit::run(&args, env),
    }
}
