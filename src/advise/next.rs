//! What to do next, in order: the headline's own steps, what they unlock, and what nobody has measured yet.

use super::decide::{METHODS, Reading};
use super::facts::RecordedFact;
use super::rules::{Behaviour, Unmeasured};
use crate::domain::{GateState, Layer};

/// Components without which a capture path is collect-only (S-34).
const TRAINING_PARTS: [(&str, &str); 4] = [
    ("environment", "task environment"),
    ("verifier", "reward"),
    ("model-backend", "model backend"),
    ("evaluation-set", "evaluation"),
];

pub(super) fn next_steps(reading: &Reading, rule: u32) -> Vec<String> {
    let mut out = match rule {
        1 => collect(reading),
        2 => repair(reading),
        3 | 4 => runtime(reading),
        5 | 6 => gate_steps(reading, if rule == 5 { &["G4"] } else { &["G5"] }),
        7 => vec!["fit the reviewed demonstrations, then measure on the independent set".to_owned()],
        8 => vec!["train on the decided pairs against the bound reference, watching both log-probs".to_owned()],
        9 => vec!["train in the environment, with independent tests and hack cases beside the reward curve".to_owned()],
        _ => nearest(reading),
    };
    if rule >= 7 {
        out.extend(unmeasured_warnings(reading));
    }
    if rule == 7 && reading.state("R5") != GateState::Pass {
        out.push("agent RL waits for R5: pass@8 above pass@1 by the threshold".to_owned());
    }
    out.extend(capture_only(reading));
    out
}

/// Localise first (S-02): what is missing, gate by gate.
fn collect(reading: &Reading) -> Vec<String> {
    let mut out = vec![];
    if reading.facts.labels.is_empty() {
        out.push("localise first: no failure carries a layer label yet".to_owned());
    }
    out.extend(gate_steps(reading, &["G0", "G1a", "G1b", "G1c"]));
    if reading.state("G3") == GateState::Fail {
        out.extend(repair(reading));
    }
    out
}

/// All failing for want of data or tools is repaired, never sampled again (S-61, S-62).
fn repair(reading: &Reading) -> Vec<String> {
    let r = &reading.facts.rewards;
    let mut out = Vec::new();
    if r.contaminated.max(r.all_tools_failed) > 0 {
        out.push(format!(
            "fix the environment: {} of {} rollouts are spoilt by tools or state; run those again afterwards",
            r.contaminated.max(r.all_tools_failed),
            r.rollouts
        ));
    }
    if r.fooled > 0 {
        out.push(format!(
            "fix the grader: {} of {} hack cases fool it (triagent rewards audit GRADER --as NAME)",
            r.fooled, r.hack_cases
        ));
    }
    if r.controls > 0 && r.refused == r.controls {
        out.push(format!(
            "fix the grader: it refuses all {} good runs that it was shown (triagent rewards audit GRADER --as NAME)",
            r.controls
        ));
    }
    out
}

/// Mend the largest share first, then what the behaviour slice needs, in the order of S-55.
fn runtime(reading: &Reading) -> Vec<String> {
    let shares = &reading.shares;
    let mut out = Vec::new();
    let mut layers: Vec<(Layer, u32)> = super::shares::LAYER_ORDER
        .into_iter()
        .map(|l| (l, shares.layers.get(&l).map_or(0, |s| s.count)))
        .filter(|(_, n)| *n > 0)
        .collect();
    // Stable: equal shares keep the order in which mending helps most.
    layers.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    for (layer, n) in layers {
        out.push(format!(
            "fix {}: {n} of {} labelled failures",
            fix(layer),
            shares.n
        ));
    }
    out.push("run the same tasks again and import them as a new cohort: the old failures stay with the old one".to_owned());
    let behaviour = shares.layers.get(&Layer::Model).map_or(0, |s| s.count);
    if behaviour > 0 {
        out.push(format!(
            "collect comparison and clarification demonstrations for the {behaviour} behaviour failures (SFT)"
        ));
        out.push("build preference pairs from them if both candidates occur (DPO)".to_owned());
        out.push("agent RL only once an interaction bottleneck is clear".to_owned());
    }
    out
}

fn fix(layer: Layer) -> &'static str {
    match layer {
        Layer::Index => "the index or its filters",
        Layer::Context => "what is put into the context",
        Layer::Tool => "the tool texts or tools",
        Layer::Environment => "the environment",
        Layer::Grader => "the grader",
        Layer::Model => "the behaviour",
        Layer::Undetermined => "the log",
    }
}

fn nearest(reading: &Reading) -> Vec<String> {
    let method = reading.nearest();
    let mut out: Vec<String> = reading
        .refusing(method)
        .iter()
        .map(|g| step(&g.id, &g.missing, &g.how))
        .collect();
    if out.is_empty() && reading.behaviour == Behaviour::Unknown {
        out.push("find out whether the model can do it at all: run failed tasks several times, or score the corrected actions with the policy's weights".to_owned());
    }
    out
}

fn gate_steps(reading: &Reading, ids: &[&str]) -> Vec<String> {
    let open = |id: &&str| matches!(reading.state(id), GateState::Fail | GateState::Unmeasured);
    ids.iter()
        .filter(|id| open(id))
        .filter_map(|id| reading.gate(id))
        .map(|g| step(&g.id, &g.missing, &g.how))
        .collect()
}

fn unmeasured_warnings(reading: &Reading) -> Vec<String> {
    let rules = reading.rules.gates.iter().zip(&reading.gates);
    rules
        .filter(|(r, g)| r.unmeasured == Unmeasured::Warns && g.state == GateState::Unmeasured)
        .map(|(_, g)| step(&g.id, &g.missing, &g.how))
        .collect()
}

/// S-34: recording calls is a data path; what else training needs is named one by one.
fn capture_only(reading: &Reading) -> Option<String> {
    let facts = reading.facts;
    let ready = METHODS.iter().any(|m| reading.refusing(m).is_empty());
    let missing: Vec<&str> = TRAINING_PARTS
        .iter()
        .filter(|(name, _)| !facts.recorded.get(*name).is_some_and(RecordedFact::holds))
        .map(|(_, words)| *words)
        .collect();
    let asks = facts.recorded.contains_key("capture") || facts.rollouts.with_logprob > 0;
    (asks && !ready && !missing.is_empty()).then(|| {
        format!(
            "a capture path alone only collects; agent RL still lacks: {}",
            missing.join(", ")
        )
    })
}

fn step(id: &str, missing: &str, how: &str) -> String {
    if missing.is_empty() {
        format!("{id}: {how}")
    } else {
        format!("{id}: {missing} ({how})")
    }
}
