//! Text that is made a piece at a time, read like any other: UTF-16 turned over, rows of a table, sessions of a database.

use std::io::{self, Cursor, Read};

/// Makes text, a piece at a time.
pub(crate) trait Pieces {
    /// The next piece; an empty one is the end.
    fn piece(&mut self) -> io::Result<String>;
}

/// Pieces as one stream.
pub(crate) struct Joined<P> {
    pieces: P,
    ready: Cursor<Vec<u8>>,
}

impl<P: Pieces> Joined<P> {
    pub(crate) fn new(pieces: P) -> Self {
        Self {
            pieces,
            ready: Cursor::default(),
        }
    }
}

impl<P: Pieces> Read for Joined<P> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.ready.read(out)?;
        if n > 0 || out.is_empty() {
            return Ok(n);
        }
        self.ready = Cursor::new(self.pieces.piece()?.into_bytes());
        self.ready.read(out)
    }
}
