//! Activations and weights become bytes: spread by a Hadamard transform, scaled, rounded.
//!
//! A few numbers of a model's activations are a hundred times larger than the rest, and a scale for them
//! leaves the rest no digits. A Hadamard transform of each block of 64, on both sides of a product, spreads
//! them over the block and changes nothing but rounding: (Hx)·(Hw) = 64 x·w. Measured on SmolLM2, it halves the
//! distance from F32. Every token is rounded by itself, so batches and chunks still change no bit.

use super::simd::{LANES, Lane};
use super::vnni::{BLOCK, QuadBlock};

/// Whole numbers go from −127 to 127: the same range on both sides.
const TOP: f32 = 127.0;
/// 1.5 · 2^23: adding it rounds to a whole number in the low bits; 128 more makes it unsigned.
const MAGIC: f32 = 12_582_912.0 + 128.0;
/// Tokens of one AVX-512 register.
const PART: usize = 16;

/// Hadamard's transform, unscaled, down the columns of one block: two passes of three stages.
#[inline(always)]
fn spread(block: &mut [Lane; BLOCK]) {
    for lanes in [0, PART] {
        for group in 0..8 {
            spread_eight(block, 8 * group, 1, lanes);
        }
        for group in 0..8 {
            spread_eight(block, group, 8, lanes);
        }
    }
}

/// Three stages over eight rows, which stay in registers meanwhile.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "these loops must unroll into registers"
)]
fn spread_eight(block: &mut [Lane; BLOCK], first: usize, step: usize, lanes: usize) {
    let mut rows = [[0.0; PART]; 8];
    for (i, row) in rows.iter_mut().enumerate() {
        row.copy_from_slice(&block[first + i * step][lanes..lanes + PART]);
    }
    for half in [1, 2, 4] {
        for i in (0..8).filter(|i| i & half == 0) {
            for lane in 0..PART {
                let (a, b) = (rows[i][lane], rows[i + half][lane]);
                (rows[i][lane], rows[i + half][lane]) = (a + b, a - b);
            }
        }
    }
    for (i, row) in rows.iter().enumerate() {
        block[first + i * step][lanes..lanes + PART].copy_from_slice(row);
    }
}

/// One block of at most 64 rows of a panel; rows that are not there count as zero.
#[inline(always)]
pub(super) fn quantise(rows: &[Lane], out: &mut QuadBlock, scale: &mut Lane) {
    let mut block = [[0.0; LANES]; BLOCK];
    for (slot, row) in block.iter_mut().zip(rows) {
        *slot = *row;
    }
    spread(&mut block);
    let (mut top, mut poison) = ([0.0_f32; LANES], [0.0_f32; LANES]);
    for row in &block {
        for ((t, p), x) in top.iter_mut().zip(&mut poison).zip(row) {
            *t = if x.abs() > *t { x.abs() } else { *t };
            // Bytes cannot be NaN; the scale says it for them.
            *p = x.mul_add(0.0, *p);
        }
    }
    let mut inverse = [0.0; LANES];
    for (((s, i), t), p) in scale.iter_mut().zip(&mut inverse).zip(top).zip(poison) {
        *i = if t > 0.0 { TOP / t } else { 0.0 };
        *s = t / TOP + p;
    }
    let (quads, _) = block.as_chunks::<4>();
    for (quad, rows) in out.iter_mut().zip(quads) {
        for (lane, q) in quad.iter_mut().enumerate() {
            let byte = |row: &Lane| row[lane].mul_add(inverse[lane], MAGIC).to_bits() & 0xff;
            *q = byte(&rows[0]) | byte(&rows[1]) << 8 | byte(&rows[2]) << 16 | byte(&rows[3]) << 24;
        }
    }
}

/// One block of one row of weights: transformed, and divided by 64 for the product.
pub(super) fn spread_weights(weights: &[f32]) -> [f32; BLOCK] {
    let mut block = [0.0; BLOCK];
    block[..weights.len()].copy_from_slice(weights);
    let mut half = 1;
    while half < BLOCK {
        for pair in block.chunks_exact_mut(2 * half) {
            for i in 0..half {
                (pair[i], pair[i + half]) = (pair[i] + pair[i + half], pair[i] - pair[i + half]);
            }
        }
        half *= 2;
    }
    block.map(|w| w / BLOCK as f32)
}

/// Rounds a block to bytes and a scale, and leaves in it what rounding took away.
#[expect(clippy::cast_possible_truncation, reason = "rounded to -127..=127")]
pub(super) fn round_weights(block: &mut [f32; BLOCK]) -> ([i8; BLOCK], f32) {
    let top = block.iter().fold(0.0_f32, |top, w| top.max(w.abs()));
    let scale = if top > 0.0 { top / TOP } else { 1.0 };
    // Adding and taking away rounds, and unlike the standard library's rounding it is no call.
    let bytes = block.map(|w| ((w / scale).clamp(-TOP, TOP) + MAGIC - MAGIC) as i8);
    for (w, byte) in block.iter_mut().zip(bytes) {
        *w -= f32::from(byte) * scale;
    }
    (bytes, scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, mut seed: u32) -> Vec<f32> {
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / 8_388_608.0 - 1.0
        };
        (0..n).map(|_| next()).collect()
    }

    /// H of size 64 written out: the sign of entry (i, j) is the parity of i & j.
    fn hadamard(x: &[f32]) -> Vec<f64> {
        let row = |i: usize| -> f64 {
            let signed = |(j, x): (usize, &f32)| {
                let sign = if (i & j).count_ones().is_multiple_of(2) {
                    1.0
                } else {
                    -1.0
                };
                sign * f64::from(*x)
            };
            x.iter().enumerate().map(signed).sum()
        };
        (0..BLOCK).map(row).collect()
    }

    #[test]
    fn activations_are_rounded_to_their_nearest_byte() {
        for count in [64, 63, 1] {
            let columns: Vec<Vec<f32>> = (0..LANES)
                .map(|lane| numbers(count, u32::try_from(lane).unwrap()))
                .collect();
            let rows: Vec<Lane> = (0..count)
                .map(|k| std::array::from_fn(|lane| columns[lane][k]))
                .collect();
            let (mut quads, mut scale) = ([[0; LANES]; BLOCK / 4], [0.0; LANES]);
            quantise(&rows, &mut quads, &mut scale);
            for lane in 0..LANES {
                for (k, exact) in hadamard(&columns[lane]).into_iter().enumerate() {
                    let byte = quads[k / 4][lane].to_le_bytes()[k % 4];
                    let told = f64::from(i16::from(byte) - 128) * f64::from(scale[lane]);
                    // Half a step, and F32's own rounding.
                    assert!((told - exact).abs() <= f64::from(scale[lane]) * 0.501 + 1e-5);
                }
            }
        }
    }

    #[test]
    fn nothing_stays_nothing_and_what_is_no_number_stays_none() {
        let mut rows = [[0.0; LANES]; 3];
        (rows[1][4], rows[2][5]) = (f32::NAN, f32::INFINITY);
        let (mut quads, mut scale) = ([[0; LANES]; BLOCK / 4], [1.0; LANES]);
        quantise(&rows, &mut quads, &mut scale);
        assert_eq!((scale[0], quads[3][0]), (0.0, 0x8080_8080));
        assert!(scale[4].is_nan() && scale[5].is_nan() && !scale[6].is_nan());
    }

    /// Two rounds leave less than a 200th of what one leaves.
    #[test]
    fn weights_are_rounded_twice_finer() {
        let weights = numbers(BLOCK, 9);
        let exact = hadamard(&weights);
        let mut left = spread_weights(&weights);
        for (w, exact) in left.iter().zip(&exact) {
            assert!((f64::from(*w) - exact / 64.0).abs() < 1e-6);
        }
        let (before, mut told, mut steps) = (left, [0.0; BLOCK], Vec::new());
        for _ in 0..2 {
            let (bytes, scale) = round_weights(&mut left);
            told.iter_mut()
                .zip(bytes)
                .for_each(|(t, b)| *t += f32::from(b) * scale);
            let worst = before
                .iter()
                .zip(told)
                .map(|(w, t)| (w - t).abs())
                .fold(0.0, f32::max);
            assert!(worst <= scale * 0.501, "{worst} with steps of {scale}");
            steps.push(scale);
        }
        assert!(steps[1] < steps[0] / 200.0);
        assert_eq!(round_weights(&mut [0.0; BLOCK]).0, [0; BLOCK]);
    }
}
