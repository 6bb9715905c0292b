//! `triagent config show`: the settings that hold, each with its origin.

use super::Done;
use super::env::Env;
use super::output::{Cell, Table, Tone};
use crate::config::Origin;
use crate::error::Result;
use serde::Serialize;

/// Show the settings
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Print every setting with its value and where it comes from
    Show,
    /// Print the default settings file, with its comments
    Default,
}

#[derive(Serialize)]
struct Row<'a> {
    key: &'a str,
    value: &'a toml::Value,
    origin: String,
}

pub(crate) fn run(args: Args, env: &mut Env) -> Result<Done> {
    match args.verb {
        Verb::Show => show(env),
        Verb::Default => {
            env.out.bytes(crate::config::DEFAULTS.as_bytes())?;
            Ok(Done::Whole)
        }
    }
}

fn show(env: &mut Env) -> Result<Done> {
    let config = env.config()?;
    if env.out.is_json() {
        for (key, (value, origin)) in &config.entries {
            let origin = origin.to_string();
            env.out.row(&Row { key, value, origin })?;
        }
        return Ok(Done::Whole);
    }
    let mut table = Table::new(&["setting", "value", "origin"]);
    for (key, (value, origin)) in &config.entries {
        let tone = match origin {
            Origin::Default => Tone::Dim,
            Origin::File(_) => Tone::Plain,
        };
        table.push(vec![
            Cell::new(key),
            Cell::new(value),
            Cell::new(origin).tone(tone),
        ]);
    }
    env.out.table(&table)?;
    Ok(Done::Whole)
}
