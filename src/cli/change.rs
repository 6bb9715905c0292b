//! `triagent change`: the ledger of what somebody changed, by fingerprint.

use super::Done;
use super::env::Env;
use super::output::{Cell, Table, Tone};
use crate::change::{ChangeProblem, acceptance_plan, changed_layers, check_change, fingerprints};
use crate::domain::{Change, ChangeState, ChangedThing, Decision, Filter};
use crate::error::{Failure, Result};
use crate::jobs::{self, ChangeSides, LedgerEntry};
use crate::store::Store;
use crate::text;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Keep the ledger of changes: what was changed, shown by fingerprints before and after
///
/// "Parameters" needs two different weights hashes; a prompt edit is never training; two layers at once means that no benefit can be
/// attributed. A change can be accepted only with the changed artefact, an acceptance method and a way back.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Add(Box<AddArgs>),
    /// List changes, newest last
    List,
    /// Show one change with its problems and its acceptance plan
    Show {
        /// The change
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Accept a change: it stays
    ///
    /// Refused while the changed artefact, its fingerprints, the acceptance method or the way back is missing (S-11).
    Accept(SettleArgs),
    /// Roll a change back to its rollback target
    RollBack(SettleArgs),
}

/// Settle a change
#[derive(Debug, clap::Args)]
struct SettleArgs {
    /// The change
    #[arg(value_name = "ID")]
    id: String,
    /// Why: what the acceptance method showed
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// Record a change
#[derive(Debug, clap::Args)]
struct AddArgs {
    /// What was changed
    #[arg(value_name = "THING", value_parser = things())]
    thing: String,
    /// Short name of the change
    #[arg(value_name = "ID")]
    id: String,
    /// What you say about it
    #[arg(long, value_name = "TEXT")]
    claim: String,
    /// Fingerprint before: NAME=HASH (weights, tokenizer, template, prompt, toolset, index, harness, grader, …)
    #[arg(long = "before", value_name = "NAME=HASH", value_delimiter = ',')]
    before: Vec<String>,
    /// Fingerprint after
    #[arg(long = "after", value_name = "NAME=HASH", value_delimiter = ',')]
    after: Vec<String>,
    /// Take the fingerprints before from this cohort's runs
    #[arg(long, value_name = "C")]
    from_cohort: Option<String>,
    /// Take the fingerprints after from this cohort's runs
    #[arg(long, value_name = "C")]
    to_cohort: Option<String>,
    /// How it is accepted; say so before you look at results
    #[arg(long, value_name = "TEXT")]
    acceptance: Option<String>,
    /// What to go back to
    #[arg(long, value_name = "ARTEFACT")]
    rollback: Option<String>,
}

fn things() -> Vec<&'static str> {
    ChangedThing::ALL.iter().map(|t| t.word()).collect()
}

pub(crate) fn run(args: Args, env: &mut Env) -> Result<Done> {
    match args.verb {
        Verb::Add(args) => add(&args, env),
        Verb::List => list(env),
        Verb::Show { id } => show(&id, env),
        Verb::Accept(args) => settle(&args, ChangeState::Accepted, env),
        Verb::RollBack(args) => settle(&args, ChangeState::RolledBack, env),
    }
}

fn add(args: &AddArgs, env: &mut Env) -> Result<Done> {
    let mut store = env.store()?;
    let thing = ChangedThing::from_word(&args.thing)
        .ok_or_else(|| Failure::usage(format!("unknown thing {:?}", args.thing)))?;
    let change = Change {
        id: args.id.clone(),
        thing,
        claim: args.claim.clone(),
        before: prints(&store, args.from_cohort.as_deref(), &args.before)?,
        after: prints(&store, args.to_cohort.as_deref(), &args.after)?,
        acceptance: args.acceptance.clone(),
        rollback: args.rollback.clone(),
    };
    let problems = check_change(&change);
    let refused: Vec<String> = problems
        .iter()
        .filter(|p| p.refuses())
        .map(ToString::to_string)
        .collect();
    if !refused.is_empty() {
        return Err(Failure::user(format!(
            "not recorded: {}",
            refused.join("\n")
        )));
    }
    let decision = Decision::Change(Box::new(change));
    let record = env.act(|act| store.decide(act, &decision))??;
    for problem in &problems {
        env.out.say(format!("note: {problem}"))?;
    }
    if let Decision::Change(change) = &record.decision {
        if env.out.is_json() {
            let entry = LedgerEntry {
                change: change.as_ref().clone(),
                record: record.clone(),
                settled: Vec::new(),
                sides: None,
            };
            env.out.row(&change_json(&entry, &problems))?;
        } else {
            env.out.line(text::visible(&format!(
                "recorded {}: {} changed",
                change.id, change.thing
            )))?;
        }
    }
    Ok(Done::Whole)
}

/// Fingerprints of a cohort's runs, with what was typed put in place.
fn prints(
    store: &Store,
    cohort: Option<&str>,
    typed: &[String],
) -> Result<BTreeMap<String, String>> {
    let mut out = BTreeMap::new();
    if let Some(cohort) = cohort {
        let all = jobs::cohorts(store, &Filter::default())?;
        let found = jobs::find_cohort(&all, cohort)?;
        let heads = found
            .rows
            .iter()
            .map(|row| Ok(store.rollout(&row.id)?))
            .collect::<Result<Vec<_>>>()?;
        out.extend(fingerprints(&heads));
    }
    for print in typed {
        let (name, hash) = print
            .split_once('=')
            .ok_or_else(|| Failure::usage(format!("{print:?} is not NAME=HASH")))?;
        out.insert(name.to_owned(), hash.to_owned());
    }
    Ok(out)
}

/// The newest entry under a name.
fn entry(store: &Store, id: &str) -> Result<LedgerEntry> {
    let found = jobs::ledger(store)?.into_iter().rev();
    let mut found = found.filter(|e| e.change.id == id);
    found.next().ok_or_else(|| {
        Failure::user(format!("no change is called {id:?}"))
            .hint("`triagent change list` shows them")
    })
}

/// A person decides, with a reason; the machine only says what is missing.
fn settle(args: &SettleArgs, state: ChangeState, env: &mut Env) -> Result<Done> {
    let mut store = env.store()?;
    let found = entry(&store, &args.id)?;
    if args.reason.trim().is_empty() {
        return Err(Failure::usage("a decision on a change needs a reason"));
    }
    let problems = check_change(&found.change);
    let blocking: Vec<String> = problems
        .iter()
        .filter(|p| p.blocks_acceptance())
        .map(ToString::to_string)
        .collect();
    if state == ChangeState::Accepted && !blocking.is_empty() {
        return Err(Failure::user(format!(
            "{} cannot be accepted yet: {}",
            args.id,
            blocking.join("\n")
        ))
        .hint("`triagent change add` under the same name records it anew, complete"));
    }
    let decision = Decision::ChangeState {
        change: found.change.id.clone(),
        entry: found.record.id.clone(),
        state,
        reason: args.reason.clone(),
    };
    env.act(|act| store.decide(act, &decision))??;
    let found = entry(&store, &args.id)?;
    if env.out.is_json() {
        env.out.row(&change_json(&found, &problems))?;
        return Ok(Done::Whole);
    }
    for problem in problems.iter().filter(|p| !p.blocks_acceptance()) {
        env.out.say(format!("note: {problem}"))?;
    }
    let target = match (state, &found.change.rollback) {
        (ChangeState::RolledBack, Some(target)) => format!(", back to {target}"),
        (ChangeState::RolledBack, None) => ", and no rollback target was named".to_owned(),
        (ChangeState::Accepted, _) => String::new(),
    };
    env.out
        .line(text::visible(&format!("{} is {state}{target}", args.id)))?;
    Ok(Done::Whole)
}

fn list(env: &mut Env) -> Result<Done> {
    let store = env.store()?;
    let mut table = Table::new(&[
        "change",
        "thing",
        "layers that differ",
        "can be accepted",
        "state",
        "by",
        "claim",
    ]);
    for entry in jobs::ledger(&store)? {
        let (record, change) = (&entry.record, &entry.change);
        let problems = check_change(change);
        if env.out.is_json() {
            env.out.row(&change_json(&entry, &problems))?;
            continue;
        }
        let blocked = problems.iter().filter(|p| p.blocks_acceptance()).count();
        let state = if blocked == 0 {
            Cell::new("✓ yes").tone(Tone::Good)
        } else {
            Cell::new(format!("✗ {blocked} missing")).tone(Tone::Warn)
        };
        let layers: Vec<&str> = changed_layers(&change.before, &change.after)
            .iter()
            .map(|l| l.word())
            .collect();
        table.push(vec![
            Cell::new(&change.id),
            Cell::new(change.thing),
            Cell::new(layers.join(", ")),
            state,
            settled_cell(&entry),
            Cell::new(&record.reviewer),
            Cell::new(&change.claim),
        ]);
    }
    if table.is_empty() {
        if !env.out.is_json() {
            env.out
                .say("no change yet; `triagent change add THING ID --claim …` records one")?;
        }
    } else {
        env.out.table(&table)?;
    }
    Ok(Done::Whole)
}

fn show(id: &str, env: &mut Env) -> Result<Done> {
    let store = env.store()?;
    let found = entry(&store, id)?;
    let (record, change) = (&found.record, &found.change);
    let problems = check_change(change);
    if env.out.is_json() {
        env.out.row(&change_json(&found, &problems))?;
        return Ok(Done::Whole);
    }
    env.out.line(text::visible(&format!(
        "{}  {}  by {}",
        change.id, change.thing, record.reviewer
    )))?;
    env.out
        .line(text::visible(&format!("claim     {}", change.claim)))?;
    for (state, by, reason) in settlements(&found) {
        env.out.line(text::visible(&format!(
            "{:<9} by {by}: {reason}",
            state.word()
        )))?;
    }
    let mut table = Table::new(&["fingerprint", "before", "after"]);
    let names: std::collections::BTreeSet<&String> =
        change.before.keys().chain(change.after.keys()).collect();
    for name in names {
        table.push(vec![
            Cell::new(name),
            Cell::maybe(change.before.get(name)),
            Cell::maybe(change.after.get(name)),
        ]);
    }
    if !table.is_empty() {
        env.out.table(&table)?;
    }
    for problem in &problems {
        env.out.line(text::visible(&format!("✗ {problem}")))?;
    }
    match &found.sides {
        Some(sides) => before_after(sides, env)?,
        None => env
            .out
            .line("no run here carries these versions, so nothing is known before or after")?,
    }
    let plan = acceptance_plan(change.thing);
    env.out
        .line("acceptance plan, to be declared before results are seen:")?;
    for metric in &plan.primary {
        env.out
            .line(format!("  primary  {}: {}", metric.name, metric.counts))?;
    }
    for (word, lines) in [
        ("guard", &plan.guards),
        ("order", &plan.order),
        ("note", &plan.notes),
    ] {
        for line in lines {
            env.out.line(format!("  {word:<8} {line}"))?;
        }
    }
    env.out.line(format!("  rollback {}", plan.rollback))?;
    Ok(Done::Whole)
}

/// What was decided on an entry, oldest first: state, who, why.
fn settlements(entry: &LedgerEntry) -> Vec<(ChangeState, &str, &str)> {
    entry
        .settled
        .iter()
        .filter_map(|record| match &record.decision {
            Decision::ChangeState { state, reason, .. } => {
                Some((*state, record.reviewer.as_str(), reason.as_str()))
            }
            _ => None,
        })
        .collect()
}

fn settled_cell(entry: &LedgerEntry) -> Cell {
    match entry.state() {
        None => Cell::new("open").tone(Tone::Dim),
        Some(ChangeState::Accepted) => Cell::new("✓ accepted").tone(Tone::Good),
        Some(ChangeState::RolledBack) => Cell::new("↩ rolled back").tone(Tone::Warn),
    }
}

fn before_after(sides: &ChangeSides, env: &mut Env) -> Result<()> {
    for (name, side) in [("before", &sides.before), ("after", &sides.after)] {
        let share = side.share.map_or_else(String::new, |(value, i)| {
            format!(
                ", {} passed [{}–{}]",
                text::per_cent(value),
                text::per_cent(i.low),
                text::per_cent(i.high)
            )
        });
        env.out.line(format!(
            "{name:<9} {} in {}{share}",
            text::plural(u64::from(side.runs), "run"),
            text::plural(side.cohorts.len() as u64, "cohort")
        ))?;
    }
    env.out
        .line(format!("same tasks {}", sides.same_tasks.words))
}

fn change_json(entry: &LedgerEntry, problems: &[ChangeProblem]) -> Value {
    let (record, change) = (&entry.record, &entry.change);
    let settled: Vec<Value> = settlements(entry)
        .into_iter()
        .map(|(state, by, reason)| json!({"state": state, "reviewer": by, "reason": reason}))
        .collect();
    json!({
        "state": entry.state(),
        "settled": settled,
        "sides": entry.sides,
        "change": change.id,
        "thing": change.thing,
        "claim": change.claim,
        "before": change.before,
        "after": change.after,
        "layers": changed_layers(&change.before, &change.after),
        "acceptance": change.acceptance,
        "rollback": change.rollback,
        "problems": problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "acceptable": !problems.iter().any(ChangeProblem::blocks_acceptance),
        "reviewer": record.reviewer,
        "decision": record.id,
    })
}
