//! `triagent label`: why a run failed, decided from a script.

use super::Done;
use super::env::Env;
use super::list::verdict_json;
use super::show::{check_step, split_step};
use crate::domain::{
    Checklist, Decision, DecisionRecord, Filter, Layer, Pin, Requirement, RunId, Verdict,
};
use crate::error::{Failure, Result};
use crate::jobs;
use crate::store::Store;
use crate::text;
use crate::triage::Taxonomy;

/// Say why a run failed
///
/// A verdict names the layer (index, context, tool, model) or an outcome beyond the layers (environment, grader, undetermined).
/// `model` counts as proven only with all four checks ticked; without them it is saved as unproven and opens no training gate.
/// Nothing is overwritten: a new verdict replaces the reviewer's old one in the log, and `triagent undo` takes it back.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Runs (unique beginnings do), or RUN:STEP with the first decisive step
    #[arg(value_name = "RUN", required_unless_present = "filter")]
    runs: Vec<String>,
    /// Label every run that passes, as one decision to undo
    #[arg(long, short, value_name = "EXPR", conflicts_with = "runs")]
    filter: Option<String>,
    /// Which layer failed, or which outcome lies beyond the layers
    #[arg(long, short, value_name = "L", value_parser = layers())]
    layer: String,
    /// First decisive step
    #[arg(long, value_name = "N")]
    step: Option<u32>,
    /// Steps that contributed
    #[arg(long, value_name = "N", value_delimiter = ',')]
    contributing: Vec<u32>,
    /// Sub-cause, by its name in the codebook
    #[arg(long, value_name = "C")]
    cause: Option<String>,
    /// What was checked: document_visible, version_valid, date_in_context, tool_text_clear, or all
    #[arg(long = "check", value_name = "NAME", value_delimiter = ',', value_parser = CHECKS)]
    checks: Vec<String>,
    /// Words quoted as evidence: STEP:QUOTE; the step must hold them
    #[arg(long = "pin", value_name = "STEP:QUOTE")]
    pins: Vec<String>,
    /// A document that was required: DOC or DOC@VERSION; counts like the task list's
    #[arg(long = "requires", value_name = "DOC[@VERSION]")]
    requires: Vec<String>,
    /// The run is among the next ones of your queue (`triagent queue`), so its label may enter intervals
    #[arg(long)]
    from_queue: bool,
    /// Free words
    #[arg(long, default_value = "", value_name = "TEXT")]
    note: String,
}

const CHECKS: [&str; 5] = [
    "document_visible",
    "version_valid",
    "date_in_context",
    "tool_text_clear",
    "all",
];

pub(crate) fn layers() -> Vec<&'static str> {
    Layer::ALL.iter().map(|l| l.word()).collect()
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let mut store = env.store()?;
    let layer = Layer::from_word(&args.layer)
        .ok_or_else(|| Failure::usage(format!("unknown layer {:?}", args.layer)))?;
    check_cause(&env.codebook(), layer, args.cause.as_deref())?;
    let targets = targets(&store, args, env)?;
    if args.from_queue {
        check_drawn(&store, &targets, env)?;
    }
    let decisions = targets
        .into_iter()
        .map(|(run, step)| verdict(&store, args, layer, run, step))
        .collect::<Result<Vec<Decision>>>()?;
    let records = match decisions.as_slice() {
        [one] => vec![env.act(|act| store.decide(act, one))??],
        many => env.act(|act| store.decide_batch(act, many))??,
    };
    records.iter().try_for_each(|record| tell(record, env))?;
    Ok(Done::Whole)
}

/// A label may only call itself drawn when the queue says so.
fn check_drawn(store: &Store, targets: &[(RunId, Option<u32>)], env: &Env) -> Result<()> {
    let Some(spec) = jobs::queue_spec(store)? else {
        return Err(Failure::user("no queue has been drawn").hint("`triagent queue` draws one"));
    };
    let queue = super::queue::draw(store, &spec, env)?;
    match targets
        .iter()
        .find(|(run, _)| !jobs::is_drawn(&queue, run.as_str()))
    {
        None => Ok(()),
        Some((run, _)) => Err(Failure::user(format!(
            "{run} is not among the next runs of your queue"
        ))
        .hint(
            "`triagent queue` shows them; label without --from-queue to count it as picked by hand",
        )),
    }
}

fn check_cause(book: &Taxonomy, layer: Layer, cause: Option<&str>) -> Result<()> {
    let Some(cause) = cause else { return Ok(()) };
    if book.cause(layer, cause).is_some() {
        return Ok(());
    }
    let known: Vec<&str> = book
        .entry(layer)
        .map(|e| e.causes.iter().map(|c| c.name.as_str()).collect())
        .unwrap_or_default();
    let failure = Failure::usage(format!(
        "the codebook has no sub-cause `{cause}` of {layer}"
    ));
    Err(match text::nearest(cause, known.iter().copied()) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint(format!("it has {}", known.join(", "))),
    })
}

fn targets(store: &Store, args: &Args, env: &Env) -> Result<Vec<(RunId, Option<u32>)>> {
    if let Some(expr) = &args.filter {
        return filtered(store, &env.filter(Some(expr))?, args.step);
    }
    args.runs
        .iter()
        .map(|typed| target(store, typed, args.step))
        .collect()
}

fn filtered(
    store: &Store,
    filter: &Filter,
    step: Option<u32>,
) -> Result<Vec<(RunId, Option<u32>)>> {
    let mut runs = Vec::new();
    store.each_run(filter, |row| {
        runs.push((row.id, step));
        Ok(())
    })?;
    if runs.is_empty() {
        return Err(Failure::user(
            "no run passes the filter; nothing was labelled",
        ));
    }
    Ok(runs)
}

fn target(store: &Store, typed: &str, step: Option<u32>) -> Result<(RunId, Option<u32>)> {
    match (store.resolve(typed), split_step(typed)) {
        (Ok(run), _) => Ok((run, step)),
        (Err(_), Some((run, at))) => Ok((store.resolve(run)?, Some(at))),
        (Err(e), None) => Err(e.into()),
    }
}

fn verdict(
    store: &Store,
    args: &Args,
    layer: Layer,
    run: RunId,
    step: Option<u32>,
) -> Result<Decision> {
    for at in step.iter().chain(&args.contributing) {
        check_step(store, &run, *at)?;
    }
    let pins = args
        .pins
        .iter()
        .map(|pin| read_pin(store, &run, pin))
        .collect::<Result<Vec<Pin>>>()?;
    Ok(Decision::Verdict(Verdict {
        cause: args.cause.clone(),
        decisive_step: step,
        contributing: args.contributing.clone(),
        checklist: checklist(&args.checks),
        pins,
        requires: args.requires.iter().map(|r| requirement(r)).collect(),
        note: args.note.clone(),
        from_random_queue: args.from_queue,
        ..Verdict::new(run, layer)
    }))
}

fn checklist(ticked: &[String]) -> Checklist {
    let has = |name: &str| ticked.iter().any(|t| t == name || t == "all");
    Checklist {
        document_visible: has("document_visible"),
        version_valid: has("version_valid"),
        date_in_context: has("date_in_context"),
        tool_text_clear: has("tool_text_clear"),
    }
}

fn requirement(typed: &str) -> Requirement {
    let (doc_id, version) = match typed.split_once('@') {
        Some((doc, version)) => (doc, Some(version.to_owned())),
        None => (typed, None),
    };
    Requirement {
        doc_id: doc_id.to_owned(),
        version,
        spans: Vec::new(),
        conditions: Vec::new(),
    }
}

/// A quote that the step does not hold is no evidence.
fn read_pin(store: &Store, run: &RunId, typed: &str) -> Result<Pin> {
    let parsed = typed
        .split_once(':')
        .and_then(|(step, quote)| Some((step.parse::<u32>().ok()?, quote)));
    let Some((step, quote)) = parsed else {
        return Err(Failure::usage(format!("--pin `{typed}` is not STEP:QUOTE")));
    };
    check_step(store, run, step)?;
    let text = store.step_text(run, step, usize::MAX)?;
    if quote.is_empty() || !text.contains(quote) {
        return Err(Failure::user(format!(
            "step {step} of {run} does not hold the words `{quote}`"
        ))
        .hint(format!(
            "`triagent show {run}:{step}` prints it; quote it word for word"
        )));
    }
    Ok(Pin {
        step,
        quote: quote.to_owned(),
    })
}

fn tell(record: &DecisionRecord, env: &mut Env) -> Result<()> {
    let Decision::Verdict(verdict) = &record.decision else {
        return Ok(());
    };
    if env.out.is_json() {
        return env.out.row(&verdict_json(record, verdict));
    }
    let mut line = format!("labelled {} {}", verdict.run, verdict.layer);
    if !verdict.is_proven() {
        line.push_str(" (unproven: --check all four to count as proven)");
    }
    if record.replaces.is_some() {
        line.push_str(", replacing your earlier verdict");
    }
    env.out.line(text::visible(&line))
}
