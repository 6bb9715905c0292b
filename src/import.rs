//! The porch: turns bytes of the logs that people have into domain data, and lists what it could not read.
//! It never fails whole, never invents, and knows nothing of the disk's database.
//!
//! The walk: [`discover`] makes units out of paths, [`detect`] says what a unit is and why, [`read`] sends its
//! items into a [`Sink`](crate::domain::Sink). One file a format stands behind the one trait [`Importer`].

mod detect;
mod limits;
mod out;
mod registers;
mod report;
mod unit;

use crate::domain::{Progress, Sink};

pub use detect::Detection;
pub use registers::{read_documents, read_tasks};
pub use report::FileReport;
pub use unit::{Discovery, Unit, UnitKind, discover};

/// One log format. Adding one means: a file, a line in [`formats`], counts in `tests/import/expected.json`.
pub trait Importer: Sync {
    /// Its name, as `--format` takes it and as [`Rollout::format`](crate::domain::Rollout::format) keeps it.
    fn name(&self) -> &'static str;
    /// What people call it, in one line.
    fn title(&self) -> &'static str;
}

/// All formats, in the order in which detection asks them.
pub fn formats() -> &'static [&'static dyn Importer] {
    &[]
}

/// Says what a unit is, by its content, and why.
pub fn detect(unit: &Unit) -> Detection {
    detect::unknown(unit)
}

/// Reads a unit into `sink`: as `format` if one is given, else as what [`detect`] says.
///
/// Nothing is dropped silently: what could not be read goes into the sink as `Item::Skip` and into the report.
/// One unit is read by one thread; several units may be read side by side.
pub fn read(
    unit: &Unit,
    format: Option<&str>,
    sink: &mut dyn Sink,
    progress: &Progress,
) -> FileReport {
    let found = detect(unit);
    let mut out = out::Out::new(unit, sink, progress);
    out.choose(format.map(str::to_owned).or(found.format), found.reason);
    out.finish()
}
