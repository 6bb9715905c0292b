//! Runs side by side, each with the first: their steps aligned by content, and the pair of steps under the cursor in full.

use super::duo::Duo;
use crate::domain::{RunId, Step};
use crate::jobs::Compared;
use crate::text::Wrap;
use crate::triage::{DiffRow, RowKind};
use crate::tui::doc::Doc;
use crate::tui::render::{self, Dress};

/// A first run, and the others that are laid beside it one at a time.
#[derive(Debug)]
pub(crate) struct CompareView {
    pub(crate) a: RunId,
    others: Vec<RunId>,
    /// Which of the others is beside the first.
    at: usize,
    /// The difference, once it has been worked out.
    pub(crate) compared: Option<Box<Compared>>,
    /// Row under the cursor.
    pub(crate) selected: usize,
    /// First row seen.
    pub(crate) top: usize,
    /// The text has the keys, not the rows.
    pub(crate) in_text: bool,
    pub(crate) wrap: Wrap,
    /// The steps of the row under the cursor, and which row that is.
    pub(crate) duo: Option<(usize, Duo)>,
}

impl CompareView {
    /// Opens on a run and others; `None` without another.
    pub(crate) fn new(a: RunId, others: Vec<RunId>) -> Option<Self> {
        (!others.is_empty()).then(|| Self {
            a,
            others,
            at: 0,
            compared: None,
            selected: 0,
            top: 0,
            in_text: false,
            wrap: Wrap::Words,
            duo: None,
        })
    }

    /// The run beside the first.
    pub(crate) fn b(&self) -> &RunId {
        &self.others[self.at]
    }

    /// Which of how many others is beside the first, counted from one.
    pub(crate) fn place(&self) -> (usize, usize) {
        (self.at + 1, self.others.len())
    }

    /// Lays the next or previous run beside the first; `None` at the end of the list.
    pub(crate) fn turn(&mut self, by: isize) -> Option<()> {
        self.at = self
            .at
            .checked_add_signed(by)
            .filter(|at| *at < self.others.len())?;
        (self.compared, self.duo) = (None, None);
        (self.selected, self.top) = (0, 0);
        Some(())
    }

    /// Takes the difference; the cursor goes to where the runs part.
    pub(crate) fn take(&mut self, compared: Box<Compared>) {
        let parting = compared.diff.first_divergence.as_ref();
        self.selected = parting.map_or(0, |d| d.row);
        self.compared = Some(compared);
        self.duo = None;
    }

    /// What the difference means, and where the runs part: a sentence each.
    pub(crate) fn says(&self) -> Vec<String> {
        let Some(diff) = self.compared.as_ref().map(|c| &c.diff) else {
            return Vec::new();
        };
        let parting = diff.first_divergence.as_ref();
        let parting = parting.map(|d| format!("they part at row {}: {}", d.row, d.meaning));
        std::iter::once(diff.note.clone()).chain(parting).collect()
    }

    /// The aligned rows.
    pub(crate) fn rows(&self) -> &[DiffRow] {
        self.compared
            .as_ref()
            .map_or(&[], |c| c.diff.rows.as_slice())
    }

    /// Both steps of a row.
    pub(crate) fn steps(&self, row: usize) -> (Option<&Step>, Option<&Step>) {
        let (Some(compared), Some(row)) = (&self.compared, self.rows().get(row)) else {
            return (None, None);
        };
        let of = |steps: &'_ [Step], at: Option<u32>| at.and_then(|at| place(steps, at));
        let a = of(&compared.a, row.a).map(|at| &compared.a[at]);
        let b = of(&compared.b, row.b).map(|at| &compared.b[at]);
        (a, b)
    }

    /// Draws the steps under the cursor, unless they are drawn.
    pub(crate) fn draw_row(&mut self) {
        if self
            .duo
            .as_ref()
            .is_some_and(|(row, _)| *row == self.selected)
        {
            return;
        }
        let (a, b) = self.steps(self.selected);
        let duo = Duo::new(drawn(a), drawn(b));
        self.duo = Some((self.selected, duo));
    }

    /// The next or previous row that is not the same in both; `None` at the end.
    pub(crate) fn next_difference(&self, forward: bool) -> Option<usize> {
        let differs = |(_, row): &(usize, &DiffRow)| row.kind != RowKind::Same;
        let mut rows = self
            .rows()
            .iter()
            .enumerate()
            .filter(differs)
            .map(|(i, _)| i);
        if forward {
            rows.find(|i| *i > self.selected)
        } else {
            rows.take_while(|i| *i < self.selected).last()
        }
    }
}

/// Steps are in order, and their index is nearly always their place.
fn place(steps: &[Step], index: u32) -> Option<usize> {
    steps.binary_search_by_key(&index, |s| s.index).ok()
}

fn drawn(step: Option<&Step>) -> Doc {
    let Some(step) = step else {
        return Doc::default();
    };
    let dress = Dress {
        raw: false,
        revealed: true,
    };
    render::step(&crate::tui::render::head_of(step), &step.text, dress)
}
