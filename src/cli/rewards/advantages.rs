//! `triagent rewards advantages 0 0 1 1`: a group's relative signal, the convention always named.

use crate::cli::Done;
use crate::cli::env::Env;
use crate::cli::output::{Cell, Table, Tone};
use crate::error::{Failure, Result};
use crate::reward::{self, Advantages, Convention, RewardError};

/// Turn one group's rewards into advantages
///
/// This recomputes the relative signal only: no probability, no ratio, no clipping, no update. `_` is a missing reward, which is
/// not 0; `-1` is a number.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: triagent rewards advantages 0 0 1 1\n         triagent rewards advantages --convention trl 0.5 _ 1 -1"
)]
pub(crate) struct Args {
    /// Rewards of one group, in order; `_` where one is missing
    #[arg(
        required = true,
        value_name = "REWARD",
        allow_negative_numbers = true,
        value_delimiter = ','
    )]
    rewards: Vec<String>,
    /// How rewards become advantages
    #[arg(long, alias = "std", default_value = "population", value_name = "C", value_parser = words())]
    convention: String,
}

pub(super) fn words() -> Vec<&'static str> {
    Convention::ALL.iter().map(|(_, word)| *word).collect()
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let rewards = args
        .rewards
        .iter()
        .zip(1..)
        .map(|(text, at)| read(text, at))
        .collect::<Result<Vec<_>>>()?;
    let convention = Convention::from_word(&args.convention)?;
    let found = reward::advantages(&rewards, convention, None)?;
    if env.out.is_json() {
        env.out.row(&found)?;
        return Ok(Done::Whole);
    }
    show(&rewards, &found, env)?;
    Ok(Done::Whole)
}

fn read(text: &str, at: usize) -> Result<Option<f64>> {
    if text == "_" {
        return Ok(None);
    }
    let value = text.parse().map_err(|_| {
        Failure::usage(RewardError::NotANumber {
            at,
            value: text.to_owned(),
        })
    })?;
    Ok(Some(value))
}

fn show(rewards: &[Option<f64>], found: &Advantages, env: &mut Env) -> Result<()> {
    let mut table = Table::new(&["reward", "advantage"]);
    for (reward, advantage) in rewards.iter().zip(&found.advantages) {
        let missing = || "missing".to_owned();
        table.push(vec![
            Cell::number(Some(reward.map_or_else(missing, number))),
            Cell::number(Some(advantage.map_or_else(missing, number))),
        ]);
    }
    env.out.table(&table)?;
    let dash = || "n/a".to_owned();
    env.out.line(format!(
        "mean        {}",
        found.mean.map_or_else(dash, number)
    ))?;
    env.out.line(format!(
        "std         {}",
        found.std.map_or_else(dash, number)
    ))?;
    env.out.line(format!(
        "convention  {}: {}",
        found.convention.word(),
        found.formula
    ))?;
    let tone = match found.signal {
        reward::Signal::Relative => Tone::Good,
        reward::Signal::NoRelativeSignal | reward::Signal::NoReward => Tone::Warn,
    };
    let words = env.out.tone(tone, &found.signal_words);
    env.out.line(format!("signal      {words}"))?;
    env.out
        .line("\nThis is relative signal only; nothing was trained. A full update still needs:")?;
    found
        .missing
        .iter()
        .try_for_each(|what| env.out.line(format!("  - {what}")))
}

/// Six decimals at most, no trailing zeros, no minus before nothing.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}
