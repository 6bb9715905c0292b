//! `triagent check`: cleaning findings, and what to do with them.

use super::Done;
use super::env::Env;
use super::output::{Cell, Table, Tone};
use crate::domain::{Decision, FindingAction, FindingKind, FindingState};
use crate::error::{Failure, Result};
use crate::jobs;
use crate::text;
use serde_json::json;
use std::collections::BTreeMap;

/// Find secrets, personal data, near-duplicates, templates, tampering and false evidence
///
/// Looks at the whole workspace and lists what it found; nothing is changed. People decide: --keep, --redact or --drop a finding (by its
/// id), all findings of a rule, or all of a kind. Rows with an undecided finding stay out of exports. Own rules go into redaction.toml
/// beside the workspace file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Harmless: export it as it is
    #[arg(long, value_name = "ID|RULE|KIND", value_delimiter = ',')]
    keep: Vec<String>,
    /// Put the typed placeholder in its place
    #[arg(long, value_name = "ID|RULE|KIND", value_delimiter = ',')]
    redact: Vec<String>,
    /// Leave the rows that hold it out
    #[arg(long, value_name = "ID|RULE|KIND", value_delimiter = ',')]
    drop: Vec<String>,
    /// Why
    #[arg(long, default_value = "", value_name = "TEXT")]
    reason: String,
    /// Show only findings that nobody has decided
    #[arg(long)]
    open: bool,
    /// Exit with 1 when a finding is not decided
    #[arg(long)]
    fail: bool,
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let mut store = env.store()?;
    let now = env.now_us();
    if !store.is_read_only() {
        jobs::ensure_cleaning_key(&mut store, env.random_key(), now)?;
        let checked = env.watch("check", |progress| jobs::check(&mut store, now, progress))??;
        env.out.say(format!(
            "{} checked by rules version {}: {}",
            text::plural(checked.runs, "run"),
            checked.rules,
            text::plural(checked.findings, "finding")
        ))?;
    }
    let mut found = jobs::findings(&store)?;
    let decisions = decisions(args, &found)?;
    if !decisions.is_empty() {
        env.act(|act| store.decide_batch(act, &decisions))??;
        found = jobs::findings(&store)?;
    }
    let open = found.iter().filter(|f| f.action.is_none()).count();
    if args.open {
        found.retain(|f| f.action.is_none());
    }
    show(&found, env)?;
    if !env.out.is_json() {
        env.out.say(format!(
            "{open} not decided; --keep, --redact or --drop ID, RULE or KIND"
        ))?;
    }
    Ok(if args.fail && open > 0 {
        Done::Refused
    } else {
        Done::Whole
    })
}

fn decisions(args: &Args, found: &[FindingState]) -> Result<Vec<Decision>> {
    let mut chosen: BTreeMap<String, FindingAction> = BTreeMap::new();
    let asked = [
        (FindingAction::Keep, &args.keep),
        (FindingAction::Redact, &args.redact),
        (FindingAction::Drop, &args.drop),
    ];
    for (action, names) in asked {
        for name in names {
            let hits: Vec<&FindingState> = found.iter().filter(|f| is_meant(f, name)).collect();
            if hits.is_empty() && FindingKind::from_word(name).is_none() {
                return Err(Failure::user(format!("no finding, rule or kind is called {name:?}"))
                    .hint("`triagent check` lists them; kinds are secret, personal, duplicate, template, tamper, evidence"));
            }
            for hit in hits {
                can_be(hit, action)?;
                chosen.insert(hit.finding.id.clone(), action);
            }
        }
    }
    let decision = |(finding, action): (String, FindingAction)| Decision::Finding {
        finding,
        action: action.word().to_owned(),
        reason: args.reason.clone(),
    };
    Ok(chosen.into_iter().map(decision).collect())
}

fn is_meant(state: &FindingState, name: &str) -> bool {
    let f = &state.finding;
    f.id == name || f.rule == name || f.kind.word() == name
}

/// Only words can be replaced by a placeholder.
fn can_be(state: &FindingState, action: FindingAction) -> Result<()> {
    if action == FindingAction::Redact && state.finding.placeholder.is_none() {
        let f = &state.finding;
        return Err(Failure::user(format!(
            "finding {} ({}) has no words to redact",
            f.id, f.rule
        ))
        .hint("keep it or drop it"));
    }
    Ok(())
}

fn show(found: &[FindingState], env: &mut Env) -> Result<()> {
    let heads = [
        "finding", "kind", "rule", "where", "excerpt", "decided", "reason",
    ];
    let mut table = Table::new(&heads);
    for state in found {
        let f = &state.finding;
        if env.out.is_json() {
            env.out.row(&json!({
                "finding": f.id, "kind": f.kind, "rule": f.rule, "place": f.place, "tasks": f.tasks,
                "placeholder": f.placeholder, "excerpt": f.excerpt, "reason": f.reason, "score": f.score,
                "action": state.action,
            }))?;
            continue;
        }
        let decided = match state.action {
            Some(action) => Cell::new(action),
            None => Cell::new("open").tone(Tone::Warn),
        };
        table.push(vec![
            Cell::new(&f.id),
            Cell::new(f.kind),
            Cell::new(&f.rule),
            Cell::new(place(state)),
            Cell::new(&f.excerpt),
            decided,
            Cell::new(&f.reason),
        ]);
    }
    if table.is_empty() {
        Ok(())
    } else {
        env.out.table(&table)
    }
}

fn place(state: &FindingState) -> String {
    match &state.finding.place {
        Some(place) => match place.step {
            Some(step) => format!("{}:{step}", place.run),
            None => place.run.to_string(),
        },
        None => state
            .finding
            .tasks
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    }
}
