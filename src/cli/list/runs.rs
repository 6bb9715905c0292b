//! Rows of runs, of their calls, and of the groups that they form.

use super::close;
use crate::cli::env::Env;
use crate::cli::output::{Cell, Table, Tone};
use crate::domain::{Filter, Outcome};
use crate::error::Result;
use crate::store::{RunRow, Store, StoreError};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const EMPTY: &str = "no run passes; `triagent list runs` without a filter shows all, `triagent import PATH` reads more";

const NO_RUNS: &str = "no runs yet; `triagent import PATH` reads logs";

pub(super) fn runs(store: &Store, filter: &Filter, limit: usize, env: &mut Env) -> Result<()> {
    let total = usize::try_from(store.count_runs(filter)?).unwrap_or(usize::MAX);
    let rows = take(store, filter, limit)?;
    if env.out.is_json() {
        return rows.iter().try_for_each(|row| env.out.row(&run_json(row)));
    }
    let heads = [
        "run", "outcome", "verdict", "steps", "calls", "errors", "task", "family", "source",
    ];
    let mut table = Table::new(&heads);
    for row in &rows {
        table.push(vec![
            Cell::new(&row.id),
            outcome_cell(row.outcome),
            verdict_cell(row),
            Cell::number(Some(row.steps)),
            Cell::number(Some(row.calls)),
            Cell::number(Some(row.errors)),
            Cell::maybe(row.task.as_ref()),
            Cell::maybe(row.family.as_ref()),
            Cell::new(&row.source),
        ]);
    }
    if !table.is_empty() {
        env.out.table(&table)?;
    }
    let has_any = store.count_runs(&Filter::default())? > 0;
    let empty = if has_any { EMPTY } else { NO_RUNS };
    close(rows.len(), total, "runs", empty, env)
}

/// What outside checks rely on (DESIGN §6), and more.
pub(crate) fn run_json(row: &RunRow) -> Value {
    json!({
        "run": row.id,
        "task": row.task,
        "family": row.family,
        "scenario": row.scenario,
        "group": row.group,
        "format": row.format,
        "source": row.source,
        "outcome": row.outcome,
        "ending": row.ending,
        "steps": row.steps,
        "calls": row.calls,
        "errors": row.errors,
        "verdict": row.layer,
        "cause": row.cause,
        "proven": row.layer.map(|_| row.proven),
        "model": row.model,
        "harness": row.harness,
        "harness_version": row.harness_version,
        "index_version": row.index_version,
        "prompt_version": row.prompt_version,
        "toolset_version": row.toolset_version,
        "checkpoint": row.checkpoint,
        "reward": { "result": row.reward_result, "status": row.reward_status },
        "retry": row.has_retry,
        "context_rewrite": row.has_rewrite,
        "unknown_owner": row.has_unknown,
    })
}

fn outcome_cell(outcome: Outcome) -> Cell {
    match outcome {
        Outcome::Pass => Cell::new("✓ pass").tone(Tone::Good),
        Outcome::Fail => Cell::new("✗ fail").tone(Tone::Bad),
        Outcome::Unknown => Cell::new("? unknown").tone(Tone::Dim),
    }
}

fn verdict_cell(row: &RunRow) -> Cell {
    match row.layer {
        Some(layer) if !row.proven => Cell::new(format!("{layer} (unproven)")).tone(Tone::Warn),
        other => Cell::maybe(other),
    }
}

fn take(store: &Store, filter: &Filter, limit: usize) -> Result<Vec<RunRow>> {
    let mut rows = Vec::new();
    let mut after: Option<RunRow> = None;
    while rows.len() < limit {
        let wanted = u32::try_from((limit - rows.len()).min(500)).unwrap_or(500);
        let page = store.runs(filter, after.as_ref(), wanted)?;
        after = page.rows.last().cloned();
        rows.extend(page.rows);
        if !page.more {
            break;
        }
    }
    Ok(rows)
}

pub(super) fn calls(store: &Store, filter: &Filter, limit: usize, env: &mut Env) -> Result<()> {
    let heads = [
        "run",
        "call",
        "adopted",
        "reports",
        "logical request",
        "attempt",
        "event",
        "model",
    ];
    let mut table = Table::new(&heads);
    let (mut shown, mut total) = (0, 0);
    for row in take(store, filter, usize::MAX)? {
        for call in store.calls(&row.id)? {
            total += 1;
            if shown == limit {
                continue;
            }
            shown += 1;
            if env.out.is_json() {
                let mut fields = super::super::show::call_json(&call);
                fields.insert("run".to_owned(), json!(row.id));
                env.out.row(&fields)?;
                continue;
            }
            table.push(vec![
                Cell::new(&row.id),
                Cell::number(Some(call.index)),
                Cell::new(call.adopted),
                Cell::number(Some(call.reports)),
                Cell::maybe(call.logical_request_id),
                Cell::maybe(call.attempt),
                Cell::maybe(call.event_id),
                Cell::maybe(call.model),
            ]);
        }
    }
    if !table.is_empty() {
        env.out.table(&table)?;
    }
    close(
        shown,
        total,
        "calls",
        "no call: these logs tell of no inference, or no run passes",
        env,
    )
}

#[derive(Default)]
struct Group {
    task: Option<String>,
    runs: Vec<String>,
    rewards: Vec<Option<f64>>,
}

pub(super) fn groups(store: &Store, filter: &Filter, limit: usize, env: &mut Env) -> Result<()> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    store.each_run(filter, |row| {
        if let Some(name) = row.group {
            let group = groups.entry(name).or_default();
            group.task = group.task.take().or(row.task);
            group.runs.push(row.id.0);
            group.rewards.push(row.reward_result);
        }
        Ok::<(), StoreError>(())
    })?;
    let total = groups.len();
    let mut table = Table::new(&["group", "task", "runs", "rewards"]);
    for (name, group) in groups.iter().take(limit) {
        if env.out.is_json() {
            let row = json!({"group": name, "task": group.task, "runs": group.runs, "rewards": group.rewards});
            env.out.row(&row)?;
            continue;
        }
        let rewards: Vec<String> = group
            .rewards
            .iter()
            .map(|r| r.map_or_else(|| "_".to_owned(), |v| v.to_string()))
            .collect();
        table.push(vec![
            Cell::new(name),
            Cell::maybe(group.task.as_ref()),
            Cell::number(Some(group.runs.len())),
            Cell::new(rewards.join(" ")),
        ]);
    }
    if !table.is_empty() {
        env.out.table(&table)?;
    }
    let empty = "no group: no run names one; `triagent rewards groups` can group by task";
    close(total.min(limit), total, "groups", empty, env)
}
