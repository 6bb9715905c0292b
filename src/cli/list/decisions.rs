//! Rows of what people decided: verdicts and pairs.

use super::close;
use crate::cli::env::Env;
use crate::cli::output::{Cell, Table, Tone};
use crate::domain::{Candidate, Decision, DecisionRecord, Filter, Pair, Verdict};
use crate::error::Result;
use crate::store::Store;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Columns of a reason that a row shows.
const REASON_COLUMNS: usize = 60;

/// Names of the runs that pass; `None` = all do.
fn passing(store: &Store, filter: &Filter) -> Result<Option<HashSet<String>>> {
    if filter.terms.is_empty() {
        return Ok(None);
    }
    let mut names = HashSet::new();
    store.each_run(filter, |row| {
        names.insert(row.id.0);
        Ok(())
    })?;
    Ok(Some(names))
}

pub(super) fn verdicts(store: &Store, filter: &Filter, limit: usize, env: &mut Env) -> Result<()> {
    let names = passing(store, filter)?;
    let mut all = store.verdicts()?;
    all.retain(|(_, v)| names.as_ref().is_none_or(|n| n.contains(&v.run.0)));
    let heads = ["run", "layer", "cause", "step", "by", "note"];
    let mut table = Table::new(&heads);
    for (record, verdict) in all.iter().take(limit) {
        if env.out.is_json() {
            env.out.row(&verdict_json(record, verdict))?;
            continue;
        }
        let layer = if verdict.is_proven() {
            Cell::new(verdict.layer)
        } else {
            Cell::new(format!("{} (unproven)", verdict.layer)).tone(Tone::Warn)
        };
        table.push(vec![
            Cell::new(&verdict.run),
            layer,
            Cell::maybe(verdict.cause.as_ref()),
            Cell::number(verdict.decisive_step),
            Cell::new(&record.reviewer),
            Cell::new(crate::text::one_line(&verdict.note, REASON_COLUMNS)),
        ]);
    }
    if !table.is_empty() {
        env.out.table(&table)?;
    }
    let empty = "no verdict yet; `triagent label RUN --layer L` records one";
    close(all.len().min(limit), all.len(), "verdicts", empty, env)
}

pub(crate) fn verdict_json(record: &DecisionRecord, verdict: &Verdict) -> Value {
    json!({
        "decision": record.id,
        "run": verdict.run,
        "layer": verdict.layer,
        "cause": verdict.cause,
        "step": verdict.decisive_step,
        "contributing": verdict.contributing,
        "checklist": verdict.checklist,
        "proven": verdict.is_proven(),
        "pins": verdict.pins,
        "requires": verdict.requires,
        "note": verdict.note,
        "adjudicated": matches!(record.decision, Decision::Adjudication(_)),
        "suggestion_seen": verdict.suggestion_seen,
        "from_random_queue": verdict.from_random_queue,
        "reviewer": record.reviewer,
        "at": time(record.at_us),
        "codebook": record.codebook,
        "replaces": record.replaces,
    })
}

pub(super) fn pairs(store: &Store, filter: &Filter, limit: usize, env: &mut Env) -> Result<()> {
    let names = passing(store, filter)?;
    let mut all = store.pairs()?;
    all.retain(|(_, p)| names.as_ref().is_none_or(|n| n.contains(&p.a.at().run.0)));
    let mut table = Table::new(&["pair", "a", "b", "choice", "criteria", "by", "reason"]);
    for (record, pair) in all.iter().take(limit) {
        if env.out.is_json() {
            env.out.row(&pair_json(record, pair))?;
            continue;
        }
        let criteria: Vec<&str> = pair.criteria.iter().map(|c| c.word()).collect();
        table.push(vec![
            Cell::new(&record.id),
            Cell::new(side(&pair.a)),
            Cell::new(side(&pair.b)),
            Cell::new(pair.choice),
            Cell::new(criteria.join(", ")),
            Cell::new(&record.reviewer),
            Cell::new(crate::text::one_line(&pair.reason, REASON_COLUMNS)),
        ]);
    }
    if !table.is_empty() {
        env.out.table(&table)?;
    }
    let empty = "no pair yet; `triagent pair A B --prefer a --criterion C --reason …` records one";
    close(all.len().min(limit), all.len(), "pairs", empty, env)
}

fn side(candidate: &Candidate) -> String {
    match candidate {
        Candidate::Recorded { at } => at.to_string(),
        Candidate::Human { at, .. } => format!("human for {at}"),
    }
}

pub(crate) fn pair_json(record: &DecisionRecord, pair: &Pair) -> Value {
    json!({
        "pair": record.id,
        "a": pair.a,
        "b": pair.b,
        "choice": pair.choice,
        "criteria": pair.criteria,
        "reason": pair.reason,
        "evidence": pair.evidence,
        "standard": pair.standard,
        "human": pair.a.is_human() || pair.b.is_human(),
        "context_hash": pair.context_hash,
        "left": pair.left,
        "side_seed": pair.side_seed,
        "reviewer": record.reviewer,
        "at": time(record.at_us),
        "replaces": record.replaces,
    })
}

/// RFC 3339, or the bare number where it is out of the calendar's reach.
pub(crate) fn time(at_us: i64) -> String {
    jiff::Timestamp::from_microsecond(at_us).map_or_else(|_| at_us.to_string(), |t| t.to_string())
}
