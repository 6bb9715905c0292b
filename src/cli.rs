//! The scriptable face: one file a verb. Holds no rule of the domain.
//!
//! The doc comments of the arguments are the manual: `--help`, man pages and completions come out of them.

mod advise;
mod agreement;
mod bundle;
mod calibrate;
mod change;
mod check;
mod cohort;
mod completions;
mod config;
mod demo;
mod diff;
mod doctor;
mod env;
mod export;
mod guide;
mod import;
mod label;
mod list;
mod outcome;
pub(crate) mod output;
mod pair;
mod probe;
mod queue;
mod registers;
mod report;
mod rewards;
mod score;
mod screen;
mod show;
mod suggest;
mod undo;

use crate::error::{Failure, Kind, Result};
use clap::{Args, CommandFactory, Parser, Subcommand};
use env::Env;
use output::{Out, When};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Find out why an agent failed and which layer to fix before anybody trains.
///
/// triagent reads the logs that you already have, shows who wrote which token, records why each run failed and which of two
/// candidates is better, scores with a local model, says which layer to fix with every gate shown, and writes datasets that
/// trainers read as they are. Nothing leaves this machine unless you name a scoring server.
#[derive(Debug, Parser)]
#[command(
    name = "triagent",
    version,
    max_term_width = 100,
    subcommand_help_heading = "Verbs",
    after_help = "Exit codes: 0 done, 1 something you can mend, 2 usage, 3 done in part, 70 a bug of ours.",
    after_long_help = LONG_END
)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(flatten)]
    screen: screen::Args,
    #[command(subcommand)]
    verb: Option<Verb>,
}

const LONG_END: &str = "\
First steps:
  triagent demo                      the whole path on small logs of our own
  triagent import runs.jsonl         read a log into .triagent/workspace.db
  triagent list runs --filter outcome:fail
  triagent label RUN --layer index   say why it failed
  triagent advise                    what to fix, and what training would still need

Data goes to stdout, talk to stderr; --json prints one object a line.
Exit codes: 0 done, 1 something you can mend, 2 usage, 3 done in part, 70 a bug of ours.";

/// What every verb understands.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// Workspace file, or a folder that holds one [default: nearest .triagent/workspace.db]
    #[arg(
        long,
        short = 'w',
        global = true,
        env = "TRIAGENT_WORKSPACE",
        value_name = "PATH",
        hide_env_values = true
    )]
    workspace: Option<PathBuf>,
    /// Who decides [default: settings, then the login name]
    #[arg(
        long,
        global = true,
        env = "TRIAGENT_REVIEWER",
        value_name = "NAME",
        hide_env_values = true
    )]
    reviewer: Option<String>,
    /// Print one JSON object a line
    #[arg(long, global = true)]
    json: bool,
    /// When to colour
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "auto",
        value_name = "WHEN"
    )]
    color: When,
    /// Say only what failed
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Write nothing to the workspace
    #[arg(long, global = true)]
    read_only: bool,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Demo(demo::Args),
    Import(import::Args),
    Docs(registers::DocsArgs),
    Tasks(registers::TasksArgs),
    List(list::Args),
    Show(show::Args),
    Queue(queue::Args),
    Label(label::Args),
    Pair(pair::Args),
    Outcome(outcome::Args),
    Note(outcome::NoteArgs),
    Diff(diff::Args),
    Score(score::Args),
    Undo(undo::UndoArgs),
    Redo(undo::RedoArgs),
    Guide(guide::GuideArgs),
    Suggest(suggest::Args),
    Probe(probe::Args),
    Calibrate(calibrate::Args),
    Cohort(cohort::Args),
    Advise(advise::Args),
    Agreement(agreement::Args),
    Adjudicate(agreement::AdjudicateArgs),
    Change(change::Args),
    Check(check::Args),
    Export(export::Args),
    Report(report::Args),
    Rewards(rewards::Args),
    Bundle(bundle::BundleArgs),
    Merge(bundle::MergeArgs),
    Doctor(doctor::Args),
    Config(config::Args),
    Completions(completions::Args),
    Man(completions::ManArgs),
    #[command(name = "__ids", hide = true)]
    Ids(completions::IdsArgs),
}

/// How a verb ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Done {
    /// All of it.
    Whole,
    /// Some records were skipped, and the output says which.
    InPart,
    /// The answer itself is "no": a check failed.
    Refused,
}

impl Done {
    fn exit_code(self) -> u8 {
        match self {
            Self::Whole => 0,
            Self::Refused => 1,
            Self::InPart => 3,
        }
    }
}

/// Runs the program on these arguments.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let mut out = Out::new(cli.global.json, cli.global.quiet, cli.global.color);
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| obey(cli, &mut out)));
    match ended.unwrap_or_else(|panic| Err(crash(panic.as_ref()))) {
        Ok(done) => ExitCode::from(done.exit_code()),
        Err(failure) => {
            if failure.kind != Kind::BrokenPipe {
                out.failure(&failure);
            }
            ExitCode::from(failure.exit_code())
        }
    }
}

fn obey(cli: Cli, out: &mut Out) -> Result<Done> {
    let mut env = Env::new(cli.global, out);
    let done = match cli.verb {
        None => screen::run(&cli.screen, &mut env)?,
        Some(verb) => dispatch(verb, &mut env)?,
    };
    env.out.flush()?;
    Ok(done)
}

fn dispatch(verb: Verb, env: &mut Env) -> Result<Done> {
    match verb {
        Verb::Import(args) => import::run(args, env),
        Verb::Docs(args) => registers::docs(args, env),
        Verb::Tasks(args) => registers::tasks(args, env),
        Verb::List(args) => list::run(args, env),
        Verb::Show(args) => show::run(&args, env),
        Verb::Rewards(args) => rewards::run(args, env),
        Verb::Label(args) => label::run(&args, env),
        Verb::Pair(args) => pair::run(&args, env),
        Verb::Diff(args) => diff::run(&args, env),
        Verb::Score(args) => score::run(&args, env),
        Verb::Export(args) => export::run(&args, env),
        Verb::Report(args) => report::run(&args, env),
        Verb::Outcome(args) => outcome::run(&args, env),
        Verb::Note(args) => outcome::note(args, env),
        Verb::Suggest(args) => suggest::run(&args, env),
        Verb::Probe(args) => probe::run(&args, env),
        Verb::Calibrate(args) => calibrate::run(&args, env),
        Verb::Cohort(args) => cohort::run(&args, env),
        Verb::Advise(args) => advise::run(&args, env),
        Verb::Check(args) => check::run(&args, env),
        Verb::Demo(args) => demo::run(&args, env),
        Verb::Queue(args) => queue::run(&args, env),
        Verb::Agreement(args) => agreement::run(&args, env),
        Verb::Adjudicate(args) => agreement::adjudicate(&args, env),
        Verb::Change(args) => change::run(args, env),
        Verb::Undo(_) => undo::undo(env),
        Verb::Redo(_) => undo::redo(env),
        Verb::Guide(args) => guide::run(&args, env),
        Verb::Bundle(args) => bundle::bundle(&args, env),
        Verb::Merge(args) => bundle::merge(&args, env),
        Verb::Doctor(args) => doctor::run(&args, env),
        Verb::Config(args) => config::run(args, env),
        Verb::Completions(args) => completions::run(args, env),
        Verb::Man(args) => completions::man(args, env),
        Verb::Ids(args) => completions::ids(&args, env),
    }
}

/// Prints what clap has to say: help and version go to stdout, mistakes to stderr.
fn usage(error: &clap::Error) -> ExitCode {
    let code = u8::try_from(error.exit_code()).unwrap_or(2);
    match error.print() {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => ExitCode::from(1),
        _ => ExitCode::from(code),
    }
}

fn crash(panic: &(dyn std::any::Any + Send)) -> Failure {
    let text = panic
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown".to_owned());
    crate::log::note(jiff::Timestamp::now(), &format!("crash: {text}"));
    Failure::bug(text)
}

/// The whole command tree, for completions, man pages and the reference test.
pub fn command() -> clap::Command {
    Cli::command()
}
