//! `triagent outcome` and `triagent note`: pass or fail by a reviewer, and free words.

use super::Done;
use super::env::Env;
use crate::domain::{Decision, Outcome, RunId};
use crate::error::{Failure, Result};
use crate::text;
use serde_json::json;

/// Say whether a run passed or failed, where the log does not know or is wrong
///
/// A reviewer's word goes before the file's, and `pass` makes the run a reviewed demonstration.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Pass, fail or unknown
    #[arg(value_name = "OUTCOME", value_parser = ["pass", "fail", "unknown"])]
    outcome: String,
    /// Runs
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
}

/// Write a note on a run
#[derive(Debug, clap::Args)]
pub(crate) struct NoteArgs {
    /// The run
    #[arg(value_name = "RUN")]
    run: String,
    /// The words
    #[arg(value_name = "TEXT")]
    text: String,
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let mut store = env.store()?;
    let outcome = Outcome::from_word(&args.outcome)
        .ok_or_else(|| Failure::usage(format!("unknown outcome {:?}", args.outcome)))?;
    let runs = args
        .runs
        .iter()
        .map(|typed| Ok(store.resolve(typed)?))
        .collect::<Result<Vec<RunId>>>()?;
    let decisions: Vec<Decision> = runs
        .iter()
        .map(|run| Decision::Outcome {
            run: run.clone(),
            outcome,
        })
        .collect();
    env.act(|act| store.decide_batch(act, &decisions))??;
    for run in runs {
        if env.out.is_json() {
            env.out.row(&json!({"run": run, "outcome": outcome}))?;
        } else {
            env.out
                .line(text::visible(&format!("{run} is a {outcome}")))?;
        }
    }
    Ok(Done::Whole)
}

pub(crate) fn note(args: NoteArgs, env: &mut Env) -> Result<Done> {
    let mut store = env.store()?;
    let decision = Decision::Note {
        run: store.resolve(&args.run)?,
        text: args.text,
    };
    let record = env.act(|act| store.decide(act, &decision))??;
    if env.out.is_json() {
        env.out.row(&record)?;
    } else {
        env.out.say("noted")?;
    }
    Ok(Done::Whole)
}
