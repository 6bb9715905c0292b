//! A pair on screen: two candidates under one request, blind until decided.

use super::duo::Duo;
use super::pace::Pace;
use crate::domain::{ChatMessage, Choice, Criterion, Side};
use crate::jobs::SideName;
use crate::jobs::desk::{PairPage, PairSide};
use crate::tui::render;

/// A column of the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Column {
    /// The left one.
    #[default]
    Left,
    /// The right one.
    Right,
}

/// Both names of a pair, and whether it is shown again as if it were new.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Names {
    pub(crate) a: SideName,
    pub(crate) b: SideName,
    pub(crate) again: bool,
}

/// A pair.
#[derive(Debug)]
pub(crate) struct PairView {
    /// The list that it comes from.
    pub(crate) list: Vec<Names>,
    /// Its place in the list.
    pub(crate) place: usize,
    /// Everything about it, once it has been read.
    pub(crate) page: Option<Box<PairPage>>,
    /// The texts.
    pub(crate) duo: Option<Duo>,
    /// The whole request is seen, not only its end.
    pub(crate) request_open: bool,
    /// Column that an edit means.
    pub(crate) column: Column,
    /// What the reviewer is about to decide.
    pub(crate) choice: Option<Choice>,
    /// Criteria ticked so far.
    pub(crate) criteria: Vec<Criterion>,
    /// The reason typed so far.
    pub(crate) reason: String,
    pub(crate) pace: Pace,
    /// Secrets are shown.
    pub(crate) revealed: bool,
}

impl PairView {
    /// Opens a list of pairs at a place.
    pub(crate) fn new(list: Vec<Names>, place: usize) -> Self {
        Self {
            list,
            place,
            page: None,
            duo: None,
            request_open: false,
            column: Column::default(),
            choice: None,
            criteria: Vec::new(),
            reason: String::new(),
            pace: Pace::default(),
            revealed: false,
        }
    }

    /// The pair's names.
    pub(crate) fn names(&self) -> Option<&Names> {
        self.list.get(self.place)
    }

    /// The name under which its decisions are kept.
    pub(crate) fn subject(&self) -> Option<String> {
        let [a, b] = &self.page.as_ref()?.sides;
        Some(format!("{}|{}", a.candidate.at(), b.candidate.at()))
    }

    /// Takes the page and draws both sides.
    pub(crate) fn take(&mut self, page: Box<PairPage>) {
        self.page = Some(page);
        self.draw();
    }

    /// Draws both sides, with secrets masked or shown.
    pub(crate) fn draw(&mut self) {
        let Some(page) = &self.page else { return };
        let of = |column| render::message(self.message(page, column));
        self.duo = Some(Duo::new(of(Column::Left), of(Column::Right)));
    }

    fn message<'a>(&self, page: &'a PairPage, column: Column) -> &'a ChatMessage {
        let at = place_of(page, column);
        match page.masked.as_ref().filter(|_| !self.revealed) {
            Some(masked) => &masked.sides[at],
            None => &page.sides[at].message,
        }
    }

    /// What stood before the decisions, with secrets masked or shown.
    pub(crate) fn context<'a>(&self, page: &'a PairPage) -> &'a [ChatMessage] {
        match page.masked.as_ref().filter(|_| !self.revealed) {
            Some(masked) => &masked.context,
            None => &page.context,
        }
    }

    /// What the task standard asks for, in its order.
    pub(crate) fn standard(&self) -> Option<String> {
        let standard = self.page.as_ref()?.standard.as_ref()?;
        let order: Vec<&str> = standard.criteria.iter().map(String::as_str).collect();
        Some(format!(
            "standard {}: {}",
            standard.version,
            order.join(" › ")
        ))
    }

    /// The candidate in a column.
    pub(crate) fn side(&self, column: Column) -> Option<&PairSide> {
        self.page.as_deref().map(|page| side_of(page, column))
    }

    /// The reviewer has decided, so nothing is hidden any more.
    pub(crate) fn is_decided(&self) -> bool {
        self.page
            .as_ref()
            .is_some_and(|page| page.decided.is_some())
    }

    /// The choice that prefers a column, in canonical order.
    pub(crate) fn preferring(&self, column: Column) -> Option<Choice> {
        let page = self.page.as_ref()?;
        Some(match (page.left, column) {
            (Side::A, Column::Left) | (Side::B, Column::Right) => Choice::A,
            (Side::B, Column::Left) | (Side::A, Column::Right) => Choice::B,
        })
    }
}

fn side_of(page: &PairPage, column: Column) -> &PairSide {
    &page.sides[place_of(page, column)]
}

/// Which side stands in a column, in canonical order.
fn place_of(page: &PairPage, column: Column) -> usize {
    match (page.left, column) {
        (Side::A, Column::Left) | (Side::B, Column::Right) => 0,
        (Side::B, Column::Left) | (Side::A, Column::Right) => 1,
    }
}
