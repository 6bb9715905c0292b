//! Starts work in the background and hears from it. What the work is stands in the room `jobs`.

mod auditing;
mod reading;

use crate::domain::{Progress, RunId};
use crate::export::{Format, GroupBy, NearDuplicates, Options, Purpose, SplitOptions, Undecided};
use crate::jobs::{
    self, Ended, ExportChoice, ExportModel, Job, JobError, ScoreOptions, demo_for_screen, index,
};
use crate::score::{self, DeviceChoice, ModelSource, Scorer};
use crate::store::Store;
use crate::text::plural;
use crate::triage::parse_filter;
use crate::tui::app::App;
use crate::tui::update::started;
use crate::tui::work::{ExportHow, News, Order, State};
use std::path::{Path, PathBuf};

/// Percent of the groups that a split holds out, as on the command line.
const VALIDATION_PERCENT: u8 = 10;

/// What a job gives: a line for people, or why not.
type Outcome = Result<Said, String>;

/// A line for people, and the workspace to open if there is a new one.
#[derive(Debug)]
struct Said {
    line: String,
    open: Option<PathBuf>,
    then: Option<Order>,
    /// It came to nothing, or needs a look.
    warns: bool,
}

struct Running {
    id: u64,
    job: Job<Outcome>,
    last: (u64, u64),
}

/// Work that was started.
#[derive(Default)]
pub(super) struct Jobs {
    running: Vec<Running>,
    next_id: u64,
    open: Option<PathBuf>,
    demo: Option<DemoFolder>,
    model: Model,
}

/// Which model scores, and where.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// Folder, file or URL; empty = the embedded proxy.
    pub model: String,
    /// Device word.
    pub device: String,
}

impl Jobs {
    /// Work with a model.
    pub(super) fn new(model: Model) -> Self {
        Self {
            model,
            ..Self::default()
        }
    }

    /// Something runs.
    pub(super) fn any(&self) -> bool {
        !self.running.is_empty()
    }

    /// Starts work on a workspace.
    pub(super) fn start(&mut self, app: &mut App, path: &Path, order: Order, now_us: i64) {
        let path = path.to_owned();
        let work = order.clone();
        let model = self.model.clone();
        let job = jobs::spawn("work", move |progress| match &work {
            Order::Score(filter) => grade(&path, filter, &model, now_us, progress),
            Order::Probe(run) => probe(&path, run, &model, now_us, progress),
            other => obey(&path, other, now_us, progress),
        });
        self.add(app, &order, job);
    }

    /// Makes a workspace of sample logs.
    pub(super) fn open_demo(&mut self, app: &mut App, now_us: i64) {
        let folder = DemoFolder::new(now_us);
        let place = folder.0.clone();
        self.demo = Some(folder);
        let job = jobs::spawn("demo", move |progress| {
            let path = demo_for_screen(&place, now_us, progress).map_err(|e| e.to_string())?;
            Ok(Said {
                line: "sample logs are here, labelled by a second reviewer, demo; nothing is kept when you leave"
                    .to_owned(),
                open: Some(path),
                then: None,
                warns: false,
            })
        });
        self.add(app, &Order::Demo, job);
    }

    fn add(&mut self, app: &mut App, order: &Order, job: Job<Outcome>) {
        self.next_id += 1;
        started(app, self.next_id, order);
        self.running.push(Running {
            id: self.next_id,
            job,
            last: (0, 0),
        });
    }

    /// Asks work to stop.
    pub(super) fn cancel(&self, id: u64) {
        let named = self.running.iter().filter(|r| r.id == id);
        named.for_each(|r| r.job.progress.cancel());
    }

    /// What there is to hear.
    pub(super) fn news(&mut self) -> Vec<News> {
        let mut news = Vec::new();
        let mut running = std::mem::take(&mut self.running);
        running.retain_mut(|work| match work.job.poll() {
            Some(ended) => {
                news.push(News {
                    id: work.id,
                    state: self.ended(ended),
                });
                false
            }
            None => {
                let seen = work.job.progress.seen();
                if seen != work.last {
                    work.last = seen;
                    let state = State::Running(seen.0, seen.1);
                    news.push(News { id: work.id, state });
                }
                true
            }
        });
        self.running = running;
        news
    }

    fn ended(&mut self, ended: Ended<Outcome>) -> State {
        match ended {
            Ok(Ok(said)) => {
                self.open = said.open.or(self.open.take());
                if said.warns {
                    State::Warned(said.line, said.then)
                } else {
                    State::Done(said.line, said.then)
                }
            }
            Ok(Err(why)) => State::Failed(why),
            Err(panic) => State::Failed(format!("a bug of ours: {panic}")),
        }
    }

    /// A workspace that work has made, once.
    pub(super) fn opened(&mut self) -> Option<PathBuf> {
        self.open.take()
    }
}

fn obey(path: &Path, order: &Order, now_us: i64, progress: &Progress) -> Outcome {
    let done = match order {
        Order::Import(paths) => reading::read_logs(path, paths, now_us, progress),
        Order::Index => catch_up(path, progress),
        Order::Audit {
            grader,
            stands_for,
            filter,
            reviewer,
        } => {
            let typed = auditing::Typed {
                grader,
                stands_for: stands_for.as_deref(),
                filter,
                reviewer,
            };
            return auditing::audit(path, &typed, now_us, progress);
        }
        Order::Check => clean(path, now_us, progress),
        Order::Export {
            format,
            filter,
            reviewer,
            how,
        } => return write(path, format, (filter, reviewer), how, progress),
        Order::Demo | Order::Score(_) | Order::Probe(_) => {
            return Err("this is started in another way".to_owned());
        }
    };
    done.map_err(|error| error.to_string())
}

fn catch_up(path: &Path, progress: &Progress) -> Result<Said, JobError> {
    let mut store = Store::open(path)?;
    index(&mut store, progress)?;
    Ok(said("complete".to_owned()))
}

fn clean(path: &Path, now_us: i64, progress: &Progress) -> Result<Said, JobError> {
    let mut store = Store::open(path)?;
    jobs::ensure_cleaning_key(&mut store, jobs::random_key(), now_us)?;
    let checked = jobs::check(&mut store, now_us, progress)?;
    Ok(said(format!(
        "{} in {}",
        plural(checked.findings, "finding"),
        plural(checked.runs, "run")
    )))
}

/// Writes a dataset. Every row that stays out is in its manifest.
fn write(
    path: &Path,
    format: &str,
    (filter, me): (&str, &str),
    how: &ExportHow,
    progress: &Progress,
) -> Outcome {
    let format =
        Format::from_word(format).ok_or_else(|| format!("no format is called {format}"))?;
    let store = Store::open_read_only(path).map_err(|e| e.to_string())?;
    let text = |e: JobError| e.to_string();
    let model = ExportModel::open(how.model.as_deref()).map_err(text)?;
    let choice = ExportChoice {
        filter: parse_filter(filter, Some(me)).map_err(|e| e.to_string())?,
        filter_text: filter.to_owned(),
        bindings: model.bindings(how.reference.as_deref()).map_err(text)?,
    };
    let manifest = model
        .judging(options(format, how)?, false, |options| {
            jobs::export(&store, &choice, options, &how.folder, progress)
        })
        .map_err(text)?;
    let rows: u64 = manifest.rows.values().sum();
    let fit = if manifest.acceptable_for_training {
        "acceptable for training"
    } else {
        "not acceptable for training"
    };
    Ok(said(format!(
        "{} in {}, {fit}, {} left out (the manifest says why)",
        plural(rows, "row"),
        how.folder.display(),
        manifest.left_out.len()
    )))
}

fn options(format: Format, how: &ExportHow) -> Result<Options<'static>, String> {
    let split = match &how.split {
        None => None,
        Some(word) => Some(SplitOptions {
            by: GroupBy::from_word(word)
                .ok_or_else(|| format!("nothing is split by {word}; task, document or scenario"))?,
            seed: 0,
            validation: VALIDATION_PERCENT,
            test: 0,
            near_duplicates: NearDuplicates::Block,
        }),
    };
    let purpose = if how.draft {
        Purpose::Draft
    } else {
        Purpose::Training
    };
    let undecided = if how.redact {
        Undecided::Redact
    } else {
        Undecided::LeaveOut
    };
    Ok(Options {
        split,
        purpose,
        undecided,
        ..Options::new(format)
    })
}

/// Loads the configured model.
fn scorer(model: &Model) -> Result<Scorer, String> {
    let text = |e: &dyn std::fmt::Display| e.to_string();
    let named = Some(model.model.as_str()).filter(|m| !m.is_empty());
    let source = ModelSource::parse(named).map_err(|e| text(&e))?;
    let device = DeviceChoice::parse(&model.device).map_err(|e| text(&e))?;
    let options = score::Options {
        device,
        ..score::Options::default()
    };
    Scorer::open(&source, &options).map_err(|e| text(&e))
}

/// Probes a run with the configured model, all cells.
fn probe(path: &Path, run: &RunId, model: &Model, now_us: i64, progress: &Progress) -> Outcome {
    let mut scorer = scorer(model)?;
    let text = |e: JobError| e.to_string();
    let mut store = Store::open(path).map_err(|e| e.to_string())?;
    let register = jobs::register(&store).map_err(text)?;
    let options = jobs::ProbeOptions::default();
    let done = jobs::probe(
        &mut store,
        &mut scorer,
        run,
        &register,
        &options,
        now_us,
        progress,
    )
    .map_err(text)?;
    let cells: usize = done.report.effects.iter().map(|e| e.cells).sum();
    Ok(said(format!(
        "{} by {}; R shows it",
        plural(cells as u64, "cell"),
        done.binding.model
    )))
}

/// Scores runs and pairs with the configured model.
fn grade(path: &Path, filter: &str, model: &Model, now_us: i64, progress: &Progress) -> Outcome {
    let text = |e: &dyn std::fmt::Display| e.to_string();
    let mut scorer = scorer(model)?;
    let mut store = Store::open(path).map_err(|e| text(&e))?;
    let what = ScoreOptions {
        filter: parse_filter(filter, None).map_err(|e| text(&e))?,
        ..ScoreOptions::default()
    };
    let totals = jobs::score(
        &mut store,
        &mut scorer,
        &what,
        now_us,
        progress,
        &mut |_| {},
    )
    .map_err(|e| text(&e))?;
    let by = scorer.binding();
    // Nothing scored is no success.
    if totals.scored + totals.known == 0 {
        return Err(match totals.failed {
            0 => "no run or pair of this list has anything to score".to_owned(),
            n => format!(
                "nothing scored: not possible for {n} by {}; `triagent score` says why",
                by.model
            ),
        });
    }
    let proxy = if by.is_proxy {
        ", a proxy that speaks for itself"
    } else {
        ""
    };
    Ok(said(format!(
        "{} new, {} known, {} not possible; by {}{proxy}",
        totals.scored, totals.known, totals.failed, by.model
    )))
}

fn said(line: String) -> Said {
    Said {
        line,
        open: None,
        then: None,
        warns: false,
    }
}

/// The demo's folder; thrown away with this.
struct DemoFolder(PathBuf);

impl DemoFolder {
    fn new(now_us: i64) -> Self {
        let name = format!("triagent-demo-{}-{now_us}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for DemoFolder {
    fn drop(&mut self) {
        // What cannot be removed lies in the system's folder for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
