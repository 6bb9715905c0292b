//! Matrix products: weights packed once, twelve outputs by 32 tokens at a time, in F32 or in bytes.

use super::Rows;
use super::packed::{Packed, Quads};
use crate::score::engine::Use;
use crate::score::engine::simd::{Isa, LANES, Lane, Start, product};
use crate::score::engine::vnni::ByteIsa;
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
    /// Empty where only the bytes are used.
    data: Vec<f32>,
    /// Products are made with these where they are.
    bytes: Option<Packed>,
    bias: Option<Vec<f32>>,
}

/// Panels as a matrix takes them.
pub(super) enum Input<'a> {
    Floats(&'a [Lane]),
    Bytes(Quads),
}

impl Matrix {
    /// Takes matrices `[out, in]` over, one below the other.
    pub(super) fn pack(
        weights: Vec<Tensor>,
        biases: Vec<Tensor>,
        fast: Option<ByteIsa>,
        of: Use,
    ) -> Result<Self, ScoreError> {
        let sizes = weights
            .iter()
            .map(|w| Ok(w.dims2()?))
            .collect::<Result<Vec<_>, ScoreError>>()?;
        let rows: usize = sizes.iter().map(|s| s.0).sum();
        let width = sizes.first().map_or(0, |s| s.1);
        let fast = fast.filter(|_| of != Use::Embedding);
        let mut bytes = fast.map(|isa| Packed::new(isa, rows, width, byte_layers(of)));
        let keeps_floats = bytes.is_none() || of == Use::Tied;
        let floats = if keeps_floats {
            rows.div_ceil(TILE) * TILE * width
        } else {
            0
        };
        let mut data = vec![0.0; floats];
        let mut row = 0;
        for tensor in weights {
            let values: Vec<f32> = tensor.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?;
            // Freed before the next one is read: a model is never in memory twice.
            drop(tensor);
            for values in values.chunks_exact(width.max(1)) {
                if let Some(bytes) = &mut bytes {
                    bytes.set_row(row, values);
                }
                if keeps_floats {
                    let tile = &mut data[row / TILE * TILE * width..];
                    for (k, value) in values.iter().enumerate() {
                        tile[k * TILE + row % TILE] = *value;
                    }
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
            bytes,
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
        let input = self.input(isa, &rows.data);
        for (group, out) in out.data.chunks_mut(PANELS * self.rows).enumerate() {
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
                    self.multiply_piece(isa, &input, group * PANELS, &mut out, which * piece);
                });
        }
        out
    }

    /// Makes panels ready for products with this matrix.
    pub(super) fn input<'a>(&self, isa: Isa, panels: &'a [Lane]) -> Input<'a> {
        match &self.bytes {
            Some(_) => Input::Bytes(Quads::new(isa, panels, self.width)),
            None => Input::Floats(panels),
        }
    }

    /// Outputs from `first` on, for panels from `panel` on.
    fn multiply_piece(
        &self,
        isa: Isa,
        input: &Input<'_>,
        panel: usize,
        out: &mut [&mut [Lane]],
        first: usize,
    ) {
        match (input, &self.bytes) {
            (Input::Bytes(quads), Some(bytes)) => {
                multiply_bytes(bytes, quads, panel, out, first);
            }
            (Input::Floats(panels), _) => {
                self.multiply_floats(isa, &panels[panel * self.width..], out, first);
            }
            // `input` makes bytes only for a matrix that has them.
            (Input::Bytes(_), None) => {}
        }
        if let Some(bias) = &self.bias {
            for out in out {
                for (row, bias) in out.iter_mut().zip(&bias[first..]) {
                    row.iter_mut().for_each(|x| *x += bias);
                }
            }
        }
    }

    fn multiply_floats(&self, isa: Isa, rows: &[Lane], out: &mut [&mut [Lane]], first: usize) {
        let count = out.first().map_or(0, |panel| panel.len());
        for from in (0..self.width).step_by(DEPTH) {
            let depth = DEPTH.min(self.width - from);
            let start = if from == 0 { Start::Zero } else { Start::Add };
            for row in (0..count).step_by(TILE) {
                let weights = self.tile((first + row) / TILE, from);
                for (panel, out) in rows.chunks(self.width).zip(&mut *out) {
                    let x = &panel[from..from + depth];
                    let out = &mut out[row..(row + TILE).min(count)];
                    whole_tile(out, |out| product(isa, weights, TILE, x, out, start));
                }
            }
        }
    }

    /// Logits of a range of rows for one panel, into `out`.
    pub(super) fn multiply_rows(
        &self,
        isa: Isa,
        panel: &Input<'_>,
        first: usize,
        out: &mut [Lane],
    ) {
        self.multiply_piece(isa, panel, 0, &mut [out], first);
    }
}

/// Layers of bytes. On SmolLM2, rounding attention and head once more takes a third of the distance from F32
/// away and costs a tenth of the time; the same for the large inner matrices would cost more than it brings.
fn byte_layers(of: Use) -> usize {
    match of {
        Use::Attention | Use::Head | Use::Tied => 2,
        Use::Inner | Use::Embedding => 1,
    }
}

fn multiply_bytes(
    bytes: &Packed,
    quads: &Quads,
    panel: usize,
    out: &mut [&mut [Lane]],
    first: usize,
) {
    let count = out.first().map_or(0, |panel| panel.len());
    for row in (0..count).step_by(TILE) {
        for (which, out) in out.iter_mut().enumerate() {
            let out = &mut out[row..(row + TILE).min(count)];
            let x = quads.panel(panel + which);
            whole_tile(out, |out| bytes.multiply((first + row) / TILE, x, out));
        }
    }
}

/// The last tile reaches over the matrix's end; it is computed beside and cut.
fn whole_tile(out: &mut [Lane], work: impl FnOnce(&mut [Lane; TILE])) {
    if let Ok(out) = <&mut [Lane; TILE]>::try_from(&mut *out) {
        return work(out);
    }
    let mut whole = [[0.0; LANES]; TILE];
    whole[..out.len()].copy_from_slice(out);
    work(&mut whole);
    out.copy_from_slice(&whole[..out.len()]);
}
