//! Places: where on the screen a key is pressed.

/// Where a key is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// No workspace yet.
    Welcome,
    /// Runs as rows.
    Board,
    /// One run, read and labelled.
    Run,
    /// Two candidates.
    Pair,
    /// Two runs side by side.
    Compare,
    /// A list with a page beside it: advice, rewards, export, messages, …
    Sheet,
}

/// A set of places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Places(u8);

impl Places {
    pub(crate) const WELCOME: Self = Self(1);
    pub(crate) const BOARD: Self = Self(2);
    pub(crate) const RUN: Self = Self(4);
    pub(crate) const PAIR: Self = Self(8);
    pub(crate) const COMPARE: Self = Self(16);
    pub(crate) const SHEET: Self = Self(32);
    pub(crate) const ANY: Self = Self(63);

    /// Both sets together.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Some place is in both sets.
    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl Place {
    /// The set of this place alone.
    pub(crate) const fn set(self) -> Places {
        match self {
            Self::Welcome => Places::WELCOME,
            Self::Board => Places::BOARD,
            Self::Run => Places::RUN,
            Self::Pair => Places::PAIR,
            Self::Compare => Places::COMPARE,
            Self::Sheet => Places::SHEET,
        }
    }

    /// Its word on screen.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Welcome => "welcome",
            Self::Board => "board",
            Self::Run => "run",
            Self::Pair => "pair",
            Self::Compare => "compare",
            Self::Sheet => "list",
        }
    }
}
