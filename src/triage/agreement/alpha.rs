//! Krippendorff's α: any number of reviewers, any gaps, four metrics.

use serde::Serialize;

/// How far two values are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Equal or not.
    Nominal,
    /// By rank.
    Ordinal,
    /// By difference.
    Interval,
    /// By difference over sum.
    Ratio,
}

/// α and what it is made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alpha {
    /// Its value; nothing where only one value occurs.
    pub value: Option<f64>,
    /// Values that could be paired.
    pub n: usize,
    /// Observed disagreement.
    pub observed: f64,
    /// Disagreement expected by chance.
    pub expected: f64,
    /// Units with fewer than two values, dropped.
    pub dropped: usize,
    /// The values that occur and how often.
    pub counts: Vec<(f64, u32)>,
}

/// Computes α over units; each unit lists the values that it was given. Nothing where no unit has two.
pub fn alpha(units: &[Vec<f64>], metric: Metric) -> Option<Alpha> {
    let pairable: Vec<&Vec<f64>> = units.iter().filter(|u| u.len() > 1).collect();
    if pairable.is_empty() {
        return None;
    }
    let counts = tally(&pairable);
    let n: u32 = counts.iter().map(|(_, c)| c).sum();
    let distance = |a: f64, b: f64| apart(a, b, metric, &counts);
    let total = f64::from(n);
    let observed = pairable.iter().map(|u| within(u, &distance)).sum::<f64>() / total;
    let mut between = 0.0;
    for (a, na) in &counts {
        for (b, nb) in &counts {
            between += f64::from(*na) * f64::from(*nb) * distance(*a, *b);
        }
    }
    let expected = between / (total * (total - 1.0));
    Some(Alpha {
        value: (expected > 0.0).then(|| 1.0 - observed / expected),
        n: n as usize,
        observed,
        expected,
        dropped: units.len() - pairable.len(),
        counts,
    })
}

fn tally(units: &[&Vec<f64>]) -> Vec<(f64, u32)> {
    let mut all: Vec<f64> = units.iter().flat_map(|u| u.iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    let mut out: Vec<(f64, u32)> = Vec::new();
    for value in all {
        match out.last_mut().filter(|(v, _)| *v == value) {
            Some((_, count)) => *count += 1,
            None => out.push((value, 1)),
        }
    }
    out
}

/// Disagreement inside one unit, each ordered pair weighted by 1/(m − 1).
fn within(unit: &[f64], distance: &impl Fn(f64, f64) -> f64) -> f64 {
    let sum: f64 = unit
        .iter()
        .flat_map(|a| unit.iter().map(move |b| distance(*a, *b)))
        .sum();
    sum / (unit.len() as f64 - 1.0)
}

fn apart(a: f64, b: f64, metric: Metric, counts: &[(f64, u32)]) -> f64 {
    if a == b {
        return 0.0;
    }
    match metric {
        Metric::Nominal => 1.0,
        Metric::Interval => (a - b).powi(2),
        Metric::Ratio => ((a - b) / (a + b)).powi(2),
        Metric::Ordinal => {
            let (low, high) = (a.min(b), a.max(b));
            let between: f64 = counts
                .iter()
                .filter(|(v, _)| (low..=high).contains(v))
                .map(|(v, c)| f64::from(*c) / if *v == low || *v == high { 2.0 } else { 1.0 })
                .sum();
            between.powi(2)
        }
    }
}
