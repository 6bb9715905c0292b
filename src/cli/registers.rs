//! `triagent docs import` and `triagent tasks import`: the two registers.

use super::Done;
use super::env::Env;
use crate::error::Result;
use crate::jobs::{self, JobError, RegisterReport};
use crate::store::Store;
use crate::text;
use std::path::{Path, PathBuf};

/// The document register: which versions of which documents exist and when they hold
///
/// One JSON object a line: doc_id, version, title, text, valid_from, valid_until (null = still valid), indexed_in (index versions
/// that hold it; absent = unknown). With it, triagent can tell whether a required document was indexed, retrieved and in view.
#[derive(Debug, clap::Args)]
pub(crate) struct DocsArgs {
    #[command(subcommand)]
    verb: Verb,
}

/// The task list: what each task requires and by which standard it is judged
///
/// One JSON object a line: task_id, family, scenario, prompt, date, requires [{doc_id, version, spans, conditions}], expected,
/// standard, grader, tools.
#[derive(Debug, clap::Args)]
pub(crate) struct TasksArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Read files; lines that were here are replaced where they differ
    Import {
        /// JSON Lines files
        #[arg(required = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
        files: Vec<PathBuf>,
    },
}

pub(crate) fn docs(args: DocsArgs, env: &mut Env) -> Result<Done> {
    let Verb::Import { files } = args.verb;
    import(&files, "document", jobs::import_documents, env)
}

pub(crate) fn tasks(args: TasksArgs, env: &mut Env) -> Result<Done> {
    let Verb::Import { files } = args.verb;
    import(&files, "task", jobs::import_tasks, env)
}

type Read = fn(&mut Store, &Path) -> std::result::Result<RegisterReport, JobError>;

fn import(files: &[PathBuf], what: &str, read: Read, env: &mut Env) -> Result<Done> {
    super::import::check_paths(files)?;
    let mut store = env.create_store()?;
    let mut done = Done::Whole;
    for file in files {
        let report = read(&mut store, file)?;
        if !report.skipped.is_empty() {
            done = Done::InPart;
        }
        tell(&report, what, env)?;
    }
    Ok(done)
}

fn tell(report: &RegisterReport, what: &str, env: &mut Env) -> Result<()> {
    if env.out.is_json() {
        return env.out.row(report);
    }
    for skip in &report.skipped {
        let line = format!("skipped {}:{}: {}", skip.file, skip.line, skip.reason);
        env.out.say(text::visible(&line))?;
    }
    env.out.line(format!(
        "{}: {} read, {} new or changed, {} skipped",
        report.file,
        text::plural(report.read, what),
        report.stored,
        report.skipped.len()
    ))
}
