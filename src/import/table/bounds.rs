//! Looks through a table before its rows are built: the decoder takes a row into memory whole, every text of a list copied
//! from the dictionary, so a file of a megabyte can ask for a terabyte. Texts are measured here where they lie.

use super::line::too_large;
use crate::import::limits::{MAX_DEPTH, MAX_LIST_VALUES, MAX_VALUE_BYTES};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::schema::types::Type;
use std::io;

/// Rows that a column reads at once.
pub(super) const BATCH: usize = 64;

/// No row of the table outgrows the limits.
pub(super) fn check(reader: &dyn FileReader) -> io::Result<()> {
    let file = reader.metadata().file_metadata();
    let schema = file.schema_descr();
    depth(schema.root_schema())?;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(io::Error::other)?;
        for column in 0..schema.num_columns() {
            if schema.column(column).max_rep_level() > 0 {
                values(group.as_ref(), column)?;
                texts(
                    group.as_ref(),
                    column,
                    schema.column(column).max_def_level(),
                )?;
            }
        }
    }
    Ok(())
}

fn depth(root: &Type) -> io::Result<()> {
    let mut open = vec![(root, 0)];
    while let Some((node, depth)) = open.pop() {
        if depth > MAX_DEPTH {
            return Err(io::Error::other(format!(
                "the table's columns are more than {MAX_DEPTH} levels deep"
            )));
        }
        if node.is_group() {
            open.extend(node.get_fields().iter().map(|f| (f.as_ref(), depth + 1)));
        }
    }
    Ok(())
}

/// Counts by the pages' own headers, which are what the decoder goes by.
fn values(group: &dyn RowGroupReader, column: usize) -> io::Result<()> {
    let pages = group.get_column_page_reader(column);
    let mut pages = pages.map_err(io::Error::other)?;
    let mut count = 0usize;
    while let Some(page) = pages.peek_next_page().map_err(io::Error::other)? {
        count = count.saturating_add(page.num_levels.or(page.num_rows).unwrap_or(0));
        if count > MAX_LIST_VALUES {
            return Err(io::Error::other(format!(
                "a list column holds more than {MAX_LIST_VALUES} values in one row group; hint: write smaller row groups"
            )));
        }
        pages.skip_next_page().map_err(io::Error::other)?;
    }
    Ok(())
}

fn texts(group: &dyn RowGroupReader, column: usize, full: i16) -> io::Result<()> {
    let reader = group.get_column_reader(column).map_err(io::Error::other)?;
    let ColumnReader::ByteArrayColumnReader(mut reader) = reader else {
        return Ok(());
    };
    let mut batch = Batch::default();
    while batch.read(&mut reader)? {
        batch.measure(full)?;
    }
    Ok(())
}

/// Texts of some rows; they share the dictionary's memory.
#[derive(Default)]
struct Batch {
    texts: Vec<ByteArray>,
    def: Vec<i16>,
    rep: Vec<i16>,
}

impl Batch {
    fn read(&mut self, reader: &mut ColumnReaderImpl<ByteArrayType>) -> io::Result<bool> {
        self.texts.clear();
        self.def.clear();
        self.rep.clear();
        let (def, rep) = (Some(&mut self.def), Some(&mut self.rep));
        let read = reader.read_records(BATCH, def, rep, &mut self.texts);
        let (records, _, levels) = read.map_err(io::Error::other)?;
        Ok(records > 0 || levels > 0)
    }

    fn measure(&self, full: i16) -> io::Result<()> {
        let mut texts = self.texts.iter();
        let mut row = 0usize;
        for (at, rep) in self.rep.iter().enumerate() {
            if *rep == 0 {
                row = 0;
            }
            // A column without empty lists has no definition levels.
            if self.def.get(at).is_none_or(|def| *def == full) {
                row = row.saturating_add(texts.next().map_or(0, ByteArray::len));
            }
            if row > MAX_VALUE_BYTES {
                return Err(too_large());
            }
        }
        Ok(())
    }
}
