//! Times as logs write them, in microseconds UTC. A time without a zone is read as UTC, because nothing better is known.

use super::json::{Kind, Node};

/// A time: ISO text, `YYYY-MM-DD HH:MM:SS`, or seconds, milli-, micro- or nanoseconds since 1970.
pub(crate) fn time(node: Option<&Node<'_>>) -> Option<i64> {
    let node = node?;
    match &node.kind {
        Kind::Text(text) => text_time(text),
        Kind::Number(text) => number_time(text),
        _ => None,
    }
}

/// The same, from text.
pub(crate) fn text_time(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(stamp) = text.parse::<jiff::Timestamp>() {
        return Some(stamp.as_microsecond());
    }
    if let Ok(local) = text.parse::<jiff::civil::DateTime>() {
        let stamp = jiff::tz::Offset::UTC.to_timestamp(local).ok()?;
        return Some(stamp.as_microsecond());
    }
    number_time(text)
}

fn number_time(text: &str) -> Option<i64> {
    // Nanoseconds do not fit a float, so whole numbers stay whole.
    if let Ok(whole) = text.parse::<i64>() {
        return Some(match whole.unsigned_abs() {
            0..100_000_000_000 => whole.saturating_mul(1_000_000),
            100_000_000_000..100_000_000_000_000 => whole.saturating_mul(1_000),
            100_000_000_000_000..100_000_000_000_000_000 => whole,
            _ => whole / 1_000,
        });
    }
    let seconds = text.parse::<f64>().ok().filter(|s| s.is_finite())?;
    let scale = match seconds.abs() {
        s if s < 1e11 => 1e6,
        s if s < 1e14 => 1e3,
        s if s < 1e17 => 1.0,
        _ => 1e-3,
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "`as` saturates, and a time that far off is noise"
    )]
    Some((seconds * scale).round() as i64)
}
