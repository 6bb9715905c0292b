//! The ten rows, in order; the first that holds is the suggestion.

use super::Strength;
use super::facts::SuggestFacts;
use crate::domain::{EvidenceStatus, Layer};
use crate::triage::evidence::Evidence;
use crate::triage::probe::{ProbeReport, Variant, VariantEffect};

/// What a row says.
pub(super) struct Found {
    pub(super) layer: Layer,
    pub(super) row: Option<u32>,
    pub(super) reason: String,
    pub(super) strength: Strength,
}

pub(super) fn first_match(facts: &SuggestFacts) -> Found {
    environment(facts)
        .or_else(|| grader(facts))
        .or_else(|| match facts.probe.filter(|p| !p.screen_only) {
            Some(probe) => Some(with_probe(facts, probe)),
            None => provenance(facts),
        })
        .unwrap_or_else(|| no_row(facts))
}

fn found(layer: Layer, row: u32, strength: Strength, reason: String) -> Option<Found> {
    Some(Found {
        layer,
        row: Some(row),
        reason,
        strength,
    })
}

/// Row 1.
fn environment(facts: &SuggestFacts) -> Option<Found> {
    let failures = facts.failures_at_decision();
    let own = failures.iter().find(|f| f.fault.is_environment());
    if let Some(failure) = own {
        let tool = failure.step.tool.as_deref().unwrap_or("a tool");
        let reason = format!(
            "{tool} {} at step {}",
            failure.fault.words(),
            failure.step.index
        );
        return found(Layer::Environment, 1, Strength::Rule, reason);
    }
    if facts.all_tools_down() {
        let reason = "every tool result of the run failed".to_owned();
        return found(Layer::Environment, 1, Strength::Rule, reason);
    }
    None
}

/// Row 2.
fn grader(facts: &SuggestFacts) -> Option<Found> {
    found(Layer::Grader, 2, Strength::Rule, facts.graders_disagree()?)
}

/// Rows 3 and 4 by status alone.
fn provenance(facts: &SuggestFacts) -> Option<Found> {
    if let Some(e) = first_with(facts.evidence, is_index_status) {
        return index_row(facts, e, Strength::Provenance);
    }
    let e = first_with(facts.evidence, |s| s == EvidenceStatus::NotInPrompt)?;
    found(Layer::Context, 4, Strength::Provenance, e.reason.clone())
}

/// Row 3, and its exception: nobody asked, so the index had nothing to answer.
fn index_row(facts: &SuggestFacts, e: &Evidence, strength: Strength) -> Option<Found> {
    let doc = &e.doc_id;
    if e.status != EvidenceStatus::NotRetrieved {
        return found(Layer::Index, 3, strength, e.reason.clone());
    }
    if !facts.asked_nothing() {
        let unasked = facts.tools_not_asked(!e.seen.is_empty());
        if unasked.is_empty() {
            return found(Layer::Index, 3, strength, e.reason.clone());
        }
        let reason = format!(
            "what was asked brought no document at all, and {} was never asked for {doc}: model, or tool text where it misled",
            unasked.join(", ")
        );
        return found(Layer::Undetermined, 3, strength, reason);
    }
    if facts.is_tool_decision() {
        // The first query itself is the decision: whether its text or the model chose it, provenance cannot say.
        let reason = format!(
            "no query that could have found {doc} came before this call: model, or tool text where it misled"
        );
        return found(Layer::Undetermined, 3, strength, reason);
    }
    let reason = format!("{doc} was never asked for: no tool was called before the decision");
    found(Layer::Model, 3, strength, reason)
}

fn with_probe(facts: &SuggestFacts, probe: &ProbeReport) -> Found {
    if let Some(gate) = probe.failed_gate() {
        let reason = format!(
            "probe gate \"{}\" fails: {} ({})",
            gate.name, gate.meaning, gate.shown
        );
        return undetermined(10, reason);
    }
    if let Some(reason) = overlapping(probe) {
        return undetermined(10, reason);
    }
    confirmed(facts, probe)
        .or_else(|| tool_row(facts, probe))
        .or_else(|| in_prompt_rows(facts, probe))
        .unwrap_or_else(|| no_row(facts))
}

/// Rows 3, 4 with a probe, and row 9 where it denies them.
fn confirmed(facts: &SuggestFacts, probe: &ProbeReport) -> Option<Found> {
    if let Some(e) = first_with(facts.evidence, is_index_status) {
        if probe.shifts(Variant::Evidence) {
            return index_row(facts, e, Strength::Confirmed);
        }
        return Some(row_nine(&e.doc_id, probe.effect(Variant::Evidence)));
    }
    if let Some(e) = first_with(facts.evidence, |s| s == EvidenceStatus::NotInPrompt) {
        if probe.shifts(Variant::Context) {
            return found(Layer::Context, 4, Strength::Confirmed, e.reason.clone());
        }
        return Some(row_nine(&e.doc_id, probe.effect(Variant::Context)));
    }
    None
}

fn row_nine(doc: &str, effect: Option<&VariantEffect>) -> Found {
    let shown = effect.map_or_else(
        || "not scored".to_owned(),
        |e| format!("{:.2} nats", e.effect),
    );
    undetermined(
        9,
        format!(
            "{doc} was missing, but giving it back would not have turned the decision ({shown}): look for a second cause"
        ),
    )
}

/// Row 5.
fn tool_row(facts: &SuggestFacts, probe: &ProbeReport) -> Option<Found> {
    let alone = probe.shifts(Variant::Tool)
        && !probe.shifts(Variant::Evidence)
        && !probe.shifts(Variant::Context);
    if !(facts.is_tool_decision() && alone) {
        return None;
    }
    let reason = "another wording of the tool text turns the decision; that shows sensitivity, so review the wording and test it for regressions".to_owned();
    found(Layer::Tool, 5, Strength::Probe, reason)
}

/// Rows 6 to 8: all evidence was in the prompt.
fn in_prompt_rows(facts: &SuggestFacts, probe: &ProbeReport) -> Option<Found> {
    let known = !facts.evidence.is_empty();
    let all_in = facts
        .evidence
        .iter()
        .all(|e| e.status == EvidenceStatus::InPrompt);
    if !known || !all_in {
        return None;
    }
    if probe
        .effect(Variant::Moved)
        .is_some_and(|m| m.shift && m.flip)
    {
        let reason = "moving the evidence, and nothing else, turns the decision".to_owned();
        return found(Layer::Context, 6, Strength::Probe, reason);
    }
    let nothing_else = [Variant::Evidence, Variant::Context, Variant::Tool]
        .into_iter()
        .all(|v| !probe.shifts(v));
    let removed = probe.effect(Variant::Removed).filter(|_| nothing_else)?;
    let inside = removed
        .interval_90
        .is_some_and(|i| i.low > -probe.tau && i.high < probe.tau);
    let (row, reason) = match (inside, removed.falls) {
        (true, _) => (
            7,
            "the evidence was in view and taking it away changes nothing: it was ignored",
        ),
        (false, true) => (
            8,
            "the evidence was in view and was used, but not enough to turn the decision",
        ),
        (false, false) => return None,
    };
    if !probe.speaks_for_model {
        let reason =
            format!("{reason}, says a proxy that has not been shown to speak for the policy");
        return Some(undetermined(row, reason));
    }
    found(Layer::Model, row, Strength::Probe, reason.to_owned())
}

/// Row 10: two variants shift and their intervals overlap.
fn overlapping(probe: &ProbeReport) -> Option<String> {
    let asked = [Variant::Evidence, Variant::Context, Variant::Tool];
    let shifting: Vec<&VariantEffect> = asked
        .iter()
        .filter_map(|v| probe.effect(*v))
        .filter(|e| e.shift)
        .collect();
    for (i, a) in shifting.iter().enumerate() {
        for b in shifting.iter().skip(i + 1) {
            let overlap = a
                .interval
                .zip(b.interval)
                .is_some_and(|(x, y)| x.low <= y.high && y.low <= x.high);
            if overlap {
                return Some(format!(
                    "{} and {} both shift and their intervals overlap: mixed",
                    a.variant.word(),
                    b.variant.word()
                ));
            }
        }
    }
    None
}

fn no_row(facts: &SuggestFacts) -> Found {
    let own = facts
        .failures_at_decision()
        .into_iter()
        .find(|f| !f.fault.is_environment());
    let reason = if let Some(f) = own {
        let tool = f.step.tool.as_deref().unwrap_or("a tool");
        format!(
            "{tool} {} at step {}: model or tool text, a person must look",
            f.fault.words(),
            f.step.index
        )
    } else if facts.evidence.is_empty() {
        "nothing says what evidence this task needs: supply the task list (tasks import) or name the documents with the verdict".to_owned()
    } else if facts
        .evidence
        .iter()
        .all(|e| e.status == EvidenceStatus::InPrompt)
    {
        "all required evidence was in the prompt; whether the model ignored it, a probe or a person must say".to_owned()
    } else {
        "the evidence status is unknown: supply the document register (docs import)".to_owned()
    };
    Found {
        layer: Layer::Undetermined,
        row: None,
        reason,
        strength: Strength::None,
    }
}

fn undetermined(row: u32, reason: String) -> Found {
    Found {
        layer: Layer::Undetermined,
        row: Some(row),
        reason,
        strength: Strength::Probe,
    }
}

fn is_index_status(status: EvidenceStatus) -> bool {
    matches!(
        status,
        EvidenceStatus::NotIndexed | EvidenceStatus::StaleOnly | EvidenceStatus::NotRetrieved
    )
}

/// The worst such document; statuses are ordered from the first stage on.
fn first_with(evidence: &[Evidence], wanted: fn(EvidenceStatus) -> bool) -> Option<&Evidence> {
    evidence
        .iter()
        .filter(|e| wanted(e.status))
        .min_by_key(|e| e.status)
}
