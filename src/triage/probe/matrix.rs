//! Log-probs of both actions in every context, and the margins that follow from them.

use serde::{Deserialize, Serialize};

/// A changed context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// The missing document inserted.
    Evidence,
    /// A dropped date, condition or turn restored.
    Context,
    /// The tool text rewritten.
    Tool,
    /// Evidence that was present removed.
    Removed,
    /// Evidence that was present moved, nothing else.
    Moved,
    /// A hint that names the right action: the positive control.
    Oracle,
}

impl Variant {
    /// All variants in reading order.
    pub const ALL: &'static [Self] = &[
        Self::Evidence,
        Self::Context,
        Self::Tool,
        Self::Removed,
        Self::Moved,
        Self::Oracle,
    ];

    /// The word on screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Evidence => "evidence inserted",
            Self::Context => "context restored",
            Self::Tool => "tool text rewritten",
            Self::Removed => "evidence removed",
            Self::Moved => "evidence moved",
            Self::Oracle => "oracle hint",
        }
    }
}

/// Where a changed text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// At the start (documents), first in the tool list (tools).
    Start,
    /// Its own place.
    Natural,
    /// At the end, last in the tool list.
    End,
}

/// One formatting of one context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cell {
    /// Where the changed text stands.
    pub placement: Placement,
    /// Which harmless wrapper stands at the end.
    pub wrapper: u8,
}

/// Log-probs of the corrected and the recorded action in one context, in nats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CellScore {
    /// ℓ(y⁺ | x); log-sum-exp where several verified forms were scored.
    pub corrected: f64,
    /// ℓ(y⁻ | x).
    pub recorded: f64,
}

impl CellScore {
    /// Raw margin m(x).
    pub fn margin(self) -> f64 {
        self.corrected - self.recorded
    }
}

/// One variant, cell by cell, with its placebos.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantScores {
    /// Which change.
    pub variant: Variant,
    /// Who made it: `register`, `task list`, or a reviewer.
    pub author: String,
    /// What exactly was inserted, removed or rewritten.
    pub diff: String,
    /// The cells.
    pub cells: Vec<Cell>,
    /// The recorded context x_R in each cell's wrapper.
    pub baseline: Vec<CellScore>,
    /// The changed context in each cell.
    pub changed: Vec<CellScore>,
    /// Placebo texts of equal length in the same slot: some for each cell.
    pub placebos: Vec<Vec<CellScore>>,
}

/// All scores of one probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeMatrix {
    /// Bytes of the corrected action after the common prefix was cut.
    pub corrected_bytes: u32,
    /// Bytes of the recorded action after the common prefix was cut.
    pub recorded_bytes: u32,
    /// The variants that were planned before any score was seen; all of them are shown.
    pub variants: Vec<VariantScores>,
}

impl ProbeMatrix {
    /// Byte margin m_B(x): only its sign speaks.
    pub fn byte_margin(&self, score: CellScore) -> f64 {
        let per = |logp: f64, bytes: u32| logp / f64::from(bytes.max(1));
        per(score.corrected, self.corrected_bytes) - per(score.recorded, self.recorded_bytes)
    }
}

impl VariantScores {
    /// Δ_v of each cell.
    pub fn shifts(&self) -> Vec<f64> {
        let pairs = self.changed.iter().zip(&self.baseline);
        pairs.map(|(x, r)| x.margin() - r.margin()).collect()
    }

    /// Δ_P of each cell's placebos.
    pub fn placebo_shifts(&self) -> Vec<Vec<f64>> {
        let pairs = self.placebos.iter().zip(&self.baseline);
        pairs
            .map(|(all, r)| all.iter().map(|p| p.margin() - r.margin()).collect())
            .collect()
    }

    /// Every list has one entry a cell.
    pub fn is_complete(&self) -> bool {
        let n = self.cells.len();
        let placebos = self.placebos.is_empty() || self.placebos.len() == n;
        n > 0 && self.baseline.len() == n && self.changed.len() == n && placebos
    }
}
