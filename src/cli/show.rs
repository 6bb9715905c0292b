//! `triagent show`: one run, one step of it, one decision or one task, in full.

mod json;
mod person;

pub(crate) use json::call_json;

use super::Done;
use super::env::Env;
use super::list::{pair_json, verdict_json};
use crate::domain::{Decision, DecisionRecord, RunId, TaskId};
use crate::error::{Explain, Failure, Result};
use crate::jobs;
use crate::store::{Store, StoreError};

/// Show a run, a step, a pair, a verdict or a task in full
///
/// RUN is a run's name or any unique beginning of it; RUN:STEP is one step with its whole text. A pair, a verdict or another decision
/// goes by its id, a task by its name.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// RUN, RUN:STEP, a decision's id or a task's name
    #[arg(value_name = "ID")]
    id: String,
    /// Print the bytes that the run or step was read from, as they stand in the file
    #[arg(long)]
    raw: bool,
    /// Print one redacted page of a run, to paste into an issue; Markdown with --markdown
    #[arg(long, conflicts_with = "raw")]
    card: bool,
    /// The card as Markdown
    #[arg(long, requires = "card")]
    markdown: bool,
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let store = env.store()?;
    match find(&store, &args.id)? {
        Found::Run(run, step) if args.raw => raw(&store, &run, step, env)?,
        Found::Run(run, _) if args.card => card(&store, &run, args.markdown, env)?,
        Found::Run(run, None) if env.out.is_json() => json::run(&store, &run, env)?,
        Found::Run(run, Some(step)) if env.out.is_json() => json::step(&store, &run, step, env)?,
        Found::Run(run, None) => person::run(&store, &run, env)?,
        Found::Run(run, Some(step)) => person::step(&store, &run, step, env)?,
        Found::Decision(record) => decision(&record, env)?,
        Found::Task(id) => match store.task(&id)? {
            Some(task) if env.out.is_json() => env.out.row(&task)?,
            Some(task) => env.out.line(pretty(&task)?)?,
            None => return Err(nothing(&args.id)),
        },
    }
    Ok(Done::Whole)
}

enum Found {
    Run(RunId, Option<u32>),
    Decision(Box<DecisionRecord>),
    Task(TaskId),
}

fn find(store: &Store, id: &str) -> Result<Found> {
    let missing = match store.resolve(id) {
        Ok(run) => return Ok(Found::Run(run, None)),
        Err(StoreError::NoSuchRun(_)) => nothing(id),
        Err(other) => return Err(other.into()),
    };
    if let Some((run, step)) = split_step(id) {
        let run = store.resolve(run)?;
        check_step(store, &run, step)?;
        return Ok(Found::Run(run, Some(step)));
    }
    if let Some(record) = store.decision(id)? {
        return Ok(Found::Decision(Box::new(record)));
    }
    let task = TaskId::from(id);
    match store.task(&task)? {
        Some(_) => Ok(Found::Task(task)),
        None => Err(missing),
    }
}

fn nothing(id: &str) -> Failure {
    Failure::user(format!("no run, decision or task is called {id:?}"))
        .hint("`triagent list runs` shows the names; a unique beginning is enough")
}

/// Splits `RUN:STEP`; a run's own name may hold colons, so the last one counts.
pub(crate) fn split_step(text: &str) -> Option<(&str, u32)> {
    let (run, step) = text.rsplit_once(':')?;
    Some((run, step.parse().ok()?))
}

/// The run has that step.
pub(crate) fn check_step(store: &Store, run: &RunId, step: u32) -> Result<()> {
    let count = store.step_count(run)?;
    if step < count {
        return Ok(());
    }
    let last = count.saturating_sub(1);
    Err(Failure::user(format!(
        "{run} has no step {step}; it has {count}, the last is {last}"
    ))
    .hint(format!("`triagent show {run}` lists them")))
}

fn raw(store: &Store, run: &RunId, step: Option<u32>, env: &mut Env) -> Result<()> {
    let bytes = jobs::raw_source(store, run, step).hint(
        "the log may have been moved since the import; the stored text is shown without --raw",
    )?;
    env.out.bytes(&bytes)
}

fn card(store: &Store, run: &RunId, markdown: bool, env: &mut Env) -> Result<()> {
    let card = jobs::card_of(store, run, &env.codebook())?;
    if env.out.is_json() {
        return env.out.row(&card);
    }
    let page = if markdown {
        card.markdown()
    } else {
        card.text()
    };
    env.out.line(page.trim_end())
}

fn decision(record: &DecisionRecord, env: &mut Env) -> Result<()> {
    let value = match &record.decision {
        Decision::Pair(pair) => pair_json(record, pair),
        Decision::Verdict(v) | Decision::Adjudication(v) => verdict_json(record, v),
        _ => serde_json::to_value(record)?,
    };
    if env.out.is_json() {
        env.out.row(&value)
    } else {
        env.out.line(pretty(&value)?)
    }
}

fn pretty(value: &impl serde::Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value)?;
    Ok(crate::text::visible(&text).into_owned())
}
