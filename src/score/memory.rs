//! How much memory there is, and how much of it may hold keys and values.

use super::error::ScoreError;
use super::shape::Shape;

/// Part of the free memory that scoring takes when nobody set a limit.
const SHARE: f64 = 0.7;
/// Where the system does not tell, as on other systems than Linux.
const ASSUMED_FREE: u64 = 4 << 30;
/// Tokens kept when nobody set a limit, if the model's window is no longer: free memory belongs to others too.
const KEPT_TOKENS: u64 = 65_536;
/// Tokens that are always allowed: a bound so tight that nothing runs helps nobody.
const FEWEST_TOKENS: u64 = 1024;

/// Returns how many tokens of keys and values fit beside the weights.
pub(super) fn plan(
    shape: &Shape,
    weights: u64,
    chunk: usize,
    limit_mib: u64,
) -> Result<usize, ScoreError> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a size"
    )]
    let limit = match limit_mib {
        0 => (free_bytes() as f64 * SHARE) as u64,
        mib => mib << 20,
    };
    let fixed = weights + working_bytes(shape, chunk);
    let per_token = shape.kv_bytes_per_token().max(1);
    let least = FEWEST_TOKENS.min(shape.max_positions as u64);
    let tokens = limit.saturating_sub(fixed) / per_token;
    if tokens < least {
        return Err(ScoreError::Memory {
            need_mib: (fixed + least * per_token) >> 20,
            limit_mib: limit >> 20,
            hint: "raise the memory limit, take a smaller model, or score through a server: --model http://HOST:PORT/v1#NAME".to_owned(),
        });
    }
    let tokens = if limit_mib == 0 {
        tokens.min(KEPT_TOKENS.max(shape.max_positions as u64))
    } else {
        tokens
    };
    Ok(usize::try_from(tokens).unwrap_or(usize::MAX))
}

/// Activations of one chunk, generously: the widest are the gate's, twice.
fn working_bytes(shape: &Shape, chunk: usize) -> u64 {
    let widest = 4 * shape.inner + 6 * shape.hidden + 2 * shape.heads * shape.head_dim;
    (4 * chunk.next_multiple_of(32) * widest) as u64
}

fn free_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|l| l.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.map_or(ASSUMED_FREE, |kib| kib << 10)
}
