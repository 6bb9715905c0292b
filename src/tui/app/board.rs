//! The board's state: a list of row keys that does not move, a cache of rows, marks, facets.

use crate::domain::filter::Field;
use crate::store::{FacetCount, RunRow};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Rows kept; past it the cache starts anew.
const MAX_ROWS: usize = 4_000;
/// Rows read ahead of and behind the window.
pub(crate) const AHEAD: usize = 60;

/// Which pane has the keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum BoardPane {
    /// The runs.
    #[default]
    Rows,
    /// The counts at the side.
    Facets,
}

/// The board.
#[derive(Debug, Default)]
pub(crate) struct Board {
    /// The filter in force, as typed.
    pub(crate) filter: String,
    /// Row keys in order.
    pub(crate) seqs: Vec<i64>,
    /// Runs in the workspace.
    pub(crate) total: u64,
    /// Runs of the list that the reviewer has labelled.
    pub(crate) done: usize,
    /// A list was asked for and not even its beginning has come.
    pub(crate) waiting: bool,
    /// A whole list has come at least once.
    pub(crate) loaded: bool,
    /// Only the beginning of the list is here; the rest is on its way.
    pub(crate) is_partial: bool,
    /// The filter of the list that is here.
    pub(crate) listed: Option<String>,
    /// The run under the cursor that the beginning of a list lacks, and where the cursor waits for it.
    lost: Option<(i64, usize)>,
    /// The cursor goes to the last row as soon as that is known.
    pub(crate) to_end: bool,
    /// Row under the cursor.
    pub(crate) selected: usize,
    /// First row seen.
    pub(crate) top: usize,
    /// Marked runs.
    pub(crate) marks: BTreeSet<i64>,
    /// Where a range began.
    pub(crate) anchor: Option<usize>,
    /// Which pane has the keys.
    pub(crate) pane: BoardPane,
    /// Counts at the side.
    pub(crate) facets: Vec<(Field, Vec<FacetCount>)>,
    /// Line of the facets under the cursor.
    pub(crate) facet: usize,
    /// A run to open as soon as its row has been read.
    pub(crate) open_when_read: Option<i64>,
    rows: HashMap<i64, RunRow>,
    asked: HashSet<i64>,
}

impl Board {
    /// Takes a new list; the cursor stays on its run, at its place on the screen.
    pub(crate) fn take_list(&mut self, seqs: Vec<i64>, total: u64) {
        let waited = self.lost.take().filter(|(_, at)| *at == self.selected);
        let found = waited.filter(|(seq, _)| seqs.contains(seq));
        let current = found.map(|(seq, _)| seq).or(self.selected_seq());
        let offset = self.selected.saturating_sub(self.top);
        self.seqs = seqs;
        self.total = total;
        self.waiting = false;
        self.loaded = true;
        self.is_partial = false;
        self.listed = Some(self.filter.clone());
        self.asked.clear();
        let found = current.and_then(|seq| self.seqs.iter().position(|s| *s == seq));
        let last = self.seqs.len().saturating_sub(1);
        self.selected = found.unwrap_or_else(|| self.selected.min(last));
        if std::mem::take(&mut self.to_end) {
            self.selected = last;
        }
        self.top = self.selected.saturating_sub(offset);
        self.anchor = None;
    }

    /// Takes the beginning of a list whose rest is on its way.
    pub(crate) fn take_beginning(&mut self, seqs: Vec<i64>, total: u64) {
        let current = self.selected_seq();
        let was_loaded = self.loaded;
        self.take_list(seqs, total);
        self.loaded = was_loaded;
        self.is_partial = true;
        self.lost = current
            .filter(|seq| !self.seqs.contains(seq))
            .map(|seq| (seq, self.selected));
    }

    /// The workspace was read and holds no run at all.
    pub(crate) fn has_no_runs(&self) -> bool {
        self.loaded && !self.is_partial && self.total == 0
    }

    /// Row key under the cursor.
    pub(crate) fn selected_seq(&self) -> Option<i64> {
        self.seqs.get(self.selected).copied()
    }

    /// Row under the cursor, once it has been read.
    pub(crate) fn selected_row(&self) -> Option<&RunRow> {
        self.row(self.selected_seq()?)
    }

    /// A row, once it has been read.
    pub(crate) fn row(&self, seq: i64) -> Option<&RunRow> {
        self.rows.get(&seq)
    }

    /// Takes rows.
    pub(crate) fn take_rows(&mut self, rows: Vec<RunRow>) {
        if self.rows.len() + rows.len() > MAX_ROWS {
            self.rows.clear();
            self.asked.clear();
        }
        for row in rows {
            self.asked.remove(&row.seq);
            self.rows.insert(row.seq, row);
        }
    }

    /// Rows must be read again: something about them was decided.
    pub(crate) fn forget_rows(&mut self) {
        self.rows.clear();
        self.asked.clear();
    }

    /// Keeps the cursor in the list and in a window of `height` rows.
    pub(crate) fn settle(&mut self, height: usize) {
        let last = self.seqs.len().saturating_sub(1);
        self.selected = self.selected.min(last);
        self.top = settle_top(self.top, self.selected, height, self.seqs.len());
    }

    /// Returns the row keys that the window needs and nobody has asked for; they count as asked for from now on.
    pub(crate) fn missing(&mut self, height: usize) -> Vec<i64> {
        let from = self.top.saturating_sub(AHEAD);
        let until = (self.top + height + AHEAD).min(self.seqs.len());
        let window = self.seqs.get(from..until).unwrap_or_default();
        let missing: Vec<i64> = window
            .iter()
            .filter(|seq| !self.rows.contains_key(seq) && !self.asked.contains(seq))
            .copied()
            .collect();
        self.asked.extend(&missing);
        missing
    }

    /// The runs that a command means: the marked ones, else the one under the cursor.
    pub(crate) fn meant(&self) -> Vec<i64> {
        if self.marks.is_empty() {
            self.selected_seq().into_iter().collect()
        } else {
            self.marks.iter().copied().collect()
        }
    }

    /// Values that a column has in the workspace, as far as the facets know.
    pub(crate) fn values(&self, field: Field) -> Vec<String> {
        let counts = self.facets.iter().filter(|(f, _)| *f == field);
        counts
            .flat_map(|(_, c)| c.iter().filter_map(|c| c.value.clone()))
            .collect()
    }

    /// Facet lines as one list: which field and value each shows; `None` heads a field.
    pub(crate) fn facet_lines(&self) -> Vec<(Field, Option<&FacetCount>)> {
        let mut lines = Vec::new();
        for (field, counts) in &self.facets {
            // A facet with one value says nothing that can be chosen.
            if counts.len() < 2 {
                continue;
            }
            lines.push((*field, None));
            lines.extend(counts.iter().map(|count| (*field, Some(count))));
        }
        lines
    }
}

/// Returns the first row to show so that `selected` is seen, moving as little as possible.
pub(crate) fn settle_top(top: usize, selected: usize, height: usize, len: usize) -> usize {
    let height = height.max(1);
    let top = top.min(selected);
    let top = if selected >= top + height {
        selected + 1 - height
    } else {
        top
    };
    top.min(len.saturating_sub(height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_list_does_not_lose_the_run_under_the_cursor() {
        let mut board = Board::default();
        board.take_list((0..1_000).collect(), 1_000);
        board.selected = 500;
        board.take_beginning((0..200).collect(), 1_000);
        assert!(board.is_partial && board.loaded);
        board.take_list((0..1_000).step_by(2).collect(), 1_000);
        assert_eq!(board.selected_seq(), Some(500));
        // Whoever has moved meanwhile stays where they are.
        board.take_beginning((0..200).collect(), 1_000);
        board.selected = 7;
        board.take_list((0..1_000).collect(), 1_000);
        assert_eq!(board.selected_seq(), Some(7));
    }

    #[test]
    fn a_new_list_leaves_the_cursor_on_its_run_and_in_its_place() {
        let mut board = Board::default();
        board.take_list((0..100).collect(), 100);
        board.selected = 50;
        board.settle(20);
        let offset = board.selected - board.top;
        // Every other run is gone.
        board.take_list((0..100).step_by(2).collect(), 100);
        assert_eq!(board.selected_seq(), Some(50));
        assert_eq!(board.selected - board.top, offset);
        board.take_list(Vec::new(), 0);
        board.settle(20);
        assert_eq!(board.selected_seq(), None);
    }

    #[test]
    fn rows_are_asked_for_once() {
        let mut board = Board::default();
        board.take_list((0..1000).collect(), 1000);
        let first = board.missing(20);
        assert_eq!(first.len(), 20 + AHEAD);
        assert!(board.missing(20).is_empty());
    }
}
