//! Matrix products: weights packed once, twelve outputs by 32 tokens at a time.

use super::Rows;
use crate::score::engine::simd::{Isa, LANES, Lane, Start, product};
use crate::score::error::ScoreError;
use candle_core::{DType, Tensor};
use rayon::prelude::*;

/// Outputs of one tile; 24 accumulators fill the AVX-512 registers.
pub(super) const TILE: usize = 12;
/// Inputs of one pass: 12 × 512 weights and 512 × 32 activations stay in the nearest caches.
const DEPTH: usize = 512;
/// Panels that use a block of weights while it is near.
const PANELS: usize = 16;
/// Pieces of work for each thread, so that a slow thread does not hold up the others.
const PIECES: usize = 4;

/// Weights as tiles of twelve rows: `[tile][input][row in tile]`.
#[derive(Debug)]
pub(in crate::score) struct Matrix {
    rows: usize,
    width: usize,
    data: Vec<f32>,
    bias: Option<Vec<f32>>,
}

impl Matrix {
    /// Takes matrices `[out, in]` over, one below the other.
    pub(super) fn pack(weights: Vec<Tensor>, biases: Vec<Tensor>) -> Result<Self, ScoreError> {
        let sizes = weights
            .iter()
            .map(|w| Ok(w.dims2()?))
            .collect::<Result<Vec<_>, ScoreError>>()?;
        let rows: usize = sizes.iter().map(|s| s.0).sum();
        let width = sizes.first().map_or(0, |s| s.1);
        let mut data = vec![0.0; rows.div_ceil(TILE) * TILE * width];
        let mut row = 0;
        for tensor in weights {
            let values: Vec<f32> = tensor.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?;
            // Freed before the next one is read: a model is never in memory twice.
            drop(tensor);
            for values in values.chunks_exact(width.max(1)) {
                let tile = &mut data[row / TILE * TILE * width..];
                for (k, value) in values.iter().enumerate() {
                    tile[k * TILE + row % TILE] = *value;
                }
                row += 1;
            }
        }
        let mut bias = Vec::new();
        for tensor in &biases {
            bias.extend(tensor.to_dtype(DType::F32)?.to_vec1::<f32>()?);
        }
        Ok(Self {
            rows,
            width,
            data,
            bias: (!bias.is_empty()).then_some(bias),
        })
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The numbers of one row.
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = f32> + '_ {
        let tile = &self.data[row / TILE * TILE * self.width..];
        (0..self.width).map(move |k| tile[k * TILE + row % TILE])
    }

    /// Tile number `tile`, from input `from` on.
    fn tile(&self, tile: usize, from: usize) -> &[f32] {
        &self.data[(tile * self.width + from) * TILE..(tile + 1) * self.width * TILE]
    }

    /// `rows · weightsᵀ + bias`.
    pub(super) fn multiply(&self, isa: Isa, rows: &Rows) -> Rows {
        let mut out = Rows::zero(self.rows, rows.count);
        let tiles = self.rows.div_ceil(TILE);
        let piece = tiles.div_ceil(PIECES * rayon::current_num_threads()).max(1) * TILE;
        let inputs = rows.data.chunks(PANELS * self.width);
        for (out, rows) in out.data.chunks_mut(PANELS * self.rows).zip(inputs) {
            // One piece of work is a range of outputs, in every panel.
            let mut pieces: Vec<Vec<&mut [Lane]>> = Vec::new();
            pieces.resize_with(self.rows.div_ceil(piece), Vec::new);
            for panel in out.chunks_mut(self.rows) {
                for (which, part) in panel.chunks_mut(piece).enumerate() {
                    pieces[which].push(part);
                }
            }
            pieces
                .into_par_iter()
                .enumerate()
                .for_each(|(which, mut out)| {
                    self.multiply_piece(isa, rows, &mut out, which * piece);
                });
        }
        out
    }

    fn multiply_piece(&self, isa: Isa, rows: &[Lane], out: &mut [&mut [Lane]], first: usize) {
        let count = out.first().map_or(0, |panel| panel.len());
        for from in (0..self.width).step_by(DEPTH) {
            let depth = DEPTH.min(self.width - from);
            let start = if from == 0 { Start::Zero } else { Start::Add };
            for row in (0..count).step_by(TILE) {
                let weights = self.tile((first + row) / TILE, from);
                for (panel, out) in rows.chunks(self.width).zip(&mut *out) {
                    let x = &panel[from..from + depth];
                    let out = &mut out[row..(row + TILE).min(count)];
                    multiply_tile(isa, weights, x, out, start);
                }
            }
        }
        if let Some(bias) = &self.bias {
            for out in out {
                for (row, bias) in out.iter_mut().zip(&bias[first..]) {
                    row.iter_mut().for_each(|x| *x += bias);
                }
            }
        }
    }

    /// Logits of a range of rows for one panel, into `out`.
    pub(super) fn multiply_rows(&self, isa: Isa, panel: &[Lane], first: usize, out: &mut [Lane]) {
        self.multiply_piece(isa, panel, &mut [out], first);
    }
}

fn multiply_tile(isa: Isa, weights: &[f32], x: &[Lane], out: &mut [Lane], start: Start) {
    if let Ok(out) = <&mut [Lane; TILE]>::try_from(&mut *out) {
        return product(isa, weights, TILE, x, out, start);
    }
    // The last tile reaches over the matrix's end.
    let mut whole = [[0.0; LANES]; TILE];
    whole[..out.len()].copy_from_slice(out);
    product(isa, weights, TILE, x, &mut whole, start);
    out.copy_from_slice(&whole[..out.len()]);
}
