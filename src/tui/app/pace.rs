//! Time spent on an item, with idle time left out.

/// A longer pause between two keys is a pause, not reading.
pub(crate) const IDLE_MS: u64 = 60_000;

/// Counts the time that somebody worked on one item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pace {
    last_ms: Option<u64>,
    active_ms: u64,
}

impl Pace {
    /// The item came on screen, or a key was pressed on it.
    pub(crate) fn touch(&mut self, now_ms: u64) {
        if let Some(last) = self.last_ms {
            let gap = now_ms.saturating_sub(last);
            if gap <= IDLE_MS {
                self.active_ms += gap;
            }
        }
        self.last_ms = Some(now_ms);
    }

    /// Time worked so far.
    pub(crate) fn active_ms(self) -> u64 {
        self.active_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coffee_break_does_not_count() {
        let mut pace = Pace::default();
        for at in [
            0,
            5_000,
            12_000,
            12_000 + IDLE_MS + 1,
            12_000 + IDLE_MS + 3_001,
        ] {
            pace.touch(at);
        }
        assert_eq!(pace.active_ms(), 15_000);
    }
}
