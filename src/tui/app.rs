//! The state of the screen: one owner, plain data. `update` changes it, `view` reads it.

pub(crate) mod board;
pub(crate) mod body;
pub(crate) mod compare;
pub(crate) mod duo;
pub(crate) mod overlay;
pub(crate) mod pace;
pub(crate) mod pair;
pub(crate) mod run;
pub(crate) mod says;
pub(crate) mod sheet;

use super::effect::Effect;
use super::event::Now;
use super::key::Key;
use super::keymap::Keymap;
use super::place::Place;
use super::theme::Theme;
use super::work;
use crate::domain::Layer;
use crate::jobs::desk::{Ask, Queue};
use crate::triage::Taxonomy;
use board::Board;
use compare::CompareView;
use overlay::Overlay;
use pair::PairView;
use run::RunView;
use says::Says;
use sheet::Sheet;
use std::collections::HashSet;

/// Which screens stand in the tab bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Queue, run, pair.
    Annotator,
    /// What failed before any training.
    Engineer,
    /// What changed, and who agrees.
    Lead,
}

/// What a label key does after it has saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advance {
    /// Offers the sub-causes first.
    Step,
    /// Goes to the next run at once.
    AtOnce,
}

/// What holds for the whole session.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Who decides.
    pub(crate) reviewer: String,
    /// Whose tab bar.
    pub(crate) role: Role,
    /// What a label key does next.
    pub(crate) advance: Advance,
    /// Nothing may be decided.
    pub(crate) read_only: bool,
    /// The workspace itself cannot be written.
    pub(crate) locked: bool,
    /// Secrets are masked until revealed.
    pub(crate) mask_secrets: bool,
    /// The mouse is ours.
    pub(crate) mouse: bool,
    /// The workspace is the demo's.
    pub(crate) demo: bool,
    /// Advice thresholds that the settings change.
    pub(crate) gates: toml::Table,
    /// The folder of logs that lies here, for the first screen.
    pub(crate) here: String,
    /// The model whose tokens a preview shows, where one is set.
    pub(crate) model: String,
}

/// One screen of the stack.
#[derive(Debug)]
pub(crate) enum Screen {
    /// No workspace yet.
    Welcome,
    /// The runs.
    Board,
    /// One run.
    Run(Box<RunView>),
    /// Two candidates.
    Pair(Box<PairView>),
    /// Two runs.
    Compare(Box<CompareView>),
    /// A list with a page beside it.
    Sheet(Box<Sheet>),
}

/// The whole state.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) set: Settings,
    pub(crate) keymap: Keymap,
    pub(crate) theme: Theme,
    pub(crate) book: Taxonomy,
    /// Columns and rows of the terminal.
    pub(crate) size: (u16, u16),
    pub(crate) now: Now,
    /// The stack of screens; the last one is seen.
    pub(crate) screens: Vec<Screen>,
    /// What lies above the screen.
    pub(crate) overlay: Option<Overlay>,
    /// Keys of a sequence that is not complete.
    pub(crate) typed: Vec<Key>,
    /// A count typed before a movement.
    pub(crate) count: Option<usize>,
    pub(crate) says: Says,
    pub(crate) work: Vec<work::Line>,
    pub(crate) board: Board,
    /// Row keys of the runs that the reviewer has labelled.
    pub(crate) mine: HashSet<i64>,
    /// The last label given, for `.`.
    pub(crate) last_label: Option<(Layer, Option<String>)>,
    /// Runs to label in an order that nobody chose, once drawn.
    pub(crate) queue: Option<Queue>,
    /// The first of the queue is to be opened as soon as it is drawn.
    pub(crate) queue_wanted: bool,
    /// The card that was asked for is to be copied, not shown.
    pub(crate) copy_card: bool,
    /// Decisions made since the workspace was opened, less those taken back.
    pub(crate) decided: usize,
    /// Leaving was asked for once, and would lose something.
    pub(crate) leave_asked: bool,
    effects: Vec<Effect>,
}

impl App {
    /// Returns a screen on a workspace, or the first screen where there is none.
    pub(crate) fn new(set: Settings, keymap: Keymap, theme: Theme, has_workspace: bool) -> Self {
        let mut app = Self {
            set,
            keymap,
            theme,
            book: Taxonomy::embedded(),
            size: (80, 24),
            now: Now::default(),
            screens: vec![Screen::Welcome],
            overlay: None,
            typed: Vec::new(),
            count: None,
            says: Says::default(),
            work: Vec::new(),
            board: Board::default(),
            mine: HashSet::new(),
            last_label: None,
            queue: None,
            queue_wanted: false,
            copy_card: false,
            decided: 0,
            leave_asked: false,
            effects: Vec::new(),
        };
        if has_workspace {
            app.enter_workspace();
        }
        app
    }

    /// Starts on the board.
    pub(crate) fn enter_workspace(&mut self) {
        self.screens = vec![Screen::Board];
        self.board = Board::default();
        self.mine.clear();
        self.queue = None;
        self.decided = 0;
        let reviewer = self.set.reviewer.clone();
        self.ask(Ask::Mine(reviewer));
        self.list_board();
    }

    /// Asks for the board's list under its filter: its beginning first, unless that list is seen already.
    pub(crate) fn list_board(&mut self) {
        if self.board.listed.as_ref() == Some(&self.board.filter) {
            return self.list_all();
        }
        let filter = self.board.filter.clone();
        let reviewer = self.set.reviewer.clone();
        self.board.waiting = true;
        self.ask(Ask::FirstRuns { filter, reviewer });
    }

    /// Asks for the whole list.
    pub(crate) fn list_all(&mut self) {
        let filter = self.board.filter.clone();
        let reviewer = self.set.reviewer.clone();
        self.ask(Ask::Listing { filter, reviewer });
    }

    /// Asks for the counts at the board's side.
    pub(crate) fn count_board(&mut self) {
        let filter = self.board.filter.clone();
        let reviewer = self.set.reviewer.clone();
        self.ask(Ask::Facets { filter, reviewer });
    }

    /// Counts what is labelled, of the list and of the queue: once a change, not once a frame.
    pub(crate) fn recount(&mut self) {
        let mine = &self.mine;
        self.board.done = self.board.seqs.iter().filter(|s| mine.contains(s)).count();
        if let Some(queue) = &mut self.queue {
            let open = queue
                .items
                .iter()
                .filter(|(seq, _)| !mine.contains(seq))
                .count();
            queue.done = queue.total - open.min(queue.total);
        }
    }

    /// Wants something done.
    pub(crate) fn want(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Asks the desk.
    pub(crate) fn ask(&mut self, ask: Ask) {
        self.want(Effect::Ask(ask));
    }

    /// Hands out what is wanted.
    pub(crate) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Where keys are pressed.
    pub(crate) fn place(&self) -> Place {
        match self.screens.last() {
            Some(Screen::Welcome) | None => Place::Welcome,
            Some(Screen::Board) => Place::Board,
            Some(Screen::Run(_)) => Place::Run,
            Some(Screen::Pair(_)) => Place::Pair,
            Some(Screen::Compare(_)) => Place::Compare,
            Some(Screen::Sheet(_)) => Place::Sheet,
        }
    }

    /// The run that is seen, if one is.
    pub(crate) fn run(&self) -> Option<&RunView> {
        match self.screens.last() {
            Some(Screen::Run(view)) => Some(view),
            _ => None,
        }
    }

    /// The run that is seen, to change it.
    pub(crate) fn run_mut(&mut self) -> Option<&mut RunView> {
        match self.screens.last_mut() {
            Some(Screen::Run(view)) => Some(view),
            _ => None,
        }
    }

    /// The pair that is seen, if one is.
    pub(crate) fn pair(&self) -> Option<&PairView> {
        match self.screens.last() {
            Some(Screen::Pair(view)) => Some(view),
            _ => None,
        }
    }

    /// The pair that is seen, to change it.
    pub(crate) fn pair_mut(&mut self) -> Option<&mut PairView> {
        match self.screens.last_mut() {
            Some(Screen::Pair(view)) => Some(view),
            _ => None,
        }
    }

    /// The comparison that is seen, if one is.
    pub(crate) fn compare(&self) -> Option<&CompareView> {
        match self.screens.last() {
            Some(Screen::Compare(view)) => Some(view),
            _ => None,
        }
    }

    /// The comparison that is seen, to change it.
    pub(crate) fn compare_mut(&mut self) -> Option<&mut CompareView> {
        match self.screens.last_mut() {
            Some(Screen::Compare(view)) => Some(view),
            _ => None,
        }
    }

    /// The sheet that is seen, if one is.
    pub(crate) fn sheet(&self) -> Option<&Sheet> {
        match self.screens.last() {
            Some(Screen::Sheet(sheet)) => Some(sheet),
            _ => None,
        }
    }

    /// The sheet that is seen, to change it.
    pub(crate) fn sheet_mut(&mut self) -> Option<&mut Sheet> {
        match self.screens.last_mut() {
            Some(Screen::Sheet(sheet)) => Some(sheet),
            _ => None,
        }
    }

    /// The screen that keys are meant for is not there yet.
    pub(crate) fn is_settling(&self) -> bool {
        if self.board.open_when_read.is_some() || self.queue_wanted {
            return true;
        }
        match self.screens.last() {
            Some(Screen::Board) => !self.board.loaded || self.board.waiting,
            Some(Screen::Run(view)) => view.page.is_none(),
            Some(Screen::Pair(view)) => view.page.is_none(),
            _ => false,
        }
    }

    /// Something moves or will vanish, so time must be told.
    pub(crate) fn needs_ticks(&self) -> bool {
        self.says.is_fading() || self.work.iter().any(work::Line::is_running)
    }
}
