//! Rotary positions: frequencies of each scaling scheme, computed as transformers computes them.

use super::error::ScoreError;
use serde_json::Value;
use std::f64::consts::PI;

/// How frequencies are stretched for long contexts.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RopeKind {
    Plain,
    Linear {
        factor: f64,
    },
    Llama3 {
        factor: f64,
        low: f64,
        high: f64,
        original: f64,
    },
    Yarn {
        factor: f64,
        original: f64,
        fast: f64,
        slow: f64,
        attention: Option<f64>,
        scale: Option<(f64, f64)>,
        truncate: bool,
    },
    /// Divisors of each frequency, as GGUF files carry them.
    Divisors(Vec<f32>),
}

impl RopeKind {
    /// Reads `rope_parameters` or the older `rope_scaling`.
    pub(super) fn parse(rope: &Value, max_positions: usize) -> Result<Self, ScoreError> {
        let name = rope["rope_type"]
            .as_str()
            .or(rope["type"].as_str())
            .unwrap_or("default");
        let number = |key: &str| rope[key].as_f64();
        let factor = number("factor");
        let original = number("original_max_position_embeddings").unwrap_or(max_positions as f64);
        let missing = || ScoreError::Unsupported {
            what: format!("rope scaling {name:?} without its numbers"),
            hint: "the model's config.json is incomplete; fetch it again".to_owned(),
        };
        match name {
            "default" | "none" => Ok(Self::Plain),
            "linear" => Ok(Self::Linear { factor: factor.ok_or_else(missing)? }),
            "llama3" => Ok(Self::Llama3 {
                factor: factor.ok_or_else(missing)?,
                low: number("low_freq_factor").ok_or_else(missing)?,
                high: number("high_freq_factor").ok_or_else(missing)?,
                original,
            }),
            "yarn" => Ok(Self::Yarn {
                factor: factor.unwrap_or(max_positions as f64 / original),
                original,
                fast: number("beta_fast").filter(|x| *x != 0.0).unwrap_or(32.0),
                slow: number("beta_slow").filter(|x| *x != 0.0).unwrap_or(1.0),
                attention: number("attention_factor"),
                scale: number("mscale").filter(|x| *x != 0.0).zip(number("mscale_all_dim").filter(|x| *x != 0.0)),
                truncate: rope["truncate"].as_bool().unwrap_or(true),
            }),
            other => Err(ScoreError::Unsupported {
                what: format!("rope scaling {other:?}"),
                hint: "default, linear, llama3 and yarn run here; others through a server: --model http://HOST:PORT/v1#NAME".to_owned(),
            }),
        }
    }
}

/// Frequencies of one kind of layer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rotation {
    /// One frequency for each pair of dimensions that rotate.
    pub frequencies: Vec<f32>,
    /// Sines and cosines are multiplied by this.
    pub scale: f32,
}

impl Rotation {
    /// `part` of `head_dim` rotates.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "frequencies are F32, as in transformers"
    )]
    pub(super) fn new(
        kind: RopeKind,
        theta: f64,
        head_dim: usize,
        part: f64,
    ) -> Result<Self, String> {
        if !(theta > 1.0 && theta.is_finite()) {
            return Err(format!("rope_theta {theta} is not above 1"));
        }
        if !(part > 0.0 && part <= 1.0) {
            return Err(format!(
                "partial_rotary_factor {part} is not between 0 and 1"
            ));
        }
        #[expect(clippy::cast_sign_loss, reason = "both are positive")]
        let dim = (head_dim as f64 * part) as usize;
        if dim == 0 || !dim.is_multiple_of(2) {
            return Err(format!("{dim} rotating dimensions are not an even number"));
        }
        // Rounded to F32 at the same places as in transformers; at position 8,000 it shows.
        let plain = |i: usize| {
            let exponent = (2 * i) as f32 / dim as f32;
            f64::from(1.0 / (theta.powf(f64::from(exponent)) as f32))
        };
        let plain: Vec<f64> = (0..dim / 2).map(plain).collect();
        let (frequencies, scale) = stretched(&kind, &plain, theta, dim)?;
        if frequencies.iter().any(|f| !f.is_finite()) {
            return Err("rope scaling gives frequencies that are not finite".to_owned());
        }
        Ok(Self {
            frequencies: frequencies.iter().map(|f| *f as f32).collect(),
            scale: scale as f32,
        })
    }

    /// Returns cosines and sines of one position, one each pair.
    pub(super) fn at(&self, position: usize) -> impl Iterator<Item = (f32, f32)> + '_ {
        // Products in F32, as in transformers: the angle's rounding is part of the model's numerics.
        let position = position as f32;
        self.frequencies.iter().map(move |f| {
            let (sin, cos) = (position * f).sin_cos();
            (cos * self.scale, sin * self.scale)
        })
    }
}

fn stretched(
    kind: &RopeKind,
    plain: &[f64],
    theta: f64,
    dim: usize,
) -> Result<(Vec<f64>, f64), String> {
    let count = plain.len();
    let plain = || plain.iter().copied();
    Ok(match kind {
        RopeKind::Plain => (plain().collect(), 1.0),
        RopeKind::Linear { factor } => (plain().map(|f| f / factor).collect(), 1.0),
        RopeKind::Llama3 {
            factor,
            low,
            high,
            original,
        } => (
            plain()
                .map(|f| llama3(f, *factor, *low, *high, *original))
                .collect(),
            1.0,
        ),
        RopeKind::Divisors(by) if by.len() == count => (
            plain().zip(by).map(|(f, d)| f / f64::from(*d)).collect(),
            1.0,
        ),
        RopeKind::Divisors(by) => {
            return Err(format!(
                "{} rope divisors for {} frequencies",
                by.len(),
                count
            ));
        }
        RopeKind::Yarn {
            factor,
            original,
            fast,
            slow,
            attention,
            scale,
            truncate,
        } => {
            let (low, high) = yarn_range(*fast, *slow, dim, theta, *original, *truncate);
            let mix = |(i, f): (usize, f64)| {
                let ramp = ((i as f64 - low) / (high - low)).clamp(0.0, 1.0);
                f / factor * ramp + f * (1.0 - ramp)
            };
            let inferred = match scale {
                Some((m, all)) => mscale(*factor, *m) / mscale(*factor, *all),
                None => mscale(*factor, 1.0),
            };
            (
                plain().enumerate().map(mix).collect(),
                attention.unwrap_or(inferred),
            )
        }
    })
}

fn llama3(f: f64, factor: f64, low: f64, high: f64, original: f64) -> f64 {
    let wave = 2.0 * PI / f;
    if wave < original / high {
        f
    } else if wave > original / low {
        f / factor
    } else {
        let smooth = (original / wave - low) / (high - low);
        (1.0 - smooth) * f / factor + smooth * f
    }
}

fn mscale(factor: f64, m: f64) -> f64 {
    if factor <= 1.0 {
        1.0
    } else {
        0.1 * m * factor.ln() + 1.0
    }
}

fn yarn_range(
    fast: f64,
    slow: f64,
    dim: usize,
    theta: f64,
    original: f64,
    truncate: bool,
) -> (f64, f64) {
    let dim = dim as f64;
    let at = |turns: f64| dim * (original / (turns * 2.0 * PI)).ln() / (2.0 * theta.ln());
    let (mut low, mut high) = (at(fast), at(slow));
    if truncate {
        (low, high) = (low.floor(), high.ceil());
    }
    let (low, mut high) = (low.max(0.0), high.min(dim - 1.0));
    if low == high {
        high += 0.001;
    }
    (low, high)
}
