//! Reads each gate's quantity off the facts: value, what is missing, and where it comes from.

mod common;
mod dpo;
mod rl;
mod sft;

use super::facts::CohortFacts;
use super::rules::Rules;
use crate::domain::GateState;

/// What was measured for one gate.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Measured {
    /// The number that meets the threshold; `None` = nobody measured it.
    pub(super) value: Option<f64>,
    /// The value as people read it, where the bare number says too little.
    pub(super) shown: Option<String>,
    /// The state, where more than one number decides.
    pub(super) state: Option<GateState>,
    /// The threshold in words, where more than one number decides.
    pub(super) threshold: Option<String>,
    /// What is missing to pass.
    pub(super) missing: String,
    /// Where the value comes from.
    pub(super) source: &'static str,
}

type Measure = fn(&CohortFacts, &Rules) -> Measured;

/// All quantities by name.
const MEASURES: &[(&str, Measure)] = &[
    ("outcome-known", common::outcome_known),
    ("labelled-failures", common::labelled_failures),
    ("labelled-share", common::labelled_share),
    ("agreement", common::agreement),
    ("system-share", common::system_share),
    ("grader-health", common::grader_health),
    ("cheaper-lever", common::cheaper_lever),
    ("stable-failures", common::stable_failures),
    ("split-clean", common::split_clean),
    ("demonstrations", sft::demonstrations),
    ("coverage", sft::coverage),
    ("length-kept", sft::length_kept),
    ("ownership", sft::ownership),
    ("current-tools", sft::current_tools),
    ("evaluation-tasks", sft::evaluation_tasks),
    ("same-request", dpo::same_request),
    ("reasoned", dpo::reasoned),
    ("pairs", dpo::pairs),
    ("double-labelled", dpo::double_labelled),
    ("length-balance", dpo::length_balance),
    ("on-policy", dpo::on_policy),
    ("near-identical", dpo::near_identical),
    ("chosen-quality", dpo::chosen_quality),
    ("verifier", rl::verifier),
    ("behaviour-logprobs", rl::behaviour_logprobs),
    ("mixed-groups", rl::mixed_groups),
    ("headroom", rl::headroom),
    ("tool-failure", rl::tool_failure),
    ("missing-reward", rl::missing_reward),
    ("group-contract", rl::group_contract),
    ("prefix", rl::prefix),
    ("strategy-share", rl::strategy_share),
];

/// Whether a rule file may name this quantity.
pub(super) fn is_known(name: &str) -> bool {
    name.strip_prefix("fact:").is_some() || MEASURES.iter().any(|(n, _)| *n == name)
}

/// Measures a quantity by its name.
pub(super) fn measure(name: &str, facts: &CohortFacts, rules: &Rules) -> Measured {
    if let Some(fact) = name.strip_prefix("fact:") {
        return recorded(fact, facts);
    }
    MEASURES
        .iter()
        .find(|(n, _)| *n == name)
        .map_or_else(Measured::default, |(_, m)| m(facts, rules))
}

/// A fact that a person recorded.
fn recorded(name: &str, facts: &CohortFacts) -> Measured {
    match facts.recorded.get(name) {
        Some(fact) => Measured {
            value: Some(f64::from(u8::from(fact.holds()))),
            shown: Some(format!("{} ({})", fact.value, fact.evidence)),
            missing: if fact.holds() {
                String::new()
            } else {
                format!("{name} is recorded as `{}`", fact.value)
            },
            source: "recorded by a person",
            ..Measured::default()
        },
        None => Measured {
            missing: format!("{name}: not recorded"),
            source: "recorded by a person",
            ..Measured::default()
        },
    }
}

/// A share of a whole; unmeasured where the whole is empty.
fn share(hits: u64, whole: u64, source: &'static str, missing: String) -> Measured {
    if whole == 0 {
        return Measured {
            missing,
            source,
            ..Measured::default()
        };
    }
    let value = hits as f64 / whole as f64;
    Measured {
        value: Some(value),
        shown: Some(format!("{} ({hits} of {whole})", percent(value))),
        missing,
        source,
        ..Measured::default()
    }
}

/// A count; never unmeasured.
fn count(n: u32, source: &'static str, missing: String) -> Measured {
    Measured {
        value: Some(f64::from(n)),
        missing,
        source,
        ..Measured::default()
    }
}

/// How many more are needed to reach a threshold.
fn to_go(n: u32, threshold: f64, what: &str) -> String {
    let gap = (threshold - f64::from(n)).ceil();
    if gap > 0.0 {
        format!("{gap} more {what}")
    } else {
        String::new()
    }
}

/// Per cent as people read it; never rounded onto a whole that it is not.
pub(super) fn percent(value: f64) -> String {
    let whole = (value * 100.0).round();
    let exact = (value * 100.0 - whole).abs() < 1e-9;
    let on_the_edge = whole == 0.0 || whole >= 100.0;
    if on_the_edge && !exact {
        format!("{:.1}%", value * 100.0)
    } else {
        format!("{whole:.0}%")
    }
}
