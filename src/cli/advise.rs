//! `triagent advise`: what to fix, and what training would still need, each gate shown.

use super::Done;
use super::env::Env;
use super::output::{Cell, Table, Tone};
use crate::domain::{Decision, GateState, Refusal, Shares};
use crate::error::{Failure, Result};
use crate::jobs::{self, CohortAdvice, Repeats};
use crate::store::Store;
use crate::text;
use std::collections::BTreeMap;
use std::io::IsTerminal;

/// Say what to fix, and what each way of training would still need
///
/// A cohort is a task family under one set of versions (harness, index, prompt, tools, weights). The first rule that holds is the
/// headline; every refusal names gate, value, threshold, what is missing and how to get it. Nothing is summed into a score. The machine
/// advises: a lead may decide otherwise, with a name and a reason.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this cohort: its name or a part of it that fits one
    #[arg(long, short, value_name = "C")]
    cohort: Option<String>,
    /// Decide something else than the advice, as a lead
    #[arg(long = "override", value_name = "HEADLINE", requires_all = ["cohort", "reason"])]
    overriding: Option<String>,
    /// Why; compulsory with --override
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Show every gate, not only those that refuse
    #[arg(long)]
    gates: bool,
    /// Advise nothing: list what was advised before, and judge it once more from the values that it was kept with
    #[arg(long, conflicts_with_all = ["overriding", "gates"])]
    kept: bool,
}

/// Width of a page where neither `COLUMNS` nor a terminal tells one.
const COLUMNS: usize = 100;
/// A narrower page would hold one word a line.
const MIN_COLUMNS: usize = 40;
/// A wider line is hard to read.
const MAX_COLUMNS: usize = 140;
/// Columns of the names beside a refusal's words.
const NAME_COLUMNS: usize = 11;

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let mut store = env.store()?;
    if args.kept {
        return kept(&store, args.cohort.as_deref(), env);
    }
    let overrides: toml::Table = env.config()?.gates.into_iter().collect();
    let now = env.now_us();
    if let (Some(headline), Some(reason)) = (&args.overriding, &args.reason) {
        let typed = args.cohort.as_deref().unwrap_or_default();
        let all = jobs::cohorts(&store, &crate::domain::Filter::default())?;
        let decision = Decision::Override {
            cohort: jobs::find_cohort(&all, typed)?.name.clone(),
            headline: headline.clone(),
            reason: reason.clone(),
        };
        if reason.trim().is_empty() {
            return Err(Failure::usage("a lead's override needs a reason"));
        }
        env.act(|act| store.decide(act, &decision))??;
    }
    let cohort = args.cohort.clone();
    let said = env.watch("advise", |progress| {
        jobs::advise(&mut store, cohort.as_deref(), &overrides, now, progress)
    })??;
    if said.is_empty() {
        env.out
            .say("no run yet; `triagent import PATH` reads some")?;
    }
    for (n, advice) in said.iter().enumerate() {
        if env.out.is_json() {
            env.out.row(advice)?;
            continue;
        }
        if n > 0 {
            env.out.line("")?;
        }
        show(advice, env)?;
        if said.len() == 1 || args.gates {
            refusals(advice, env)?;
        } else {
            refusals_in_short(advice, env)?;
        }
        if args.gates {
            gates(advice, env)?;
        }
    }
    if said.len() > 1 && !args.gates && !env.out.is_json() {
        env.out.say(
            "\n--cohort C shows each refusal with its value, what is missing and how to get it",
        )?;
    }
    Ok(Done::Whole)
}

fn kept(store: &Store, cohort: Option<&str>, env: &mut Env) -> Result<Done> {
    let mut table = Table::new(&["given", "cohort", "rule", "headline", "repeats"]);
    let mut broken = false;
    for one in jobs::kept_advice(store)? {
        let name = one.advice["cohort"].as_str().unwrap_or_default();
        if cohort.is_some_and(|c| !name.contains(c)) {
            continue;
        }
        broken |= one.repeats == Repeats::No;
        if env.out.is_json() {
            env.out.row(&one)?;
            continue;
        }
        let repeats = match one.repeats {
            Repeats::Yes => Cell::new("✓ yes").tone(Tone::Good),
            Repeats::No => Cell::new("✗ no").tone(Tone::Bad),
            Repeats::OtherRules => Cell::new("? other rules").tone(Tone::Warn),
        };
        let given = jiff::Timestamp::from_microsecond(one.at_us);
        table.push(vec![
            Cell::maybe(given.ok().map(|t| t.strftime("%Y-%m-%d %H:%M").to_string())),
            Cell::new(name),
            Cell::maybe(one.advice["rule"].as_u64()),
            Cell::maybe(one.advice["headline"].as_str()),
            repeats,
        ]);
    }
    if !table.is_empty() {
        env.out.table(&table)?;
    } else if !env.out.is_json() {
        env.out
            .say("no advice was kept; `triagent advise` gives some")?;
    }
    Ok(if broken { Done::Refused } else { Done::Whole })
}

fn show(said: &CohortAdvice, env: &mut Env) -> Result<()> {
    let advice = &said.book.advice;
    let name = env.out.tone(Tone::Bold, &text::visible(&advice.cohort));
    env.out.line(format!(
        "{name}  {}, {} failed, {} labelled",
        text::plural(u64::from(said.facts.runs), "run"),
        said.facts.failures,
        said.facts.labels.len()
    ))?;
    let headline = env.out.tone(Tone::Warn, &advice.headline);
    env.out
        .line(format!("  → {headline} (rule {})", advice.rule))?;
    if let Some(lead) = &said.facts.overridden {
        let line = format!(
            "  {} decided otherwise: {} ({})",
            lead.reviewer, lead.headline, lead.reason
        );
        env.out.line(text::visible(&line))?;
    }
    shares(&advice.shares, env)?;
    for (n, step) in (1..).zip(&advice.next) {
        env.out.line(text::visible(&format!("  {n}. {step}")))?;
    }
    Ok(())
}

fn shares(shares: &Shares, env: &mut Env) -> Result<()> {
    let mut parts = Vec::new();
    for (layer, share) in shares.layers.iter().filter(|(_, s)| s.count > 0) {
        parts.push(format!(
            "{layer} {} [{}–{}] ({})",
            text::per_cent(share.share),
            text::per_cent(share.low),
            text::per_cent(share.high),
            share.count
        ));
    }
    for (n, what) in [
        (shares.unproven, "model unproven"),
        (shares.undetermined, "undetermined"),
        (shares.picked_by_hand, "picked by hand"),
    ] {
        if n > 0 {
            parts.push(format!("{what} {n}"));
        }
    }
    if parts.is_empty() {
        return Ok(());
    }
    env.out.line(format!("  shares: {}", parts.join(", ")))
}

/// One line a method, for a look over many cohorts.
fn refusals_in_short(said: &CohortAdvice, env: &mut Env) -> Result<()> {
    let mut methods: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for refusal in &said.book.advice.refusals {
        methods
            .entry(&refusal.method)
            .or_default()
            .push(&refusal.gate);
    }
    for (method, gates) in methods {
        env.out
            .line(format!("  {method} refused by {}", gates.join(", ")))?;
    }
    Ok(())
}

/// One paragraph a gate: most refuse several methods for one reason.
fn refusals(said: &CohortAdvice, env: &mut Env) -> Result<()> {
    let mut rows: Vec<(&Refusal, Vec<&str>)> = Vec::new();
    for refusal in &said.book.advice.refusals {
        match rows
            .iter_mut()
            .find(|(first, _)| first.gate == refusal.gate)
        {
            Some((_, methods)) => methods.push(&refusal.method),
            None => rows.push((refusal, vec![&refusal.method])),
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    let width = columns();
    for (refusal, methods) in rows {
        let gate = env.out.tone(Tone::Bad, &refusal.gate);
        env.out
            .line(format!("\n{gate} refuses {}", methods.join(", ")))?;
        let parts = [
            ("value", &refusal.value),
            ("needs", &refusal.threshold),
            ("missing", &refusal.missing),
            ("how", &refusal.how),
        ];
        for (name, said) in parts.iter().filter(|(_, said)| !said.is_empty()) {
            for line in paragraph(name, &text::visible(said), width) {
                env.out.line(line)?;
            }
        }
    }
    Ok(())
}

/// Columns that lines may fill: `COLUMNS`, else the terminal's, else what reads well in a file.
fn columns() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|n| n.parse().ok());
    let is_terminal = std::io::stdout().is_terminal();
    told.or_else(|| is_terminal.then(crate::tui::columns).flatten())
        .unwrap_or(COLUMNS)
        .clamp(MIN_COLUMNS, MAX_COLUMNS)
}

/// A name, and words beside it that are wrapped between words.
fn paragraph(name: &str, said: &str, columns: usize) -> Vec<String> {
    let indent = " ".repeat(NAME_COLUMNS);
    let mut lines = Vec::new();
    let mut line = format!("  {name:<0$}", NAME_COLUMNS - 2);
    let mut is_empty = true;
    for word in said.split_whitespace() {
        if !is_empty && text::width(&line) + 1 + text::width(word) > columns {
            lines.push(std::mem::replace(&mut line, indent.clone()));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
    lines
}

fn gates(said: &CohortAdvice, env: &mut Env) -> Result<()> {
    let mut table = Table::new(&["gate", "state", "value", "needs", "asks", "from"]);
    for gate in &said.book.advice.gates {
        let state = match gate.state {
            GateState::Pass => Cell::new("✓ pass").tone(Tone::Good),
            GateState::Fail => Cell::new("✗ fail").tone(Tone::Bad),
            GateState::Unmeasured => Cell::new("? unmeasured").tone(Tone::Warn),
            GateState::NotApplicable => Cell::new("– not applicable").tone(Tone::Dim),
        };
        table.push(vec![
            Cell::new(&gate.id),
            state,
            Cell::new(&gate.value),
            Cell::new(&gate.threshold),
            Cell::new(&gate.asks),
            Cell::new(&gate.source),
        ]);
    }
    env.out.line("")?;
    env.out.table(&table)
}
