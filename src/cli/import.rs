//! `triagent import`: logs into the workspace, with a report that leaves nothing out.

use super::Done;
use super::env::Env;
use super::output::{Cell, Table, Tone};
use crate::error::{Failure, Result};
use crate::jobs::{self, ImportOptions, ImportTotals, UnitReport};
use crate::text;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Read logs into the workspace
///
/// Files, folders and `-` (standard input). What a file is, is seen from its content. Importing twice changes nothing;
/// importing a grown file adds what is new. What cannot be read is reported with file, line and reason, and the rest goes on:
/// then the exit code is 3. The first import makes .triagent/workspace.db in the current folder.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files and folders; `-` reads standard input
    #[arg(required = true, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    paths: Vec<PathBuf>,
    /// Read everything as this format instead of looking at the content
    #[arg(long, value_name = "F", value_parser = super::import::format_names())]
    format: Option<String>,
    /// Say what would be read, and why it is taken for that; store nothing
    #[arg(long)]
    dry_run: bool,
    /// Go on watching, and import what is appended, until Ctrl-C
    #[arg(long, conflicts_with = "dry_run")]
    follow: bool,
    /// Read files again that have not changed since the last import
    #[arg(long)]
    again: bool,
    /// Leave the search index for later: the next import without this builds it
    #[arg(long)]
    no_index: bool,
}

/// How often `--follow` looks.
const FOLLOW_PAUSE: Duration = Duration::from_secs(1);
/// Files that a person is shown one by one; more are summed by format.
const FILES_SHOWN: usize = 60;
/// Skips that a person is shown for one file; `--json` has them all.
const SKIPS_SHOWN: usize = 5;

pub(crate) fn format_names() -> Vec<&'static str> {
    crate::import::formats().iter().map(|f| f.name()).collect()
}

pub(crate) fn run(args: Args, env: &mut Env) -> Result<Done> {
    let options = ImportOptions {
        format: args.format.clone(),
        threads: env.config()?.import.threads,
        again: args.again,
    };
    check_paths(&args.paths)?;
    if args.dry_run {
        return dry_run(&args, &options, env);
    }
    let done = once(&args.paths, &options, env, Talk::Full)?;
    if !args.follow {
        if !args.no_index {
            index(env)?;
        }
        return Ok(done);
    }
    index(env)?;
    let options = ImportOptions {
        again: false,
        ..options
    };
    // Until Ctrl-C: what was read is safe at every moment.
    loop {
        std::thread::sleep(FOLLOW_PAUSE);
        once(&args.paths, &options, env, Talk::Changes)?;
        env.out.flush()?;
        index(env)?;
    }
}

/// A path that does not exist is a typo: nothing has been read yet, so say it at once.
pub(crate) fn check_paths(paths: &[PathBuf]) -> Result<()> {
    let missing = paths
        .iter()
        .find(|p| p.as_os_str() != "-" && std::fs::symlink_metadata(p).is_err());
    match missing {
        Some(path) => Err(Failure::user(format!(
            "{}: no such file or folder",
            path.display()
        ))),
        None => Ok(()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Talk {
    Full,
    Changes,
}

fn once(paths: &[PathBuf], options: &ImportOptions, env: &mut Env, talk: Talk) -> Result<Done> {
    let mut store = env.create_store()?;
    let now = env.now_us();
    let mut reports = Vec::new();
    let totals = env.watch("import", |progress| {
        let mut keep = |report: &UnitReport| reports.push(report.clone());
        jobs::import(&mut store, paths, options, now, progress, &mut keep)
    })??;
    if talk == Talk::Changes {
        reports.retain(|r| !r.unchanged);
    }
    show(&reports, env)?;
    if talk == Talk::Full || !reports.is_empty() {
        say_totals(&totals, store.path(), env)?;
    }
    Ok(ended(&totals))
}

/// Runs are listed before their words can be searched.
fn index(env: &mut Env) -> Result<()> {
    let mut store = env.store()?;
    env.watch("index text", |progress| jobs::index(&mut store, progress))??;
    Ok(())
}

fn dry_run(args: &Args, options: &ImportOptions, env: &mut Env) -> Result<Done> {
    let mut reports = Vec::new();
    let totals = env.watch("read", |progress| {
        let mut keep = |report: &UnitReport| reports.push(report.clone());
        jobs::try_import(&args.paths, options, progress, &mut keep)
    })??;
    show(&reports, env)?;
    env.out.say(format!(
        "would read {} from {}; {} could not be read; nothing was stored",
        text::plural(totals.read, "run"),
        text::plural(totals.units, "file"),
        totals.skips,
    ))?;
    Ok(ended(&totals))
}

fn ended(totals: &ImportTotals) -> Done {
    if totals.skips > 0 {
        Done::InPart
    } else {
        Done::Whole
    }
}

fn show(reports: &[UnitReport], env: &mut Env) -> Result<()> {
    if env.out.is_json() {
        return reports.iter().try_for_each(|report| env.out.row(report));
    }
    if reports.is_empty() {
        return Ok(());
    }
    if reports.len() > FILES_SHOWN {
        env.out.table(&by_format(reports))?;
    } else {
        let heads = [
            "read",
            "stored",
            "renewed",
            "duplicate",
            "skipped",
            "format",
            "file",
        ];
        let mut table = Table::new(&heads);
        reports.iter().for_each(|report| table.push(row(report)));
        env.out.table(&table)?;
    }
    let (texts, others): (Vec<&UnitReport>, Vec<&UnitReport>) =
        reports.iter().partition(|r| is_text(r));
    if let [first, _, ..] = texts.as_slice() {
        let line = format!(
            "skipped {} text files that are no logs (first {}); --json names them",
            texts.len(),
            first.file
        );
        env.out.say(text::visible(&line))?;
        return others
            .into_iter()
            .try_for_each(|report| tell_apart(report, env));
    }
    reports
        .iter()
        .try_for_each(|report| tell_apart(report, env))
}

/// A licence or a read-me beside the logs: one line for all of them says enough.
fn is_text(report: &UnitReport) -> bool {
    let is_prose = |reason: &str| reason.starts_with("text that is no JSON");
    report.read == 0
        && !report.skipped.is_empty()
        && report.skipped.iter().all(|skip| is_prose(&skip.reason))
}

/// One row a format, where one row a file would be too many to read.
fn by_format(reports: &[UnitReport]) -> Table {
    let mut sums: BTreeMap<&str, [u64; 6]> = BTreeMap::new();
    for report in reports {
        let format = report.format.as_deref().unwrap_or("not recognised");
        let sum = sums.entry(format).or_default();
        let renewed = report.grown + report.updated;
        let add = [
            1,
            report.read,
            report.stored,
            renewed,
            report.duplicates,
            report.skips,
        ];
        sum.iter_mut().zip(add).for_each(|(s, n)| *s += n);
    }
    let heads = [
        "files",
        "read",
        "stored",
        "renewed",
        "duplicate",
        "skipped",
        "format",
    ];
    let mut table = Table::new(&heads);
    for (format, sum) in sums {
        let mut cells: Vec<Cell> = sum.iter().map(|n| Cell::number(Some(n))).collect();
        cells.push(Cell::new(format));
        table.push(cells);
    }
    table
}

fn row(report: &UnitReport) -> Vec<Cell> {
    let skipped = Cell::number(Some(report.skips)).tone(if report.skips > 0 {
        Tone::Warn
    } else {
        Tone::Plain
    });
    let format = match &report.format {
        Some(format) if report.unchanged => format!("{format}, unchanged"),
        Some(format) => format.clone(),
        None => "not recognised".to_owned(),
    };
    vec![
        Cell::number(Some(report.read)),
        Cell::number(Some(report.stored)),
        Cell::number(Some(report.grown + report.updated)),
        Cell::number(Some(report.duplicates)),
        skipped,
        Cell::new(format),
        Cell::new(&report.file),
    ]
}

/// What does not fit a row: why it was skipped, what was not understood, why this format.
fn tell_apart(report: &UnitReport, env: &mut Env) -> Result<()> {
    for skip in report.skipped.iter().take(SKIPS_SHOWN) {
        let place = if skip.line == 0 {
            skip.file.clone()
        } else {
            format!("{}:{}", skip.file, skip.line)
        };
        env.out
            .say(text::visible(&format!("skipped {place}: {}", skip.reason)))?;
        if let Some(verb) = register_verb(&skip.reason) {
            let line = format!("hint: `triagent {verb} import {}`", skip.file);
            env.out.say(text::visible(&line))?;
        }
    }
    let shown = report.skipped.len().min(SKIPS_SHOWN) as u64;
    if report.skips > shown {
        env.out.say(format!(
            "skipped {} more of {}; --json names them",
            report.skips - shown,
            report.file
        ))?;
    }
    for note in &report.notes {
        env.out
            .say(text::visible(&format!("note {}: {note}", report.file)))?;
    }
    if !report.not_understood.is_empty() {
        let names: Vec<String> = report
            .not_understood
            .iter()
            .map(|(name, n)| format!("{name} ×{n}"))
            .collect();
        let line = format!(
            "kept but not understood in {}: {}",
            report.file,
            names.join(", ")
        );
        env.out.say(text::visible(&line))?;
    }
    Ok(())
}

/// A list of documents or of tasks is no log, and has a verb of its own.
fn register_verb(reason: &str) -> Option<&'static str> {
    let has = |key: &str| reason.contains(key);
    match reason.starts_with("JSON of no known format") {
        true if has("task_id") && (has("requires") || has("expected") || has("prompt")) => {
            Some("tasks")
        }
        true if has("doc_id") => Some("docs"),
        _ => None,
    }
}

fn say_totals(totals: &ImportTotals, workspace: &std::path::Path, env: &mut Env) -> Result<()> {
    let mut line = format!(
        "read {} from {}: {} stored, {} duplicate",
        text::plural(totals.read, "run"),
        text::plural(totals.units, "file"),
        totals.stored,
        totals.duplicates,
    );
    if totals.renewed > 0 {
        line.push_str(&format!(
            ", {} renewed (grown, or with new rewards or labels)",
            totals.renewed
        ));
    }
    line.push_str(&format!(", {} skipped", totals.skips));
    if totals.unchanged > 0 {
        line.push_str(&format!(
            "; {} unchanged",
            text::plural(totals.unchanged, "file")
        ));
    }
    env.out
        .say(format!("{line}; workspace {}", workspace.display()))?;
    if totals.stored > 0 {
        env.out.say("next: `triagent` to read and label, `triagent suggest` for the machine's view, `triagent advise` for what to fix")?;
    }
    Ok(())
}
