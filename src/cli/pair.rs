//! `triagent pair`: which of two candidates is better, decided from a script.

use super::Done;
use super::env::Env;
use super::list::pair_json;
use super::show::{check_step, split_step};
use crate::domain::{Choice, Criterion, Decision, Pair, StepRef};
use crate::error::{Explain, Failure, Result};
use crate::jobs::{PairWords, SideName, build_pair, read_written};
use crate::store::Store;
use crate::text;
use crate::triage::{PairProblem, is_blocked};
use std::io::Read;

/// A file that is read whole: a side, or a rule's text.
const MAX_SIDE_BYTES: u64 = 16 << 20;

/// Say which of two candidates for the same request is better, and why
///
/// A side is a decision (RUN:STEP), a run (two runs mean their first differing decision; a run beside a decision means the decision
/// that answers the same request), or a side that you wrote (@file.json, @- for standard input; an assistant message as JSON, or plain
/// words): it is marked human and answers the other side's context. The visible contexts before both sides must be equal.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "triagent pair [OPTIONS] <A> <B> --prefer <CHOICE> --criterion <C> --reason <TEXT>"
)]
pub(crate) struct Args {
    /// First candidate: RUN:STEP, RUN, @FILE or @-
    #[arg(value_name = "A")]
    a: String,
    /// Second candidate
    #[arg(value_name = "B")]
    b: String,
    /// The better one, or why there is none
    #[arg(long, value_name = "CHOICE", value_parser = choices())]
    prefer: String,
    /// What decided; compulsory with a preferred side: citation-valid, conditions-complete, only-smoother (never alone, unless the standard allows it) or other
    #[arg(long = "criterion", value_name = "C", value_delimiter = ',', value_parser = criteria())]
    criteria: Vec<String>,
    /// Why, in your words; compulsory
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Words in the context or in a candidate that prove it
    #[arg(long, value_name = "QUOTE")]
    evidence: Option<String>,
    /// Version of the task standard that you applied [default: the task's own, else triagent-default-1]
    #[arg(long, value_name = "VERSION")]
    standard: Option<String>,
}

fn choices() -> Vec<&'static str> {
    Choice::ALL.iter().map(|c| c.word()).collect()
}

fn criteria() -> Vec<&'static str> {
    Criterion::ALL.iter().map(|c| c.word()).collect()
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let mut store = env.store()?;
    let (a, b) = (side(&store, &args.a)?, side(&store, &args.b)?);
    let words = PairWords {
        choice: Choice::from_word(&args.prefer)
            .ok_or_else(|| Failure::usage(format!("unknown choice {:?}", args.prefer)))?,
        criteria: args
            .criteria
            .iter()
            .filter_map(|c| Criterion::from_word(c))
            .collect(),
        reason: args.reason.clone(),
        evidence: args.evidence.clone(),
        standard: args.standard.clone(),
        author: env.reviewer()?,
        shown: None,
    };
    let (pair, problems) = build_pair(&store, &a, &b, words)?;
    refuse(&problems)?;
    let decision = Decision::Pair(Box::new(pair));
    let record = env.act(|act| store.decide(act, &decision))??;
    for problem in problems {
        env.out.say(format!("note: {problem}"))?;
    }
    let Decision::Pair(pair) = &record.decision else {
        return Ok(Done::Whole);
    };
    if env.out.is_json() {
        env.out.row(&pair_json(&record, pair))?;
    } else {
        env.out.line(text::visible(&in_words(pair)))?;
        env.out.say(format!("pair {}", record.id))?;
    }
    Ok(Done::Whole)
}

fn refuse(problems: &[PairProblem]) -> Result<()> {
    if !is_blocked(problems) {
        return Ok(());
    }
    let blocking: Vec<String> = problems
        .iter()
        .filter(|p| p.blocks())
        .map(ToString::to_string)
        .collect();
    Err(Failure::user(format!(
        "pair not saved: {}",
        blocking.join("\n")
    )))
}

fn in_words(pair: &Pair) -> String {
    let side = |c: &crate::domain::Candidate| {
        let human = if c.is_human() { " (human)" } else { "" };
        format!("{}{human}", c.at())
    };
    let criteria: Vec<&str> = pair.criteria.iter().map(|c| c.word()).collect();
    let (a, b) = (side(&pair.a), side(&pair.b));
    match pair.choice {
        Choice::A => format!("{a} is better than {b}: {}", criteria.join(", ")),
        Choice::B => format!("{b} is better than {a}: {}", criteria.join(", ")),
        other => format!("{a} and {b}: {other}"),
    }
}

fn side(store: &Store, typed: &str) -> Result<SideName> {
    if let Some(file) = typed.strip_prefix('@') {
        let text = read(file).doing(format!("while reading the written side {file}"))?;
        let message =
            read_written(&text).doing(format!("while reading the written side {file}"))?;
        return Ok(SideName::Written(Box::new(message)));
    }
    match (store.resolve(typed), split_step(typed)) {
        (Ok(run), _) => Ok(SideName::Run(run)),
        (Err(_), Some((run, step))) => {
            let run = store.resolve(run)?;
            check_step(store, &run, step)?;
            Ok(SideName::At(StepRef { run, step }))
        }
        (Err(e), None) => Err(e.into()),
    }
}

/// Reads a file, or standard input for `-`.
pub(crate) fn read(file: &str) -> std::io::Result<String> {
    let mut text = String::new();
    let mut bounded = |reader: &mut dyn Read| {
        // One byte more, so that the reader of the side sees that it is too long.
        reader.take(MAX_SIDE_BYTES + 1).read_to_string(&mut text)
    };
    match file {
        "-" => bounded(&mut std::io::stdin().lock())?,
        _ => bounded(&mut std::fs::File::open(file)?)?,
    };
    if text.len() as u64 > MAX_SIDE_BYTES {
        let why = format!("more than {}", text::bytes(MAX_SIDE_BYTES));
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, why));
    }
    Ok(text)
}
