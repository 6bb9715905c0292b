//! `triagent bundle` and `triagent merge`: decisions from one machine to another.

use super::Done;
use super::env::Env;
use crate::error::{Explain, Failure, Result};
use crate::text;
use serde_json::json;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// First bytes of an SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// Write all decisions into a file for another machine
///
/// A bundle holds verdicts, pairs, adjudications and what else people decided, never log text beyond what they quoted.
#[derive(Debug, clap::Args)]
pub(crate) struct BundleArgs {
    /// File to write; `-` is standard output
    #[arg(value_name = "OUT", value_hint = clap::ValueHint::FilePath)]
    out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    force: bool,
}

/// Take in bundles from other machines
///
/// Merging is a union: in any order, any number of times, the result is the same.
#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// Bundles
    #[arg(required = true, value_name = "BUNDLE", value_hint = clap::ValueHint::FilePath)]
    bundles: Vec<PathBuf>,
}

pub(crate) fn bundle(args: &BundleArgs, env: &mut Env) -> Result<Done> {
    let store = env.store()?;
    let mut bytes = Vec::new();
    let report = store.write_bundle(&mut bytes)?;
    if args.out.as_os_str() == "-" {
        env.out.bytes(&bytes)?;
        // Success is said only when the bytes are out.
        env.out.flush()?;
    } else {
        write_new(&args.out, &bytes, args.force)?;
    }
    let decisions = text::plural(report.decisions, "decision");
    env.out
        .say(format!("bundled {decisions} into {}", args.out.display()))?;
    Ok(Done::Whole)
}

/// Writes a file that does not exist yet, or that `--force` gives up.
pub(crate) fn write_new(path: &Path, bytes: &[u8], force: bool) -> Result<()> {
    if is_database(path) {
        return Err(Failure::user(format!(
            "{} is a workspace or another database; not even --force replaces one",
            path.display()
        ))
        .hint("give the file another name"));
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    match options.open(path) {
        Ok(mut file) => file
            .write_all(bytes)
            .doing(format!("while writing {}", path.display())),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(Failure::user(format!("{} exists", path.display()))
                .hint("--force replaces it, another name keeps it"))
        }
        Err(e) => Err(e).doing(format!("while writing {}", path.display())),
    }
}

/// A database, by its content, or what SQLite keeps beside one. Its name does not tell: links lead to it as well.
fn is_database(path: &Path) -> bool {
    let begins_as_one = |path: &Path| {
        let mut magic = Vec::new();
        let is_file = std::fs::metadata(path).is_ok_and(|m| m.is_file());
        is_file
            && std::fs::File::open(path)
                .and_then(|file| file.take(SQLITE.len() as u64).read_to_end(&mut magic))
                .is_ok()
            && magic == SQLITE
    };
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = real.to_string_lossy();
    let beside = ["-wal", "-shm", "-journal"].map(|end| name.strip_suffix(end));
    let mut beside = beside.into_iter().flatten();
    begins_as_one(&real) || beside.any(|main| begins_as_one(Path::new(main)))
}

pub(crate) fn merge(args: &MergeArgs, env: &mut Env) -> Result<Done> {
    super::import::check_paths(&args.bundles)?;
    let mut store = env.create_store()?;
    let mut done = Done::Whole;
    for path in &args.bundles {
        let report = store.merge_bundle(path)?;
        if !report.skipped.is_empty() {
            done = Done::InPart;
        }
        for (line, reason) in &report.skipped {
            let what = format!("skipped {}:{line}: {reason}", path.display());
            env.out.say(text::visible(&what))?;
        }
        if env.out.is_json() {
            env.out.row(&json!({
                "bundle": path.display().to_string(),
                "added": report.added,
                "known": report.known,
                "without_run": report.without_run,
                "skipped": report.skipped.iter().map(|(line, reason)| json!({"line": line, "reason": reason})).collect::<Vec<_>>(),
            }))?;
            continue;
        }
        env.out.line(format!(
            "{}: {} added, {} known, {} about runs that are not here",
            path.display(),
            text::plural(report.added, "decision"),
            report.known,
            report.without_run
        ))?;
    }
    Ok(done)
}
