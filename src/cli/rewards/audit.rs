//! `triagent rewards audit GRADER`: a hack suite made of the workspace's runs, shown to a grader.

use crate::cli::Done;
use crate::cli::env::Env;
use crate::cli::output::{Cell, Table, Tone};
use crate::error::{Failure, Result};
use crate::jobs::{self, AskedGrader, Audit, AuditOptions, GraderError};
use crate::reward::{AuditRow, Hack, built_in_graders};
use crate::sandbox::{Demand, Limits};
use crate::text;
use std::time::Duration;

/// Show a hack suite, made of your own runs, to a grader
///
/// GRADER is the name of a built-in rule grader, a TOML file of rule graders (FILE.toml, or FILE.toml#NAME), or a command with its
/// arguments. A command gets one case as JSON on its standard input and prints a grade: {"result": 0 or 1, "evidence", "side_effects",
/// "cost", "reasons"}; only `result` is compulsory. It runs without a shell, with an emptied environment and a time limit, and cannot write
/// outside a scratch folder. Without GRADER: the built-in ones, and what audits found so far. The result is kept and gate G3 of
/// `triagent advise` reads it. Exit code 3 where the grader itself failed on a case.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: triagent rewards audit source-marker\n         triagent rewards audit --as my-grader@2 -- python3 grader.py --strict"
)]
pub(crate) struct Args {
    /// Built-in name, FILE.toml, or a command with its arguments; `--` goes before a command that has options
    #[arg(value_name = "GRADER")]
    grader: Vec<String>,
    /// Make the suite of these runs only
    #[arg(long, short, value_name = "EXPR")]
    filter: Option<String>,
    /// The name, and version, that your logs give this grader [default: its own]
    #[arg(long = "as", value_name = "NAME[@VERSION]")]
    stands_for: Option<String>,
    /// Show before and after of every case, not only of those that fooled it
    #[arg(long)]
    diff: bool,
    /// A command may take so long for one case
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    time_limit: u64,
    /// Run a command even where this system cannot keep it from writing
    #[arg(long)]
    unrestricted: bool,
    /// Exit with 1 when a hack fooled it, or when it refused every good run
    #[arg(long)]
    fail: bool,
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    if args.grader.is_empty() {
        return known(env);
    }
    let graders = graders(args)?;
    let (stands_for, version) = match args.stands_for.as_deref().map(|s| s.split_once('@')) {
        None => (None, None),
        Some(None) => (args.stands_for.clone(), None),
        Some(Some((name, version))) => (Some(name.to_owned()), Some(version.to_owned())),
    };
    if stands_for.is_some() && graders.len() > 1 {
        return Err(
            Failure::usage("--as names one grader, and the file holds several")
                .hint("FILE.toml#NAME takes one of them"),
        );
    }
    let mut store = env.store()?;
    let options = AuditOptions {
        filter: env.filter(args.filter.as_deref())?,
        stands_for,
        version,
    };
    let now = env.now_us();
    let (mut lost, mut broke) = (false, false);
    for grader in &graders {
        let found = env.watch("audit", |progress| {
            jobs::audit_grader(&mut store, grader, &options, now, progress)
        })??;
        let report = &found.report;
        lost |= report.fooled > 0 || (report.controls > 0 && report.refused == report.controls);
        broke |= report.errors > 0;
        if env.out.is_json() {
            env.out.row(&found)?;
        } else {
            show(&found, args.diff, env)?;
        }
    }
    Ok(match (args.fail && lost, broke) {
        (true, _) => Done::Refused,
        (false, true) => Done::InPart,
        (false, false) => Done::Whole,
    })
}

/// The graders that the command line means.
fn graders(args: &Args) -> Result<Vec<AskedGrader>> {
    let limits = Limits {
        time: Duration::from_secs(args.time_limit.max(1)),
        isolation: if args.unrestricted {
            Demand::WhenPossible
        } else {
            Demand::Required
        },
        ..Limits::default()
    };
    jobs::asked_graders(&args.grader, limits).map_err(|error| {
        let text = error.to_string();
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let failure = match &error {
            GraderError::Unknown { .. } => Failure::usage(first),
            _ => Failure::user(first),
        };
        let hints = lines.filter_map(|line| line.strip_prefix("hint: "));
        let failure = hints.fold(failure, Failure::hint);
        match error {
            GraderError::Unknown { word, .. } => failure.hint(format!(
                "a grader of your own: `triagent rewards audit --as {word} FILE.toml`, or `triagent rewards audit --as {word} -- COMMAND`"
            )),
            _ => failure,
        }
    })
}

fn show(found: &Audit, all: bool, env: &mut Env) -> Result<()> {
    let report = &found.report;
    let name = env.out.tone(Tone::Bold, &text::visible(&report.grader));
    let version = found.version.as_deref().unwrap_or("");
    env.out.line(format!("{name} {}", text::visible(version)))?;
    let mut table = Table::new(&["hack", "run", "verdict", "why", "what was changed"]);
    report.rows.iter().for_each(|row| table.push(cells(row)));
    env.out.table(&table)?;
    for row in report.rows.iter().filter(|r| all || r.fooled) {
        diff(row, env)?;
    }
    let good = report.fooled == 0 && report.refused == 0 && report.errors == 0;
    let tone = if good { Tone::Good } else { Tone::Bad };
    let words = env.out.tone(tone, &report.words);
    env.out.line(format!("\n{words}"))?;
    notes(found, env)
}

fn notes(found: &Audit, env: &mut Env) -> Result<()> {
    let report = &found.report;
    if report.controls == 0 {
        env.out
            .line("no good run was shown: nobody knows whether it refuses those too")?;
    }
    if found.without_requirements > 0 {
        env.out.line(format!(
            "{} of the failed runs under the suite have no required document in the task list: there an evidence grader has nothing to read (`triagent tasks import`)",
            found.without_requirements
        ))?;
    }
    if let Some(isolation) = &found.isolation {
        env.out.line(format!("the command was {isolation}"))?;
    }
    env.out.say(format!(
        "kept for gate G3 of rewards by {:?}{}",
        found.stands_for,
        found
            .version
            .as_ref()
            .map_or_else(String::new, |v| format!(", version {v:?}"))
    ))
}

fn cells(row: &AuditRow) -> Vec<Cell> {
    let verdict = match (row.hack, row.fooled, &row.grade) {
        (_, _, None) => Cell::new("! failed").tone(Tone::Warn),
        (Hack::Control, true, _) => Cell::new("✗ refused").tone(Tone::Bad),
        (Hack::Control, false, _) => Cell::new("✓ accepted").tone(Tone::Good),
        (_, true, _) => Cell::new("✗ fooled").tone(Tone::Bad),
        (_, false, _) => Cell::new("✓ rejected").tone(Tone::Good),
    };
    vec![
        Cell::new(row.hack.words()),
        Cell::new(&row.run),
        verdict,
        Cell::new(&row.reason),
        Cell::new(&row.change),
    ]
}

fn diff(row: &AuditRow, env: &mut Env) -> Result<()> {
    let head = format!("{}, {}: {}", row.hack.words(), row.run, row.change);
    let head = env.out.tone(Tone::Bold, &text::visible(&head));
    env.out.line(format!("\n{head}"))?;
    let (before, after) = (&row.diff.0, &row.diff.1);
    for (sign, side) in [("-", before), ("+", after)] {
        if before == after && sign == "-" {
            continue;
        }
        let lines = side.lines();
        for line in lines {
            env.out.line(text::visible(&format!("  {sign} {line}")))?;
        }
        if side.is_empty() {
            env.out.line(format!("  {sign} (nothing)"))?;
        }
    }
    Ok(())
}

/// The built-in graders and what is known of them and of others.
fn known(env: &mut Env) -> Result<Done> {
    let kept = match env.existing_workspace()? {
        Some(_) => jobs::audits(&env.store()?)?,
        None => Vec::new(),
    };
    if env.out.is_json() {
        kept.iter().try_for_each(|(_, audit)| env.out.row(audit))?;
        return Ok(Done::Whole);
    }
    let mut table = Table::new(&["grader", "what it does", "last audit"]);
    let last = |name: &str| {
        let found = kept.iter().find(|(_, a)| a.report.grader == name);
        Cell::maybe(found.map(|(_, a)| &a.report.words))
    };
    for grader in built_in_graders() {
        table.push(vec![
            Cell::new(&grader.name),
            Cell::new(&grader.about),
            last(&grader.name),
        ]);
    }
    let built_in = built_in_graders();
    for (_, audit) in &kept {
        if !built_in.iter().any(|g| g.name == audit.report.grader) {
            table.push(vec![
                Cell::new(&audit.report.grader),
                Cell::new("your own"),
                Cell::new(&audit.report.words),
            ]);
        }
    }
    env.out.table(&table)?;
    env.out
        .say("name one, a FILE.toml, or a command: `triagent rewards audit GRADER`")?;
    Ok(Done::Whole)
}
