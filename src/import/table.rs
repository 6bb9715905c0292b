//! Parquet tables as JSON lines, one row a line, so that every importer reads them like any other file. Columns keep
//! their names; nested lists and structs stay nested; times become whole microseconds. It judges no column.

mod bounds;
mod line;

use super::pieces::Pieces;
use line::Line;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Writes the rows of a table as lines while they are read.
pub(crate) struct TableLines {
    rows: RowIter<'static>,
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
        Ok(Self { rows })
    }
}

impl Pieces for TableLines {
    fn piece(&mut self) -> io::Result<String> {
        let rows = &mut self.rows;
        let row = guarded(|| rows.next().transpose().map_err(io::Error::other))?;
        row.map_or_else(|| Ok(String::new()), |row| Line::of(&row))
    }
}

/// The decoder may panic on a table that was made to break it; one bad file must not end the import.
fn guarded<T>(read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let result = catch_unwind(AssertUnwindSafe(read));
    result.unwrap_or_else(|_| Err(io::Error::other("the parquet table is damaged")))
}
