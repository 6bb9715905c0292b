//! `triagent cohort`: cohorts, and facts about them that no log holds.

use super::Done;
use super::env::Env;
use super::output::{Cell, Table};
use crate::advise::Rules;
use crate::domain::{Decision, Filter};
use crate::error::{Failure, Result};
use crate::jobs::{self, CohortRuns};
use crate::store::Store;
use crate::text;
use serde_json::json;

/// List cohorts, or record facts about one that no log holds
///
/// Environment and reset, isolated verifier, model backend, evaluation set, prompt trial, SFT start, reference model: a person records
/// them with what shows them, as decisions in the log. A fact of the cohort `all` holds for every cohort.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The cohort: its name, a part of it that fits one, or `all`
    #[arg(value_name = "C")]
    cohort: Option<String>,
    /// Record a fact; several may be given
    #[arg(long = "set", value_name = "FACT=VALUE", requires_all = ["cohort", "evidence"])]
    set: Vec<String>,
    /// What shows it: a link, a file, a person's word
    #[arg(long, value_name = "TEXT")]
    evidence: Option<String>,
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let mut store = env.store()?;
    let all = jobs::cohorts(&store, &Filter::default())?;
    let Some(typed) = &args.cohort else {
        list(&all, env)?;
        return Ok(Done::Whole);
    };
    let name = if typed == "all" {
        "all".to_owned()
    } else {
        jobs::find_cohort(&all, typed)?.name.clone()
    };
    if let Some(evidence) = &args.evidence {
        record(&mut store, &name, &args.set, evidence, env)?;
    }
    facts(&store, &name, env)?;
    Ok(Done::Whole)
}

fn list(all: &[CohortRuns], env: &mut Env) -> Result<()> {
    let mut table = Table::new(&["cohort", "runs", "failed", "labelled"]);
    for cohort in all {
        let failed = cohort.failures().count();
        let labelled = cohort.failures().filter(|r| r.layer.is_some()).count();
        if env.out.is_json() {
            env.out.row(&json!({
                "cohort": cohort.name,
                "parts": cohort.cohort,
                "runs": cohort.rows.len(),
                "failures": failed,
                "labelled": labelled,
            }))?;
            continue;
        }
        table.push(vec![
            Cell::new(&cohort.name),
            Cell::number(Some(cohort.rows.len())),
            Cell::number(Some(failed)),
            Cell::number(Some(labelled)),
        ]);
    }
    if table.is_empty() {
        Ok(())
    } else {
        env.out.table(&table)
    }
}

fn record(
    store: &mut Store,
    cohort: &str,
    set: &[String],
    evidence: &str,
    env: &Env,
) -> Result<()> {
    let rules = Rules::embedded()?;
    let decisions = set
        .iter()
        .map(|typed| {
            let (fact, value) = typed
                .split_once('=')
                .ok_or_else(|| Failure::usage(format!("--set {typed:?} is not FACT=VALUE")))?;
            rules.check_fact(fact)?;
            Ok(Decision::Fact {
                cohort: cohort.to_owned(),
                fact: fact.to_owned(),
                value: value.to_owned(),
                evidence: evidence.to_owned(),
            })
        })
        .collect::<Result<Vec<Decision>>>()?;
    if evidence.trim().is_empty() {
        return Err(Failure::usage("a fact needs evidence: say what shows it"));
    }
    env.act(|act| store.decide_batch(act, &decisions))??;
    Ok(())
}

fn facts(store: &Store, cohort: &str, env: &mut Env) -> Result<()> {
    let mut table = Table::new(&["fact", "value", "evidence", "by"]);
    for record in store.own("fact")? {
        let Decision::Fact {
            cohort: of,
            fact,
            value,
            evidence,
        } = &record.decision
        else {
            continue;
        };
        if of != cohort {
            continue;
        }
        if env.out.is_json() {
            env.out.row(&json!({
                "cohort": of, "fact": fact, "value": value, "evidence": evidence, "reviewer": record.reviewer,
            }))?;
            continue;
        }
        table.push(vec![
            Cell::new(fact),
            Cell::new(value),
            Cell::new(evidence),
            Cell::new(&record.reviewer),
        ]);
    }
    if table.is_empty() {
        return known(env);
    }
    env.out.table(&table)
}

fn known(env: &mut Env) -> Result<()> {
    if env.out.is_json() {
        return Ok(());
    }
    env.out.say("no fact recorded; these can be:")?;
    for fact in Rules::embedded()?.facts {
        env.out
            .say(text::visible(&format!("  {}  {}", fact.name, fact.asks)))?;
    }
    Ok(())
}
