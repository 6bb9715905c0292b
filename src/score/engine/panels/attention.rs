//! Attention: tiles of 32 query rows look at keys block by block, with a running softmax.
//!
//! Query heads that share a key/value head are rows of one tile, so keys are read once for all of
//! them. Blocks begin at whole multiples of their size in the conversation, whatever the chunks and
//! segments were: the same conversation gives the same bits.

use super::Rows;
use crate::score::engine::simd::{self, Isa, LANES, Lane, Start};
use crate::score::engine::{Branch, Heads};
use crate::score::shape::Shape;
use rayon::prelude::*;
use std::ops::Range;

/// Keys of one softmax step: 256 × 32 scores fill 32 KiB.
const BLOCK: usize = 256;
/// Keys, or columns of values, of one product.
const GROUP: usize = 8;
/// Below every score; finite, so that a row that sees nothing yet stays a number.
const NOTHING: f32 = -1e30;

/// Keys and values of consecutive positions.
#[derive(Debug)]
pub(in crate::score) struct Segment {
    len: usize,
    layers: Vec<Layer>,
}

/// `[kv_head][position][dimension]`; values are padded to whole groups of columns.
#[derive(Debug, Default)]
struct Layer {
    keys: Vec<f32>,
    values: Vec<f32>,
}

impl Segment {
    pub(super) fn new(len: usize) -> Self {
        Self {
            len,
            layers: Vec::new(),
        }
    }
}

/// Columns of a value row as stored.
fn padded(head_dim: usize) -> usize {
    head_dim.next_multiple_of(GROUP)
}

/// A stretch of keys and values of one head, from an absolute position on.
struct Piece<'a> {
    keys: &'a [f32],
    values: &'a [f32],
    start: usize,
    end: usize,
}

type Turn<'a> = Option<&'a (usize, Vec<(f32, f32)>)>;

struct Job<'a> {
    isa: Isa,
    eps: f32,
    qkv: &'a Rows,
    shape: &'a Shape,
    window: usize,
    q_norm: Option<&'a Vec<f32>>,
    k_norm: Option<&'a Vec<f32>>,
    turns: Turn<'a>,
}

pub(super) fn attend(
    isa: Isa,
    eps: f32,
    qkv: &Rows,
    heads: &Heads<'_, super::Panels>,
    turns: Turn<'_>,
    branches: &[Branch<'_, Segment>],
    fresh: &mut [Segment],
) -> Rows {
    let shape = heads.shape;
    let job = Job {
        isa,
        eps,
        qkv,
        shape,
        window: heads.view.window.unwrap_or(usize::MAX),
        q_norm: heads.q_norm,
        k_norm: heads.k_norm,
        turns,
    };
    fresh
        .par_iter_mut()
        .zip(branches)
        .for_each(|(segment, branch)| {
            segment.layers.push(job.keys_and_values(branch));
        });
    let width = shape.heads * shape.head_dim;
    let mut out = Rows::zero(width, qkv.count);
    // Each key/value head owns a range of rows in every panel.
    let per_head = shape.group() * shape.head_dim;
    let mut parts: Vec<Vec<&mut [Lane]>> = Vec::new();
    parts.resize_with(shape.kv_heads, Vec::new);
    for panel in out.data.chunks_mut(width) {
        for (kv, part) in panel.chunks_mut(per_head).enumerate() {
            parts[kv].push(part);
        }
    }
    parts.into_par_iter().enumerate().for_each(|(kv, mut out)| {
        for (branch, segment) in branches.iter().zip(&*fresh) {
            job.attend_head(kv, heads.view.layer, branch, segment, &mut out);
        }
    });
    out
}

impl Job<'_> {
    /// Copies numbers `from..from + head_dim` of some rows side by side, normed and turned.
    fn gather(
        &self,
        from: usize,
        rows: impl Iterator<Item = (usize, usize)>,
        norm: Option<&Vec<f32>>,
        turn: bool,
    ) -> Vec<Lane> {
        let d = self.shape.head_dim;
        let mut tile = vec![[0.0; LANES]; d];
        let (mut cos, mut sin) = (Vec::new(), Vec::new());
        let turns = self.turns.filter(|_| turn);
        if let Some((half, _)) = turns {
            cos.resize(*half, [0.0; LANES]);
            sin.resize(*half, [0.0; LANES]);
        }
        for (lane, (row, head)) in rows.enumerate() {
            let panel = row / LANES * self.qkv.width + from + head * d;
            let source = &self.qkv.data[panel..panel + d];
            for (slot, source) in tile.iter_mut().zip(source) {
                slot[lane] = source[row % LANES];
            }
            if let Some((half, table)) = turns {
                for (i, (c, s)) in table[row * half..(row + 1) * half].iter().enumerate() {
                    (cos[i][lane], sin[i][lane]) = (*c, *s);
                }
            }
        }
        if let Some(weights) = norm {
            let before = tile.clone();
            simd::rms_norm(self.isa, &before, weights, self.eps, &mut tile);
        }
        if turns.is_some() {
            simd::rotate(self.isa, &mut tile[..2 * cos.len()], &cos, &sin);
        }
        tile
    }

    /// Keys and values of a branch's own rows, in the order they are kept.
    fn keys_and_values(&self, branch: &Branch<'_, Segment>) -> Layer {
        let s = self.shape;
        let (d, dv, n) = (s.head_dim, padded(s.head_dim), branch.rows.len());
        let mut layer = Layer {
            keys: vec![0.0; s.kv_heads * n * d],
            values: vec![0.0; s.kv_heads * n * dv],
        };
        for kv in 0..s.kv_heads {
            for first in (0..n).step_by(LANES) {
                let count = LANES.min(n - first);
                let rows = || (0..count).map(|i| (branch.rows.start + first + i, 0));
                let keys = self.gather((s.heads + kv) * d, rows(), self.k_norm, true);
                let values = self.gather((s.heads + s.kv_heads + kv) * d, rows(), None, false);
                for lane in 0..count {
                    let at = kv * n + first + lane;
                    for i in 0..d {
                        layer.keys[at * d + i] = keys[i][lane];
                        layer.values[at * dv + i] = values[i][lane];
                    }
                }
            }
        }
        layer
    }

    fn attend_head(
        &self,
        kv: usize,
        layer: usize,
        branch: &Branch<'_, Segment>,
        own: &Segment,
        out: &mut [&mut [Lane]],
    ) {
        let pieces = self.pieces(kv, layer, branch, own);
        let (group, d) = (self.shape.group(), self.shape.head_dim);
        let lanes = branch.rows.len() * group;
        let firsts: Vec<usize> = (0..lanes).step_by(LANES).collect();
        // Later tiles see more keys; the heaviest go first.
        let tiles: Vec<(usize, Vec<Lane>)> = firsts
            .into_par_iter()
            .rev()
            .map(|first| {
                let queries = (first..lanes.min(first + LANES)).map(|i| (i / group, i % group));
                (first, self.tile(kv, branch, &pieces, queries))
            })
            .collect();
        for (first, tile) in tiles {
            for i in first..lanes.min(first + LANES) {
                let (row, head) = (branch.rows.start + i / group, i % group);
                let panel = &mut out[row / LANES][head * d..(head + 1) * d];
                for (slot, seen) in panel.iter_mut().zip(&tile) {
                    slot[row % LANES] = seen[i - first];
                }
            }
        }
    }

    fn pieces<'a>(
        &self,
        kv: usize,
        layer: usize,
        branch: &Branch<'a, Segment>,
        own: &'a Segment,
    ) -> Vec<Piece<'a>> {
        let (d, dv) = (self.shape.head_dim, padded(self.shape.head_dim));
        let mut start = 0;
        let mut piece = |segment: &'a Segment, used: Range<usize>| {
            let of_layer = &segment.layers[layer];
            let from = kv * segment.len + used.start;
            let to = kv * segment.len + used.end;
            start += used.len();
            Piece {
                keys: &of_layer.keys[from * d..to * d],
                values: &of_layer.values[from * dv..to * dv],
                start: start - used.len(),
                end: start,
            }
        };
        let past = branch
            .past
            .iter()
            .map(|(segment, used)| (*segment, used.clone()));
        let all = past.chain([(own, 0..own.len)]);
        all.map(|(segment, used)| piece(segment, used)).collect()
    }

    /// What 32 queries see: `(row in branch, head in group)` each.
    fn tile(
        &self,
        kv: usize,
        branch: &Branch<'_, Segment>,
        pieces: &[Piece<'_>],
        queries: impl Iterator<Item = (usize, usize)> + Clone,
    ) -> Vec<Lane> {
        let s = self.shape;
        let from = kv * s.group() * s.head_dim;
        let rows = queries
            .clone()
            .map(|(row, head)| (branch.rows.start + row, head));
        let mut q = self.gather(from, rows, self.q_norm, true);
        q.iter_mut().flatten().for_each(|x| *x *= s.attention_scale);
        let position = |row: usize| branch.start + row;
        let mut positions = [near(position(0)); LANES];
        let (mut earliest, mut last) = (usize::MAX, 0);
        for (slot, (row, _)) in positions.iter_mut().zip(queries) {
            *slot = near(position(row));
            earliest = earliest.min(position(row));
            last = last.max(position(row));
        }
        let earliest = earliest.min(last);
        let first = (earliest + 1).saturating_sub(self.window);
        let mut state = Softmax::new(padded(s.head_dim));
        let mut room = vec![[0.0; LANES]; BLOCK.min(last + 1)];
        for block in first / BLOCK..=last / BLOCK {
            let range = block * BLOCK..(last + 1).min((block + 1) * BLOCK);
            let scores = &mut room[..range.len()];
            self.scores(&q, pieces, range.start, scores);
            self.hide(&positions, earliest..last, range.start, scores);
            simd::soften(
                self.isa,
                scores,
                &mut state.top,
                &mut state.sum,
                &mut state.seen,
            );
            self.weigh(pieces, range.start, scores, &mut state.seen);
        }
        state.finish()
    }

    fn scores(&self, q: &[Lane], pieces: &[Piece<'_>], first: usize, scores: &mut [Lane]) {
        let d = self.shape.head_dim;
        for piece in overlapping(pieces, first, scores.len()) {
            let (from, to) = (piece.start.max(first), piece.end.min(first + scores.len()));
            for key in (from..to).step_by(GROUP) {
                let count = GROUP.min(to - key);
                // At the end the last key stands in for those that are not there.
                let at = std::array::from_fn(|m| (key + m.min(count - 1) - piece.start) * d);
                let place = &mut scores[key - first..key - first + count];
                if let Ok(place) = <&mut [Lane; GROUP]>::try_from(&mut *place) {
                    simd::product_rows(self.isa, piece.keys, &at, q, place, Start::Zero);
                    continue;
                }
                let mut out = [[0.0; LANES]; GROUP];
                simd::product_rows(self.isa, piece.keys, &at, q, &mut out, Start::Zero);
                place.copy_from_slice(&out[..count]);
            }
        }
    }

    /// Takes out what a query must not see: keys after it, and before its window.
    fn hide(
        &self,
        positions: &[u32; LANES],
        seen_by: Range<usize>,
        first: usize,
        scores: &mut [Lane],
    ) {
        let end = first + scores.len();
        let all_before = end <= seen_by.start + 1;
        let all_inside = seen_by.end - first.min(seen_by.end) < self.window;
        if all_before && all_inside {
            return;
        }
        simd::hide(self.isa, scores, near(first), positions, near(self.window));
    }

    /// Adds the block's values by their weights. The block's sum goes on from piece to piece, so that
    /// the place where a segment ends changes no bit.
    fn weigh(&self, pieces: &[Piece<'_>], first: usize, weights: &[Lane], seen: &mut [Lane]) {
        let dv = padded(self.shape.head_dim);
        for (column, seen) in seen.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
            let product = |piece: &Piece<'_>, sum: &mut [Lane; GROUP], start| {
                let (from, to) = (piece.start.max(first), piece.end.min(first + weights.len()));
                let values = &piece.values[(from - piece.start) * dv + column * GROUP..];
                let weights = &weights[from - first..to - first];
                simd::product(self.isa, values, dv, weights, sum, start);
            };
            let mut of_block = overlapping(pieces, first, weights.len());
            let (one, two) = (of_block.next(), of_block.next());
            if let (Some(only), None) = (one, two) {
                // The same sum, added to the same number.
                product(only, seen, Start::Add);
                continue;
            }
            let mut sum = [[0.0; LANES]; GROUP];
            for piece in one.into_iter().chain(two).chain(of_block) {
                product(piece, &mut sum, Start::Chain);
            }
            simd::add(self.isa, seen, &sum);
        }
    }
}

/// A position or a distance; the longest conversation is far below what is cut here.
fn near(position: usize) -> u32 {
    u32::try_from(position)
        .unwrap_or(u32::MAX)
        .min(u32::MAX / 2)
}

fn overlapping<'p, 'a>(
    pieces: &'p [Piece<'a>],
    first: usize,
    count: usize,
) -> impl Iterator<Item = &'p Piece<'a>> {
    pieces
        .iter()
        .filter(move |p| p.start < first + count && first < p.end)
}

/// A softmax under way.
struct Softmax {
    top: Lane,
    sum: Lane,
    seen: Vec<Lane>,
}

impl Softmax {
    fn new(width: usize) -> Self {
        Self {
            top: [NOTHING; LANES],
            sum: [0.0; LANES],
            seen: vec![[0.0; LANES]; width],
        }
    }

    fn finish(mut self) -> Vec<Lane> {
        for row in &mut self.seen {
            for (x, sum) in row.iter_mut().zip(self.sum) {
                *x /= sum;
            }
        }
        self.seen
    }
}
