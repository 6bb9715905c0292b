//! Two runs side by side: aligned by content, first divergence, and which layer differs.
//!
//! Memory grows with the number of steps, never with their product.

mod layers;
mod words;

pub use layers::{ComparedLayer, LayerDifference, LayerState, weights_note};
pub use words::{WordChange, WordSide, word_diff};

use super::view::RunView;
use crate::domain::{Owner, Step};
use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// How two steps stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    /// Same owner, kind, tool and text.
    Same,
    /// Both runs have a step here and they differ.
    Changed,
    /// Only the first run has it.
    OnlyA,
    /// Only the second run has it.
    OnlyB,
}

/// One row of the alignment: step indices of both runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DiffRow {
    /// How they stand to each other.
    pub kind: RowKind,
    /// Step of the first run.
    pub a: Option<u32>,
    /// Step of the second run.
    pub b: Option<u32>,
}

/// Where two runs part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Divergence {
    /// Row of the alignment.
    pub row: usize,
    /// Step of the first run.
    pub a: Option<u32>,
    /// Step of the second run.
    pub b: Option<u32>,
    /// Who wrote what differs first.
    pub owner: Owner,
    /// What that means, in one line.
    pub meaning: String,
}

/// The difference of two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunDiff {
    /// The alignment.
    pub rows: Vec<DiffRow>,
    /// Where they part; `None` = same steps.
    pub first_divergence: Option<Divergence>,
    /// Which layers differ, by fingerprint.
    pub layers: Vec<LayerDifference>,
    /// S-13: what the fingerprints say about weights and input.
    pub note: String,
}

/// Compares two runs.
pub fn diff_runs(a: &RunView, b: &RunView) -> RunDiff {
    let rows = align(a.steps, b.steps);
    let first_divergence = divergence(a, b, &rows);
    let layers = layers::compare(a, b);
    let note = weights_note(a, b, first_divergence.is_some());
    RunDiff {
        rows,
        first_divergence,
        layers,
        note,
    }
}

/// Aligns two lists of steps by content; a replaced stretch is laid side by side where owner and kind agree.
pub fn align(a: &[Step], b: &[Step]) -> Vec<DiffRow> {
    let (keys_a, keys_b): (Vec<_>, Vec<_>) = (
        a.iter().map(content_key).collect(),
        b.iter().map(content_key).collect(),
    );
    let mut rows = Vec::with_capacity(a.len().max(b.len()));
    for op in capture_diff_slices(Algorithm::Myers, &keys_a, &keys_b) {
        match op {
            DiffOp::Equal {
                old_index,
                new_index,
                len,
            } => rows.extend(
                (0..len).map(|i| row(a.get(old_index + i), b.get(new_index + i), RowKind::Same)),
            ),
            DiffOp::Delete {
                old_index, old_len, ..
            } => side_by_side(&a[old_index..old_index + old_len], &[], &mut rows),
            DiffOp::Insert {
                new_index, new_len, ..
            } => side_by_side(&[], &b[new_index..new_index + new_len], &mut rows),
            DiffOp::Replace {
                old_index,
                old_len,
                new_index,
                new_len,
            } => side_by_side(
                &a[old_index..old_index + old_len],
                &b[new_index..new_index + new_len],
                &mut rows,
            ),
        }
    }
    rows
}

/// Content of a step as a short key; ids and times are not content.
fn content_key(step: &Step) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    let parts = [
        step.owner.word(),
        step.kind.word(),
        step.tool.as_deref().unwrap_or(""),
        step.text.trim_end(),
    ];
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let mut key = [0; 16];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    key
}

fn row(a: Option<&Step>, b: Option<&Step>, kind: RowKind) -> DiffRow {
    DiffRow {
        kind,
        a: a.map(|s| s.index),
        b: b.map(|s| s.index),
    }
}

fn side_by_side(a: &[Step], b: &[Step], rows: &mut Vec<DiffRow>) {
    let alike = |x: &Step, y: &Step| x.owner == y.owner && x.kind == y.kind;
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if alike(x, y) {
            rows.push(row(Some(x), Some(y), RowKind::Changed));
            (i, j) = (i + 1, j + 1);
        } else if a[i..].iter().any(|s| alike(s, y)) && a.len() - i > b.len() - j {
            rows.push(row(Some(x), None, RowKind::OnlyA));
            i += 1;
        } else if b[j..].iter().any(|s| alike(x, s)) {
            rows.push(row(None, Some(y), RowKind::OnlyB));
            j += 1;
        } else {
            rows.push(row(Some(x), None, RowKind::OnlyA));
            i += 1;
        }
    }
    rows.extend(a[i..].iter().map(|s| row(Some(s), None, RowKind::OnlyA)));
    rows.extend(b[j..].iter().map(|s| row(None, Some(s), RowKind::OnlyB)));
}

fn divergence(a: &RunView, b: &RunView, rows: &[DiffRow]) -> Option<Divergence> {
    let (at, row) = rows
        .iter()
        .enumerate()
        .find(|(_, r)| r.kind != RowKind::Same)?;
    let find = |run: &RunView, index: Option<u32>| {
        index
            .and_then(|i| run.steps.iter().find(|s| s.index == i))
            .map(|s| s.owner)
    };
    let owner = find(a, row.a).or_else(|| find(b, row.b))?;
    Some(Divergence {
        row: at,
        a: row.a,
        b: row.b,
        owner,
        meaning: meaning(owner, row.kind).to_owned(),
    })
}

fn meaning(owner: Owner, kind: RowKind) -> &'static str {
    match (owner, kind) {
        (_, RowKind::OnlyA | RowKind::OnlyB) => {
            "one run goes on where the other has stopped or skipped"
        }
        (Owner::System, _) => "the instructions differ before anything was decided",
        (Owner::User, _) => "the request differs",
        (Owner::Tool, _) => {
            "the same action brought another observation: index, tool or environment"
        }
        (Owner::Runtime, _) => "the harness put something else into the context",
        (Owner::Model, _) => "the model acted differently on the same input",
        (Owner::Unknown, _) => "the log does not say who wrote the part that differs",
    }
}

#[cfg(test)]
mod tests;
