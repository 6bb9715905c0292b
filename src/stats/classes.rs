//! How well a classifier names classes: confusion, precision, recall, F1 by class and their plain mean.
//!
//! Knows classes only by number; names belong to the caller.

/// Counts of what was true (rows) against what was said (columns).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confusion {
    classes: usize,
    counts: Vec<u32>,
}

impl Confusion {
    /// No items yet.
    pub fn new(classes: usize) -> Self {
        Self {
            classes,
            counts: vec![0; classes * classes],
        }
    }

    /// Counts items given as (true class, said class); classes out of range are not counted.
    pub fn of(classes: usize, items: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut out = Self::new(classes);
        for (truth, said) in items {
            out.add(truth, said);
        }
        out
    }

    /// Counts one item.
    pub fn add(&mut self, truth: usize, said: usize) {
        if truth < self.classes
            && said < self.classes
            && let Some(slot) = self.counts.get_mut(truth * self.classes + said)
        {
            *slot += 1;
        }
    }

    /// How often `said` was said where `truth` was true.
    pub fn count(&self, truth: usize, said: usize) -> u32 {
        let at = truth * self.classes + said;
        self.counts.get(at).copied().unwrap_or(0)
    }

    /// How often a class was true.
    pub fn support(&self, class: usize) -> u32 {
        (0..self.classes).map(|said| self.count(class, said)).sum()
    }

    /// How often a class was said.
    pub fn said(&self, class: usize) -> u32 {
        (0..self.classes)
            .map(|truth| self.count(truth, class))
            .sum()
    }

    /// Right among what was said; nothing where it was never said.
    pub fn precision(&self, class: usize) -> Option<f64> {
        share(self.count(class, class), self.said(class))
    }

    /// Found among what was true; nothing where it was never true.
    pub fn recall(&self, class: usize) -> Option<f64> {
        share(self.count(class, class), self.support(class))
    }

    /// F1 of a class; nothing where it was neither true nor said, 0 where it was never said rightly.
    pub fn f1(&self, class: usize) -> Option<f64> {
        let both = self.support(class) + self.said(class);
        share(2 * self.count(class, class), both)
    }

    /// Plain mean of F1 over the classes that were true or said; nothing without items.
    pub fn macro_f1(&self) -> Option<f64> {
        let each: Vec<f64> = (0..self.classes).filter_map(|c| self.f1(c)).collect();
        super::mean(&each)
    }

    /// Share of items that were said rightly.
    pub fn accuracy(&self) -> Option<f64> {
        let right = (0..self.classes).map(|c| self.count(c, c)).sum();
        share(right, self.counts.iter().sum())
    }
}

fn share(hits: u32, of: u32) -> Option<f64> {
    (of > 0).then(|| f64::from(hits) / f64::from(of))
}

#[cfg(test)]
mod tests {
    use super::super::close;
    use super::*;

    #[test]
    fn macro_f1_is_that_of_the_published_example() {
        // scikit-learn's documentation of f1_score: y_true 0 1 2 0 1 2, y_pred 0 2 1 0 0 1; macro 0.26…, by class 0.8 0 0;
        // precision_score there: macro 0.22, by class 0.66 0 0; recall_score: 1 0 0.
        let items = [(0, 0), (1, 2), (2, 1), (0, 0), (1, 0), (2, 1)];
        let c = Confusion::of(3, items);
        assert!(close(c.macro_f1().unwrap(), 0.8 / 3.0, 1e-12));
        assert!(close(c.f1(0).unwrap(), 0.8, 1e-12));
        assert!(close(c.precision(0).unwrap(), 2.0 / 3.0, 1e-12));
        assert!(close(c.recall(0).unwrap(), 1.0, 0.0));
        assert_eq!((c.f1(1), c.f1(2)), (Some(0.0), Some(0.0)));
        assert!(close(c.accuracy().unwrap(), 2.0 / 6.0, 1e-12));
    }

    #[test]
    fn a_class_that_never_occurs_does_not_count_and_nothing_gives_nothing() {
        let c = Confusion::of(4, [(0, 0), (1, 1)]);
        assert_eq!(c.macro_f1(), Some(1.0));
        assert_eq!((c.f1(3), c.precision(2), c.recall(2)), (None, None, None));
        assert_eq!(Confusion::new(4).macro_f1(), None);
        assert_eq!(Confusion::of(2, [(5, 0)]).accuracy(), None);
    }
}
