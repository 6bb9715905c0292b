//! Bars made of characters: a share with its interval, readable without colour.

/// Columns of a whole bar.
const COLUMNS: usize = 30;

/// Draws a share with its interval: `█` up to the lower end, `▓` up to the share, `░` up to the upper end.
pub(super) fn interval(low: f64, share: f64, high: f64) -> String {
    let (low, share, high) = (cells(low), cells(share), cells(high));
    let signs = (0..COLUMNS).map(|at| {
        if at < low {
            '█'
        } else if at < share {
            '▓'
        } else if at < high {
            '░'
        } else {
            ' '
        }
    });
    signs.collect()
}

/// Draws a number around zero: left of the middle where it is negative.
pub(super) fn signed(value: f64, most: f64) -> String {
    let half = COLUMNS / 4;
    let share = if most > 0.0 {
        (value.abs() / most).min(1.0)
    } else {
        0.0
    };
    let full = part(share, half);
    let (left, right) = if value < 0.0 { (full, 0) } else { (0, full) };
    format!(
        "{}{}│{}{}",
        " ".repeat(half - left),
        "█".repeat(left),
        "█".repeat(right),
        " ".repeat(half - right)
    )
}

fn cells(share: f64) -> usize {
    part(share.clamp(0.0, 1.0), COLUMNS)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share between 0 and 1 of a few columns"
)]
fn part(share: f64, columns: usize) -> usize {
    (share * columns as f64).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_shows_its_three_ends() {
        // 0.1, 0.5 and 0.8 of 30 columns are 3, 15 and 24.
        let bar = interval(0.1, 0.5, 0.8);
        assert_eq!(
            bar,
            format!("███{}{}{}", "▓".repeat(12), "░".repeat(9), " ".repeat(6))
        );
    }

    #[test]
    fn zero_is_the_middle() {
        assert_eq!(signed(-1.0, 1.0), "███████│       ");
        assert_eq!(signed(0.0, 1.0), "       │       ");
        assert_eq!(signed(2.0, 1.0), "       │███████");
    }
}
