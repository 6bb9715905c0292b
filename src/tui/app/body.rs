//! A step's body, drawn and broken into lines once, and what of it is seen when it is folded.

use crate::domain::{Owner, Score, StepKind};
use crate::store::StepHead;
use crate::text::Wrap;
use crate::tui::doc::{Doc, Layout, Span};
use crate::tui::render::{self, Dress};
use std::sync::Arc;

/// A body with more lines than this is folded by default, if it is of a kind that is.
const FOLD_ABOVE: usize = 10;
/// Lines seen of a folded body.
const FOLDED_LINES: usize = 3;

/// What a drawing depends on; the last is whether log-probs shade it.
type Cut = (usize, Wrap, Dress, bool);

/// A step's body.
#[derive(Debug)]
pub(crate) struct Body {
    /// The step.
    pub(crate) head: StepHead,
    text: Arc<str>,
    /// The text with secrets masked, where it holds some.
    masked: Option<Arc<str>>,
    /// The whole text is here, not only its beginning.
    pub(crate) is_whole: bool,
    doc: Doc,
    layout: Layout,
    cut: Option<Cut>,
    /// What was searched in the drawing, and where it stands.
    found: (String, Vec<Span>),
}

impl Body {
    /// Takes a step whose `preview` holds the text that is shown.
    pub(crate) fn new(mut head: StepHead, masked: Option<String>) -> Self {
        let text: Arc<str> = std::mem::take(&mut head.preview).into();
        Self {
            is_whole: head.size <= text.len() as u64,
            head,
            text,
            masked: masked.map(Into::into),
            doc: Doc::default(),
            layout: Doc::default().layout(80, Wrap::Words),
            cut: None,
            found: (String::new(), Vec::new()),
        }
    }

    /// Takes the whole text.
    pub(crate) fn take_whole(&mut self, text: Arc<str>, masked: Option<Arc<str>>) {
        self.text = text;
        self.masked = masked;
        self.is_whole = true;
        self.cut = None;
    }

    /// Draws and breaks, unless that was done for the same width and dress.
    pub(crate) fn lay(&mut self, columns: usize, wrap: Wrap, dress: Dress, score: Option<&Score>) {
        let cut = (columns, wrap, dress, score.is_some());
        if self.cut == Some(cut) {
            return;
        }
        let drawn = self.cut.map(|(_, _, dress, heat)| (dress, heat));
        if let Some(score) = score {
            self.doc = render::heat(&score.token_texts, &score.token_logps);
            self.found.0.clear();
        } else if drawn != Some((dress, false)) {
            self.doc = render::step(&self.head, self.shown(dress), dress);
            self.found.0.clear();
        }
        self.layout = self.doc.layout(columns, wrap);
        self.cut = Some(cut);
    }

    /// It has been drawn, so that places in it are known.
    pub(crate) fn is_laid(&self) -> bool {
        self.cut.is_some()
    }

    /// Searches the drawing, unless that was done for the same words.
    pub(crate) fn search(&mut self, words: &str) {
        if self.found.0 != words {
            self.found = (words.to_owned(), self.doc.find(words));
        }
    }

    /// Where the words stand that were searched last.
    pub(crate) fn found(&self) -> &[Span] {
        &self.found.1
    }

    /// The drawing.
    pub(crate) fn doc(&self) -> &Doc {
        &self.doc
    }

    /// The text as stored, or its beginning.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text holds secrets.
    pub(crate) fn has_secrets(&self) -> bool {
        self.masked.is_some()
    }

    fn shown(&self, dress: Dress) -> &str {
        match &self.masked {
            Some(masked) if !dress.revealed => masked,
            _ => &self.text,
        }
    }

    /// The stretch of line `n`.
    pub(crate) fn line(&self, n: usize) -> Span {
        self.layout.line(&self.doc, n)
    }

    /// The line that holds byte `at` of the drawing.
    pub(crate) fn line_of(&self, at: usize) -> usize {
        self.layout.line_of(at)
    }

    /// Lines of the whole drawing.
    pub(crate) fn lines(&self) -> usize {
        if self.doc.is_empty() {
            0
        } else {
            self.layout.lines()
        }
    }

    /// Lines that are seen.
    pub(crate) fn seen(&self, folded: bool) -> usize {
        if folded {
            self.lines().min(FOLDED_LINES)
        } else {
            self.lines()
        }
    }

    /// Folded unless somebody unfolds it: long output of a tool that worked, and long instructions.
    pub(crate) fn folds_by_default(&self) -> bool {
        let kind = self.head.kind == StepKind::Observation || self.head.owner == Owner::System;
        kind && !is_failed(&self.head) && self.lines() > FOLD_ABOVE
    }

    /// Bytes that are not shown.
    pub(crate) fn rest_bytes(&self) -> u64 {
        if self.is_whole {
            0
        } else {
            self.head.size.saturating_sub(self.text.len() as u64)
        }
    }
}

/// A tool's answer that says something went wrong.
pub(crate) fn is_failed(head: &StepHead) -> bool {
    use crate::domain::StepStatus::{Denied, Error, Timeout};
    matches!(head.status, Error | Timeout | Denied)
}
