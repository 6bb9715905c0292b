//! `triagent queue`: what a reviewer labels next, in a random order that can be repeated.

use super::Done;
use super::env::Env;
use crate::error::Result;
use crate::jobs::{self, QueueSpec};
use crate::store::Store;
use crate::text;
use crate::triage::{Queue, QueuePlan};
use serde_json::json;

/// Show what you label next, drawn at random from a stored seed
///
/// Labels made from the queue (`triagent label RUN --from-queue`) enter the intervals of the advice; runs picked by hand are counted
/// apart. Options given here are kept for the whole workspace, so that every reviewer draws from the same queue.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What is to be labelled [default: what was kept, else outcome:fail]
    #[arg(long, short, value_name = "EXPR")]
    filter: Option<String>,
    /// Seed of the order [default: what was kept, else drawn once]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Share that every reviewer gets, for agreement
    #[arg(long, value_name = "SHARE")]
    overlap: Option<f64>,
    /// Who takes part; with none named, everybody gets everything
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    reviewers: Vec<String>,
    /// Rows at the most; 0 = all
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let mut store = env.store()?;
    let spec = spec(args, &mut store, env)?;
    let queue = draw(&store, &spec, env)?;
    let limit = if args.limit == 0 {
        usize::MAX
    } else {
        args.limit
    };
    for (n, item) in queue.items.iter().take(limit).enumerate() {
        // Why an item is in the queue stays hidden: a re-test that is known is none.
        if env.out.is_json() {
            env.out.row(&json!({"run": item.subject, "position": n}))?;
        } else {
            env.out.line(text::visible(&item.subject))?;
        }
    }
    env.out.say(format!(
        "{} of {} labelled by you, {} left; seed {}, {}",
        queue.done,
        queue.total,
        queue.items.len(),
        spec.plan.seed,
        spec.filter
    ))?;
    for (reviewer, n) in &queue.by_reviewer {
        env.out.say(format!("  {reviewer} {n}"))?;
    }
    Ok(Done::Whole)
}

/// The queue of the workspace, with what was given here put in place and kept.
fn spec(args: &Args, store: &mut Store, env: &Env) -> Result<QueueSpec> {
    let kept = jobs::queue_spec(store)?;
    let is_new = kept.is_none();
    let mut spec = kept.unwrap_or_else(|| QueueSpec {
        filter: "outcome:fail".to_owned(),
        plan: QueuePlan {
            seed: first_bytes(env.random_key()),
            ..QueuePlan::default()
        },
        reviewers: Vec::new(),
    });
    let before = spec.clone();
    if let Some(filter) = &args.filter {
        env.filter(Some(filter))?;
        spec.filter.clone_from(filter);
    }
    spec.plan.seed = args.seed.unwrap_or(spec.plan.seed);
    spec.plan.overlap = args.overlap.unwrap_or(spec.plan.overlap);
    if !args.reviewers.is_empty() {
        spec.reviewers.clone_from(&args.reviewers);
    }
    if (is_new || spec != before) && !store.is_read_only() {
        jobs::keep_queue(store, &spec, env.now_us())?;
    }
    Ok(spec)
}

/// A seed that people can type.
fn first_bytes(key: [u8; 32]) -> u64 {
    let [a, b, c, ..] = key;
    u64::from(a) << 16 | u64::from(b) << 8 | u64::from(c)
}

/// What is left for this reviewer.
pub(crate) fn draw(store: &Store, spec: &QueueSpec, env: &Env) -> Result<Queue> {
    let filter = env.filter(Some(&spec.filter))?;
    Ok(jobs::draw(
        store,
        spec,
        &filter,
        &env.reviewer()?,
        env.now_us(),
    )?)
}
