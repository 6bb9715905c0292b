//! The way out: counts every item on its way into the sink, so that the report cannot disagree with the stream.

use super::beside::{Beside, whole};
use super::limits::{MAX_NAMES, MAX_SKIPS_NAMED};
use super::parse::Flaws;
use super::report::FileReport;
use super::unit::Unit;
use crate::domain::{Call, Ending, Item, Progress, Rollout, Sink, Skip};
use std::path::{Path, PathBuf};

/// Why reading ends before the file does.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The receiver wants no more.
    Stopped,
    /// Nothing after this can be read.
    Broken {
        /// Line, from 1; 0 = the whole file.
        line: u64,
        /// Why.
        reason: String,
    },
}

impl Halt {
    /// Nothing of the file can be read.
    pub(crate) fn file(reason: impl Into<String>) -> Self {
        Self::Broken {
            line: 0,
            reason: reason.into(),
        }
    }
}

/// What was counted before a second reading.
pub(crate) struct Muted(std::collections::BTreeMap<String, u64>);

/// Counts what passes.
pub(crate) struct Out<'s> {
    sink: &'s mut dyn Sink,
    progress: &'s Progress,
    report: FileReport,
    rewarded: bool,
    beside: Beside,
    place: PathBuf,
    /// The run that did not come to its end.
    cut: Option<Box<Rollout>>,
}

impl<'s> Out<'s> {
    /// Opens the way for one unit.
    pub(crate) fn new(unit: &Unit, sink: &'s mut dyn Sink, progress: &'s Progress) -> Self {
        let report = FileReport {
            file: unit.name.clone(),
            ..FileReport::default()
        };
        let place = match unit.beside.is_empty() {
            true => PathBuf::new(),
            false => whole(&unit.path),
        };
        Self {
            sink,
            progress,
            report,
            rewarded: false,
            beside: unit.beside.clone(),
            place,
            cut: None,
        }
    }

    /// The unit's whole path, where there are files beside it.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    /// The run under way did not come to its end.
    pub(crate) fn cut_off(&mut self, head: Rollout) {
        self.cut = Some(Box::new(head));
    }

    /// Files that speak of this unit's runs.
    pub(crate) fn beside(&self) -> Beside {
        self.beside.clone()
    }

    /// Records which format was chosen and why.
    pub(crate) fn choose(&mut self, format: Option<String>, reason: String) {
        self.report.format = format;
        self.report.reason = reason;
    }

    /// A remark that is not a failure; said once.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.report.notes.contains(&note) && self.report.notes.len() < MAX_NAMES {
            self.report.notes.push(note);
        }
    }

    /// `n` more bytes are read.
    pub(crate) fn advance(&mut self, n: u64) -> Result<(), Halt> {
        self.report.bytes += n;
        self.progress.add(n);
        if self.progress.is_cancelled() {
            return Err(Halt::Stopped);
        }
        Ok(())
    }

    /// Sends an item on.
    pub(crate) fn put(&mut self, item: Item) -> Result<(), Halt> {
        self.count(&item);
        match self.sink.put(item) {
            std::ops::ControlFlow::Continue(()) => Ok(()),
            std::ops::ControlFlow::Break(()) => Err(Halt::Stopped),
        }
    }

    /// Something could not be read.
    pub(crate) fn skip(&mut self, line: u64, reason: impl Into<String>) -> Result<(), Halt> {
        let file = self.report.file.clone();
        self.put(Item::Skip(Skip {
            file,
            line,
            reason: reason.into(),
        }))
    }

    /// A row type or field that is not understood; told once, at the end.
    pub(crate) fn not_understood(&mut self, what: &str) {
        if let Some(count) = self.report.not_understood.get_mut(what) {
            *count += 1;
        } else if self.report.not_understood.len() < MAX_NAMES {
            self.report.not_understood.insert(what.to_owned(), 1);
        }
    }

    /// Stops counting what is odd, for a second reading of the same rows.
    pub(crate) fn mute(&mut self) -> Muted {
        Muted(std::mem::take(&mut self.report.not_understood))
    }

    /// Counts again.
    pub(crate) fn unmute(&mut self, muted: Muted) {
        self.report.not_understood = muted.0;
    }

    /// What was odd in the JSON and could be read all the same.
    pub(crate) fn flaws(&mut self, flaws: Flaws) {
        for (name, count) in flaws.named() {
            *self
                .report
                .not_understood
                .entry(name.to_owned())
                .or_default() += count;
        }
    }

    /// A report of an inference that is already known.
    pub(crate) fn repeated(&mut self) {
        self.report.repeated += 1;
    }

    /// Ends the unit: a halt becomes a skip, names that were not understood go out.
    pub(crate) fn finish_with(mut self, result: Result<(), Halt>) -> FileReport {
        match result {
            Ok(()) => {}
            Err(Halt::Stopped) => self.report.stopped = true,
            Err(Halt::Broken { line, reason }) => {
                self.report.stopped = self.skip(line, reason).is_err() || self.close().is_err();
            }
        }
        self.finish()
    }

    /// Ends the run that the damage cut off, so that what it has is kept.
    fn close(&mut self) -> Result<(), Halt> {
        match self.cut.take() {
            None => Ok(()),
            Some(mut head) => {
                head.ending = Ending::Abrupt;
                self.put(Item::End(head))
            }
        }
    }

    /// Ends the unit.
    pub(crate) fn finish(mut self) -> FileReport {
        let report = &self.report;
        if report.runs == 0 && report.skips == 0 && report.notes.is_empty() && !report.stopped {
            self.note("the file is of this format and holds no run");
        }
        if !self.report.stopped {
            for (what, &count) in &self.report.not_understood {
                let what = what.clone();
                if self
                    .sink
                    .put(Item::NotUnderstood { what, count })
                    .is_break()
                {
                    self.report.stopped = true;
                    break;
                }
            }
        }
        self.report
    }

    fn count(&mut self, item: &Item) {
        let report = &mut self.report;
        match item {
            Item::Begin(_) => {
                report.runs += 1;
                self.rewarded = false;
                self.cut = None;
            }
            Item::Step(_) => report.steps += 1,
            Item::Call(call) => {
                report.calls += 1;
                self.missing_of(call);
            }
            Item::Reward(_) => {
                report.rewards += 1;
                self.rewarded = true;
            }
            Item::Label(_) => report.labels += 1,
            Item::End(head) => {
                let untold = [
                    ("task", head.task.is_none()),
                    ("reward", !self.rewarded),
                    ("tools", head.tools.is_empty()),
                    ("harness stop rule", head.harness.stop_rule.is_none()),
                    ("context compression", head.harness.compression.is_none()),
                ];
                self.missing_names(untold);
            }
            Item::Skip(skip) => {
                report.skips += 1;
                if report.skipped.len() < MAX_SKIPS_NAMED {
                    report.skipped.push(skip.clone());
                }
            }
            Item::NotUnderstood { .. } => {}
        }
    }

    fn missing_of(&mut self, call: &Call) {
        self.missing_names([
            ("request id", call.request_id.is_none()),
            ("model", call.model.is_none()),
            ("sampling", call.sampling.is_empty()),
            ("token ids", call.completion_token_ids.is_none()),
            ("behaviour log-probs", call.logprobs.is_none()),
        ]);
    }

    fn missing_names<const N: usize>(&mut self, names: [(&str, bool); N]) {
        for (name, is_missing) in names {
            if is_missing {
                *self.report.missing.entry(name.to_owned()).or_default() += 1;
            }
        }
    }
}
