//! The head: log-prob, entropy and rank of wanted tokens, a block of the vocabulary at a time.

use super::matrix::Input;
use super::{Matrix, Rows};
use crate::score::engine::simd::{self, Isa, LANES, Lane};
use crate::score::engine::{RowScore, Running};
use rayon::prelude::*;

/// Vocabulary entries of one block: 85 tiles. Fixed, so that sums do not depend on threads.
const BLOCK: usize = 1020;

/// Scores tokens: `(row, token that follows it)`.
pub(super) fn score(
    isa: Isa,
    rows: &Rows,
    wanted: &[(usize, u32)],
    head: &Matrix,
) -> Vec<RowScore> {
    let groups: Vec<_> = wanted.chunks(LANES).collect();
    groups
        .iter()
        .flat_map(|group| score_panel(isa, rows, group, head))
        .collect()
}

fn score_panel(isa: Isa, rows: &Rows, wanted: &[(usize, u32)], head: &Matrix) -> Vec<RowScore> {
    let mut panel = vec![[0.0; LANES]; rows.width];
    for (lane, (row, _)) in wanted.iter().enumerate() {
        for (i, slot) in panel.iter_mut().enumerate() {
            slot[lane] = rows.at(*row, i);
        }
    }
    let panel = head.input(isa, &panel);
    let mut bar = [0.0; LANES];
    for (lane, (_, id)) in wanted.iter().enumerate() {
        bar[lane] = logit(isa, &panel, head, *id as usize, lane);
    }
    let firsts: Vec<usize> = (0..head.rows()).step_by(BLOCK).collect();
    let blocks: Vec<[Lane; 4]> = firsts
        .into_par_iter()
        .map(|first| {
            let count = BLOCK.min(head.rows() - first);
            let mut logits = vec![[0.0; LANES]; count];
            head.multiply_rows(isa, &panel, first, &mut logits);
            let mut out = [[0.0; LANES]; 4];
            simd::summarise(isa, &logits, &bar, &mut out);
            out
        })
        .collect();
    let finish = |lane: usize| {
        let mut running = Running::new(bar[lane]);
        for [top, sum, weighted, above] in &blocks {
            running.add(top[lane], sum[lane], weighted[lane], above[lane]);
        }
        running.finish()
    };
    (0..wanted.len()).map(finish).collect()
}

/// One logit, by the very products that make all of them: a token never ranks below itself.
fn logit(isa: Isa, panel: &Input<'_>, head: &Matrix, id: usize, lane: usize) -> f32 {
    let first = id / super::matrix::TILE * super::matrix::TILE;
    let count = super::matrix::TILE.min(head.rows() - first);
    let mut logits = [[0.0; LANES]; super::matrix::TILE];
    head.multiply_rows(isa, panel, first, &mut logits[..count]);
    logits[id - first][lane]
}
