//! Parquet tables as JSON lines, one row a line, so that every importer reads them like any other file. Columns keep
//! their names; nested lists and structs stay nested; times become whole microseconds. It judges no column.

mod bounds;
mod line;

use line::Line;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Writes the rows of a table as lines while they are read.
pub(crate) struct TableLines {
    rows: RowIter<'static>,
    ready: Cursor<Vec<u8>>,
}

impl TableLines {
    /// Opens a table.
    pub(crate) fn open(file: File) -> io::Result<Self> {
        let rows = guarded(|| {
            let reader = SerializedFileReader::new(file).map_err(io::Error::other)?;
            let count = reader.metadata().file_metadata().num_rows();
            if count < 0 {
                return Err(io::Error::other(
                    "the table says that it has fewer than no rows",
                ));
            }
            bounds::check(&reader)?;
            Ok(RowIter::from_file_into(Box::new(reader)).with_batch_size(bounds::BATCH))
        })?;
        Ok(Self {
            rows,
            ready: Cursor::default(),
        })
    }

    fn refill(&mut self) -> io::Result<()> {
        let rows = &mut self.rows;
        let row = guarded(|| rows.next().transpose().map_err(io::Error::other))?;
        let line = row.map_or_else(|| Ok(String::new()), |row| Line::of(&row))?;
        self.ready = Cursor::new(line.into_bytes());
        Ok(())
    }
}

impl Read for TableLines {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.ready.read(out)?;
        if n > 0 || out.is_empty() {
            return Ok(n);
        }
        self.refill()?;
        self.ready.read(out)
    }
}

/// The decoder may panic on a table that was made to break it; one bad file must not end the import.
fn guarded<T>(read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let result = catch_unwind(AssertUnwindSafe(read));
    result.unwrap_or_else(|_| Err(io::Error::other("the parquet table is damaged")))
}
