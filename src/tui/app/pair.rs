//! A pair on screen: two candidates under one request, blind until decided.

use super::duo::Duo;
use super::pace::Pace;
use crate::domain::{Choice, Criterion, Side};
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
        }
    }

    /// The pair's names.
    pub(crate) fn names(&self) -> Option<&Names> {
        self.list.get(self.place)
    }

    /// Takes the page and draws both sides.
    pub(crate) fn take(&mut self, page: Box<PairPage>) {
        let of = |column| render::message(&side_of(&page, column).message);
        self.duo = Some(Duo::new(of(Column::Left), of(Column::Right)));
        self.page = Some(page);
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
    match (page.left, column) {
        (Side::A, Column::Left) | (Side::B, Column::Right) => &page.sides[0],
        (Side::B, Column::Left) | (Side::A, Column::Right) => &page.sides[1],
    }
}
