//! `triagent rewards groups`: recorded groups, their signal, and what a group of equals means.

use crate::cli::Done;
use crate::cli::env::Env;
use crate::cli::output::{Cell, Table, Tone};
use crate::error::Result;
use crate::jobs::{self, GroupOptions, JudgedGroup, JudgedGroups};
use crate::reward::{Convention, GroupMember, GroupReport, GroupsSummary, Signal};
use crate::text;
use serde_json::json;

/// Groups whose members are all shown without being asked for.
const FEW: usize = 4;

/// Judge recorded groups: relative signal, contract, pass@k
///
/// A group is what the log calls one, else the rollouts of one task under one set of versions. Members must share question, initial state
/// and grader version, or nothing is computed. A group of equals is explained: too hard, tools all failing, reward broken, in this order.
/// A missing, contaminated or untrusted reward is never a 0. Exit code 3 where a group was refused.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only runs that pass
    #[arg(long, short, value_name = "EXPR")]
    filter: Option<String>,
    /// How rewards become advantages
    #[arg(long, alias = "std", default_value = "population", value_name = "C", value_parser = super::advantages::words())]
    convention: String,
    /// The k of pass@k
    #[arg(short, long, default_value_t = 8, value_name = "K")]
    k: u32,
    /// Show every member of every group
    #[arg(long)]
    members: bool,
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let store = env.store()?;
    let filter = env.filter(args.filter.as_deref())?;
    let convention = Convention::from_word(&args.convention)?;
    let options = GroupOptions {
        convention,
        k: args.k.max(1),
        ..GroupOptions::default()
    };
    let found = env.watch("groups", move |progress| {
        jobs::reward_groups(&store, &filter, options, progress)
    })??;
    let done = if found.groups.iter().any(|g| g.refused.is_some()) {
        Done::InPart
    } else {
        Done::Whole
    };
    if env.out.is_json() {
        for group in &found.groups {
            env.out.row(group)?;
        }
        env.out.row(
            &json!({"summary": found.summary, "convention": convention, "alone": found.alone}),
        )?;
        return Ok(done);
    }
    if found.groups.is_empty() {
        env.out.say(
            "no group: no task was run twice under one set of versions, and no log names a group",
        )?;
        return Ok(Done::Whole);
    }
    show(&found, convention, args.members, env)?;
    Ok(done)
}

fn show(found: &JudgedGroups, convention: Convention, all: bool, env: &mut Env) -> Result<()> {
    let heads = [
        "group",
        "task",
        "n",
        "rewards",
        "characters",
        "tokens",
        "calls",
        "signal",
    ];
    let mut table = Table::new(&heads);
    found.groups.iter().for_each(|g| table.push(row(g)));
    env.out.table(&table)?;
    let reports = || found.groups.iter().filter_map(|g| g.report.as_ref());
    if reports().any(|r| r.members.iter().any(|m| m.reward.is_none())) {
        env.out.line("_ is a missing reward, which is not 0")?;
    }
    let few = found.groups.len() <= FEW;
    for group in &found.groups {
        match &group.report {
            Some(report) if all || few || !report.checks.is_empty() => {
                one(group, report, all || few, env)?;
            }
            Some(_) => {}
            None => refusal(group, env)?,
        }
    }
    summary(&found.summary, env)?;
    env.out.line(format!(
        "convention  {}: {}",
        convention.word(),
        convention.formula()
    ))?;
    env.out.line("an advantage is a place inside its group, never a quality label; this is relative signal only, nothing was trained")?;
    if let Some(report) = found.groups.iter().find_map(|g| g.report.as_ref()) {
        env.out.line("how length enters a loss:")?;
        for note in report.length_notes.iter().skip(1) {
            env.out.line(format!("  - {note}"))?;
        }
    }
    if !all && !few {
        env.out
            .say("--members shows every member with its advantage, length, calls and tokens")?;
    }
    Ok(())
}

fn row(group: &JudgedGroup) -> Vec<Cell> {
    let task = group.task.as_ref().filter(|t| **t != group.group);
    let Some(report) = &group.report else {
        let mut cells = vec![
            Cell::new(&group.group),
            Cell::maybe(task),
            Cell::number(Some(group.runs.len())),
        ];
        cells.extend((0..4).map(|_| Cell::new("")));
        cells.push(Cell::new("✗ refused").tone(Tone::Bad));
        return cells;
    };
    let rewards: Vec<String> = report.members.iter().map(reward).collect();
    let signal = match report.advantages.signal {
        Signal::Relative => Cell::new("✓ relative signal").tone(Tone::Good),
        Signal::NoRelativeSignal => Cell::new(equal(report)).tone(Tone::Warn),
        Signal::NoReward => Cell::new("? no reward").tone(Tone::Warn),
    };
    vec![
        Cell::new(&group.group),
        Cell::maybe(task),
        Cell::number(Some(report.members.len())),
        Cell::new(rewards.join(" ")),
        range(report, |m| Some(m.output_chars)),
        range(report, |m| m.output_tokens),
        range(report, |m| Some(m.calls.into())),
        signal,
    ]
}

fn range(report: &GroupReport, of: impl Fn(&GroupMember) -> Option<u64>) -> Cell {
    let all: Option<Vec<u64>> = report.members.iter().map(of).collect();
    let ends = all.and_then(|a| Some((*a.iter().min()?, *a.iter().max()?)));
    Cell::number(ends.map(|(low, high)| {
        if low == high {
            low.to_string()
        } else {
            format!("{low}–{high}")
        }
    }))
}

fn equal(report: &GroupReport) -> String {
    match report.advantages.missing_rewards.len() {
        0 => "? all equal".to_owned(),
        missing => format!("? known ones equal, {missing} missing"),
    }
}

/// `_` is missing; a reward that may not be used keeps its number and says why.
fn reward(member: &GroupMember) -> String {
    use crate::domain::RewardStatus;
    match (member.reward, member.status) {
        (Some(value), RewardStatus::Ok) => value.to_string(),
        (Some(value), other) => format!("{value}({other})"),
        (None, RewardStatus::Ok | RewardStatus::Missing) => "_".to_owned(),
        (None, other) => format!("_({other})"),
    }
}

fn one(group: &JudgedGroup, report: &GroupReport, members: bool, env: &mut Env) -> Result<()> {
    let name = env.out.tone(Tone::Bold, &text::visible(&group.group));
    let words = &report.advantages.signal_words;
    env.out.line(format!("\n{name}: {words}"))?;
    for (n, check) in (1..).zip(&report.checks) {
        let word = match check.holds {
            Some(true) => env.out.tone(Tone::Bad, "yes"),
            Some(false) => env.out.tone(Tone::Dim, "no"),
            None => env.out.tone(Tone::Warn, "look"),
        };
        env.out
            .line(format!("  {n}. {} — {word}: {}", check.asks, check.shown))?;
    }
    if report.excluded > 0 {
        env.out.line(format!(
            "  {} left out: contaminated or untrusted, which is not 0",
            text::plural(report.excluded as u64, "reward")
        ))?;
    }
    for what in &report.unverified {
        env.out
            .line(text::visible(&format!("  not verified: {what}")))?;
    }
    if !members {
        return Ok(());
    }
    let heads = [
        "run",
        "reward",
        "advantage",
        "characters",
        "tokens",
        "calls",
        "tools failed",
    ];
    let mut table = Table::new(&heads);
    for (m, advantage) in report.members.iter().zip(&report.advantages.advantages) {
        table.push(vec![
            Cell::new(&m.run),
            Cell::number(Some(reward(m))),
            Cell::number(advantage.map(super::advantages::number)),
            Cell::number(Some(m.output_chars)),
            Cell::number(m.output_tokens),
            Cell::number(Some(m.calls)),
            Cell::number(Some(format!("{} of {}", m.tool_failures, m.tool_results))),
        ]);
    }
    env.out.table(&table)
}

fn refusal(group: &JudgedGroup, env: &mut Env) -> Result<()> {
    let why = group.refused.as_deref().unwrap_or_default();
    let word = env.out.tone(Tone::Bad, "✗ not computed");
    env.out.line(format!("\n{word}: {}", text::visible(why)))
}

fn summary(s: &GroupsSummary, env: &mut Env) -> Result<()> {
    let share = |v: Option<f64>| v.map_or_else(|| "n/a".to_owned(), text::per_cent);
    env.out.line(format!(
        "\n{} with at least two known rewards: {} mixed, {} all wrong, {} all right",
        text::plural(s.groups as u64, "group"),
        s.mixed,
        s.all_zero,
        s.all_one
    ))?;
    env.out.line(format!(
        "mixed groups  measured {}, expected from each group's own pass rate {}",
        share(s.mixed_measured),
        share(s.mixed_expected)
    ))?;
    let many = match s.pass_at_k {
        Some(value) => text::per_cent(value),
        None => format!("n/a: no group has {} known rewards", s.k),
    };
    env.out.line(format!(
        "pass@1 {}, pass@{} {many}",
        share(s.pass_at_1),
        s.k
    ))
}
