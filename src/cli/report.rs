//! `triagent report`: one page for people who do not have the program.

use super::Done;
use super::bundle::write_new;
use super::env::Env;
use super::list::time;
use crate::error::Result;
use crate::jobs::{self, ReportOptions};
use crate::report::page;
use crate::text;
use serde_json::json;
use std::path::PathBuf;

/// Write one page for people without the program
///
/// What failed and why, what to fix with every gate, what changes did, how far reviewers agree: one HTML file without scripts that
/// asks nothing of anywhere. Secrets are masked, and log texts stay out.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where to; `-` = stdout
    #[arg(long, value_name = "FILE.html", value_hint = clap::ValueHint::FilePath)]
    out: PathBuf,
    /// Only this cohort's advice: its name or a part of it that fits one
    #[arg(long, short, value_name = "C")]
    cohort: Option<String>,
    /// Replace a file that exists
    #[arg(long)]
    force: bool,
    /// Seed of the intervals of agreement
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
}

/// Nobody reads the seconds of a page.
fn minute(now_us: i64) -> String {
    let told = time(now_us - now_us.rem_euclid(60_000_000));
    told.trim_end_matches(":00Z").replace('T', " ") + " UTC"
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let mut store = env.store()?;
    let now = env.now_us();
    let options = ReportOptions {
        cohort: args.cohort.clone(),
        overrides: env.config()?.gates.into_iter().collect(),
        now: (now, minute(now)),
        seed: args.seed,
    };
    let overview = env.watch("report", |progress| {
        jobs::overview(&mut store, &options, progress)
    })??;
    let html = page(&overview);
    if args.out.as_os_str() == "-" {
        env.out.bytes(html.as_bytes())?;
        env.out.flush()?;
        return Ok(Done::Whole);
    }
    write_new(&args.out, html.as_bytes(), args.force)?;
    let file = args.out.display().to_string();
    if env.out.is_json() {
        env.out.row(&json!({
            "file": file,
            "bytes": html.len(),
            "runs": overview.runs(),
            "cohorts": overview.cohorts.len(),
            "changes": overview.changes.len(),
        }))?;
        return Ok(Done::Whole);
    }
    env.out.say(format!(
        "wrote {file}: {}, {}, {}",
        text::plural(overview.runs(), "run"),
        text::plural(overview.cohorts.len() as u64, "cohort"),
        text::plural(overview.changes.len() as u64, "change")
    ))?;
    Ok(Done::Whole)
}
