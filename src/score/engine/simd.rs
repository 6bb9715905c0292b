//! The innermost loops, compiled for several CPUs and chosen at run time. Unsafe code.
//!
//! Unsafe is needed for two things: calling a function compiled for a CPU feature after that feature
//! was detected, and loading vectors from slices whose length was checked just before. Every result
//! is the same chain of fused multiply-adds on all of them, so that AVX2 and AVX-512 agree bit for bit.

#![expect(
    unsafe_code,
    reason = "CPU features are checked at run time; see above"
)]

use super::vnni::QuadBlock;

/// Tokens in one panel: two AVX-512 registers.
pub(super) const LANES: usize = 32;
/// One number of each token of a panel.
pub(super) type Lane = [f32; LANES];

/// What the CPU can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Isa {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Plain Rust; on 64-bit Arm that means NEON.
    Portable,
}

impl Isa {
    /// Finds the best that this CPU runs.
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let fma = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            if fma && is_x86_feature_detected!("avx512f") {
                return Self::Avx512;
            }
            if fma {
                return Self::Avx2;
            }
        }
        Self::Portable
    }

    /// Every kind that this CPU runs, for tests.
    #[cfg(test)]
    pub(super) fn all() -> Vec<Self> {
        let mut all = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        match Self::detect() {
            Self::Avx512 => all.extend([Self::Avx2, Self::Avx512]),
            Self::Avx2 => all.push(Self::Avx2),
            Self::Portable => {}
        }
        all
    }
}

/// How a product begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// From zero.
    Zero,
    /// Goes on with the sum that is there: splitting a product this way changes no bit.
    Chain,
    /// From zero, then added to what is there: many short sums lose less than one long sum.
    Add,
}

/// `out[m] (+)= Σ_k w[k · step + m] · x[k]` for `M` outputs.
pub(super) fn product<const M: usize>(
    isa: Isa,
    w: &[f32],
    step: usize,
    x: &[Lane],
    out: &mut [Lane; M],
    start: Start,
) {
    if x.is_empty() {
        return finish_empty(out, start);
    }
    // The one bounds check of all loads below.
    let w = &w[..(x.len() - 1) * step + M];
    let at = std::array::from_fn::<usize, M, _>(|m| m);
    dispatch(isa, w, step, &at, x, out, start);
}

/// `out[m] (+)= Σ_k w[at[m] + k] · x[k]`: rows anywhere in `w`.
pub(super) fn product_rows<const M: usize>(
    isa: Isa,
    w: &[f32],
    at: &[usize; M],
    x: &[Lane],
    out: &mut [Lane; M],
    start: Start,
) {
    if x.is_empty() {
        return finish_empty(out, start);
    }
    let furthest = at.iter().copied().max().unwrap_or(0);
    let w = &w[..furthest + x.len()];
    dispatch(isa, w, 1, at, x, out, start);
}

fn finish_empty<const M: usize>(out: &mut [Lane; M], start: Start) {
    if start == Start::Zero {
        *out = [[0.0; LANES]; M];
    }
}

/// Loads are in bounds when `at[m] + (x.len() - 1) * step < w.len()` for all `m`; both callers see to it.
#[inline(always)]
fn dispatch<const M: usize>(
    isa: Isa,
    w: &[f32],
    step: usize,
    at: &[usize; M],
    x: &[Lane],
    out: &mut [Lane; M],
    start: Start,
) {
    debug_assert!(at.iter().all(|a| a + (x.len() - 1) * step < w.len()));
    match isa {
        // SAFETY: `Isa::detect` gives these only where the CPU has them; loads are in bounds as said above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { x86::product_512(w, step, at, x, out, start) },
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { x86::product_256(w, step, at, x, out, start) },
        Isa::Portable => product_plain(w, step, at, x, out, start),
    }
}

fn product_plain<const M: usize>(
    w: &[f32],
    step: usize,
    at: &[usize; M],
    x: &[Lane],
    out: &mut [Lane; M],
    start: Start,
) {
    for (m, out) in out.iter_mut().enumerate() {
        let mut sum = if start == Start::Chain {
            *out
        } else {
            [0.0; LANES]
        };
        for (k, x) in x.iter().enumerate() {
            let w = w[at[m] + k * step];
            for (sum, x) in sum.iter_mut().zip(x) {
                *sum = w.mul_add(*x, *sum);
            }
        }
        match start {
            Start::Add => out.iter_mut().zip(sum).for_each(|(o, s)| *o += s),
            Start::Zero | Start::Chain => *out = sum,
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(
        clippy::needless_range_loop,
        reason = "these loops must unroll into registers"
    )]

    use super::{LANES, Lane, Start};
    use std::arch::x86_64::*;

    /// # Safety
    /// `at[m] + (x.len() - 1) * step < w.len()` for all `m`.
    #[target_feature(enable = "avx512f,avx2,fma")]
    pub(super) unsafe fn product_512<const M: usize>(
        w: &[f32],
        step: usize,
        at: &[usize; M],
        x: &[Lane],
        out: &mut [Lane; M],
        start: Start,
    ) {
        let mut sum = [[_mm512_setzero_ps(); 2]; M];
        if start == Start::Chain {
            for m in 0..M {
                sum[m] = [load(&out[m], 0), load(&out[m], 16)];
            }
        }
        let mut from = w.as_ptr();
        for x in x {
            let (x0, x1) = (load(x, 0), load(x, 16));
            for m in 0..M {
                // SAFETY: the caller's promise.
                let w = _mm512_set1_ps(unsafe { *from.add(at[m]) });
                sum[m][0] = _mm512_fmadd_ps(w, x0, sum[m][0]);
                sum[m][1] = _mm512_fmadd_ps(w, x1, sum[m][1]);
            }
            from = from.wrapping_add(step);
        }
        for m in 0..M {
            for half in 0..2 {
                let before = load(&out[m], 16 * half);
                let value = match start {
                    Start::Add => _mm512_add_ps(before, sum[m][half]),
                    Start::Zero | Start::Chain => sum[m][half],
                };
                // SAFETY: a `Lane` has 32 numbers, and `half` is 0 or 1.
                unsafe { _mm512_storeu_ps(out[m].as_mut_ptr().add(16 * half), value) };
            }
        }
    }

    #[target_feature(enable = "avx512f")]
    fn load(lane: &Lane, at: usize) -> __m512 {
        assert!(at + 16 <= LANES);
        // SAFETY: asserted above.
        unsafe { _mm512_loadu_ps(lane.as_ptr().add(at)) }
    }

    /// # Safety
    /// `at[m] + (x.len() - 1) * step < w.len()` for all `m`.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn product_256<const M: usize>(
        w: &[f32],
        step: usize,
        at: &[usize; M],
        x: &[Lane],
        out: &mut [Lane; M],
        start: Start,
    ) {
        // Sixteen registers hold four outputs of half a panel at a time.
        for half in [0, 16] {
            for (at, out) in at.chunks_exact(4).zip(out.chunks_exact_mut(4)) {
                let mut sum = [[_mm256_setzero_ps(); 2]; 4];
                if start == Start::Chain {
                    for m in 0..4 {
                        sum[m] = [load8(&out[m], half), load8(&out[m], half + 8)];
                    }
                }
                let mut from = w.as_ptr();
                for x in x {
                    let (x0, x1) = (load8(x, half), load8(x, half + 8));
                    for m in 0..4 {
                        // SAFETY: the caller's promise.
                        let w = _mm256_set1_ps(unsafe { *from.add(at[m]) });
                        sum[m][0] = _mm256_fmadd_ps(w, x0, sum[m][0]);
                        sum[m][1] = _mm256_fmadd_ps(w, x1, sum[m][1]);
                    }
                    from = from.wrapping_add(step);
                }
                for m in 0..4 {
                    for part in 0..2 {
                        let place = half + 8 * part;
                        let value = match start {
                            Start::Add => _mm256_add_ps(load8(&out[m], place), sum[m][part]),
                            Start::Zero | Start::Chain => sum[m][part],
                        };
                        // SAFETY: a `Lane` has 32 numbers, and `place` is at most 24.
                        unsafe { _mm256_storeu_ps(out[m].as_mut_ptr().add(place), value) };
                    }
                }
            }
        }
    }

    #[target_feature(enable = "avx2")]
    fn load8(lane: &Lane, at: usize) -> __m256 {
        assert!(at + 8 <= LANES);
        // SAFETY: asserted above.
        unsafe { _mm256_loadu_ps(lane.as_ptr().add(at)) }
    }
}

/// Compiles a loop for each kind of CPU and picks one at run time.
macro_rules! vectorised {
    ($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) = $body:path) => {
        $(#[$doc])*
        pub(super) fn $name(isa: Isa, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx2,fma")]
            fn avx512($($arg: $type),*) { $body($($arg),*) }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $type),*) { $body($($arg),*) }
            match isa {
                // SAFETY: `Isa::detect` gives these only where the CPU has them.
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => unsafe { avx512($($arg),*) },
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => unsafe { avx2($($arg),*) },
                Isa::Portable => $body($($arg),*),
            }
        }
    };
}

vectorised! {
    /// Divides each token by the root of its mean square and weighs it.
    fn rms_norm(rows: &[Lane], weights: &[f32], eps: f32, out: &mut [Lane]) = super::lanes::rms_norm
}
vectorised! {
    /// One block of inputs becomes bytes and a scale; see `bytes`.
    fn quantise(rows: &[Lane], out: &mut QuadBlock, scale: &mut Lane) = super::bytes::quantise
}
vectorised! {
    /// `rows += more`.
    fn add(rows: &mut [Lane], more: &[Lane]) = super::lanes::add
}
vectorised! {
    /// `gate = silu(gate) · value`.
    fn silu_gate(gate: &mut [Lane], value: &[Lane]) = super::lanes::silu_gate
}
vectorised! {
    /// `gate = gelu_tanh(gate) · value`.
    fn gelu_gate(gate: &mut [Lane], value: &[Lane]) = super::lanes::gelu_gate
}
vectorised! {
    /// Turns pairs `(i, i + half)` by their angles.
    fn rotate(rows: &mut [Lane], cos: &[Lane], sin: &[Lane]) = super::lanes::rotate
}
vectorised! {
    /// Takes out what a query must not see.
    fn hide(scores: &mut [Lane], first: u32, positions: &[u32; LANES], window: u32) = super::lanes::hide
}
vectorised! {
    /// One block of an online softmax: scores become weights; `top`, `sum` and `seen` go along.
    fn soften(scores: &mut [Lane], top: &mut Lane, sum: &mut Lane, seen: &mut [Lane]) = super::lanes::soften
}
vectorised! {
    /// Log-sum-exp, expected logit and rank of one block of logits.
    fn summarise(logits: &[Lane], bar: &Lane, out: &mut [Lane; 4]) = super::lanes::summarise
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        };
        (0..n).map(|_| next()).collect()
    }

    fn lanes(n: usize, seed: u32) -> Vec<Lane> {
        numbers(n * LANES, seed).as_chunks::<LANES>().0.to_vec()
    }

    /// Against sums in F64, and every kind of CPU against every other bit for bit.
    #[test]
    fn products_are_right_and_the_same_on_every_cpu() {
        for depth in [0, 1, 3, 64, 200] {
            for start in [Start::Zero, Start::Chain, Start::Add] {
                let (w, x) = (numbers(depth * 12 + 12, 1), lanes(depth, 2));
                let before: [Lane; 12] = lanes(12, 3).try_into().unwrap();
                let results: Vec<_> = Isa::all()
                    .into_iter()
                    .map(|isa| {
                        let mut out = before;
                        product(isa, &w, 12, &x, &mut out, start);
                        out
                    })
                    .collect();
                let kept = if start == Start::Zero { 0.0 } else { 1.0 };
                for m in 0..12 {
                    let exact: f64 = (0..depth)
                        .map(|k| f64::from(w[k * 12 + m]) * f64::from(x[k][5]))
                        .sum();
                    let exact = exact + kept * f64::from(before[m][5]);
                    assert!((f64::from(results[0][m][5]) - exact).abs() < 1e-4);
                }
                assert!(
                    results.iter().all(|r| *r == results[0]),
                    "depth {depth} {start:?}"
                );
            }
        }
    }

    #[test]
    fn rows_anywhere_give_the_same_as_rows_side_by_side() {
        let (w, x) = (numbers(8 * 20, 4), lanes(20, 5));
        let packed: Vec<f32> = (0..20)
            .flat_map(|k| (0..8).map(move |m| m * 20 + k))
            .map(|i| w[i])
            .collect();
        for isa in Isa::all() {
            let (mut a, mut b) = ([[0.0; LANES]; 8], [[0.0; LANES]; 8]);
            product_rows(
                isa,
                &w,
                &std::array::from_fn(|m| m * 20),
                &x,
                &mut a,
                Start::Zero,
            );
            product(isa, &packed, 8, &x, &mut b, Start::Zero);
            assert_eq!(a, b);
        }
    }

    /// Splitting a chain anywhere changes no bit; attention across segments rests on it.
    #[test]
    fn a_split_chain_changes_no_bit() {
        let (w, x) = (numbers(8 * 50, 6), lanes(50, 7));
        for isa in Isa::all() {
            let mut whole = [[0.0; LANES]; 8];
            product(isa, &w, 8, &x, &mut whole, Start::Zero);
            for cut in [0, 1, 17, 50] {
                let mut parts = [[0.0; LANES]; 8];
                product(isa, &w, 8, &x[..cut], &mut parts, Start::Chain);
                product(isa, &w[cut * 8..], 8, &x[cut..], &mut parts, Start::Chain);
                assert_eq!(whole, parts);
            }
        }
    }

    #[test]
    fn elementwise_loops_are_the_same_on_every_cpu() {
        let run = |isa: Isa| {
            let (mut rows, more) = (lanes(16, 8), lanes(16, 9));
            let mut out = lanes(16, 0);
            rms_norm(isa, &rows, &numbers(16, 10), 1e-6, &mut out);
            silu_gate(isa, &mut out, &more);
            gelu_gate(isa, &mut rows, &out);
            rotate(isa, &mut rows, &more[..8], &more[8..]);
            add(isa, &mut rows, &more);
            let (mut top, mut sum) = ([-1e30; LANES], [0.0; LANES]);
            soften(isa, &mut rows, &mut top, &mut sum, &mut out);
            let mut summary = [[0.0; LANES]; 4];
            summarise(isa, &out, &sum, &mut summary);
            (rows, out, top, sum, summary)
        };
        let first = run(Isa::Portable);
        assert!(Isa::all().into_iter().all(|isa| run(isa) == first));
    }
}
