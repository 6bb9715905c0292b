//! Is a proxy any good? What the suggestions said about failures whose cause is known, with and without it (SCIENCE 3).
//!
//! Judges lists of (truth, said); it scores nothing and knows no file.

mod people;
mod quality;
mod reliability;

pub use people::{OutsideLabel, PeopleReport, agentrx_layers, compare_with_people};
pub use quality::{ClassQuality, ConfusionCount, Gain, Quality, macro_f1_gain, quality};
pub use reliability::{Reliability, ReliabilityBin, RowRecord, reliability, row_record};

use crate::domain::Layer;
use serde::{Deserialize, Serialize};

/// One failure with a known cause, and what was suggested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// Its name.
    pub id: String,
    /// Failures of one task stand and fall together: the bootstrap draws tasks.
    pub group: String,
    /// What is right to say.
    pub truth: Layer,
    /// What was said.
    pub said: Layer,
    /// The row of the table that said it.
    pub row: Option<u32>,
}

impl Judged {
    /// What was said is right.
    pub fn is_right(&self) -> bool {
        self.truth == self.said
    }

    /// No layer was named.
    pub fn is_abstention(&self) -> bool {
        self.said == Layer::Undetermined
    }
}

fn class(layer: Layer) -> usize {
    Layer::ALL
        .iter()
        .position(|l| *l == layer)
        .unwrap_or(Layer::ALL.len())
}

#[cfg(test)]
mod tests;
