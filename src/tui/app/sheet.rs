//! A sheet: a list with a page beside it. Advice, rewards, export, search hits and other lists are all sheets, with
//! the same few keys.

use super::pair::Names;
use crate::domain::{DecisionId, FindingAction, RunId};
use crate::jobs::desk::Ask;
use crate::tui::doc::{Doc, Layout};
use crate::tui::theme::Ink;

/// What a sheet shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SheetKind {
    /// Pairs to decide and decided ones.
    Pairs,
    /// Advice for each cohort.
    Advice,
    /// Groups with rewards and advantages.
    Rewards,
    /// The ledger of changes.
    Changes,
    /// A run's probes.
    Probe(RunId),
    /// Who agrees with whom.
    Agreement,
    /// Datasets that can be written.
    Export,
    /// What cleaning found.
    Findings,
    /// Words found in all runs.
    Search(String),
    /// Filters kept under a name.
    Queues,
    /// Work in the background.
    Jobs,
}

impl SheetKind {
    /// Its word in the bar.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Pairs => "pair",
            Self::Advice => "advice",
            Self::Rewards => "rewards",
            Self::Changes => "changes",
            Self::Probe(_) => "probe",
            Self::Agreement => "agreement",
            Self::Export => "export",
            Self::Findings => "findings",
            Self::Search(_) => "search",
            Self::Queues => "queues",
            Self::Jobs => "jobs",
        }
    }
}

/// What a row leads to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Target {
    /// Nothing; its page says all.
    None,
    /// A step of a run.
    Run(RunId, i64, u32),
    /// A pair.
    Pair(Names),
    /// The board under a filter.
    Filter(String),
    /// A format to preview and write.
    Format(String),
    /// A finding to decide.
    Finding(Mark),
    /// A change to accept or roll back.
    Change(Entry),
    /// A run on which reviewers differ.
    Dispute(Dispute),
}

/// A run on which reviewers differ, as far as a key needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dispute {
    /// The run.
    pub(crate) run: RunId,
    /// Its row key.
    pub(crate) seq: i64,
    /// The first step that somebody called wrong.
    pub(crate) step: u32,
    /// Who says what.
    pub(crate) said: String,
}

/// A change, as far as a key needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its short name.
    pub(crate) change: String,
    /// The entry that is seen.
    pub(crate) entry: DecisionId,
    /// What keeps it from being accepted.
    pub(crate) missing: Option<String>,
}

/// A finding, as far as a key needs it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mark {
    /// Its id.
    pub(crate) finding: String,
    /// Its rule.
    pub(crate) rule: String,
    /// What was decided.
    pub(crate) action: Option<FindingAction>,
    /// Run, row key and step, where it is in a run.
    pub(crate) place: Option<(RunId, i64, u32)>,
}

/// One row.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// One cell a column.
    pub(crate) cells: Vec<(Ink, String)>,
    /// The page beside the list.
    pub(crate) page: Doc,
    /// What it leads to.
    pub(crate) target: Target,
}

/// A column: heading and share of the width.
pub(crate) type Head = (&'static str, u16);

/// What a sheet was filled with.
#[derive(Debug, Default)]
pub(crate) struct Filling {
    /// Columns.
    pub(crate) heads: Vec<Head>,
    /// Rows.
    pub(crate) rows: Vec<Row>,
    /// Said above the list.
    pub(crate) note: String,
    /// Said in place of an empty list: why, and what to do next.
    pub(crate) empty: (String, String),
}

/// How far a sheet is.
#[derive(Debug)]
pub(crate) enum Fill {
    /// Its answer has not come.
    Waiting,
    /// It is filled.
    Ready(Filling),
}

/// A sheet.
#[derive(Debug)]
pub(crate) struct Sheet {
    pub(crate) kind: SheetKind,
    pub(crate) fill: Fill,
    /// The answer that is waited for: the whole sheet, or the page of a row.
    pub(crate) asked: Option<Ask>,
    /// Row under the cursor.
    pub(crate) selected: usize,
    /// First row seen.
    pub(crate) top: usize,
    /// The page has the keys, not the list.
    pub(crate) in_page: bool,
    /// First line of the page that is seen.
    pub(crate) page_top: usize,
    /// The page's lines, for the row and width that they were broken for.
    pub(crate) layout: Option<(usize, usize, Layout)>,
}

impl Sheet {
    /// An empty sheet whose answer was asked for.
    pub(crate) fn new(kind: SheetKind) -> Self {
        Self {
            kind,
            fill: Fill::Waiting,
            asked: None,
            selected: 0,
            top: 0,
            in_page: false,
            page_top: 0,
            layout: None,
        }
    }

    /// Takes what it shows; the cursor stays where it was.
    pub(crate) fn take(&mut self, filling: Filling) {
        self.selected = self.selected.min(filling.rows.len().saturating_sub(1));
        self.fill = Fill::Ready(filling);
        self.asked = None;
        self.layout = None;
    }

    /// Its rows say the most, and their pages little.
    pub(crate) fn is_of_rows(&self) -> bool {
        matches!(
            self.kind,
            SheetKind::Pairs | SheetKind::Search(_) | SheetKind::Queues | SheetKind::Jobs
        )
    }

    /// What stands above its list: its word, and the note.
    pub(crate) fn words(&self) -> String {
        let word = self.kind.word();
        match &self.fill {
            Fill::Waiting => format!("{word}  working it out…   Esc stops it"),
            Fill::Ready(filling) => format!("{word}  {}", filling.note),
        }
    }

    /// Its rows.
    pub(crate) fn rows(&self) -> &[Row] {
        match &self.fill {
            Fill::Waiting => &[],
            Fill::Ready(filling) => &filling.rows,
        }
    }

    /// Row under the cursor.
    pub(crate) fn row(&self) -> Option<&Row> {
        self.rows().get(self.selected)
    }

    /// Breaks the page of the row under the cursor, unless that was done.
    pub(crate) fn lay(&mut self, columns: usize) {
        let done = self.layout.as_ref();
        if done.is_some_and(|(row, width, _)| (*row, *width) == (self.selected, columns)) {
            return;
        }
        let moved = done.is_none_or(|(row, _, _)| *row != self.selected);
        if moved {
            self.page_top = 0;
        }
        let layout = self
            .row()
            .map(|row| row.page.layout(columns, crate::text::Wrap::Words));
        self.layout = layout.map(|layout| (self.selected, columns, layout));
    }
}
