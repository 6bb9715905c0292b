//! Gathers what the one-page report shows; secrets are masked before anything reaches it.

use super::JobError;
use super::advise::{CohortAdvice, advise};
use super::agreement::layer_ratings;
use super::changes::{ChangeSide, LedgerEntry, ledger};
use super::check::cleaner;
use crate::domain::advice::LayerShare;
use crate::domain::filter::Field;
use crate::domain::{Decision, Filter, Layer, Progress, Shares};
use crate::report::{ChangePage, CohortPage, Count, GateLine, Overview, Refused, Share, StatLine};
use crate::store::{FacetCount, Store};
use crate::text;
use crate::triage::agreement_report;
use std::collections::BTreeMap;

/// What is named beside the workspace itself.
#[derive(Debug, Clone)]
pub struct ReportOptions {
    /// Only this cohort's advice.
    pub cohort: Option<String>,
    /// Thresholds of the settings.
    pub overrides: toml::Table,
    /// Microseconds UTC, and the same as people read it.
    pub now: (i64, String),
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// What ran, by the columns that tell cohorts apart.
const VERSIONS: &[(Field, &str)] = &[
    (Field::Harness, "Harness"),
    (Field::Model, "Model"),
    (Field::Index, "Index version"),
    (Field::Prompt, "Prompt version"),
    (Field::Toolset, "Tool set version"),
    (Field::Checkpoint, "Weights"),
];
/// Values shown of each.
const VALUES_SHOWN: usize = 12;

/// Gathers the page.
pub fn overview(
    store: &mut Store,
    options: &ReportOptions,
    progress: &Progress,
) -> Result<Overview, JobError> {
    let said = advise(
        store,
        options.cohort.as_deref(),
        &options.overrides,
        options.now.0,
        progress,
    )?;
    let ratings = layer_ratings(store, None)?;
    let report = agreement_report(&ratings, options.seed);
    let has_two = ratings.reviewers().len() > 1;
    let cleaner = cleaner(store)?;
    let mask = |words: &str| cleaner.mask(words).into_owned();
    let mut cohorts: Vec<CohortPage> = said.iter().map(|one| cohort_page(one, &mask)).collect();
    cohorts.sort_by_key(|c| std::cmp::Reverse(c.runs.1));
    let statistics = report.statistics.iter().filter(|_| has_two);
    Ok(Overview {
        workspace: mask(&name_of(store)),
        made: options.now.1.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        outcomes: counted(store, Field::Outcome, &mask)?,
        layers: without_none(counted(store, Field::Layer, &mask)?),
        pairs: pairs(store)?,
        reviewers: ratings.reviewers().len() as u64,
        versions: versions(store, &mask)?,
        cohorts,
        changes: ledger(store)?
            .iter()
            .map(|e| change_page(e, &mask))
            .collect(),
        agreement: statistics
            .map(|s| StatLine {
                name: s.statistic.clone(),
                value: s.value,
                interval: s.interval.map(|i| (i.low, i.high)),
                n: s.n as u64,
                note: s.reason.clone(),
            })
            .collect(),
        disagreements: report.disagreements.len() as u64,
    })
}

fn name_of(store: &Store) -> String {
    let name = store.path().file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Runs whose log or people say nothing stand under this name.
const NONE: &str = "not told";

fn counted(
    store: &Store,
    field: Field,
    mask: &dyn Fn(&str) -> String,
) -> Result<Vec<Count>, JobError> {
    let found = store.facets(&Filter::default(), &[field])?;
    let found: Vec<FacetCount> = found.into_iter().flatten().collect();
    let (shown, rest) = found.split_at(found.len().min(VALUES_SHOWN));
    let mut counts: Vec<Count> = shown
        .iter()
        .map(|f| Count {
            name: f.value.as_deref().map_or_else(|| NONE.to_owned(), mask),
            count: f.count,
        })
        .collect();
    if !rest.is_empty() {
        counts.push(Count {
            name: format!("{} more", rest.len()),
            count: rest.iter().map(|f| f.count).sum(),
        });
    }
    Ok(counts)
}

fn without_none(mut counts: Vec<Count>) -> Vec<Count> {
    counts.retain(|c| c.name != NONE);
    counts
}

/// Only what some run tells.
fn versions(
    store: &Store,
    mask: &dyn Fn(&str) -> String,
) -> Result<Vec<(String, Vec<Count>)>, JobError> {
    let mut all = Vec::new();
    for (field, title) in VERSIONS {
        let counts = counted(store, *field, mask)?;
        if counts.iter().any(|c| c.name != NONE) {
            all.push(((*title).to_owned(), counts));
        }
    }
    Ok(all)
}

fn pairs(store: &Store) -> Result<Vec<Count>, JobError> {
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    for record in store.own("pair")? {
        if let Decision::Pair(pair) = &record.decision {
            let word = match pair.choice.preferred() {
                Some(_) => "one side is better",
                None => pair.choice.word(),
            };
            *counts.entry(word).or_default() += 1;
        }
    }
    let counts = counts.into_iter();
    Ok(counts
        .map(|(name, count)| Count {
            name: name.to_owned(),
            count,
        })
        .collect())
}

fn cohort_page(said: &CohortAdvice, mask: &dyn Fn(&str) -> String) -> CohortPage {
    let (book, facts) = (&said.book, &said.facts);
    let advice = &book.advice;
    let causes = book.causes.iter().flat_map(|(layer, causes)| {
        causes.iter().map(move |(cause, runs)| Count {
            name: match cause.as_str() {
                "" => format!("{layer}, no cause named"),
                cause => mask(&format!("{layer}: {cause}")),
            },
            count: runs.len() as u64,
        })
    });
    let overridden = book
        .overridden
        .as_ref()
        .map(|o| mask(&format!("{} ({}, {})", o.headline, o.reason, o.reviewer)));
    let mut causes: Vec<Count> = causes.collect();
    causes.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    CohortPage {
        name: mask(&facts.cohort),
        runs: (
            u64::from(facts.runs),
            u64::from(facts.failures),
            facts.labels.len() as u64,
        ),
        headline: mask(&advice.headline),
        meaning: mask(&book.page.change),
        overridden,
        layers: layers(&advice.shares),
        apart: apart(&advice.shares),
        causes,
        next: advice.next.iter().map(|n| mask(n)).collect(),
        refused: advice
            .refusals
            .iter()
            .map(|r| Refused {
                method: r.method.clone(),
                gate: r.gate.clone(),
                value: mask(&r.value),
                threshold: r.threshold.clone(),
                missing: mask(&format!("{}; {}", r.missing, r.how)),
            })
            .collect(),
        gates: advice
            .gates
            .iter()
            .map(|g| GateLine {
                id: g.id.clone(),
                asks: g.asks.clone(),
                value: mask(&g.value),
                threshold: g.threshold.clone(),
                state: g.state.word().to_owned(),
            })
            .collect(),
    }
}

fn layers(shares: &Shares) -> Vec<Share> {
    let of = u64::from(shares.n);
    let one = |name: &str, share: &LayerShare| Share {
        name: name.to_owned(),
        count: u64::from(share.count),
        of,
        share: Some((share.share, share.low, share.high)),
    };
    let counted = shares.layers.iter();
    let counted = counted.filter(|(_, share)| share.count > 0);
    let mut rows: Vec<Share> = counted.map(|(layer, s)| one(layer.word(), s)).collect();
    rows.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    rows
}

fn apart(shares: &Shares) -> Vec<Count> {
    let undetermined = format!("labelled {}, outside the shares", Layer::Undetermined);
    [
        (
            shares.picked_by_hand,
            "picked by hand, outside the intervals",
        ),
        (
            shares.unproven,
            "labelled model without a complete checklist",
        ),
        (shares.undetermined, undetermined.as_str()),
    ]
    .map(|(count, name)| Count {
        name: name.to_owned(),
        count: u64::from(count),
    })
    .into()
}

fn change_page(entry: &LedgerEntry, mask: &dyn Fn(&str) -> String) -> ChangePage {
    let side = |name: &str, side: &ChangeSide| Share {
        name: format!("{name} ({})", text::plural(u64::from(side.runs), "run")),
        count: u64::from(side.passed),
        of: u64::from(side.known),
        share: side.share.map(|(share, i)| (share, i.low, i.high)),
    };
    let sides = entry.sides.as_ref();
    let same_tasks = sides.map_or_else(String::new, |s| {
        let counts = &s.same_tasks.counts;
        format!(
            "{} on both sides: {} fixed, {} broken, {} right and {} wrong before and after",
            text::plural(u64::from(s.tasks()), "task"),
            counts.fixed,
            counts.broken,
            counts.both_right,
            counts.both_wrong
        )
    });
    ChangePage {
        name: mask(&entry.change.id),
        layer: entry.change.thing.word().to_owned(),
        claim: mask(&entry.change.claim),
        state: entry.state().map_or("open", |s| s.word()).to_owned(),
        sides: sides.map(|s| {
            (
                side("passed before", &s.before),
                side("passed after", &s.after),
            )
        }),
        same_tasks,
    }
}
