//! Gates before any verdict: reproduction, positive control, placebo, length, template, drift.

use super::ProbeSettings;
use super::matrix::{ProbeMatrix, Variant};
use super::report::VariantEffect;
use crate::stats::{median, spearman};
use serde::{Deserialize, Serialize};

/// One gate and what it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeGate {
    /// Its name.
    pub name: String,
    /// Whether it holds; `None` = not measured.
    pub holds: Option<bool>,
    /// Measured value and threshold, in one line.
    pub shown: String,
    /// What a failure means.
    pub meaning: String,
}

/// What the scoring side knows about its own conditions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GateFacts {
    /// Every prompt fitted the window.
    pub fits_window: bool,
    /// Roles and tools were rendered as recorded.
    pub same_template: bool,
    /// The difference in rendering was declared.
    pub template_declared: bool,
    /// Logged log-prob and re-scored log-prob of recorded actions.
    pub logged: Vec<(f64, f64)>,
}

pub(super) fn gates(
    matrix: &ProbeMatrix,
    effects: &[VariantEffect],
    tau: f64,
    facts: &GateFacts,
    settings: &ProbeSettings,
) -> Vec<ProbeGate> {
    let mut out = vec![
        reproduction(matrix, settings),
        control(effects),
        placebo(matrix, tau),
        gate(
            "length",
            Some(facts.fits_window),
            if facts.fits_window {
                "every prompt fits the window"
            } else {
                "a prompt was too long"
            },
            "a cut prompt is another prompt",
        ),
        template(facts),
    ];
    out.extend(drift(facts, settings));
    out
}

fn gate(name: &str, holds: Option<bool>, shown: impl Into<String>, meaning: &str) -> ProbeGate {
    ProbeGate {
        name: name.to_owned(),
        holds,
        shown: shown.into(),
        meaning: meaning.to_owned(),
    }
}

/// The proxy must make the recorded error: m_B(x_R) < 0 in most cells.
fn reproduction(matrix: &ProbeMatrix, settings: &ProbeSettings) -> ProbeGate {
    let margins: Vec<f64> = matrix
        .variants
        .iter()
        .flat_map(|v| v.baseline.iter().map(|s| matrix.byte_margin(*s)))
        .collect();
    let below = margins.iter().filter(|m| **m < 0.0).count();
    let holds = is_majority(below, margins.len(), settings.majority);
    let shown = format!(
        "the recorded action is preferred in {below} of {} cells",
        margins.len()
    );
    gate(
        "reproduction",
        Some(holds),
        shown,
        "this proxy does not make the recorded error",
    )
}

fn control(effects: &[VariantEffect]) -> ProbeGate {
    let oracle = effects.iter().find(|e| e.variant == Variant::Oracle);
    let shown = oracle.map_or_else(
        || "no oracle hint was scored".to_owned(),
        |o| format!("the hint shifts by {:.2} nats", o.effect),
    );
    let meaning = "this proxy is insensitive here: that nothing shifts means nothing";
    gate(
        "positive control",
        Some(oracle.is_some_and(|o| o.shift)),
        shown,
        meaning,
    )
}

fn placebo(matrix: &ProbeMatrix, tau: f64) -> ProbeGate {
    let all: Vec<f64> = matrix
        .variants
        .iter()
        .flat_map(|v| v.placebo_shifts().into_iter().flatten())
        .collect();
    match median(&all) {
        Some(m) => gate(
            "placebo",
            Some(m.abs() < tau),
            format!("an unrelated text shifts by {m:.2} nats (limit {tau:.2})"),
            "unstable slot: any text moves the margin",
        ),
        None => gate(
            "placebo",
            Some(false),
            "no placebo was scored",
            "without placebos an effect is only a move",
        ),
    }
}

fn template(facts: &GateFacts) -> ProbeGate {
    let shown = match (facts.same_template, facts.template_declared) {
        (true, _) => "roles and tools rendered as recorded",
        (false, true) => "rendered differently, as declared",
        (false, false) => "rendered differently, undeclared",
    };
    let holds = facts.same_template || facts.template_declared;
    gate(
        "template",
        Some(holds),
        shown,
        "another rendering is another prompt",
    )
}

/// Only where the log has production log-probs.
fn drift(facts: &GateFacts, settings: &ProbeSettings) -> Option<ProbeGate> {
    if facts.logged.is_empty() {
        return None;
    }
    let (logged, scored): (Vec<f64>, Vec<f64>) = facts.logged.iter().copied().unzip();
    let n = logged.len();
    let meaning = "this proxy ranks the recorded actions otherwise than the policy did";
    if n < settings.min_drift_actions {
        let shown = format!("{n} logged actions, {} needed", settings.min_drift_actions);
        return Some(gate("drift", None, shown, meaning));
    }
    let rho = spearman(&logged, &scored);
    let shown = rho.map_or_else(
        || "log-probs do not vary".to_owned(),
        |r| {
            format!(
                "Spearman {r:.2} over {n} actions (need {})",
                settings.min_drift
            )
        },
    );
    Some(gate(
        "drift",
        Some(rho.is_some_and(|r| r >= settings.min_drift)),
        shown,
        meaning,
    ))
}

pub(super) fn is_majority(hits: usize, of: usize, share: f64) -> bool {
    // A third of nothing is nothing: no cell, no majority.
    of > 0 && hits as f64 >= share * of as f64 - 1e-9
}
