//! Small exact statistics that several pure rooms share: intervals, exact tests, corrections, seeded chance.
//!
//! Knows nothing of runs or labels, reads no clock, draws only from a seed that is passed in.

mod chance;
mod classes;
mod exact;
mod order;

pub use chance::Chance;
pub use classes::Confusion;
pub use exact::{binomial_two_sided, mcnemar, sign_flip, sign_test};
pub use order::{Interval, benjamini_hochberg, population_std};
pub use order::{bootstrap, holm, mad, mean, median, quantile, sample_std, spearman, wilson};

#[cfg(test)]
pub(crate) fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}
