//! Advice for every cohort, or for one: facts are gathered, the advice room is asked, and what it said is kept.

use super::JobError;
use super::cohort::{CohortRuns, cohorts, find_cohort};
use super::facts::{Ground, cohort_facts};
use crate::advise::{AdviceBook, CohortFacts, Rules, advise as judge};
use crate::domain::{Filter, Progress};
use crate::store::Store;
use serde::Serialize;
use serde_json::Value;

/// Kind under which advice is kept.
const KIND: &str = "advice";

/// Advice with the facts that it was read from, so that it can be checked and repeated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CohortAdvice {
    /// The advice.
    #[serde(flatten)]
    pub book: AdviceBook,
    /// What it was read from.
    pub facts: CohortFacts,
}

/// Advises on one cohort, or on all; keeps what it said where the workspace may be written.
pub fn advise(
    store: &mut Store,
    cohort: Option<&str>,
    overrides: &toml::Table,
    now_us: i64,
    progress: &Progress,
) -> Result<Vec<CohortAdvice>, JobError> {
    let rules = Rules::embedded()?.with_overrides(overrides)?;
    let all = cohorts(store, &Filter::default())?;
    let wanted: Vec<&CohortRuns> = match cohort {
        Some(typed) => vec![find_cohort(&all, typed)?],
        None => all.iter().collect(),
    };
    let failures: usize = wanted.iter().map(|c| c.failures().count()).sum();
    progress.set_total(failures as u64);
    let ground = Ground::read(store, &rules)?;
    let mut said = Vec::new();
    for cohort in wanted {
        let facts = cohort_facts(&ground, cohort, progress)?;
        let book = judge(&facts, &rules);
        said.push(CohortAdvice { book, facts });
    }
    if !store.is_read_only() {
        for advice in &said {
            // What was said once stays; the same words again are the same advice.
            let bytes = serde_json::to_vec(advice).unwrap_or_default();
            let key = blake3::hash(&bytes).to_hex();
            store.put_result(KIND, &advice.facts.cohort, key.as_str(), now_us, advice)?;
        }
    }
    Ok(said)
}

/// Whether kept advice follows from the values that it was kept with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeats {
    /// The same facts and thresholds give the same advice.
    Yes,
    /// They do not: something was changed outside.
    No,
    /// It was given by other rules than those of this program, or from facts that this program reads in another way.
    OtherRules,
}

/// Advice that was given once.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeptAdvice {
    /// When it was last given, microseconds UTC.
    pub at_us: i64,
    /// The advice with its facts.
    pub advice: Value,
    /// Whether it can be repeated.
    pub repeats: Repeats,
}

/// Everything that was ever advised here, oldest first, each judged once more from its own facts and thresholds.
pub fn kept_advice(store: &Store) -> Result<Vec<KeptAdvice>, JobError> {
    let rules = Rules::embedded()?;
    let kept: Vec<(String, String, i64, Value)> = store.results(KIND, None)?;
    let mut out = Vec::new();
    for (_, _, at_us, advice) in kept {
        out.push(KeptAdvice {
            at_us,
            repeats: repeats(&advice, &rules)?,
            advice,
        });
    }
    out.sort_by_key(|k| k.at_us);
    Ok(out)
}

fn repeats(advice: &Value, rules: &Rules) -> Result<Repeats, JobError> {
    if advice["rules_version"].as_str() != Some(rules.version.as_str()) {
        return Ok(Repeats::OtherRules);
    }
    let facts = serde_json::from_value::<CohortFacts>(advice["facts"].clone());
    let thresholds = serde_json::from_value::<toml::Table>(advice["thresholds"].clone());
    let (Ok(facts), Ok(thresholds)) = (facts, thresholds) else {
        return Ok(Repeats::No);
    };
    let known = thresholds
        .into_iter()
        .filter(|(name, _)| rules.thresholds.contains_key(name));
    let rules = rules.clone().with_overrides(&known.collect())?;
    let again = CohortAdvice {
        book: judge(&facts, &rules),
        facts,
    };
    let again = serde_json::to_value(&again).unwrap_or_default();
    // A program that counts more facts than the one before does not write the old ones back as they were.
    if !alike(&again["facts"], &advice["facts"]) {
        return Ok(Repeats::OtherRules);
    }
    Ok(if alike(&again, advice) {
        Repeats::Yes
    } else {
        Repeats::No
    })
}

/// Equal but for the last digit of numbers, which reading them back may move.
fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => match (x.as_f64(), y.as_f64()) {
            (Some(x), Some(y)) => (x - y).abs() <= 1e-12 * x.abs().max(y.abs()),
            _ => x == y,
        },
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(a, b)| alike(a, b))
        }
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len()
                && x.iter()
                    .all(|(key, a)| y.get(key).is_some_and(|b| alike(a, b)))
        }
        _ => a == b,
    }
}
