//! `triagent score`: log-probs of model-owned tokens, of runs and of pairs.

mod drift;

use super::Done;
use super::env::Env;
use super::output::{Cell, Table, Tone};
use crate::domain::{Score, ScoreSubject};
use crate::error::{Failure, Result};
use crate::jobs::{self, ScoreOptions, ScoreTotals, Scored};
use crate::score::{
    self, ApiKey, DeviceChoice, ModelSource, Options, Precision, Scorer, SelfCheck,
};
use crate::text;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Which model, and how; shared by every verb that scores.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ModelArgs {
    /// Hugging Face folder, GGUF file or http://HOST:PORT/v1#NAME [default: settings, else the embedded proxy]
    #[arg(long, short, value_name = "M", value_hint = clap::ValueHint::AnyPath)]
    model: Option<String>,
    /// auto, cpu, cuda:N or metal [default: settings, else auto]
    #[arg(long, value_name = "D")]
    device: Option<String>,
    /// f32 is exact; int8 is the CPU's fast mode; all but f32 are approximate and bind their scores apart
    #[arg(long, value_name = "P", default_value = "auto", value_parser = ["auto", "f32", "bf16", "f16", "int8"])]
    precision: String,
    /// Use this chat template instead of the model's own; it binds its scores apart
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    template: Option<PathBuf>,
    /// Folder or GGUF file with a server model's tokenizer and template; no weights are needed
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    tokenizer: Option<PathBuf>,
    /// Bound on weights and working memory [default: most of what is free]
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 0,
        hide_default_value = true
    )]
    memory: u64,
}

impl ModelArgs {
    /// Where the model comes from.
    pub(crate) fn source(&self, env: &Env) -> Result<ModelSource> {
        let configured = env.config()?.score.model;
        let named = self
            .model
            .clone()
            .or(Some(configured).filter(|m| !m.is_empty()));
        let source = ModelSource::parse(named.as_deref())?;
        match source {
            ModelSource::Server { .. } if self.precision != "auto" => Err(Failure::usage(format!(
                "--precision {} says nothing to a server: it chooses its own precision",
                self.precision
            ))
            .hint("leave --precision out, and start the server in the precision that you want")),
            source => Ok(source),
        }
    }

    /// How to compute.
    pub(crate) fn options(&self, env: &Env) -> Result<Options> {
        let configured = env.config()?.score.device;
        let device = self.device.as_deref().unwrap_or(&configured);
        Ok(Options {
            device: DeviceChoice::parse(device)?,
            precision: Precision::parse(&self.precision)
                .ok_or_else(|| Failure::usage(format!("unknown precision {:?}", self.precision)))?,
            template: self.template.clone(),
            tokenizer: self.tokenizer.clone(),
            // A key on the command line would stand in the shell's history and in `ps`.
            api_key: std::env::var("TRIAGENT_API_KEY").ok().map(ApiKey),
            max_memory_mib: self.memory,
            ..Options::default()
        })
    }

    /// The user named a chat template, so a difference in rendering is declared.
    pub(crate) fn names_template(&self) -> bool {
        self.template.is_some()
    }

    /// Loads the model and says so where it is only a proxy.
    pub(crate) fn open(&self, env: &mut Env) -> Result<Scorer> {
        let (source, options) = (self.source(env)?, self.options(env)?);
        let scorer = env.watch("load model", |_| Scorer::open(&source, &options))??;
        if scorer.binding().is_proxy {
            env.out.say(format!(
                "model: {} on {}; a proxy speaks for itself, not for the policy that made these logs",
                scorer.binding().model,
                scorer.device()
            ))?;
        }
        if scorer.is_approximate() {
            env.out.say(format!(
                "approximate: computed as {}, not in F32; `score --self-check` tells how far that is",
                scorer.binding().dtype
            ))?;
        }
        Ok(scorer)
    }
}

/// Compute log-probs of what the model wrote, in runs and in pairs
///
/// Scored are the model-owned tokens after the recorded context, in the model's own chat template. A score is bound to weights,
/// tokenizer, template and precision; what was scored before with the same binding is read, not computed again. Exit code 3 if
/// something could not be scored.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Taken only to say how one run is meant
    #[arg(value_name = "RUN", hide = true)]
    run: Option<String>,
    /// Only runs that pass, and pairs among them
    #[arg(long, short, value_name = "EXPR")]
    filter: Option<String>,
    /// Only pairs
    #[arg(long, conflicts_with = "runs")]
    pairs: bool,
    /// Only the decisions of runs
    #[arg(long)]
    runs: bool,
    /// Score again what has a score already
    #[arg(long)]
    again: bool,
    /// Only tell how far this mode is from F32 on the CPU, on fixed conversations; exit code 1 if too far
    #[arg(long, conflicts_with_all = ["filter", "pairs", "runs", "again"])]
    self_check: bool,
    /// Only hold the log-probs that the logs recorded against this model's of the same tokens, by version of the policy; exit
    /// code 1 if it is far from one
    #[arg(long, conflicts_with_all = ["self_check", "pairs", "runs", "again"])]
    drift: bool,
}

/// Failures of one reason that are named one by one.
const FAILURES_SHOWN: usize = 3;

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    if let Some(run) = &args.run {
        return Err(
            Failure::usage("score takes a filter, not the name of a run")
                .hint(format!("triagent score --filter run:{run}")),
        );
    }
    if args.self_check {
        return self_check(&args.model, env);
    }
    if args.drift {
        return drift(args, env);
    }
    let mut store = env.store()?;
    let mut scorer = args.model.open(env)?;
    let options = ScoreOptions {
        filter: env.filter(args.filter.as_deref())?,
        pairs_only: args.pairs,
        runs_only: args.runs,
        again: args.again,
    };
    let now = env.now_us();
    let mut found = Vec::new();
    let totals = env.watch("score", |progress| {
        let mut keep = |one: &Scored| found.push(one.clone());
        jobs::score(&mut store, &mut scorer, &options, now, progress, &mut keep)
    })??;
    let near = jobs::drift_of(&store, scorer.binding())?;
    show(&found, near, env)?;
    if near == Some(false) {
        env.out.say("this model is far from the recorded policy (score --drift): its scores speak of itself")?;
    }
    close(&totals, env)
}

fn drift(args: &Args, env: &mut Env) -> Result<Done> {
    let mut store = env.store()?;
    let mut scorer = args.model.open(env)?;
    let (filter, now) = (env.filter(args.filter.as_deref())?, env.now_us());
    let found = env.watch("drift", |progress| {
        jobs::drift(&mut store, &mut scorer, &filter, now, progress)
    })??;
    if found.is_empty() {
        env.out.say("no log here recorded prompt tokens, generated tokens and their log-probs; nothing can be compared")?;
        return Ok(Done::Refused);
    }
    drift::tell(&found, env)?;
    let said: Vec<Option<bool>> = found.iter().map(jobs::Drift::passes).collect();
    Ok(if said.contains(&Some(false)) {
        Done::Refused
    } else if said.contains(&None) {
        Done::InPart
    } else {
        Done::Whole
    })
}

fn self_check(model: &ModelArgs, env: &mut Env) -> Result<Done> {
    let (source, options) = (model.source(env)?, model.options(env)?);
    let check = env.watch("self-check", |progress| {
        score::self_check(&source, &options, progress)
    })??;
    if env.out.is_json() {
        env.out.row(&json!(check))?;
    } else {
        env.out.table(&drift_table(&check))?;
    }
    if check.passes {
        return Ok(Done::Whole);
    }
    env.out.say(format!(
        "margins move by up to {:.3} nats in this mode; more than {} may turn a preference around; use --precision f32",
        check.max_margin,
        score::MAX_MARGIN_ERROR
    ))?;
    Ok(Done::Refused)
}

fn drift_table(check: &SelfCheck) -> Table {
    let mut table = Table::new(&["mode", "tokens", "mean", "max", "max sum", "max margin"]);
    let figures = [check.mean, check.max, check.max_sum, check.max_margin];
    let mut row = vec![
        Cell::new(check.mode.clone()),
        Cell::number(Some(check.tokens)),
    ];
    row.extend(figures.map(|x| Cell::number(Some(format!("{x:.6}")))));
    table.push(row);
    table
}

fn show(found: &[Scored], near: Option<bool>, env: &mut Env) -> Result<()> {
    let heads = ["what", "logp", "logp TRL", "tokens", "nats/byte", "prompt"];
    let mut table = Table::new(&heads);
    let mut redacted = 0;
    for one in found {
        match one {
            Scored::Score {
                score,
                warnings,
                before_redaction,
                ..
            } => {
                redacted += usize::from(*before_redaction);
                if env.out.is_json() {
                    let mut json = score_json(score, warnings);
                    json["before_redaction"] = json!(before_redaction);
                    json["near_recorded_policy"] = json!(near);
                    env.out.row(&json)?;
                } else {
                    table.push(row(score));
                }
            }
            Scored::Failed { .. } => {}
        }
    }
    not_scored(found, env)?;
    if !table.is_empty() {
        env.out.table(&table)?;
    }
    if redacted > 0 {
        env.out.say(format!(
            "{redacted} are scores before redaction: words of their runs leave an export as placeholders"
        ))?;
    }
    Ok(())
}

/// What could not be scored: a few of each reason, the rest as a count.
fn not_scored(found: &[Scored], env: &mut Env) -> Result<()> {
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in found {
        if let Scored::Failed { subject, error } = one {
            let said = error.to_string();
            let line = format!("not scored {}: {said}", name(subject));
            reasons.entry(kind_of(&said)).or_default().push(line);
        }
    }
    for lines in reasons.values() {
        for line in lines.iter().take(FAILURES_SHOWN) {
            env.out.say(text::visible(line))?;
        }
        let more = lines.len().saturating_sub(FAILURES_SHOWN);
        if more > 0 {
            env.out.say(format!(
                "not scored: {}, for the same reason",
                text::plural(more as u64, "other")
            ))?;
        }
    }
    Ok(())
}

/// An error without its figures: the same reason for every length.
fn kind_of(error: &str) -> String {
    error.chars().filter(|c| !c.is_ascii_digit()).collect()
}

fn row(score: &Score) -> Vec<Cell> {
    let tone = match score.subject {
        ScoreSubject::Step(_) => Tone::Plain,
        ScoreSubject::PairSide { .. } => Tone::Bold,
    };
    vec![
        Cell::new(name(&score.subject)).tone(tone),
        Cell::number(Some(format!("{:.4}", score.logp_sum))),
        Cell::number(Some(format!("{:.4}", score.logp_sum_trl))),
        Cell::number(Some(score.tokens)),
        Cell::number(Some(format!("{:.4}", score.logp_per_byte()))),
        Cell::number(Some(score.prompt_tokens)),
    ]
}

fn name(subject: &ScoreSubject) -> String {
    match subject {
        ScoreSubject::Step(at) => at.to_string(),
        ScoreSubject::PairSide { pair, side } => format!("pair {pair} {side}"),
    }
}

/// What outside checks rely on (DESIGN §6), and more.
fn score_json(score: &Score, warnings: &[String]) -> Value {
    let mut row = json!({
        "logp_sum": score.logp_sum,
        "logp_sum_trl": score.logp_sum_trl,
        "tokens": score.tokens,
        "bytes": score.bytes,
        "logp_per_byte": score.logp_per_byte(),
        "prompt_tokens": score.prompt_tokens,
        "device": score.device,
        "binding": score.binding,
        "warnings": warnings,
    });
    let (run, step, pair, side) = match &score.subject {
        ScoreSubject::Step(at) => (Some(&at.run), Some(at.step), None, None),
        ScoreSubject::PairSide { pair, side } => (None, None, Some(pair), Some(*side)),
    };
    if let Value::Object(fields) = &mut row {
        fields.insert("run".to_owned(), json!(run));
        fields.insert("step".to_owned(), json!(step));
        fields.insert("pair".to_owned(), json!(pair));
        fields.insert("side".to_owned(), json!(side));
    }
    row
}

fn close(totals: &ScoreTotals, env: &mut Env) -> Result<Done> {
    env.out.say(format!(
        "{} scored, {} known before, {} could not be scored",
        totals.scored, totals.known, totals.failed
    ))?;
    Ok(if totals.failed > 0 {
        Done::InPart
    } else {
        Done::Whole
    })
}
