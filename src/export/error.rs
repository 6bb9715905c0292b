//! What can go wrong with a whole export. Rows that cannot leave are no errors: they are listed.

use super::input::SourceError;
use super::manifest::Block;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What can go wrong with a whole export.
#[derive(Debug, Error)]
pub enum Error {
    /// The disk said no.
    #[error("cannot write {}: {error}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A file stands there that is not of an earlier export.
    #[error("{} is not from an earlier export and stays as it is; choose an empty folder", .0.display())]
    InTheWay(PathBuf),
    /// Whoever reads the rows for us failed.
    #[error("cannot read the rows: {0}")]
    Source(#[source] SourceError),
    /// A gate for the whole set is closed.
    #[error("export is blocked: {}", .blocks.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Blocked {
        /// The format's word.
        format: &'static str,
        /// All closed gates.
        blocks: Vec<Block>,
    },
    /// A column file could not be written.
    #[error("cannot write parquet: {0}")]
    Parquet(#[source] Box<parquet::errors::ParquetError>),
    /// The shape does not fit the format.
    #[error("{0}")]
    Options(String),
    /// Somebody stopped it.
    #[error("stopped; nothing was written")]
    Cancelled,
}

impl Error {
    pub(crate) fn parquet(error: parquet::errors::ParquetError) -> Self {
        Self::Parquet(Box::new(error))
    }

    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            error,
        }
    }
}
