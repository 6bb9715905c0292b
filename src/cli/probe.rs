//! `triagent probe`: would the missing document, the cut date, a clearer tool text have mattered?

mod person;

use super::Done;
use super::env::Env;
use super::pair::read;
use super::score::ModelArgs;
use super::show::{check_step, split_step};
use crate::domain::{ChatMessage, RunId};
use crate::error::{Explain, Failure, Result};
use crate::jobs::{self, Probe, ProbeOptions, read_written};
use crate::store::Store;
use crate::triage::{Edit, Suggestion, ToolEdit, WrittenTexts};
use serde_json::{Value, json};

/// Score one failed decision again with one thing in its context changed
///
/// Recorded and corrected action are scored after the recorded context and after changed ones: the missing document put in, the
/// shortened text restored, the tool's text rewritten, the evidence taken out or moved, unrelated texts of equal length, and a hint
/// that names the right action. The plan is kept before any score is seen. The corrected action comes from --corrected, from a pair
/// that prefers a written side at this decision, or from `expected` of the task list. A probe that was stopped goes on where it was.
///
/// It answers "would it have mattered to this model?", never "who is to blame": see `triagent show RUN` for where evidence got lost.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The failed run, or one decision of it as RUN:STEP [default: the verdict's decisive step, else the last decision]
    #[arg(value_name = "RUN")]
    run: String,
    /// Which decision
    #[arg(long, value_name = "N")]
    step: Option<u32>,
    #[command(flatten)]
    model: ModelArgs,
    /// One cell instead of twelve: a look, never a verdict
    #[arg(long)]
    quick: bool,
    /// What the model should have said or done: an assistant message as JSON, or plain words; @FILE or @- reads it
    #[arg(long, value_name = "TEXT|@FILE")]
    corrected: Option<String>,
    /// The document that was missing, where the register has none; it must not give the answer away
    #[arg(long, value_name = "TEXT|@FILE")]
    document: Option<String>,
    /// A tool's description rewritten with the same meaning
    #[arg(long, value_name = "NAME=TEXT|@FILE")]
    tool: Option<String>,
    /// The description of a tool that this decision does not need, said otherwise: the placebo of --tool
    #[arg(long, value_name = "NAME=TEXT|@FILE")]
    tool_placebo: Option<String>,
    /// All of that and more as JSON: document, restored, removed, tool, tool_placebo, hint
    #[arg(long, value_name = "@FILE")]
    variants: Option<String>,
    /// Let its rows into `suggest` although no calibration says that this model beats the rules
    #[arg(long)]
    heed: bool,
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let mut store = env.store()?;
    let (run, step) = which(args, &store)?;
    let options = options(args, step, env)?;
    let register = jobs::register(&store)?;
    let mut scorer = args.model.open(env)?;
    let now = env.now_us();
    let probe = env.watch("probe", |progress| {
        jobs::probe(
            &mut store,
            &mut scorer,
            &run,
            &register,
            &options,
            now,
            progress,
        )
    })??;
    let suggestion = jobs::suggest_run(&store, &run, &register)?;
    if env.out.is_json() {
        env.out.row(&json_of(&probe, &suggestion)?)?;
    } else {
        person::show(&probe, &suggestion, env)?;
    }
    Ok(Done::Whole)
}

fn which(args: &Args, store: &Store) -> Result<(RunId, Option<u32>)> {
    let (run, named) = match (store.resolve(&args.run), split_step(&args.run)) {
        (Ok(run), _) => (run, None),
        (Err(_), Some((run, step))) => (store.resolve(run)?, Some(step)),
        (Err(e), None) => return Err(e.into()),
    };
    let step = match (named, args.step) {
        (Some(a), Some(b)) if a != b => {
            return Err(Failure::usage(format!(
                "{} names step {a} and --step names {b}",
                args.run
            )));
        }
        (a, b) => a.or(b),
    };
    if let Some(step) = step {
        check_step(store, &run, step)?;
    }
    Ok((run, step))
}

fn options(args: &Args, step: Option<u32>, env: &Env) -> Result<ProbeOptions> {
    let corrected = match &args.corrected {
        Some(text) => Some((message(text)?, env.reviewer()?)),
        None => None,
    };
    Ok(ProbeOptions {
        step,
        corrected,
        written: written(args, env)?,
        quick: args.quick,
        template_declared: args.model.names_template(),
        heed: args.heed,
        settings: env.config()?.probe,
    })
}

fn message(text: &str) -> Result<ChatMessage> {
    let text = text_or_file(text)?;
    read_written(&text).doing("while reading the corrected action")
}

fn written(args: &Args, env: &Env) -> Result<WrittenTexts> {
    let mut out = match &args.variants {
        Some(file) => {
            let text = text_or_file(file)?;
            serde_json::from_str(&text)
                .doing(format!("while reading the variants {file}"))
                .hint("fields: document, restored, removed, tool, tool_placebo, hint")?
        }
        None => WrittenTexts::default(),
    };
    if let Some(text) = &args.document {
        out.document = Some(text_or_file(text)?);
    }
    for (given, slot) in [
        (&args.tool, &mut out.tool),
        (&args.tool_placebo, &mut out.tool_placebo),
    ] {
        if let Some(text) = given {
            *slot = Some(tool_edit(text)?);
        }
    }
    if out != WrittenTexts::default() {
        out.author = env.reviewer()?;
    }
    Ok(out)
}

fn tool_edit(text: &str) -> Result<Edit> {
    let (tool, description) = text
        .split_once('=')
        .ok_or_else(|| Failure::usage(format!("{text:?} is not NAME=TEXT")))?;
    Ok(Edit::ReplaceTool {
        edits: vec![ToolEdit {
            tool: tool.trim().to_owned(),
            description: text_or_file(description)?,
            ..ToolEdit::default()
        }],
    })
}

fn text_or_file(text: &str) -> Result<String> {
    match text.strip_prefix('@') {
        Some(file) => read(file).doing(format!("while reading {file}")),
        None => Ok(text.to_owned()),
    }
}

fn json_of(probe: &Probe, suggestion: &Suggestion) -> Result<Value> {
    let mut row = serde_json::to_value(probe)?;
    if let Value::Object(fields) = &mut row {
        fields.insert(
            "suggestion".to_owned(),
            json!({
                "layer": suggestion.layer,
                "row": suggestion.row,
                "strength": suggestion.strength,
                "reason": suggestion.reason,
            }),
        );
    }
    Ok(row)
}
