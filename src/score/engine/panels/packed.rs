//! Weights of the fast mode: bytes with a scale for every output and every 64 inputs.
//!
//! Where rounding hurts most, a second layer of bytes holds what the first one left over.

use super::matrix::TILE;
use crate::score::engine::bytes::{round_weights, spread_weights};
use crate::score::engine::simd::{self, Isa, LANES, Lane};
use crate::score::engine::vnni::{self, BLOCK, ByteIsa, QuadBlock};
use rayon::prelude::*;

/// One block of inputs of a panel, as bytes; no load of 64 bytes crosses a cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Block {
    bytes: QuadBlock,
    scale: Lane,
}

/// Activations as bytes: `[panel][block]`.
#[derive(Debug)]
pub(super) struct Quads {
    blocks: usize,
    data: Vec<Block>,
}

impl Quads {
    /// Rounds panels of `width` rows.
    pub(super) fn new(isa: Isa, panels: &[Lane], width: usize) -> Self {
        let blocks = width.div_ceil(BLOCK);
        let quantise = |rows: &[Lane]| {
            let mut block = Block {
                bytes: [[0; LANES]; BLOCK / 4],
                scale: [0.0; LANES],
            };
            simd::quantise(isa, rows, &mut block.bytes, &mut block.scale);
            block
        };
        let panels = panels.par_chunks(width);
        Self {
            blocks,
            data: panels
                .flat_map_iter(|panel| panel.chunks(BLOCK).map(quantise))
                .collect(),
        }
    }

    /// The blocks of one panel.
    pub(super) fn panel(&self, panel: usize) -> &[Block] {
        &self.data[panel * self.blocks..(panel + 1) * self.blocks]
    }
}

/// `[tile][block][layer]`.
#[derive(Debug)]
pub(super) struct Packed {
    isa: ByteIsa,
    blocks: usize,
    layers: usize,
    data: Vec<vnni::Tile<TILE>>,
}

impl Packed {
    /// Room for `rows × width` weights in so many layers.
    pub(super) fn new(isa: ByteIsa, rows: usize, width: usize, layers: usize) -> Self {
        let blocks = width.div_ceil(BLOCK);
        let empty = vnni::Tile {
            weights: [[0; TILE]; BLOCK / 4],
            starts: [0; TILE],
            scales: [0.0; TILE],
        };
        Self {
            isa,
            blocks,
            layers,
            data: vec![empty; rows.div_ceil(TILE) * blocks * layers],
        }
    }

    /// Puts one row of weights in its place.
    pub(super) fn set_row(&mut self, row: usize, weights: &[f32]) {
        let (first, m) = (row / TILE * self.blocks, row % TILE);
        for (block, weights) in weights.chunks(BLOCK).enumerate() {
            let mut left = spread_weights(weights);
            let at = (first + block) * self.layers;
            for tile in &mut self.data[at..at + self.layers] {
                let (bytes, scale) = round_weights(&mut left);
                for (slot, four) in tile.weights.iter_mut().zip(bytes.as_chunks::<4>().0) {
                    slot[m] = u32::from_le_bytes(four.map(i8::cast_unsigned));
                }
                tile.starts[m] = -128 * bytes.iter().map(|b| i32::from(*b)).sum::<i32>();
                tile.scales[m] = scale;
            }
        }
    }

    /// The outputs of one tile for one panel.
    pub(super) fn multiply(&self, tile: usize, panel: &[Block], out: &mut [Lane; TILE]) {
        let per_tile = self.blocks * self.layers;
        let tiles = &self.data[tile * per_tile..(tile + 1) * per_tile];
        for (block, (tiles, x)) in tiles.chunks(self.layers).zip(panel).enumerate() {
            for (layer, tile) in tiles.iter().enumerate() {
                vnni::product(self.isa, tile, &x.bytes, &x.scale, out, block + layer > 0);
            }
        }
    }
}
