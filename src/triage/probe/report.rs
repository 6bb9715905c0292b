//! Effects with intervals and tests, τ, gates: what a probe found, without saying which layer failed.

use super::ProbeSettings;
use super::gates::{GateFacts, ProbeGate, gates, is_majority};
use super::matrix::{Placement, ProbeMatrix, Variant, VariantScores};
use crate::stats::{Interval, bootstrap, holm, mad, mean, median, sign_flip};
use serde::{Deserialize, Serialize};

/// What one variant did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantEffect {
    /// Which change.
    pub variant: Variant,
    /// Who made it.
    pub author: String,
    /// What exactly was changed.
    pub diff: String,
    /// Cells.
    pub cells: usize,
    /// Mean ℓ(y⁺) in the recorded and the changed context: both terms are always shown.
    pub corrected: (f64, f64),
    /// Mean ℓ(y⁻) in the recorded and the changed context.
    pub recorded: (f64, f64),
    /// Mean margin in the recorded and the changed context.
    pub margin: (f64, f64),
    /// ē: mean effect over placebo, in nats.
    pub effect: f64,
    /// 95% bootstrap interval of ē over cells: formatting noise of this proxy on this case, nothing wider.
    pub interval: Option<Interval>,
    /// 90% interval of ē, for rows 7 and 8.
    pub interval_90: Option<Interval>,
    /// Exact sign-flip p.
    pub p: Option<f64>,
    /// The same, Holm-corrected over the planned variants.
    pub holm_p: Option<f64>,
    /// Rank of the change among the placebos, and how many those are.
    pub placebo_rank: Option<(usize, usize)>,
    /// Interval above 0, ē ≥ τ, Holm p below the level, and in the placebos' top share.
    pub shift: bool,
    /// The same downwards: the margin falls.
    pub falls: bool,
    /// The corrected action is preferred in most cells.
    pub flip: bool,
    /// The effect's sign differs between placements.
    pub fragile: bool,
}

/// What a probe found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeReport {
    /// Smallest effect that counts here.
    pub tau: f64,
    /// All planned variants.
    pub effects: Vec<VariantEffect>,
    /// Gates.
    pub gates: Vec<ProbeGate>,
    /// Too few cells for a verdict.
    pub screen_only: bool,
    /// The scored weights are the recorded checkpoint, or this proxy was shown to use evidence.
    pub speaks_for_model: bool,
    /// Settings in force.
    pub settings: ProbeSettings,
}

impl ProbeReport {
    /// All gates hold; an unmeasured drift gate does not count.
    pub fn gates_hold(&self) -> bool {
        self.gates.iter().all(|g| g.holds != Some(false))
    }

    /// First gate that fails.
    pub fn failed_gate(&self) -> Option<&ProbeGate> {
        self.gates.iter().find(|g| g.holds == Some(false))
    }

    /// What one variant did.
    pub fn effect(&self, variant: Variant) -> Option<&VariantEffect> {
        self.effects.iter().find(|e| e.variant == variant)
    }

    /// Whether a variant shifts.
    pub fn shifts(&self, variant: Variant) -> bool {
        self.effect(variant).is_some_and(|e| e.shift)
    }
}

/// Evaluates a probe. `speaks_for_model` says whether rows 7 and 8 may be read off it.
pub fn evaluate_probe(
    matrix: &ProbeMatrix,
    facts: &GateFacts,
    speaks_for_model: bool,
    settings: &ProbeSettings,
) -> ProbeReport {
    let tau = tau(matrix, settings);
    let planned: Vec<&VariantScores> = matrix.variants.iter().filter(|v| v.is_complete()).collect();
    let mut effects: Vec<VariantEffect> = planned
        .iter()
        .map(|v| effect(matrix, v, settings))
        .collect();
    correct(&mut effects);
    for (effect, scores) in effects.iter_mut().zip(&planned) {
        decide(effect, scores, tau, settings);
    }
    let fewest = planned.iter().map(|v| v.cells.len()).min().unwrap_or(0);
    ProbeReport {
        tau,
        gates: gates(matrix, &effects, tau, facts, settings),
        effects,
        screen_only: fewest < settings.min_cells,
        speaks_for_model,
        settings: settings.clone(),
    }
}

/// τ = max(smallest effect, spread of the placebo effects).
fn tau(matrix: &ProbeMatrix, settings: &ProbeSettings) -> f64 {
    let all: Vec<f64> = matrix
        .variants
        .iter()
        .flat_map(|v| v.placebo_shifts().into_iter().flatten())
        .collect();
    // 1.4826 makes the MAD of a normal distribution its standard deviation.
    let spread = mad(&all).map_or(0.0, |m| settings.placebo_spread * 1.4826 * m);
    settings.min_effect.max(spread)
}

/// e_f of each cell: the shift less the median shift of the cell's own placebos.
fn cell_effects(scores: &VariantScores) -> Vec<f64> {
    let placebos = scores.placebo_shifts();
    let shifts = scores.shifts().into_iter().enumerate();
    shifts
        .map(|(i, d)| d - placebos.get(i).and_then(|p| median(p)).unwrap_or(0.0))
        .collect()
}

fn effect(matrix: &ProbeMatrix, scores: &VariantScores, settings: &ProbeSettings) -> VariantEffect {
    let effects = cell_effects(scores);
    let interval = |level: f64| {
        bootstrap(
            effects.len(),
            settings.draws,
            level,
            settings.seed,
            |picked| {
                let drawn: Vec<f64> = picked
                    .iter()
                    .filter_map(|i| effects.get(*i).copied())
                    .collect();
                mean(&drawn)
            },
        )
    };
    let both = |term: fn(&super::CellScore) -> f64| {
        let of = |list: &[super::CellScore]| mean(&list.iter().map(term).collect::<Vec<_>>());
        (
            of(&scores.baseline).unwrap_or(0.0),
            of(&scores.changed).unwrap_or(0.0),
        )
    };
    let preferred = scores
        .changed
        .iter()
        .filter(|s| matrix.byte_margin(**s) > 0.0)
        .count();
    VariantEffect {
        variant: scores.variant,
        author: scores.author.clone(),
        diff: scores.diff.clone(),
        cells: scores.cells.len(),
        corrected: both(|s| s.corrected),
        recorded: both(|s| s.recorded),
        margin: both(|s| s.margin()),
        effect: mean(&effects).unwrap_or(0.0),
        interval: interval(0.95),
        interval_90: interval(0.90),
        p: sign_flip(&effects),
        holm_p: None,
        placebo_rank: placebo_rank(scores),
        shift: false,
        falls: false,
        flip: is_majority(preferred, scores.changed.len(), settings.majority),
        fragile: is_fragile(scores, &effects),
    }
}

/// 1 = no placebo shifts as much as the change does on average.
fn placebo_rank(scores: &VariantScores) -> Option<(usize, usize)> {
    let own = mean(&scores.shifts())?;
    let placebos: Vec<f64> = scores.placebo_shifts().into_iter().flatten().collect();
    let above = placebos.iter().filter(|p| **p >= own).count();
    (!placebos.is_empty()).then_some((above + 1, placebos.len()))
}

fn is_fragile(scores: &VariantScores, effects: &[f64]) -> bool {
    let at = |placement: Placement| {
        let here = scores
            .cells
            .iter()
            .zip(effects)
            .filter(|(c, _)| c.placement == placement);
        mean(&here.map(|(_, e)| *e).collect::<Vec<_>>())
    };
    let means = [Placement::Start, Placement::Natural, Placement::End].map(at);
    let known = means.iter().flatten();
    known.clone().any(|m| *m > 0.0) && known.clone().any(|m| *m < 0.0)
}

/// Holm over the planned variants; the control is not one of the questions.
fn correct(effects: &mut [VariantEffect]) {
    let asked: Vec<usize> = effects
        .iter()
        .enumerate()
        .filter(|(_, e)| e.variant != Variant::Oracle && e.p.is_some())
        .map(|(i, _)| i)
        .collect();
    let p: Vec<f64> = asked.iter().filter_map(|i| effects[*i].p).collect();
    for (i, corrected) in asked.into_iter().zip(holm(&p)) {
        effects[i].holm_p = Some(corrected);
    }
    for control in effects.iter_mut().filter(|e| e.variant == Variant::Oracle) {
        control.holm_p = control.p;
    }
}

fn decide(effect: &mut VariantEffect, scores: &VariantScores, tau: f64, settings: &ProbeSettings) {
    let enough = scores.cells.len() >= settings.min_cells;
    let significant = effect.holm_p.is_some_and(|p| p < settings.level);
    let on_top = match (effect.variant, effect.placebo_rank) {
        (Variant::Evidence, Some((rank, of))) => {
            rank as f64 / (of + 1) as f64 <= settings.top_share
        }
        (_, _) => true,
    };
    let above = effect.interval.is_some_and(|i| i.low > 0.0);
    let below = effect.interval.is_some_and(|i| i.high < 0.0);
    effect.shift = enough && significant && above && effect.effect >= tau && on_top;
    effect.falls = enough && significant && below && effect.effect <= -tau;
}
