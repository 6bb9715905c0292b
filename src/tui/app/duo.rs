//! Two texts side by side, scrolled together, with the words that differ marked.

use crate::text::Wrap;
use crate::triage::{WordSide, word_diff};
use crate::tui::doc::{Doc, Layout, Span};

/// One of two texts.
#[derive(Debug)]
pub(crate) struct Half {
    /// The drawing.
    pub(crate) doc: Doc,
    /// What only this side says.
    pub(crate) marks: Vec<Span>,
    layout: Layout,
}

/// Two texts.
#[derive(Debug)]
pub(crate) struct Duo {
    /// The left one.
    pub(crate) left: Half,
    /// The right one.
    pub(crate) right: Half,
    /// First line seen.
    pub(crate) top: usize,
    cut: Option<(usize, Wrap)>,
}

impl Half {
    fn new(doc: Doc, marks: Vec<Span>) -> Self {
        Self {
            layout: doc.layout(80, Wrap::Words),
            doc,
            marks,
        }
    }

    /// Lines of the drawing.
    pub(crate) fn lines(&self) -> usize {
        if self.doc.is_empty() {
            0
        } else {
            self.layout.lines()
        }
    }

    /// The stretch of line `n`.
    pub(crate) fn line(&self, n: usize) -> Span {
        self.layout.line(&self.doc, n)
    }

    /// Lines on which a difference begins.
    fn different_lines(&self) -> impl Iterator<Item = usize> {
        self.marks.iter().map(|m| self.layout.line_of(m.start))
    }
}

impl Duo {
    /// Lays two drawings side by side and marks what differs.
    pub(crate) fn new(left: Doc, right: Doc) -> Self {
        let (mut left_marks, mut right_marks) = (Vec::new(), Vec::new());
        let (mut a, mut b) = (0, 0);
        for change in word_diff(left.text(), right.text()) {
            let len = change.text.len();
            match change.side {
                WordSide::Both => (a, b) = (a + len, b + len),
                WordSide::A => {
                    mark(&mut left_marks, a..a + len, &change.text);
                    a += len;
                }
                WordSide::B => {
                    mark(&mut right_marks, b..b + len, &change.text);
                    b += len;
                }
            }
        }
        Self {
            left: Half::new(left, left_marks),
            right: Half::new(right, right_marks),
            top: 0,
            cut: None,
        }
    }

    /// Breaks both into lines, unless that was done for the same width.
    pub(crate) fn lay(&mut self, columns: usize, wrap: Wrap) {
        if self.cut == Some((columns, wrap)) {
            return;
        }
        for half in [&mut self.left, &mut self.right] {
            half.layout = half.doc.layout(columns, wrap);
        }
        self.cut = Some((columns, wrap));
    }

    /// Lines of the longer one.
    pub(crate) fn lines(&self) -> usize {
        self.left.lines().max(self.right.lines())
    }

    /// Keeps the window inside.
    pub(crate) fn settle(&mut self, rows: usize) {
        self.top = self.top.min(self.lines().saturating_sub(rows));
    }

    /// Goes to the next or previous line on which something differs; says whether there was one.
    pub(crate) fn jump(&mut self, forward: bool) -> bool {
        let lines = self
            .left
            .different_lines()
            .chain(self.right.different_lines());
        let found = if forward {
            lines.filter(|l| *l > self.top).min()
        } else {
            lines.filter(|l| *l < self.top).max()
        };
        if let Some(line) = found {
            self.top = line;
        }
        found.is_some()
    }
}

/// A difference of nothing but white space is not worth an eye.
fn mark(marks: &mut Vec<Span>, span: Span, text: &str) {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return;
    }
    let lead = text.len() - text.trim_start().len();
    let start = span.start + lead;
    marks.push(start..start + trimmed.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_marked() {
        let duo = Duo::new(Doc::plain("refund 30 days"), Doc::plain("refund 14 days"));
        assert_eq!(duo.left.marks, vec![7..9]);
        assert_eq!(duo.right.marks, vec![7..9]);
    }

    #[test]
    fn jumps_go_from_difference_to_difference() {
        let mut duo = Duo::new(Doc::plain("a\nb\nc\nd"), Doc::plain("a\nx\nc\ny"));
        duo.lay(20, Wrap::Words);
        assert!(duo.jump(true));
        assert_eq!(duo.top, 1);
        assert!(duo.jump(true));
        assert_eq!(duo.top, 3);
        assert!(!duo.jump(true));
        assert!(duo.jump(false));
        assert_eq!(duo.top, 1);
    }
}
