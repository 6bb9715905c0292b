//! `triagent suggest --cohorts`: suggestions in bulk, and how they agree with people who had not seen them.

use crate::cli::env::Env;
use crate::cli::output::{Cell, Table, Tone};
use crate::domain::Layer;
use crate::error::Result;
use crate::jobs::CohortSuggestions;
use crate::text;

pub(super) fn show(tables: &[CohortSuggestions], env: &mut Env) -> Result<()> {
    if env.out.is_json() {
        return tables.iter().try_for_each(|one| env.out.row(one));
    }
    if tables.is_empty() {
        return env
            .out
            .say("no failed run here; a suggestion needs a failure, and `triagent outcome fail RUN` says that a run is one");
    }
    for (n, one) in tables.iter().enumerate() {
        if n > 0 {
            env.out.line("")?;
        }
        cohort(one, env)?;
    }
    Ok(())
}

fn cohort(one: &CohortSuggestions, env: &mut Env) -> Result<()> {
    let name = env.out.tone(Tone::Bold, &text::visible(&one.cohort));
    let t = &one.table;
    let abstains = t.abstention.map(text::per_cent).unwrap_or_default();
    env.out.line(format!(
        "{name}  {} failed, no layer named for {abstains}",
        t.runs
    ))?;
    let list = |parts: Vec<String>| {
        if parts.is_empty() {
            "none known".to_owned()
        } else {
            parts.join(", ")
        }
    };
    let layers = t.layers.iter().map(|(l, n)| format!("{l} {n}"));
    env.out
        .line(format!("  machine   {}", list(layers.collect())))?;
    let statuses = t.statuses.iter().map(|(s, n)| format!("{s} {n}"));
    env.out
        .line(format!("  evidence  {}", list(statuses.collect())))?;
    if t.confirmed > 0 {
        env.out.line(format!(
            "  probes    {} decided, {} still stand at a false-discovery rate of 10 % (Benjamini–Hochberg)",
            t.confirmed,
            t.standing.len()
        ))?;
    }
    people(one, env)
}

fn people(one: &CohortSuggestions, env: &mut Env) -> Result<()> {
    let seen = match one.not_blind {
        0 => String::new(),
        n => format!("; {n} more were given after the suggestion was seen and prove nothing"),
    };
    let Some(report) = &one.agreement else {
        return env
            .out
            .line(format!("  people    no blind verdict yet{seen}"));
    };
    env.out
        .line(format!("  people    {} blind verdicts{seen}", one.blind))?;
    for s in &report.statistics {
        let value = s
            .value
            .map_or_else(|| format!("n/a ({})", s.reason), |v| format!("{v:.3}"));
        let interval = s
            .interval
            .map_or_else(String::new, |i| format!(" [{:.3}, {:.3}]", i.low, i.high));
        env.out
            .line(format!("            {} {value}{interval}", s.statistic))?;
    }
    confusion(&one.confusion, env)
}

fn confusion(cells: &[(Layer, Layer, u32)], env: &mut Env) -> Result<()> {
    let said: Vec<Layer> = Layer::ALL
        .iter()
        .copied()
        .filter(|l| cells.iter().any(|(_, m, _)| m == l))
        .collect();
    let mut heads = vec!["person \\ machine"];
    heads.extend(said.iter().map(|l| l.word()));
    let mut table = Table::new(&heads);
    for person in Layer::ALL {
        if !cells.iter().any(|(p, _, _)| p == person) {
            continue;
        }
        let mut row = vec![Cell::new(person)];
        row.extend(said.iter().map(|m| {
            let n = cells.iter().find(|(p, x, _)| p == person && x == m);
            Cell::number(Some(n.map_or(0, |c| c.2)))
        }));
        table.push(row);
    }
    env.out.table(&table)
}
