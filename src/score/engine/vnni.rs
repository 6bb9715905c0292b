//! Products of bytes, for the fast mode: AVX-512 VNNI or AVX-VNNI, found at run time. Unsafe code.
//!
//! The instruction multiplies unsigned by signed bytes and adds four products to a 32-bit sum. It cannot
//! saturate: 255 × 127 × 64 inputs is far below 2^31. Activations are stored 128 too high to be unsigned;
//! the sum begins at −128 × Σ weights, which takes that out again exactly. So every kind of CPU gives the
//! same whole numbers, and the same F32 from them. Unsafe is needed for two things, as in `simd`.

#![expect(
    unsafe_code,
    reason = "CPU features are checked at run time; see above"
)]

use super::simd::{LANES, Lane};

/// Inputs that share a scale.
pub(super) const BLOCK: usize = 64;
/// Four inputs of each of 32 tokens: the first is in the low byte, and each is 128 too high.
pub(super) type Quad = [u32; LANES];
/// One block of inputs of 32 tokens.
pub(super) type QuadBlock = [Quad; BLOCK / 4];

/// A CPU that multiplies bytes fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteIsa {
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
    #[cfg(target_arch = "x86_64")]
    AvxVnni,
    /// What the others are held against.
    #[cfg(test)]
    Plain,
}

impl ByteIsa {
    /// Finds what this CPU has, or says what it lacks.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn detect() -> Result<Self, String> {
        let is_512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
        if is_512 {
            return Ok(Self::Avx512Vnni);
        }
        let is_256 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("avxvnni");
        if is_256 {
            return Ok(Self::AvxVnni);
        }
        Err("this CPU has neither AVX-512 VNNI nor AVX-VNNI".to_owned())
    }

    /// Finds what this CPU has, or says what it lacks.
    #[cfg(not(target_arch = "x86_64"))]
    pub(super) fn detect() -> Result<Self, String> {
        Err("the fast mode needs an x86-64 CPU with AVX-512 VNNI or AVX-VNNI".to_owned())
    }

    /// Every kind that this CPU runs.
    #[cfg(test)]
    pub(super) fn all() -> Vec<Self> {
        let mut all = vec![Self::Plain];
        #[cfg(target_arch = "x86_64")]
        {
            let is_256 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            if is_256 && is_x86_feature_detected!("avxvnni") {
                all.push(Self::AvxVnni);
            }
            if Self::detect() == Ok(Self::Avx512Vnni) {
                all.push(Self::Avx512Vnni);
            }
        }
        all
    }
}

/// `M` rows of weights in one block of inputs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tile<const M: usize> {
    /// `[four inputs][row]`, the first input in the low byte.
    pub weights: [[u32; M]; BLOCK / 4],
    /// −128 × Σ weights of each row.
    pub starts: [i32; M],
    pub scales: [f32; M],
}

/// `out[m] (+)= scales[m] · x_scale · Σ_k weights[m][k] · x[k]`.
pub(super) fn product<const M: usize>(
    isa: ByteIsa,
    tile: &Tile<M>,
    x: &QuadBlock,
    x_scale: &Lane,
    out: &mut [Lane; M],
    adds: bool,
) {
    match isa {
        // SAFETY: `detect` gives these only where the CPU has them; all sizes are in the types.
        #[cfg(target_arch = "x86_64")]
        ByteIsa::Avx512Vnni => unsafe { x86::product_512(tile, x, x_scale, out, adds) },
        #[cfg(target_arch = "x86_64")]
        ByteIsa::AvxVnni => unsafe { x86::product_256(tile, x, x_scale, out, adds) },
        #[cfg(test)]
        ByteIsa::Plain => tests::product_plain(tile, x, x_scale, out, adds),
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![expect(
        clippy::needless_range_loop,
        reason = "these loops must unroll into registers"
    )]

    use super::{Lane, QuadBlock, Tile};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512vnni,avx2,fma")]
    pub(super) fn product_512<const M: usize>(
        tile: &Tile<M>,
        x: &QuadBlock,
        x_scale: &Lane,
        out: &mut [Lane; M],
        adds: bool,
    ) {
        let mut sum = [[_mm512_setzero_si512(); 2]; M];
        for m in 0..M {
            sum[m] = [_mm512_set1_epi32(tile.starts[m]); 2];
        }
        for (x, weights) in x.iter().zip(&tile.weights) {
            // SAFETY: a `Quad` has 32 numbers.
            let [x0, x1] =
                [0, 16].map(|at| unsafe { _mm512_loadu_epi32(x.as_ptr().add(at).cast()) });
            for m in 0..M {
                let w = _mm512_set1_epi32(weights[m].cast_signed());
                sum[m][0] = _mm512_dpbusd_epi32(sum[m][0], x0, w);
                sum[m][1] = _mm512_dpbusd_epi32(sum[m][1], x1, w);
            }
        }
        for half in 0..2 {
            // SAFETY: a `Lane` has 32 numbers, and `half` is 0 or 1.
            let x_scale = unsafe { _mm512_loadu_ps(x_scale.as_ptr().add(16 * half)) };
            for m in 0..M {
                let scale = _mm512_mul_ps(_mm512_set1_ps(tile.scales[m]), x_scale);
                let value = _mm512_cvtepi32_ps(sum[m][half]);
                // SAFETY: as above.
                unsafe {
                    let place = out[m].as_mut_ptr().add(16 * half);
                    let before = if adds {
                        _mm512_loadu_ps(place)
                    } else {
                        _mm512_setzero_ps()
                    };
                    _mm512_storeu_ps(place, _mm512_fmadd_ps(value, scale, before));
                }
            }
        }
    }

    #[target_feature(enable = "avx2,fma,avxvnni")]
    pub(super) fn product_256<const M: usize>(
        tile: &Tile<M>,
        x: &QuadBlock,
        x_scale: &Lane,
        out: &mut [Lane; M],
        adds: bool,
    ) {
        const ROWS: usize = 6;
        // Sixteen registers hold six outputs of half a panel at a time.
        for half in [0, 16] {
            for first in (0..M).step_by(ROWS) {
                let count = ROWS.min(M - first);
                let mut sum = [[_mm256_setzero_si256(); 2]; ROWS];
                for m in 0..count {
                    sum[m] = [_mm256_set1_epi32(tile.starts[first + m]); 2];
                }
                for (x, weights) in x.iter().zip(&tile.weights) {
                    let load = |at: usize| {
                        // SAFETY: a `Quad` has 32 numbers, and `half + at` is at most 24.
                        unsafe { _mm256_loadu_si256(x.as_ptr().add(half + at).cast()) }
                    };
                    let (x0, x1) = (load(0), load(8));
                    for m in 0..count {
                        let w = _mm256_set1_epi32(weights[first + m].cast_signed());
                        sum[m][0] = _mm256_dpbusd_avx_epi32(sum[m][0], x0, w);
                        sum[m][1] = _mm256_dpbusd_avx_epi32(sum[m][1], x1, w);
                    }
                }
                for m in 0..count {
                    for part in 0..2 {
                        let at = half + 8 * part;
                        let weight_scale = _mm256_set1_ps(tile.scales[first + m]);
                        let value = _mm256_cvtepi32_ps(sum[m][part]);
                        // SAFETY: a `Lane` has 32 numbers, and `at` is at most 24.
                        unsafe {
                            let x_scale = _mm256_loadu_ps(x_scale.as_ptr().add(at));
                            let place = out[first + m].as_mut_ptr().add(at);
                            let before = if adds {
                                _mm256_loadu_ps(place)
                            } else {
                                _mm256_setzero_ps()
                            };
                            let scale = _mm256_mul_ps(weight_scale, x_scale);
                            _mm256_storeu_ps(place, _mm256_fmadd_ps(value, scale, before));
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A naive loop over whole numbers; the last step is the same F32 arithmetic.
    pub(super) fn product_plain<const M: usize>(
        tile: &Tile<M>,
        x: &QuadBlock,
        x_scale: &Lane,
        out: &mut [Lane; M],
        adds: bool,
    ) {
        for m in 0..M {
            for lane in 0..LANES {
                let mut sum = 0_i64;
                for (x, weights) in x.iter().zip(&tile.weights) {
                    for (x, w) in x[lane].to_le_bytes().iter().zip(weights[m].to_le_bytes()) {
                        sum += (i64::from(*x) - 128) * i64::from(w.cast_signed());
                    }
                }
                let before = if adds { out[m][lane] } else { 0.0 };
                out[m][lane] = (sum as f32).mul_add(tile.scales[m] * x_scale[lane], before);
            }
        }
    }

    struct Random(u32);

    impl Random {
        fn next(&mut self) -> u32 {
            self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            self.0 >> 8
        }

        /// −127..=127, which is what quantising makes.
        fn byte(&mut self) -> i8 {
            i8::try_from(self.next() % 255).map_or(127, |b| b)
                - if self.next().is_multiple_of(2) {
                    127
                } else {
                    0
                }
        }
    }

    fn tile<const M: usize>(mut byte: impl FnMut() -> i8) -> Tile<M> {
        let mut tile = Tile {
            weights: [[0; M]; BLOCK / 4],
            starts: [0; M],
            scales: std::array::from_fn(|m| 0.01 + m as f32 * 0.003),
        };
        for weights in &mut tile.weights {
            for (weights, start) in weights.iter_mut().zip(&mut tile.starts) {
                let bytes = std::array::from_fn(|_| byte());
                *weights = u32::from_le_bytes(bytes.map(i8::cast_unsigned));
                *start -= 128 * bytes.iter().map(|b| i32::from(*b)).sum::<i32>();
            }
        }
        tile
    }

    fn check<const M: usize>(tile: &Tile<M>, x: &QuadBlock) {
        let x_scale = std::array::from_fn(|lane| 0.5 + lane as f32);
        for adds in [false, true] {
            let run = |isa| {
                let mut out = [[0.25; LANES]; M];
                product(isa, tile, x, &x_scale, &mut out, adds);
                out
            };
            let plain = run(ByteIsa::Plain);
            for isa in ByteIsa::all() {
                assert_eq!(run(isa), plain, "{isa:?}, {M} rows, adds: {adds}");
            }
        }
    }

    /// Against the naive loop, bit for bit: random bytes, tiles of every size that is used.
    #[test]
    fn products_of_bytes_are_exact() {
        let mut random = Random(3);
        for _ in 0..20 {
            let x = std::array::from_fn(|_| {
                std::array::from_fn(|_| random.next() ^ random.next() << 16)
            });
            check::<12>(&tile(|| random.byte()), &x);
            check::<7>(&tile(|| random.byte()), &x);
            check::<1>(&tile(|| random.byte()), &x);
        }
    }

    /// The largest numbers of each sign: nothing saturates on the way.
    #[test]
    fn extremes_do_not_saturate() {
        for byte in [-128, -127, 127] {
            for x in [0, 0xff, 0x80] {
                check::<12>(
                    &tile(|| byte),
                    &[[u32::from_le_bytes([x; 4]); LANES]; BLOCK / 4],
                );
            }
        }
        // By hand: 64 × 127 × 127 × 0.01 × 0.5.
        let mut out = [[0.0; LANES]; 12];
        let isa = ByteIsa::all().pop().unwrap();
        product(
            isa,
            &tile(|| 127),
            &[[u32::MAX; LANES]; BLOCK / 4],
            &[0.5; LANES],
            &mut out,
            false,
        );
        assert!((out[0][0] - 5161.28).abs() < 1e-3, "{}", out[0][0]);
    }
}
