//! Elementwise loops over panels, in plain Rust that compilers turn into vectors.
//!
//! Tokens stand side by side, so every reduction runs down a column: no token's result depends on its
//! neighbours, and none on how tokens were put into panels.

use super::simd::{LANES, Lane};

/// Sums of squares are cut in pieces of so many numbers: a long F32 sum loses digits.
const SUM_BLOCK: usize = 64;

#[inline(always)]
pub(super) fn rms_norm(rows: &[Lane], weights: &[f32], eps: f32, out: &mut [Lane]) {
    let mut total = [0.0; LANES];
    for block in rows.chunks(SUM_BLOCK) {
        let mut sum = [0.0; LANES];
        for row in block {
            for (s, x) in sum.iter_mut().zip(row) {
                *s = x.mul_add(*x, *s);
            }
        }
        for (t, s) in total.iter_mut().zip(sum) {
            *t += s;
        }
    }
    let width = rows.len() as f32;
    for t in &mut total {
        *t = 1.0 / (*t / width + eps).sqrt();
    }
    for ((row, weight), out) in rows.iter().zip(weights).zip(out) {
        for ((o, x), t) in out.iter_mut().zip(row).zip(total) {
            *o = x * t * weight;
        }
    }
}

#[inline(always)]
pub(super) fn add(rows: &mut [Lane], more: &[Lane]) {
    for (row, more) in rows.iter_mut().zip(more) {
        for (x, y) in row.iter_mut().zip(more) {
            *x += y;
        }
    }
}

#[inline(always)]
pub(super) fn silu_gate(gate: &mut [Lane], value: &[Lane]) {
    for (gate, value) in gate.iter_mut().zip(value) {
        for (g, v) in gate.iter_mut().zip(value) {
            *g = *g / (1.0 + exp(-*g)) * v;
        }
    }
}

#[inline(always)]
pub(super) fn gelu_gate(gate: &mut [Lane], value: &[Lane]) {
    const ROOT: f32 = 0.797_884_6; // √(2/π)
    for (gate, value) in gate.iter_mut().zip(value) {
        for (g, v) in gate.iter_mut().zip(value) {
            let inner = ROOT * (0.044_715 * *g * *g).mul_add(*g, *g);
            // 1 + tanh(x) = 2 − 2 / (e^2x + 1)
            *g = *g * (1.0 - 1.0 / (exp(2.0 * inner) + 1.0)) * v;
        }
    }
}

#[inline(always)]
pub(super) fn rotate(rows: &mut [Lane], cos: &[Lane], sin: &[Lane]) {
    let (first, second) = rows.split_at_mut(cos.len());
    for (((a, b), cos), sin) in first.iter_mut().zip(second).zip(cos).zip(sin) {
        for (((a, b), c), s) in a.iter_mut().zip(b).zip(cos).zip(sin) {
            let (x, y) = (*a, *b);
            *a = x * c - y * s;
            *b = y * c + x * s;
        }
    }
}

/// Keys from `first` on are taken out where they stand after a query or before its window.
#[inline(always)]
pub(super) fn hide(scores: &mut [Lane], first: u32, positions: &[u32; LANES], window: u32) {
    for (key, row) in (first..).zip(scores) {
        for (x, position) in row.iter_mut().zip(positions) {
            // A key after the query is behind it by a huge number.
            let is_seen = position.wrapping_sub(key) < window;
            *x = if is_seen { *x } else { f32::NEG_INFINITY };
        }
    }
}

#[inline(always)]
pub(super) fn soften(scores: &mut [Lane], top: &mut Lane, sum: &mut Lane, seen: &mut [Lane]) {
    let mut new_top = *top;
    for row in scores.iter() {
        for (t, x) in new_top.iter_mut().zip(row) {
            *t = if *x > *t { *x } else { *t };
        }
    }
    let mut keep = [0.0; LANES];
    for ((k, old), new) in keep.iter_mut().zip(*top).zip(new_top) {
        *k = exp(old - new);
    }
    let mut more = [0.0; LANES];
    for row in scores.iter_mut() {
        for ((x, t), m) in row.iter_mut().zip(new_top).zip(&mut more) {
            *x = exp(*x - t);
            *m += *x;
        }
    }
    for ((s, k), m) in sum.iter_mut().zip(keep).zip(more) {
        *s = s.mul_add(k, m);
    }
    for row in seen {
        for (x, k) in row.iter_mut().zip(keep) {
            *x *= k;
        }
    }
    *top = new_top;
}

/// Writes top, Σ e^(x − top), Σ x e^(x − top) and how many logits are above the bar.
#[inline(always)]
pub(super) fn summarise(logits: &[Lane], bar: &Lane, out: &mut [Lane; 4]) {
    let [top, sum, weighted, above] = out;
    (*top, *sum) = ([f32::MIN; LANES], [0.0; LANES]);
    (*weighted, *above) = ([0.0; LANES], [0.0; LANES]);
    for row in logits {
        for ((t, x), (a, bar)) in top.iter_mut().zip(row).zip(above.iter_mut().zip(bar)) {
            *t = if *x > *t { *x } else { *t };
            *a += if *x > *bar { 1.0 } else { 0.0 };
        }
    }
    for row in logits {
        for (((x, t), s), w) in row.iter().zip(&*top).zip(&mut *sum).zip(&mut *weighted) {
            let e = exp(x - t);
            *s += e;
            *w = e.mul_add(*x, *w);
        }
    }
}

/// e^x to about one unit in the last place; 0 below −87.3, and for −∞.
///
/// Cephes' polynomial: the standard library's `exp` is a call and cannot become a vector.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    const MAGIC: f32 = 12_582_912.0; // 1.5 · 2^23: adding it rounds to a whole number
    let low = x < -87.3;
    let x = if low { -87.3 } else { x };
    let x = if x > 88.3 { 88.3 } else { x };
    let shifted = x.mul_add(std::f32::consts::LOG2_E, MAGIC);
    let n = shifted - MAGIC;
    let r = n.mul_add(-0.693_359_4, x);
    let r = n.mul_add(2.121_944_4e-4, r);
    let mut p = 1.987_569_1e-4_f32;
    for c in [
        1.398_199_9e-3,
        8.333_452e-3,
        4.166_579_6e-2,
        1.666_666_5e-1,
        0.5,
    ] {
        p = p.mul_add(r, c);
    }
    let y = (p * r).mul_add(r, r) + 1.0;
    // The low bits of the shifted number are n; moved up they are an exponent.
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()));
    if low { 0.0 } else { y * power }
}

#[cfg(test)]
mod tests {
    use super::exp;

    /// Against the standard library in F64.
    #[test]
    fn exp_is_right_to_the_last_digits() {
        let mut worst = 0.0_f64;
        for i in -870..880 {
            for part in [0.0, 0.031, 0.07] {
                let x = i as f32 / 10.0 + part;
                let exact = f64::from(x).exp();
                worst = worst.max((f64::from(exp(x)) - exact).abs() / exact);
            }
        }
        assert!(worst < 2e-7, "{worst}");
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp(-1e30), 0.0);
        assert_eq!(exp(0.0), 1.0);
    }
}
