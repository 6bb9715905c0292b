//! The gates for a whole set: what stops it, what makes it unfit, what a person should know.

use super::coverage::Cell;
use super::desk::Desk;
use super::leak::LeakReport;
use super::manifest::{Block, Bound};
use super::options::Method;
use super::split::Part;
use crate::domain::FindingKind;
use std::collections::BTreeMap;

/// Gates that are closed.
pub(crate) fn blocks(desk: &Desk<'_>, leaks: &LeakReport) -> Vec<Block> {
    let method = desk.options.format.method();
    let mut out = Vec::new();
    if method == Method::Copy {
        return out;
    }
    out.extend(uncleaned(desk));
    out.extend(match method {
        Method::Sft => clarifications(desk),
        Method::Dpo | Method::Kto => reference(desk),
        Method::Rl | Method::Copy => None,
    });
    out.extend(straddling(desk));
    out.extend(leaking(leaks));
    out
}

/// S-40: nothing is joined before sensitive spans and near-duplicates were looked for.
fn uncleaned(desk: &Desk<'_>) -> Option<Block> {
    desk.facts.cleaning.is_none().then(|| Block {
        gate: "S-40",
        value: "cleaning has not run".to_owned(),
        threshold: "secrets, near-duplicates, tampering and evidence checked".to_owned(),
        hint: "run `triagent check` (on the screen: Space s, then C)".to_owned(),
    })
}

/// S-38: a supervised set without a question teaches never to ask.
fn clarifications(desk: &Desk<'_>) -> Option<Block> {
    let (found, least) = (
        desk.coverage.of(Cell::Clarification),
        desk.options.limits.clarifications,
    );
    (found < least).then(|| Block {
        gate: "S-38",
        value: format!("{found} clarifications"),
        threshold: format!("at least {least}"),
        hint: "add runs that ask for what is missing, or write a draft (`--draft`) that says it must not train"
            .to_owned(),
    })
}

/// S-45: no reward model is needed, a reference policy is.
fn reference(desk: &Desk<'_>) -> Option<Block> {
    desk.facts.bindings.reference.is_none().then(|| Block {
        gate: "S-45",
        value: "no reference model".to_owned(),
        threshold: "a named reference policy".to_owned(),
        hint: "name the model that training starts from with `--reference MODEL` (on the screen: `reference:MODEL` behind the folder)".to_owned(),
    })
}

/// S-77: near-duplicate tasks on two sides.
fn straddling(desk: &Desk<'_>) -> Option<Block> {
    let (a, b) = desk.plan.straddling.first()?;
    Some(Block {
        gate: "S-77",
        value: format!(
            "{} near-duplicate tasks on two sides, first {a} and {b}",
            desk.plan.straddling.len()
        ),
        threshold: "none".to_owned(),
        hint:
            "decide the finding, or join near-duplicates into one group (`--join-near-duplicates`)"
                .to_owned(),
    })
}

fn leaking(leaks: &LeakReport) -> Option<Block> {
    let first = leaks.leaks.first()?;
    Some(Block {
        gate: "S-77",
        value: format!(
            "{} held-out requests share a long passage with training, first {} with {}",
            leaks.leaks.len(),
            first.held_out,
            first.train
        ),
        threshold: "none".to_owned(),
        hint: "split by document or scenario, or leave one of the tasks out".to_owned(),
    })
}

/// Every version, by name (S-78).
pub(crate) fn bindings(desk: &Desk<'_>) -> BTreeMap<&'static str, Bound> {
    let method = desk.options.format.method();
    let given = &desk.facts.bindings;
    let mut out = BTreeMap::new();
    out.insert("model", Bound::given(given.model.as_ref()));
    out.insert("tokenizer", Bound::given(given.tokenizer.as_ref()));
    out.insert("template", Bound::given(given.template.as_ref()));
    out.insert("tools", desk.seen.tools.clone());
    out.insert(
        "data",
        given
            .data
            .as_ref()
            .map_or_else(|| desk.seen.index.clone(), |d| Bound::given(Some(d))),
    );
    out.insert("harness", desk.seen.harness.clone());
    let by_people = "people prefer; no reward decides";
    let nobody = "no pair is in the set";
    out.insert(
        "reward",
        match method {
            Method::Dpo | Method::Kto => Bound::none(by_people),
            Method::Sft | Method::Rl | Method::Copy => desk.seen.reward.clone(),
        },
    );
    out.insert(
        "standard",
        match method {
            Method::Dpo | Method::Kto => desk.seen.standard.clone(),
            Method::Sft | Method::Rl | Method::Copy => Bound::none(nobody),
        },
    );
    out.insert(
        "codebook",
        match (&given.codebook, method) {
            (Some(codebook), _) => Bound::given(Some(codebook)),
            (None, Method::Dpo | Method::Kto) => desk.seen.codebook.clone(),
            (None, _) => Bound::none("no label decides which rows enter"),
        },
    );
    out.insert(
        "reference",
        match method {
            Method::Dpo | Method::Kto => Bound::given(given.reference.as_ref()),
            Method::Sft | Method::Rl | Method::Copy => {
                Bound::none("this method has no reference policy of its own")
            }
        },
    );
    out
}

/// What a person should know.
pub(crate) fn warnings(desk: &Desk<'_>, leaks: &LeakReport) -> Vec<String> {
    let mut out: Vec<String> = desk.warnings.iter().cloned().collect();
    let (coverage, limits) = (&desk.coverage, &desk.options.limits);
    if coverage.is_shortest_only(limits.shortest_share) {
        out.push(format!(
            "shortest-only (S-37): selected runs have a median of {} steps, all successes {}; short ones skip boundaries and questions",
            coverage.median_steps.unwrap_or(0), coverage.median_steps_all.unwrap_or(0)
        ));
    }
    if desk.options.format.method() == Method::Sft && !coverage.thin.is_empty() {
        out.push(format!(
            "fewer than 5 rows (S-36): {}",
            coverage.thin.join(", ")
        ));
    }
    if desk.unmeasured > 0 {
        out.push(format!("{} rows: length and template not checked; give the model folder to be sure that nothing is cut", desk.unmeasured));
    }
    if desk.options.split.is_some() {
        for part in [Part::Train, Part::Validation]
            .into_iter()
            .filter(|p| !desk.rows.contains_key(p))
        {
            out.push(format!(
                "the {part} side is empty; choose another seed or share"
            ));
        }
    } else {
        out.push("nothing is held out; judge the result on other tasks".to_owned());
    }
    if leaks.boilerplate > 0 {
        out.push(format!(
            "{} passages stand in many requests and were taken for boilerplate",
            leaks.boilerplate
        ));
    }
    out.extend(desk.seen.arguments.warnings(desk.options.format));
    out.extend(templates(desk));
    out
}

fn templates(desk: &Desk<'_>) -> Vec<String> {
    let states = desk.facts.cleaning.iter().flat_map(|c| &c.findings);
    let open = states.filter(|s| s.finding.kind == FindingKind::Template && s.action.is_none());
    open.map(|s| {
        format!(
            "template repetition (finding {}): {}",
            s.finding.id, s.finding.reason
        )
    })
    .collect()
}
