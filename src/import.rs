//! The porch: turns bytes of the logs that people have into domain data, and lists what it could not read.
//! It never fails whole, never invents, and knows nothing of the disk's database.
//!
//! The walk: [`discover`] makes units out of paths, [`detect()`] says what a unit is and why, [`read`] sends its
//! items into a [`Sink`]. One file a format stands behind the one trait `format::Importer`.

mod answer;
mod anthropic;
mod archive;
mod beside;
mod chat;
mod content;
mod database;
mod detect;
mod document;
mod exchange;
mod extra;
mod format;
mod group;
mod join;
mod json;
mod limits;
mod lines;
mod markers;
mod mint;
mod out;
mod own;
mod parse;
mod pieces;
mod prefix;
mod raw;
mod registers;
mod report;
mod responses;
mod rows;
mod run;
mod salvage;
mod scan;
mod scores;
mod source;
mod sse;
mod table;
mod time;
mod trace;
mod turn;
mod unit;
mod values;

use crate::domain::{Progress, Sink};
use detect::{Shape, Sniff};
use format::{Importer, Input};
use out::{Halt, Out};
use source::Source;

pub use beside::{Beside, modified_us};
pub use detect::Detection;
pub use raw::read_raw;
pub use registers::{read_documents, read_tasks};
pub use report::FileReport;
pub use unit::{Discovery, Unit, UnitKind, discover};

/// A format that [`read`] understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    name: &'static str,
    title: &'static str,
}

impl Format {
    /// Its name, as `--format` takes it.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// What people call it, in one line.
    pub fn title(self) -> &'static str {
        self.title
    }
}

/// All formats, in the order in which detection asks them.
pub fn formats() -> Vec<Format> {
    let of = |f: &&dyn Importer| Format {
        name: f.name(),
        title: f.title(),
    };
    format::ALL.iter().map(of).collect()
}

/// Says what a unit is, by its content, and why.
pub fn detect(unit: &Unit) -> Detection {
    match open_source(unit).and_then(|source| sniff(unit, &source)) {
        Ok(sniff) => choose(&sniff).1,
        Err(error) => Detection {
            format: None,
            reason: error.to_string(),
        },
    }
}

/// Reads a unit into `sink`: as `format` if one is given, else as what [`detect()`] says.
///
/// Nothing is dropped silently: what could not be read goes into the sink as `Item::Skip` and into the report.
/// One unit is read by one thread; several units may be read side by side.
pub fn read(
    unit: &Unit,
    format: Option<&str>,
    sink: &mut dyn Sink,
    progress: &Progress,
) -> FileReport {
    let mut out = Out::new(unit, sink, progress);
    let result = read_into(unit, format, &mut out);
    out.finish_with(result)
}

/// Reads a log that is at hand: one that the program carries.
pub fn read_bytes(
    name: &str,
    bytes: Vec<u8>,
    format: Option<&str>,
    sink: &mut dyn Sink,
    progress: &Progress,
) -> FileReport {
    let unit = Unit::file(name);
    let mut out = Out::new(&unit, sink, progress);
    let result = read_source(&unit, Source::memory(bytes), format, &mut out);
    out.finish_with(result)
}

fn read_into(unit: &Unit, format: Option<&str>, out: &mut Out<'_>) -> Result<(), Halt> {
    let source = open_source(unit).map_err(|e| Halt::file(e.to_string()))?;
    read_source(unit, source, format, out)
}

fn read_source(
    unit: &Unit,
    source: Source,
    format: Option<&str>,
    out: &mut Out<'_>,
) -> Result<(), Halt> {
    let sniff = sniff(unit, &source).map_err(|e| Halt::file(e.to_string()))?;
    for note in source.notes() {
        out.note(note.as_str());
    }
    let (importer, found) = match format {
        Some(name) => named(name),
        None => choose(&sniff),
    };
    out.choose(found.format, found.reason.clone());
    let Some(importer) = importer else {
        return Err(Halt::file(found.reason));
    };
    let input = Input {
        unit,
        source: &source,
        sniff: &sniff,
    };
    let result = importer.read(&input, out);
    if let Some(damage) = source.damage() {
        out.skip(0, damage)?;
    }
    result
}

fn open_source(unit: &Unit) -> std::io::Result<Source> {
    match unit.kind {
        UnitKind::File => Source::open(&unit.path),
        UnitKind::Stdin => Source::stdin(),
        UnitKind::Folder => Ok(Source::memory(Vec::new())),
    }
}

fn sniff(unit: &Unit, source: &Source) -> std::io::Result<Sniff> {
    let name = unit.path.file_name().unwrap_or(unit.path.as_os_str());
    let mut sniff = detect::sniff(&name.to_string_lossy(), source)?;
    if unit.kind == UnitKind::Folder {
        sniff.shape = Shape::Folder;
        sniff.members = unit::folder_members(&unit.path);
    }
    Ok(sniff)
}

fn named(name: &str) -> (Option<&'static dyn Importer>, Detection) {
    let found = format::ALL.iter().copied().find(|f| f.name() == name);
    let reason = match found {
        Some(_) => "named by the user".to_owned(),
        None => {
            let names: Vec<&str> = format::ALL.iter().map(|f| f.name()).collect();
            format!(
                "no format is called {name:?}; hint: one of {}",
                names.join(", ")
            )
        }
    };
    let format = found.map(|f| f.name().to_owned());
    (found, Detection { format, reason })
}

fn choose(sniff: &Sniff) -> (Option<&'static dyn Importer>, Detection) {
    for importer in format::ALL {
        if let Some(reason) = importer.recognise(sniff) {
            let format = Some(importer.name().to_owned());
            return (Some(*importer), Detection { format, reason });
        }
    }
    let reason = detect::unknown(sniff);
    (
        None,
        Detection {
            format: None,
            reason,
        },
    )
}
