//! `triagent undo` and `triagent redo`: the reviewer's last decision, back and forth. Nothing is ever deleted.

use super::Done;
use super::env::Env;
use crate::domain::{Decision, DecisionRecord};
use crate::error::Result;
use crate::text;
use serde_json::json;

/// Take back your last decision
///
/// It stays in the log; `triagent redo` brings it back. A batch is taken back as one.
#[derive(Debug, clap::Args)]
pub(crate) struct UndoArgs {}

/// Bring back what your last undo took
#[derive(Debug, clap::Args)]
pub(crate) struct RedoArgs {}

pub(crate) fn undo(env: &mut Env) -> Result<Done> {
    let mut store = env.store()?;
    let records = env.act(|act| store.undo(act))??;
    tell("undone", &records, "nothing of yours to undo", env)
}

pub(crate) fn redo(env: &mut Env) -> Result<Done> {
    let mut store = env.store()?;
    let records = env.act(|act| store.redo(act))??;
    tell("redone", &records, "nothing to redo", env)
}

fn tell(word: &str, records: &[DecisionRecord], none: &str, env: &mut Env) -> Result<Done> {
    if records.is_empty() {
        env.out.say(none)?;
    }
    for record in records {
        if env.out.is_json() {
            let row = json!({
                "act": word,
                "decision": record.id,
                "kind": record.decision.kind(),
                "subject": record.decision.subject(),
                "reviewer": record.reviewer,
            });
            env.out.row(&row)?;
        } else {
            let line = format!("{word}: {}", in_words(&record.decision));
            env.out.line(text::visible(&line))?;
        }
    }
    Ok(Done::Whole)
}

fn in_words(decision: &Decision) -> String {
    match decision {
        Decision::Verdict(v) => format!("{} is {}", v.run, v.layer),
        Decision::Adjudication(v) => format!("{} settled as {}", v.run, v.layer),
        Decision::Pair(p) => format!("pair {} against {}: {}", p.a.at(), p.b.at(), p.choice),
        Decision::Outcome { run, outcome } => format!("{run} is a {outcome}"),
        Decision::Note { run, .. } => format!("a note on {run}"),
        Decision::Pin { run, pin } => format!("a quote from {run}:{}", pin.step),
        Decision::Fact {
            cohort,
            fact,
            value,
            ..
        } => format!("{cohort}: {fact} = {value}"),
        Decision::Change(change) => format!("change {} of {}", change.id, change.thing),
        Decision::ChangeState { change, state, .. } => format!("{change} {state}"),
        Decision::Finding {
            finding, action, ..
        } => format!("{action} finding {finding}"),
        Decision::Override {
            cohort, headline, ..
        } => format!("override for {cohort}: {headline}"),
        Decision::Other { word, subject, .. } => format!("{word} on {subject}"),
    }
}
