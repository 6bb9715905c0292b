//! The mathematics of the counterfactual probe (SCIENCE part 3): effects, cells, placebo, intervals, gates.
//!
//! Scores nothing itself: log-probs come in as a matrix that `jobs` filled through `score`.

mod gates;
mod matrix;
mod report;

pub use gates::{GateFacts, ProbeGate};
pub use matrix::{Cell, CellScore, Placement, ProbeMatrix, Variant, VariantScores};
pub use report::{ProbeReport, VariantEffect, evaluate_probe};

use serde::{Deserialize, Serialize};

/// Settings of the probe; each report records those it used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProbeSettings {
    /// Smallest effect that counts, in nats: odds × 2.7.
    pub min_effect: f64,
    /// τ is also at least this many robust standard deviations of the placebo effects.
    pub placebo_spread: f64,
    /// Bootstrap draws.
    pub draws: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// Holm-corrected level.
    pub level: f64,
    /// Share of cells that must agree for a flip or a reproduction.
    pub majority: f64,
    /// Fewest cells for a verdict; fewer are a screen only.
    pub min_cells: usize,
    /// The inserted document must rank in this top share among the placebos.
    pub top_share: f64,
    /// Smallest rank correlation with logged log-probs.
    pub min_drift: f64,
    /// Fewest actions for that correlation.
    pub min_drift_actions: usize,
}

impl Default for ProbeSettings {
    fn default() -> Self {
        Self {
            min_effect: 1.0,
            placebo_spread: 3.0,
            draws: 2000,
            seed: 20_250_701,
            level: 0.05,
            majority: 2.0 / 3.0,
            min_cells: 8,
            top_share: 0.05,
            min_drift: 0.5,
            min_drift_actions: 30,
        }
    }
}

#[cfg(test)]
mod tests;
