//! Import: parser threads beside one writer.
//!
//! Units are read side by side and written one after the other, in the order in which they were found, so the same
//! folder always gives the same workspace. Memory stays bounded: a parser that is ahead waits for the writer.

use super::JobError;
use crate::domain::{Item, Progress, Sink, Skip};
use crate::import::{self, FileReport, Unit, UnitKind};
use crate::store::{Intake, IntakeCounts, SourceMark, Store};
use crossbeam_channel::{Receiver, Sender, bounded};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Items are handed over in batches of about so many bytes: big enough to be cheap, small enough to be bounded.
const BATCH_BYTES: usize = 256 << 10;
/// Batches that one parser may be ahead of the writer.
const BATCHES_AHEAD: usize = 8;
/// More parsers than this only wait for the one writer.
const MAX_PARSERS: usize = 8;

/// How to import.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Read everything as this format instead of looking at the content.
    pub format: Option<String>,
    /// Parser threads; 0 = by the number of cores.
    pub threads: usize,
    /// Read files again that have not changed since the last import.
    pub again: bool,
}

/// What came of one file or folder.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UnitReport {
    /// File or folder.
    pub file: String,
    /// Format it was read as.
    pub format: Option<String>,
    /// Why that format.
    pub reason: String,
    /// Runs read to their end.
    pub read: u64,
    /// New runs.
    pub stored: u64,
    /// Runs that were here already.
    pub duplicates: u64,
    /// Runs that were here and have grown.
    pub grown: u64,
    /// Runs whose steps were here and whose rewards or labels are new.
    pub updated: u64,
    /// The file has not changed since it was imported, so it was not opened.
    pub unchanged: bool,
    /// Steps read.
    pub steps: u64,
    /// Calls read.
    pub calls: u64,
    /// Rewards read.
    pub rewards: u64,
    /// Labels of others.
    pub labels: u64,
    /// Reports of one inference beyond the first.
    pub repeated: u64,
    /// Bytes read.
    pub bytes: u64,
    /// What could not be read.
    pub skipped: Vec<Skip>,
    /// How much could not be read in all.
    pub skips: u64,
    /// Row types and fields that are not understood.
    pub not_understood: BTreeMap<String, u64>,
    /// What the file does not tell, with how often.
    pub missing: BTreeMap<String, u64>,
    /// Remarks.
    pub notes: Vec<String>,
    /// Reading stopped before the end.
    pub stopped: bool,
}

/// Sums over all units.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportTotals {
    /// Files and folders.
    pub units: u64,
    /// Of these, unchanged since the last import.
    pub unchanged: u64,
    /// Runs read to their end.
    pub read: u64,
    /// New runs.
    pub stored: u64,
    /// Runs that were here already.
    pub duplicates: u64,
    /// Runs that have grown or got new rewards or labels.
    pub renewed: u64,
    /// What could not be read.
    pub skips: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes of step texts handed in.
    pub text_bytes: u64,
    /// Of these, bytes that were new.
    pub new_text_bytes: u64,
}

/// Imports paths into a workspace and tells `each` what came of every unit, in order.
pub fn import(
    store: &mut Store,
    paths: &[PathBuf],
    options: &ImportOptions,
    now_us: i64,
    progress: &Progress,
    each: &mut dyn FnMut(&UnitReport),
) -> Result<ImportTotals, JobError> {
    let mut totals = ImportTotals::default();
    let mut tell = |report: UnitReport| {
        totals.add(&report);
        each(&report);
    };
    let (work, unreadable) = plan(store, paths, options, &mut tell)?;
    progress.set_total(work.iter().map(|w| w.bytes).sum());
    unreadable.into_iter().for_each(&mut tell);
    let mut intake = store.intake(now_us)?;
    let (mut text_bytes, mut new_text_bytes) = (0, 0);
    let walked = read_side_by_side(&work, options, progress, |job, batches| {
        let (report, counts) = write_unit(&mut intake, job, batches)?;
        text_bytes += counts.bytes_in;
        new_text_bytes += counts.bytes_new;
        tell(report);
        Ok(())
    });
    // If the intake itself failed, it says here why; the walk only knows that it did.
    intake.finish()?;
    walked?;
    (totals.text_bytes, totals.new_text_bytes) = (text_bytes, new_text_bytes);
    Ok(totals)
}

/// Reads paths without a workspace: what would be found, and why.
pub fn try_import(
    paths: &[PathBuf],
    options: &ImportOptions,
    progress: &Progress,
    each: &mut dyn FnMut(&UnitReport),
) -> Result<ImportTotals, JobError> {
    let mut totals = ImportTotals::default();
    let mut tell = |report: UnitReport| {
        totals.add(&report);
        each(&report);
    };
    let found = import::discover(paths);
    found.skips.into_iter().map(unread).for_each(&mut tell);
    let work: Vec<Work> = found.units.into_iter().map(Work::new).collect();
    progress.set_total(work.iter().map(|w| w.bytes).sum());
    read_side_by_side(&work, options, progress, |_, batches| {
        let mut read = 0;
        for message in batches {
            match message {
                Message::Items(items) => {
                    read += items.iter().filter(|i| matches!(i, Item::End(_))).count() as u64;
                }
                Message::Done(report) => {
                    let counts = IntakeCounts {
                        read,
                        ..IntakeCounts::default()
                    };
                    tell(merge(*report, &counts));
                }
            }
        }
        Ok(())
    })?;
    Ok(totals)
}

impl ImportTotals {
    fn add(&mut self, report: &UnitReport) {
        self.units += 1;
        self.unchanged += u64::from(report.unchanged);
        self.read += report.read;
        self.stored += report.stored;
        self.duplicates += report.duplicates;
        self.renewed += report.grown + report.updated;
        self.skips += report.skips;
        self.bytes += report.bytes;
    }
}

/// A unit that will be read.
struct Work {
    unit: Unit,
    /// Taken before reading: a file that grows meanwhile is seen as changed by the next import.
    mark: Option<SourceMark>,
    bytes: u64,
}

impl Work {
    fn new(unit: Unit) -> Self {
        let mark = mark_of(&unit);
        let bytes = mark.as_ref().map_or(0, |m| m.size);
        Self { unit, mark, bytes }
    }
}

enum Message {
    Items(Vec<Item>),
    Done(Box<FileReport>),
}

fn plan(
    store: &Store,
    paths: &[PathBuf],
    options: &ImportOptions,
    tell: &mut dyn FnMut(UnitReport),
) -> Result<(Vec<Work>, Vec<UnitReport>), JobError> {
    let found = import::discover(paths);
    let mut work = Vec::new();
    for unit in found.units {
        let job = Work::new(unit);
        match &job.mark {
            Some(mark)
                if !options.again && options.format.is_none() && store.is_unchanged(mark)? =>
            {
                tell(unchanged(store, mark)?);
            }
            _ => work.push(job),
        }
    }
    Ok((work, found.skips.into_iter().map(unread).collect()))
}

/// Reports a file that was not opened with what its last import told.
fn unchanged(store: &Store, mark: &SourceMark) -> Result<UnitReport, JobError> {
    let kept = store.source_report(&mark.path)?;
    let last: UnitReport = kept
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    Ok(UnitReport {
        file: mark.path.clone(),
        duplicates: last.read,
        stored: 0,
        grown: 0,
        updated: 0,
        unchanged: true,
        bytes: 0,
        ..last
    })
}

fn unread(skip: Skip) -> UnitReport {
    UnitReport {
        file: skip.file.clone(),
        reason: skip.reason.clone(),
        skips: 1,
        skipped: vec![skip],
        ..UnitReport::default()
    }
}

/// Runs `write` for every unit, in order, while parsers read ahead.
fn read_side_by_side(
    work: &[Work],
    options: &ImportOptions,
    progress: &Progress,
    mut write: impl FnMut(&Work, &Receiver<Message>) -> Result<(), JobError>,
) -> Result<(), JobError> {
    let parsers = parsers(options.threads).min(work.len().max(1));
    let (hand_out, take) = bounded::<(&Work, Sender<Message>)>(parsers);
    std::thread::scope(|scope| {
        for n in 0..parsers {
            let take = take.clone();
            let name = format!("{}parser-{n}", super::work::THREAD_PREFIX);
            let run = move || parse_all(&take, options.format.as_deref(), progress);
            let started = std::thread::Builder::new()
                .name(name)
                .spawn_scoped(scope, run);
            started.map_err(|e| JobError::Died(format!("no thread to parse on: {e}")))?;
        }
        drop(take);
        let mut waiting = work.iter();
        let mut under_way = VecDeque::new();
        loop {
            while under_way.len() < parsers && !progress.is_cancelled() {
                let Some(job) = waiting.next() else { break };
                let (send, batches) = bounded(BATCHES_AHEAD);
                hand_out
                    .send((job, send))
                    .map_err(|_| JobError::Died("all parsers ended".to_owned()))?;
                under_way.push_back((job, batches));
            }
            let Some((job, batches)) = under_way.pop_front() else {
                return Ok(());
            };
            write(job, &batches)?;
        }
    })
}

fn parsers(asked: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let wanted = if asked == 0 {
        // One core is the writer's.
        cores.saturating_sub(1)
    } else {
        asked
    };
    wanted.clamp(1, MAX_PARSERS)
}

fn parse_all(take: &Receiver<(&Work, Sender<Message>)>, format: Option<&str>, progress: &Progress) {
    for (job, send) in take {
        let mut sink = Batches {
            send,
            items: Vec::new(),
            bytes: 0,
        };
        let report = import::read(&job.unit, format, &mut sink, progress);
        if sink.flush().is_continue() {
            // The writer is gone if this fails, and then nobody needs the report.
            let _ = sink.send.send(Message::Done(Box::new(report)));
        }
    }
}

/// Hands items over in batches.
struct Batches {
    send: Sender<Message>,
    items: Vec<Item>,
    bytes: usize,
}

impl Batches {
    fn flush(&mut self) -> ControlFlow<()> {
        self.bytes = 0;
        let items = std::mem::take(&mut self.items);
        if items.is_empty() || self.send.send(Message::Items(items)).is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

impl Sink for Batches {
    fn put(&mut self, item: Item) -> ControlFlow<()> {
        self.bytes += weight(&item);
        self.items.push(item);
        if self.bytes < BATCH_BYTES {
            return ControlFlow::Continue(());
        }
        self.flush()
    }
}

/// About how many bytes an item holds in memory.
fn weight(item: &Item) -> usize {
    const HEAD: usize = 256;
    HEAD + match item {
        Item::Step(step) => step.text.len(),
        Item::Call(call) => {
            let ids = |list: &Option<Vec<u32>>| list.as_ref().map_or(0, |l| l.len() * 4);
            ids(&call.prompt_token_ids)
                + ids(&call.completion_token_ids)
                + call.logprobs.as_ref().map_or(0, |l| l.len() * 8)
        }
        Item::Begin(_)
        | Item::Reward(_)
        | Item::Label(_)
        | Item::End(_)
        | Item::Skip(_)
        | Item::NotUnderstood { .. } => 0,
    }
}

fn write_unit(
    intake: &mut Intake<'_>,
    job: &Work,
    batches: &Receiver<Message>,
) -> Result<(UnitReport, IntakeCounts), JobError> {
    for message in batches {
        match message {
            Message::Items(items) => {
                for item in items {
                    if intake.put(item).is_break() {
                        return Err(JobError::Cancelled);
                    }
                }
            }
            Message::Done(report) => {
                let counts = intake.take_counts();
                let report = merge(*report, &counts);
                remember(intake, job, &report)?;
                return Ok((report, counts));
            }
        }
    }
    Err(JobError::Died(format!(
        "reading {} ended without a report",
        job.unit.name
    )))
}

/// A file that was read to its end need not be opened again until it changes.
fn remember(intake: &mut Intake<'_>, job: &Work, report: &UnitReport) -> Result<(), JobError> {
    let (Some(mark), Some(format), false) = (&job.mark, &report.format, report.stopped) else {
        return Ok(());
    };
    let text = serde_json::to_string(report).unwrap_or_default();
    Ok(intake.mark_source(mark, format, &text)?)
}

fn merge(report: FileReport, counts: &IntakeCounts) -> UnitReport {
    UnitReport {
        file: report.file,
        format: report.format,
        reason: report.reason,
        read: counts.read,
        stored: counts.stored,
        duplicates: counts.duplicates,
        grown: counts.grown,
        updated: counts.updated,
        unchanged: false,
        steps: report.steps,
        calls: report.calls,
        rewards: report.rewards,
        labels: report.labels,
        repeated: report.repeated,
        bytes: report.bytes,
        skipped: report.skipped,
        skips: report.skips,
        not_understood: report.not_understood,
        missing: report.missing,
        notes: report.notes,
        stopped: report.stopped,
    }
}

/// Files in a folder unit that are looked at for its mark.
const MAX_MARKED_FILES: usize = 10_000;

fn mark_of(unit: &Unit) -> Option<SourceMark> {
    let (size, mtime_us) = match unit.kind {
        UnitKind::Stdin => return None,
        UnitKind::File => marks(&std::fs::metadata(&unit.path).ok()?),
        UnitKind::Folder => folder_marks(&unit.path)?,
    };
    Some(SourceMark {
        path: unit.name.clone(),
        size,
        mtime_us,
    })
}

fn marks(meta: &std::fs::Metadata) -> (u64, i64) {
    let since = meta
        .modified()
        .ok()
        .and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok())
        .unwrap_or_default();
    (
        meta.len(),
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
    )
}

fn folder_marks(folder: &std::path::Path) -> Option<(u64, i64)> {
    let mut open = vec![folder.to_path_buf()];
    let (mut size, mut newest, mut files) = (0, 0, 0);
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).ok()?.flatten() {
            let meta = entry.metadata().ok()?;
            if meta.is_dir() {
                open.push(entry.path());
                continue;
            }
            let (bytes, at) = marks(&meta);
            size += bytes;
            newest = newest.max(at);
            files += 1;
            if files > MAX_MARKED_FILES {
                return None;
            }
        }
    }
    Some((size, newest))
}
