//! What can lie above a screen: one thing at a time, closed by Esc.

use crate::domain::filter::Field;
use crate::domain::{ChangeState, Checklist, Layer, StepRef};
use crate::jobs::desk::JumpRow;
use crate::tui::app::sheet::{Dispute, Entry};
use crate::tui::doc::Doc;
use ratatui_textarea::TextArea;
use tui_input::Input;

/// Something above the screen.
#[derive(Debug)]
pub(crate) enum Overlay {
    /// The keys of this place, narrowed by typing.
    Help(Picker),
    /// All actions, found by a few letters.
    Palette(Picker),
    /// Runs, found by a few letters.
    Jump(Picker, Vec<JumpRow>),
    /// A line to type.
    Prompt(Prompt),
    /// A note to write.
    Note(Box<Note>),
    /// Letters that each do something.
    Menu(Menu),
    /// Something to read.
    Page(Page),
}

/// A list narrowed by typing.
#[derive(Debug, Default)]
pub(crate) struct Picker {
    /// What is typed.
    pub(crate) input: Input,
    /// Line under the cursor.
    pub(crate) selected: usize,
}

/// A line to type.
#[derive(Debug)]
pub(crate) struct Prompt {
    /// What for.
    pub(crate) kind: PromptKind,
    /// What is typed.
    pub(crate) input: Input,
    /// Why it cannot be taken yet.
    pub(crate) error: Option<String>,
    /// Completions of the word under the cursor, best first.
    pub(crate) offers: Vec<Offer>,
    /// Offer under the cursor.
    pub(crate) offer: usize,
}

/// A completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    /// The whole line with it.
    pub(crate) line: String,
    /// What is shown.
    pub(crate) shown: String,
    /// What it means.
    pub(crate) about: String,
}

/// What a line is typed for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PromptKind {
    /// The board's filter.
    Filter,
    /// Words in this run.
    SearchRun,
    /// Words in all runs.
    SearchAll,
    /// Logs to read.
    Import,
    /// Why a pair is decided so; the question names the verdict.
    Reason(&'static str),
    /// The words that prove it.
    PairEvidence,
    /// A name for the board's filter.
    QueueName,
    /// The folder for a dataset of this format.
    ExportTo(String),
    /// Why a run is settled so.
    Settle(Dispute, Layer),
    /// A grader to audit.
    Audit,
    /// Why a change is accepted or rolled back.
    ChangeReason(Entry, ChangeState),
}

impl PromptKind {
    /// What stands before the line.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Filter => "filter",
            Self::SearchRun => "search this run",
            Self::SearchAll => "search all runs",
            Self::Import => {
                "import files or folders, also several; \"quotes\" round a name with spaces"
            }
            Self::Reason(question) => question,
            Self::PairEvidence => "words that prove it, as they stand (empty: none)",
            Self::Settle(..) => "why so? (empty: no note)",
            Self::Audit => "a grader below, FILE.toml or a command; then as:NAME@VERSION",
            Self::QueueName => "name of the queue",
            Self::ChangeReason(_, ChangeState::Accepted) => {
                "why accept it? what did the acceptance method show"
            }
            Self::ChangeReason(_, ChangeState::RolledBack) => "why roll it back?",
            Self::ExportTo(_) => {
                "folder, then split:task  model:FOLDER  reference:FOLDER  redact  draft"
            }
        }
    }
}

/// A note to write.
#[derive(Debug)]
pub(crate) struct Note {
    /// What it is about, in words.
    pub(crate) title: String,
    /// The editor.
    pub(crate) area: TextArea<'static>,
    /// Name under which half-written words are kept.
    pub(crate) draft: String,
    /// What it is for.
    pub(crate) kind: NoteKind,
    /// It could not be read when it was to be closed, and nothing was typed since.
    pub(crate) is_refused: bool,
}

/// What is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoteKind {
    /// The note of the verdict.
    Verdict,
    /// A better decision in place of the one at a step.
    Side(StepRef),
}

/// Letters that each do something.
#[derive(Debug, Clone)]
pub(crate) struct Menu {
    /// What it asks.
    pub(crate) title: String,
    /// What it is for.
    pub(crate) kind: MenuKind,
    /// The letters.
    pub(crate) items: Vec<MenuItem>,
    /// It is one line above the footer, not a box: the screen stays in view.
    pub(crate) is_strip: bool,
    /// Item under the cursor of a box.
    pub(crate) selected: usize,
}

/// One letter of a menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MenuItem {
    /// The letter.
    pub(crate) key: char,
    /// What it does, short.
    pub(crate) label: String,
    /// What it means.
    pub(crate) about: String,
    /// It is ticked or not; `None` where nothing is ticked.
    pub(crate) ticked: Option<bool>,
}

/// What a menu is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MenuKind {
    /// The sub-cause of a label just saved.
    Cause(Layer),
    /// What proves a model failure.
    Ticks(Checklist),
    /// The column to sort by.
    Sort(Vec<Field>),
    /// The label for the marked runs.
    LabelMarked,
    /// The label that settles a run.
    Settle(Dispute),
    /// Why a candidate is better.
    Criteria,
}

/// Something to read.
#[derive(Debug)]
pub(crate) struct Page {
    /// What it is.
    pub(crate) title: String,
    /// The text.
    pub(crate) doc: Doc,
    /// First line seen.
    pub(crate) top: usize,
}

impl Picker {
    /// What is typed.
    pub(crate) fn typed(&self) -> &str {
        self.input.value()
    }
}

impl Prompt {
    /// A line that begins with `text`.
    pub(crate) fn new(kind: PromptKind, text: &str) -> Self {
        Self {
            kind,
            input: Input::new(text.to_owned()),
            error: None,
            offers: Vec::new(),
            offer: 0,
        }
    }
}

impl Menu {
    /// The item of a letter.
    pub(crate) fn find(&self, key: char) -> Option<usize> {
        self.items.iter().position(|item| item.key == key)
    }
}
