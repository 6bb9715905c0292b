//! Evaluates every gate: value, threshold, state, what is missing and how to get it.

use super::facts::CohortFacts;
use super::measure::{Measured, measure, percent};
use super::rules::{GateCompare, GateRule, Rules, Unit, Unmeasured};
use crate::domain::{Gate, GateState};

/// Returns all gates in reading order.
pub(super) fn gates(facts: &CohortFacts, rules: &Rules) -> Vec<Gate> {
    rules
        .gates
        .iter()
        .map(|rule| gate(rule, facts, rules))
        .collect()
}

fn gate(rule: &GateRule, facts: &CohortFacts, rules: &Rules) -> Gate {
    let measured = measure(&rule.measure, facts, rules);
    let threshold = rules.threshold(&rule.id);
    let state = state(rule, &measured, threshold);
    Gate {
        id: rule.id.clone(),
        asks: rule.asks.clone(),
        value: value(rule, &measured),
        threshold: measured
            .threshold
            .unwrap_or_else(|| wanted(rule, threshold)),
        state,
        missing: match state {
            GateState::Pass | GateState::NotApplicable => String::new(),
            GateState::Fail | GateState::Unmeasured => measured.missing,
        },
        how: match state {
            GateState::Pass | GateState::NotApplicable => String::new(),
            GateState::Fail | GateState::Unmeasured => rule.how.clone(),
        },
        source: measured.source.to_owned(),
    }
}

fn state(rule: &GateRule, measured: &Measured, threshold: f64) -> GateState {
    match (measured.state, measured.value) {
        (Some(state), _) => state,
        (None, Some(v)) if rule.compare.holds(v, threshold) => GateState::Pass,
        (None, Some(_)) => GateState::Fail,
        (None, None) => GateState::Unmeasured,
    }
}

fn value(rule: &GateRule, measured: &Measured) -> String {
    match (&measured.shown, measured.value) {
        (Some(shown), _) => shown.clone(),
        (None, Some(v)) => read(rule.unit, v),
        (None, None) => "not measured".to_owned(),
    }
}

/// The threshold as people read it: "at least all" is all, and "at least yes" is yes.
fn wanted(rule: &GateRule, threshold: f64) -> String {
    let edge = match (rule.unit, rule.compare) {
        (Unit::Yes, _) => true,
        (Unit::Share, GateCompare::AtLeast) => threshold >= 1.0,
        (_, GateCompare::AtMost) => threshold <= 0.0,
        (_, _) => false,
    };
    let value = read(rule.unit, threshold);
    if edge {
        value
    } else {
        format!("{} {value}", rule.compare.sign())
    }
}

fn read(unit: Unit, v: f64) -> String {
    match unit {
        Unit::Share => percent(v),
        Unit::Count => format!("{v:.0}"),
        Unit::Number => format!("{v}"),
        Unit::Yes => if v >= 1.0 { "yes" } else { "no" }.to_owned(),
    }
}

/// Whether a gate in this state forbids training.
pub(super) fn refuses(rule: &GateRule, state: GateState) -> bool {
    match state {
        GateState::Fail => true,
        GateState::Unmeasured => rule.unmeasured == Unmeasured::Refuses,
        GateState::Pass | GateState::NotApplicable => false,
    }
}
