//! Gates, thresholds and rules as data: read from `assets/rules.toml`, thresholds overridden by a workspace.

use super::AdviseError;
use super::measure;
use crate::text::nearest;
use serde::Deserialize;
use std::collections::BTreeMap;

const EMBEDDED: &str = include_str!("../../assets/rules.toml");

/// The rule file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Its version.
    pub version: String,
    /// Thresholds by name: gates' own by the gate's id, others by theirs.
    pub thresholds: BTreeMap<String, f64>,
    /// Gates, in reading order.
    pub gates: Vec<GateRule>,
    /// Rules, in firing order.
    pub rules: Vec<Rule>,
    /// Facts that a person may record.
    pub facts: Vec<FactRule>,
    /// The chapter's five rows.
    pub rows: Vec<Row>,
}

/// A gate.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateRule {
    /// Its id.
    pub id: String,
    /// `common`, `SFT`, `DPO` or `RL`.
    pub list: String,
    /// What it asks.
    pub asks: String,
    /// Name of the measured quantity.
    pub measure: String,
    /// How the value compares with the threshold.
    pub compare: GateCompare,
    /// Default threshold.
    pub threshold: f64,
    /// How value and threshold are read.
    pub unit: Unit,
    /// What it does while nobody measured it.
    pub unmeasured: Unmeasured,
    /// How to get there.
    pub how: String,
    /// Why the gate is there.
    pub reason: String,
}

/// How a value compares with its threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateCompare {
    /// Value ≥ threshold passes.
    AtLeast,
    /// Value ≤ threshold passes.
    AtMost,
    /// Value < threshold passes.
    Below,
}

impl GateCompare {
    /// Whether a value passes.
    pub fn holds(self, value: f64, threshold: f64) -> bool {
        match self {
            Self::AtLeast => value >= threshold,
            Self::AtMost => value <= threshold,
            Self::Below => value < threshold,
        }
    }

    /// The sign that people read.
    pub fn sign(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
            Self::Below => "<",
        }
    }
}

/// How numbers of a gate are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Per cent.
    Share,
    /// A count.
    Count,
    /// A plain number.
    Number,
    /// Yes or no.
    Yes,
}

/// What a gate does while nobody measured it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unmeasured {
    /// Training is refused until somebody does.
    Refuses,
    /// It is shown and named as a next step.
    Warns,
}

/// A rule: all conditions that it names must hold.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its number.
    pub number: u32,
    /// Fires when any of these gates fails. Unmeasured is not failed.
    #[serde(default)]
    pub fails: Vec<String>,
    /// Fires when the system share is at or above `block`, or between G2 and it.
    #[serde(default)]
    pub system_share: Option<SystemBand>,
    /// Fires when this method's list and the common gates hold.
    #[serde(default)]
    pub ready: Option<String>,
    /// … and the behaviour is of this kind.
    #[serde(default)]
    pub behaviour: Option<Behaviour>,
    /// What it says; `{layer}` and `{nearest}` are filled in.
    pub headline: String,
    /// Methods that it blocks.
    #[serde(default)]
    pub blocks: Vec<String>,
    /// Methods that it blocks until a gate passes.
    #[serde(default)]
    pub blocks_until: BTreeMap<String, String>,
}

/// A band of the system share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SystemBand {
    /// At or above `G2-block`.
    Block,
    /// From G2 up to it.
    Wait,
}

/// What the behaviour failures look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Behaviour {
    /// It never does it right, or the right action is out of reach.
    DoesNotKnow,
    /// It can, and prefers the worse.
    PrefersWorse,
    /// Nothing tells.
    Unknown,
}

/// A fact that a person may record.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactRule {
    /// Its name.
    pub name: String,
    /// What it asks.
    pub asks: String,
}

/// A row of the chapter's table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// What is changed.
    pub change: String,
    /// Which object that changes.
    pub changes: String,
    /// What to go back to, and when.
    pub rollback: String,
    /// Evidence slots.
    pub evidence: Vec<String>,
}

impl Rules {
    /// Returns the rules that come with the program.
    pub fn embedded() -> Result<Self, AdviseError> {
        Self::from_toml(EMBEDDED)
    }

    /// Reads a rule file and checks that everything it names exists.
    pub fn from_toml(text: &str) -> Result<Self, AdviseError> {
        let mut rules: Self =
            toml::from_str(text).map_err(|e| AdviseError::Unreadable(e.to_string()))?;
        for gate in &rules.gates {
            if !measure::is_known(&gate.measure) {
                return Err(AdviseError::UnknownMeasure(
                    gate.id.clone(),
                    gate.measure.clone(),
                ));
            }
            rules.thresholds.insert(gate.id.clone(), gate.threshold);
        }
        for rule in &rules.rules {
            let named = rule.fails.iter().chain(rule.blocks_until.values());
            for id in named {
                if !rules.gates.iter().any(|g| g.id == *id) {
                    return Err(AdviseError::UnknownGate(rule.number, id.clone()));
                }
            }
        }
        Ok(rules)
    }

    /// Puts a workspace's own thresholds in place.
    pub fn with_overrides(mut self, overrides: &toml::Table) -> Result<Self, AdviseError> {
        for (name, value) in overrides {
            let number = value
                .as_float()
                .or_else(|| value.as_integer().map(|i| i as f64))
                .filter(|n| n.is_finite())
                .ok_or_else(|| AdviseError::NotANumber(name.clone(), value.to_string()))?;
            if !self.thresholds.contains_key(name) {
                let near = nearest(name, self.thresholds.keys().map(String::as_str));
                let hint = near.map_or_else(
                    || "`triagent advise --json` shows the thresholds in force".to_owned(),
                    |n| format!("did you mean `{n}`?"),
                );
                let name = name.clone();
                return Err(AdviseError::UnknownThreshold { name, hint });
            }
            self.thresholds.insert(name.clone(), number);
        }
        Ok(self)
    }

    /// A threshold in force.
    pub fn threshold(&self, name: &str) -> f64 {
        self.thresholds.get(name).copied().unwrap_or(f64::NAN)
    }

    /// Checks the name of a fact before it is recorded.
    pub fn check_fact(&self, name: &str) -> Result<(), AdviseError> {
        if self.facts.iter().any(|f| f.name == name) {
            return Ok(());
        }
        let near = nearest(name, self.facts.iter().map(|f| f.name.as_str()));
        let all: Vec<&str> = self.facts.iter().map(|f| f.name.as_str()).collect();
        let hint = near.map_or_else(
            || format!("one of {}", all.join(", ")),
            |n| format!("did you mean `{n}`?"),
        );
        Err(AdviseError::UnknownFact(name.to_owned(), hint))
    }
}
