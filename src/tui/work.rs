//! Work in the background as the screen sees it: what was ordered, how far it is, how it ended.
//!
//! What the work is stands in `jobs`; the runner starts it.

use std::path::PathBuf;

/// Work that the screen can order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Order {
    /// Read logs.
    Import(Vec<PathBuf>),
    /// Bring the search index up to date.
    Index,
    /// Make a workspace of sample logs.
    Demo,
    /// Score the runs and pairs of a filter with the configured model.
    Score(String),
    /// Write a dataset.
    Export {
        /// Format's word.
        format: String,
        /// Filter as typed.
        filter: String,
        /// Who `me` is.
        reviewer: String,
        /// Where it goes.
        folder: PathBuf,
    },
}

impl Order {
    /// What it does, in words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Import(paths) => match paths.as_slice() {
                [one] => format!("import {}", one.display()),
                many => format!("import of {} paths", many.len()),
            },
            Self::Index => "search index".to_owned(),
            Self::Demo => "demo".to_owned(),
            Self::Score(_) => "score".to_owned(),
            Self::Export { format, .. } => format!("export {format}"),
        }
    }
}

/// News from work.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct News {
    /// Which work.
    pub(crate) id: u64,
    /// What there is to say.
    pub(crate) state: State,
}

/// How work stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum State {
    /// So much is done of so much; 0 = total unknown.
    Running(u64, u64),
    /// It is done; one line says what came of it, and perhaps what should be done next.
    Done(String, Option<Order>),
    /// It did not work.
    Failed(String),
}

/// Work that was started.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    /// Number.
    pub(crate) id: u64,
    /// What it does.
    pub(crate) words: String,
    /// When it began, in milliseconds since the program started.
    pub(crate) began_ms: u64,
    /// When it ended.
    pub(crate) ended_ms: Option<u64>,
    /// How it stands.
    pub(crate) state: State,
    /// Somebody asked it to stop.
    pub(crate) cancelled: bool,
}

impl Line {
    /// It still runs.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self.state, State::Running(..))
    }
}
