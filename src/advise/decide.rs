//! The first rule that holds is the headline; every method that is not allowed is refused with its gates.

use super::facts::{CohortFacts, OverrideFact};
use super::gates::{gates, refuses};
use super::next::next_steps;
use super::pages::{Page, page};
use super::rules::{Behaviour, Rule, Rules, SystemBand};
use super::shares::{LAYER_ORDER, shares};
use crate::domain::{Advice, Gate, GateState, Layer, Refusal, RunId, Shares};
use serde::Serialize;
use std::collections::BTreeMap;

/// Methods in the order in which they are considered.
pub(super) const METHODS: [&str; 3] = ["SFT", "DPO", "RL"];

/// Advice with everything that is needed to check and repeat it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AdviceBook {
    /// The advice.
    #[serde(flatten)]
    pub advice: Advice,
    /// Methods that no gate refuses.
    pub allowed: Vec<String>,
    /// What the behaviour failures look like.
    pub behaviour: Behaviour,
    /// Sub-causes of each layer, with the runs behind them (S-05).
    pub causes: BTreeMap<Layer, BTreeMap<String, Vec<RunId>>>,
    /// Thresholds that were in force.
    pub thresholds: BTreeMap<String, f64>,
    /// What the headline means, in plain words.
    pub page: Page,
    /// A lead's decision against the advice, where there is one.
    #[serde(rename = "override")]
    pub overridden: Option<OverrideFact>,
}

/// What the rules look at.
pub(super) struct Reading<'a> {
    pub(super) facts: &'a CohortFacts,
    pub(super) rules: &'a Rules,
    pub(super) shares: Shares,
    pub(super) gates: Vec<Gate>,
    pub(super) behaviour: Behaviour,
}

/// Gives advice for a cohort.
pub fn advise(facts: &CohortFacts, rules: &Rules) -> AdviceBook {
    let reading = Reading {
        facts,
        rules,
        shares: shares(facts),
        gates: gates(facts, rules),
        behaviour: behaviour(facts, rules),
    };
    let rule = rules.rules.iter().find(|r| reading.fires(r));
    let headline = rule.map_or_else(|| "nothing to decide".to_owned(), |r| reading.headline(r));
    let refusals = reading.refusals(rule);
    let refused = |m: &&str| refusals.iter().any(|r| r.method == **m);
    let allowed: Vec<String> = METHODS
        .iter()
        .filter(|m| !refused(m))
        .map(|m| (*m).to_owned())
        .collect();
    let number = rule.map_or(0, |r| r.number);
    let page = page(&reading, number);
    let next = next_steps(&reading, number);
    AdviceBook {
        allowed,
        behaviour: reading.behaviour,
        causes: causes(facts),
        thresholds: rules.thresholds.clone(),
        page,
        overridden: facts.overridden.clone(),
        advice: Advice {
            cohort: facts.cohort.clone(),
            rule: number,
            headline,
            next,
            refusals,
            shares: reading.shares,
            gates: reading.gates,
            rules_version: rules.version.clone(),
        },
    }
}

impl Reading<'_> {
    pub(super) fn state(&self, id: &str) -> GateState {
        self.gate(id).map_or(GateState::Unmeasured, |g| g.state)
    }

    pub(super) fn gate(&self, id: &str) -> Option<&Gate> {
        self.gates.iter().find(|g| g.id == id)
    }

    /// The system layer with the largest share; ties go to the one whose mending helps the others.
    pub(super) fn largest_layer(&self) -> Option<Layer> {
        let size = |layer: &Layer| self.shares.layers.get(layer).map_or(0, |s| s.count);
        let top = LAYER_ORDER.iter().map(size).max().filter(|n| *n > 0)?;
        LAYER_ORDER.into_iter().find(|l| size(l) == top)
    }

    /// Gates of a list that forbid training with it, the common ones first.
    pub(super) fn refusing(&self, method: &str) -> Vec<&Gate> {
        let rules = self.rules.gates.iter().zip(&self.gates);
        rules
            .filter(|(r, g)| (r.list == "common" || r.list == method) && refuses(r, g.state))
            .map(|(_, g)| g)
            .collect()
    }

    /// The method with the fewest gates to go.
    pub(super) fn nearest(&self) -> &'static str {
        METHODS
            .into_iter()
            .min_by_key(|m| self.refusing(m).len())
            .unwrap_or("SFT")
    }

    fn fires(&self, rule: &Rule) -> bool {
        let fails = rule.fails.is_empty()
            || rule
                .fails
                .iter()
                .any(|id| self.state(id) == GateState::Fail)
            || rule.fails.iter().any(|id| self.empty_label_gate(id));
        let band = rule.system_share.is_none_or(|b| self.in_band(b));
        let ready = rule
            .ready
            .as_deref()
            .is_none_or(|m| self.refusing(m).is_empty());
        let behaviour = rule
            .behaviour
            .is_none_or(|b| b == self.behaviour || self.also(b));
        fails && band && ready && behaviour
    }

    /// With no run or no failure there is nothing to measure, and that is a reason to collect.
    fn empty_label_gate(&self, id: &str) -> bool {
        matches!(id, "G0" | "G1a" | "G1b") && self.state(id) == GateState::Unmeasured
    }

    fn in_band(&self, band: SystemBand) -> bool {
        let Some(share) = self.shares.system.map(|s| s.share) else {
            return false;
        };
        let (wait, block) = (self.rules.threshold("G2"), self.rules.threshold("G2-block"));
        match band {
            SystemBand::Block => share >= block,
            SystemBand::Wait => share >= wait && share < block,
        }
    }

    /// Both kinds of behaviour can be true at once; the first named one is the reading's own.
    fn also(&self, asked: Behaviour) -> bool {
        asked == Behaviour::PrefersWorse && prefers_worse(self.facts)
    }

    fn headline(&self, rule: &Rule) -> String {
        let layer = self.largest_layer().map_or("system", Layer::word);
        let filled = rule
            .headline
            .replace("{layer}", layer)
            .replace("{nearest}", self.nearest());
        if rule.number == 2 {
            self.grader_or_environment()
        } else {
            filled
        }
    }

    /// Rule 2 says which of the two is broken, so that nobody answers an outage by sampling more.
    fn grader_or_environment(&self) -> String {
        let r = &self.facts.rewards;
        let refuses_all = r.controls > 0 && r.refused == r.controls;
        let fooled = r.fooled > 0 || refuses_all;
        let spoilt = r.contaminated.max(r.all_tools_failed) > 0;
        match (fooled, spoilt) {
            (true, false) => "fix the grader",
            (false, _) => "fix the environment",
            (true, true) => "fix the environment and the grader",
        }
        .to_owned()
    }

    fn refusals(&self, rule: Option<&Rule>) -> Vec<Refusal> {
        let mut out = Vec::new();
        for method in METHODS {
            let gates = self.refusing(method);
            let blocked = rule.is_some_and(|r| r.blocks.iter().any(|b| b == method));
            let until = rule.and_then(|r| r.blocks_until.get(method));
            out.extend(gates.iter().map(|g| refusal(method, g)));
            if gates.is_empty() && blocked {
                // The rule blocks although every gate holds, as rule 10 does when the behaviour is unknown.
                out.push(self.blocked_by_rule(method, rule));
            }
            let waits = until
                .and_then(|id| self.gate(id))
                .filter(|g| g.state != GateState::Pass);
            let told = waits.is_some_and(|w| gates.iter().any(|g| g.id == w.id));
            out.extend(waits.filter(|_| !told).map(|g| refusal(method, g)));
        }
        out
    }

    fn blocked_by_rule(&self, method: &str, rule: Option<&Rule>) -> Refusal {
        Refusal {
            method: method.to_owned(),
            gate: format!("rule {}", rule.map_or(0, |r| r.number)),
            value: "what the behaviour failures look like is unknown".to_owned(),
            threshold: "never right (SFT), or right and wrong on one request (DPO)".to_owned(),
            missing: "repeated rollouts, or scored corrected actions".to_owned(),
            how: "run failed tasks several times, or triagent score with the policy's own weights"
                .to_owned(),
        }
    }
}

/// Labels without a sub-cause stand under an empty name.
fn causes(facts: &CohortFacts) -> BTreeMap<Layer, BTreeMap<String, Vec<RunId>>> {
    let mut out: BTreeMap<Layer, BTreeMap<String, Vec<RunId>>> = BTreeMap::new();
    for label in &facts.labels {
        let cause = label.cause.clone().unwrap_or_default();
        let runs = out
            .entry(label.layer)
            .or_default()
            .entry(cause)
            .or_default();
        runs.push(label.run.clone());
    }
    out
}

fn refusal(method: &str, gate: &Gate) -> Refusal {
    Refusal {
        method: method.to_owned(),
        gate: gate.id.clone(),
        value: gate.value.clone(),
        threshold: gate.threshold.clone(),
        missing: gate.missing.clone(),
        how: gate.how.clone(),
    }
}

fn behaviour(facts: &CohortFacts, rules: &Rules) -> Behaviour {
    if does_not_know(facts, rules) {
        Behaviour::DoesNotKnow
    } else if prefers_worse(facts) {
        Behaviour::PrefersWorse
    } else {
        Behaviour::Unknown
    }
}

/// Never right in any rollout, or pass@8 about pass@1 and low, or mostly out of the policy's reach.
fn does_not_know(facts: &CohortFacts, rules: &Rules) -> bool {
    let a = &facts.attempts;
    let never = a.behaviour_tasks > 0 && a.ever_passed == 0;
    let flat = a.pass_at_1.zip(a.pass_at_8).is_some_and(|(one, k)| {
        one < rules.threshold("know-low") && k - one < rules.threshold("know-gap")
    });
    let r = &facts.reach;
    let unreachable = r.is_policy && r.scored > 0 && r.out_of_reach * 2 > r.scored;
    never || flat || unreachable
}

/// Both candidates occur on one request, or the right one is in the policy's reach and below the recorded one.
fn prefers_worse(facts: &CohortFacts) -> bool {
    let r = &facts.reach;
    let below = r.is_policy && r.scored > 0 && r.below * 2 > r.scored;
    facts.pairs.both_recorded > 0 || below
}
