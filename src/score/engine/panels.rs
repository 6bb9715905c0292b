//! The engine on the CPU: our own kernels over panels of 32 tokens, F32; in the fast mode, matrix products
//! are of bytes.
//!
//! Activations keep each number of 32 tokens side by side; matrix products read weights in the order
//! they lie in memory, attention works on a tile of 32 query rows, and nothing of the size tokens ×
//! vocabulary or tokens × tokens ever exists. No result depends on batches, chunks or threads.

mod attention;
mod head;
mod matrix;
mod packed;

pub(in crate::score) use attention::Segment;
pub(in crate::score) use matrix::Matrix;

use super::simd::{self, Isa, LANES, Lane};
use super::vnni::ByteIsa;
use super::{Branch, Engine, Heads, RowScore, Use};
use crate::score::error::ScoreError;
use crate::score::shape::{Activation, Shape};
use candle_core::{DType, Tensor};
use rayon::prelude::*;

/// Own kernels on this CPU.
#[derive(Debug)]
pub(in crate::score) struct Panels {
    isa: Isa,
    /// Set in the fast mode.
    bytes: Option<ByteIsa>,
    eps: f32,
}

/// Activations: panels of 32 tokens, in each `width` rows of 32 numbers.
#[derive(Debug)]
pub(in crate::score) struct Rows {
    width: usize,
    count: usize,
    data: Vec<Lane>,
}

impl Rows {
    fn zero(width: usize, count: usize) -> Self {
        let panels = count.div_ceil(LANES);
        Self {
            width,
            count,
            data: vec![[0.0; LANES]; panels * width],
        }
    }

    fn panels(&self) -> usize {
        self.count.div_ceil(LANES)
    }

    /// Number `i` of token `row`.
    fn at(&self, row: usize, i: usize) -> f32 {
        self.data[row / LANES * self.width + i][row % LANES]
    }
}

/// Cosines and sines of every row, for each rotation of the model.
#[derive(Debug)]
pub(in crate::score) struct Turns {
    /// One `(cos, sin)` list a rotation, `[row][pair]`.
    tables: Vec<(usize, Vec<(f32, f32)>)>,
}

impl Panels {
    pub(in crate::score) fn new(eps: f32) -> Self {
        Self {
            isa: Isa::detect(),
            bytes: None,
            eps,
        }
    }

    /// Matrix products of bytes; says what this CPU lacks for them.
    pub(in crate::score) fn fast(eps: f32) -> Result<Self, String> {
        Ok(Self {
            bytes: Some(ByteIsa::detect()?),
            ..Self::new(eps)
        })
    }
}

impl Engine for Panels {
    type Rows = Rows;
    type Matrix = Matrix;
    type Norm = Vec<f32>;
    type Segment = Segment;
    type Turns = Turns;

    fn matrix(
        &self,
        weights: Vec<Tensor>,
        biases: Vec<Tensor>,
        of: Use,
    ) -> Result<Matrix, ScoreError> {
        Matrix::pack(weights, biases, self.bytes, of)
    }

    fn norm_weights(&self, weights: &Tensor) -> Result<Vec<f32>, ScoreError> {
        Ok(weights.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?)
    }

    fn segment(&self, len: usize) -> Segment {
        Segment::new(len)
    }

    fn turns(&self, shape: &Shape, branches: &[Branch<'_, Segment>]) -> Result<Turns, ScoreError> {
        let table = |rotation: &crate::score::rope::Rotation| {
            let positions = branches
                .iter()
                .flat_map(|b| b.start..b.start + b.rows.len());
            let turns = positions.flat_map(|p| rotation.at(p)).collect();
            (rotation.frequencies.len(), turns)
        };
        Ok(Turns {
            tables: shape.rotations.iter().map(table).collect(),
        })
    }

    fn embed(&self, table: &Matrix, ids: &[u32], scale: Option<f32>) -> Result<Rows, ScoreError> {
        let mut rows = Rows::zero(table.width(), ids.len());
        let scale = scale.unwrap_or(1.0);
        for (row, id) in ids.iter().enumerate() {
            let panel = row / LANES * rows.width;
            for (i, value) in table.row(*id as usize).enumerate() {
                rows.data[panel + i][row % LANES] = value * scale;
            }
        }
        Ok(rows)
    }

    fn norm(&self, rows: &Rows, weights: &Vec<f32>) -> Result<Rows, ScoreError> {
        let mut out = Rows::zero(rows.width, rows.count);
        let panels = out
            .data
            .par_chunks_mut(rows.width)
            .zip(rows.data.par_chunks(rows.width));
        panels.for_each(|(out, rows)| simd::rms_norm(self.isa, rows, weights, self.eps, out));
        Ok(out)
    }

    fn linear(&self, rows: &Rows, matrix: &Matrix) -> Result<Rows, ScoreError> {
        Ok(matrix.multiply(self.isa, rows))
    }

    fn add(&self, mut rows: Rows, more: &Rows) -> Result<Rows, ScoreError> {
        let width = rows.width;
        let panels = rows
            .data
            .par_chunks_mut(width)
            .zip(more.data.par_chunks(width));
        panels.for_each(|(rows, more)| simd::add(self.isa, rows, more));
        Ok(rows)
    }

    fn gate(&self, mut rows: Rows, activation: Activation) -> Result<Rows, ScoreError> {
        let (width, half) = (rows.width, rows.width / 2);
        rows.data.par_chunks_mut(width).for_each(|panel| {
            let (gate, value) = panel.split_at_mut(half);
            match activation {
                Activation::Silu => simd::silu_gate(self.isa, gate, value),
                Activation::GeluTanh => simd::gelu_gate(self.isa, gate, value),
            }
        });
        let mut out = Rows {
            width: half,
            count: rows.count,
            data: rows.data,
        };
        // Close up the halves that are left, panel by panel.
        for panel in 1..out.panels() {
            out.data
                .copy_within(panel * width..panel * width + half, panel * half);
        }
        out.data.truncate(out.panels() * half);
        Ok(out)
    }

    fn attend(
        &self,
        qkv: Rows,
        heads: &Heads<'_, Self>,
        turns: &Turns,
        branches: &[Branch<'_, Segment>],
        fresh: &mut [Segment],
    ) -> Result<Rows, ScoreError> {
        let turns = heads.rotation.map(|r| &turns.tables[r]);
        Ok(attention::attend(
            self.isa, self.eps, &qkv, heads, turns, branches, fresh,
        ))
    }

    fn head(
        &self,
        rows: &Rows,
        wanted: &[(usize, u32)],
        head: &Matrix,
    ) -> Result<Vec<RowScore>, ScoreError> {
        Ok(head::score(self.isa, rows, wanted, head))
    }
}
