//! Cohen's κ, Fleiss' κ, Gwet's AC1 and PABAK.

use super::alpha::{Metric, alpha};

/// Two reviewers: rows are the first one's labels, columns the second one's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Counts.
    pub cells: Vec<Vec<u32>>,
}

impl Table {
    /// Counts pairs of category numbers.
    pub fn from_pairs(units: &[Vec<f64>], categories: usize) -> Self {
        let mut cells = vec![vec![0; categories]; categories];
        for unit in units {
            let place =
                |v: Option<&f64>| (0..categories).find(|c| v.is_some_and(|v| *v == *c as f64));
            if let (Some(a), Some(b)) = (place(unit.first()), place(unit.get(1))) {
                cells[a][b] += 1;
            }
        }
        Self { cells }
    }

    fn total(&self) -> f64 {
        self.cells.iter().flatten().map(|c| f64::from(*c)).sum()
    }

    /// Share of equal labels.
    pub fn observed(&self) -> Option<f64> {
        let same: f64 = (0..self.cells.len())
            .map(|i| f64::from(self.cells[i][i]))
            .sum();
        (self.total() > 0.0).then(|| same / self.total())
    }

    fn row(&self, i: usize) -> f64 {
        self.cells[i].iter().map(|c| f64::from(*c)).sum()
    }

    fn column(&self, i: usize) -> f64 {
        self.cells.iter().map(|r| f64::from(r[i])).sum()
    }

    /// Each item's labels counted by category.
    pub fn counts(&self) -> Vec<Vec<u32>> {
        let q = self.cells.len();
        let mut out = Vec::new();
        for i in 0..q {
            for j in 0..q {
                let mut item = vec![0; q];
                item[i] += 1;
                item[j] += 1;
                out.extend(std::iter::repeat_n(item, self.cells[i][j] as usize));
            }
        }
        out
    }
}

/// Cohen's κ; undefined where chance agreement is certain.
pub fn cohen(table: &Table) -> Option<f64> {
    let (n, po) = (table.total(), table.observed()?);
    let pe: f64 = (0..table.cells.len())
        .map(|i| table.row(i) * table.column(i) / (n * n))
        .sum();
    over_chance(po, pe)
}

/// Prevalence- and bias-adjusted κ.
pub fn pabak(table: &Table) -> Option<f64> {
    let q = table.cells.len() as f64;
    over_chance(table.observed()?, 1.0 / q)
}

/// Krippendorff's nominal α of a table.
pub fn table_alpha(table: &Table) -> Option<f64> {
    let units: Vec<Vec<f64>> = table
        .counts()
        .iter()
        .map(|item| {
            let labels = item.iter().enumerate();
            labels
                .flat_map(|(c, n)| std::iter::repeat_n(c as f64, *n as usize))
                .collect()
        })
        .collect();
    alpha(&units, Metric::Nominal)?.value
}

/// Fleiss' κ over items whose labels are counted by category; every item has the same number of labels.
pub fn fleiss(items: &[Vec<u32>]) -> Option<f64> {
    let raters: u32 = items.first()?.iter().sum();
    let uneven = items.iter().any(|i| i.iter().sum::<u32>() != raters);
    if raters < 2 || uneven {
        return None;
    }
    let (po, shares) = (pairwise(items)?, prevalence(items)?);
    over_chance(po, shares.iter().map(|p| p * p).sum())
}

/// Gwet's AC1 over items with two or more labels.
pub fn ac1(items: &[Vec<u32>]) -> Option<f64> {
    let shares = prevalence(items)?;
    let q = shares.len() as f64;
    if q < 2.0 {
        return None;
    }
    let pe = shares.iter().map(|p| p * (1.0 - p)).sum::<f64>() / (q - 1.0);
    over_chance(pairwise(items)?, pe)
}

fn over_chance(po: f64, pe: f64) -> Option<f64> {
    (pe < 1.0).then(|| (po - pe) / (1.0 - pe))
}

/// Mean share of agreeing pairs an item.
fn pairwise(items: &[Vec<u32>]) -> Option<f64> {
    let shares: Vec<f64> = items
        .iter()
        .filter_map(|item| {
            let m: f64 = item.iter().map(|c| f64::from(*c)).sum();
            let same: f64 = item
                .iter()
                .map(|c| f64::from(*c) * (f64::from(*c) - 1.0))
                .sum();
            (m > 1.0).then(|| same / (m * (m - 1.0)))
        })
        .collect();
    crate::stats::mean(&shares)
}

/// Mean share of each category.
fn prevalence(items: &[Vec<u32>]) -> Option<Vec<f64>> {
    let labelled: Vec<&Vec<u32>> = items.iter().filter(|i| i.iter().sum::<u32>() > 0).collect();
    let q = labelled.first()?.len();
    let share = |c: usize| {
        let of = |item: &&Vec<u32>| {
            let m: f64 = item.iter().map(|n| f64::from(*n)).sum();
            f64::from(item[c]) / m
        };
        labelled.iter().map(of).sum::<f64>() / labelled.len() as f64
    };
    Some((0..q).map(share).collect())
}
