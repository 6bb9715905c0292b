//! The runner: takes events from keyboard, desk, signals and work, lets `update` decide, does what it wants, draws.
//!
//! The only place of the screen that asks the clock, starts work and touches the terminal.

mod jobs;

use super::app::{Advance, App, Role, Settings};
use super::effect::Effect;
use super::event::{self, Event, Now};
use super::keymap::{KeyChanges, Keymap, KeymapError};
use super::terminal::Terminal;
use super::theme::{Theme, ThemeError};
use super::update::update;
use super::{key::Key, view};
use crate::jobs::desk::{Answer, Desk};
use crossbeam_channel::{Receiver, never, select};
use jobs::Jobs;
pub use jobs::Model;
use ratatui::crossterm::event::KeyCode;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often time is told while something moves.
const TICK: Duration = Duration::from_millis(100);
/// How long a frame waits for answers to what it has just asked: the eye does not see it, and nothing flickers.
const GRACE: Duration = Duration::from_millis(8);
/// How long a key waits for the screen that it is meant for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Events taken in before a frame is drawn.
const MAX_EVENTS: usize = 256;

/// What the screen opens on.
#[derive(Debug, Clone)]
pub enum Start {
    /// A workspace that exists.
    Workspace(PathBuf),
    /// None; an import makes one there.
    Nowhere(PathBuf),
    /// Sample logs in a folder that is thrown away.
    Demo,
}

/// How the screen is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// What it opens on.
    pub start: Start,
    /// Who decides.
    pub reviewer: String,
    /// Whose tab bar.
    pub role: Role,
    /// What a label key does next.
    pub advance: Advance,
    /// Theme's name, or `auto`.
    pub theme: String,
    /// The user's own keys.
    pub keys: KeyChanges,
    /// The mouse is ours from the start.
    pub mouse: bool,
    /// Advice thresholds that the settings change.
    pub gates: toml::Table,
    /// Which model scores, and where.
    pub model: Model,
    /// Nothing is written.
    pub read_only: bool,
    /// Secrets are masked.
    pub mask_secrets: bool,
    /// `NO_COLOR` is set.
    pub no_color: bool,
    /// F12 panics: so that a test can see the terminal given back.
    pub panic_key: bool,
}

/// Why the screen cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    /// The terminal.
    #[error("the terminal cannot be used: {0}")]
    Terminal(#[from] std::io::Error),
    /// The user's keys.
    #[error(transparent)]
    Keys(#[from] KeymapError),
    /// The theme.
    #[error(transparent)]
    Theme(#[from] ThemeError),
}

/// Shows the screen until somebody leaves.
pub fn run(options: Options) -> Result<(), TuiError> {
    let keymap = Keymap::with(&options.keys)?;
    let theme = Theme::named(theme_name(&options))?;
    let has_workspace = matches!(options.start, Start::Workspace(_));
    let mut app = App::new(settings(&options), keymap, theme, has_workspace);
    let terminal = Terminal::take(options.mouse)?;
    app.size = terminal.size()?;
    let mut runner = Runner {
        app,
        desk: None,
        jobs: Jobs::new(options.model.clone()),
        path: PathBuf::new(),
        read_only: options.read_only,
        began: Instant::now(),
        awaited: 0,
        held: VecDeque::new(),
        held_since: Instant::now(),
        leaving: false,
        panic_key: options.panic_key,
        terminal,
    };
    match options.start {
        Start::Workspace(path) => runner.open(&path)?,
        Start::Nowhere(path) => runner.path = path,
        Start::Demo => runner.open_demo(),
    }
    runner.turn()
}

/// A colour change would end reverse video under `NO_COLOR`, so that theme has none.
fn theme_name(options: &Options) -> &str {
    match (options.theme.as_str(), options.no_color) {
        ("auto", true) => "mono",
        ("auto", false) => "default",
        (name, _) => name,
    }
}

fn settings(options: &Options) -> Settings {
    Settings {
        reviewer: options.reviewer.clone(),
        role: options.role,
        advance: options.advance,
        read_only: options.read_only,
        locked: options.read_only,
        mask_secrets: options.mask_secrets,
        mouse: options.mouse,
        gates: options.gates.clone(),
        demo: matches!(options.start, Start::Demo),
        here: String::new(),
        model: options.model.model.clone(),
    }
}

struct Runner {
    app: App,
    desk: Option<Desk>,
    jobs: Jobs,
    /// The workspace's file, or where an import makes one.
    path: PathBuf,
    read_only: bool,
    began: Instant,
    /// Quick answers that have not come.
    awaited: usize,
    /// Keys typed faster than the workspace is read, and since when they wait.
    held: VecDeque<Event>,
    held_since: Instant,
    leaving: bool,
    panic_key: bool,
    /// Given back last: until then nobody else reads what is typed.
    terminal: Terminal,
}

/// A thread of the desk that is gone has said why in its last answer; without it nothing can be read any more.
fn answered(answer: Result<Answer, crossbeam_channel::RecvError>) -> Event {
    answer.map_or(Event::DeskGone, |a| Event::Answer(Box::new(a)))
}

impl Runner {
    fn turn(mut self) -> Result<(), TuiError> {
        let input = event::listen()?;
        let signals = event::listen_to_signals()?;
        // What `App::new` wants is asked before the first frame, so that its answers are nearly there.
        let now = self.now();
        let effects = update(&mut self.app, now, Event::Tick);
        self.obey(effects)?;
        loop {
            self.answers_within(GRACE)?;
            // A key that waited for an answer may have been the last one.
            if self.leaving {
                return Ok(());
            }
            self.draw()?;
            let first = self.next(&input, &signals);
            self.take(first)?;
            for event in input.try_iter().take(MAX_EVENTS).collect::<Vec<_>>() {
                self.take(event)?;
            }
        }
    }

    /// Waits for whatever comes first.
    fn next(&mut self, input: &Receiver<Event>, signals: &Receiver<Event>) -> Event {
        let nobody = never();
        let desk = self.desk.as_ref();
        let quick: &Receiver<Answer> = desk.map_or(&nobody, Desk::quick_answers);
        let slow: &Receiver<Answer> = desk.map_or(&nobody, Desk::slow_answers);
        let until = if self.app.needs_ticks() || self.jobs.any() || !self.held.is_empty() {
            TICK
        } else {
            Duration::MAX
        };
        let fallback = || Event::Terminate;
        select! {
            recv(input) -> event => event.unwrap_or_else(|_| fallback()),
            recv(signals) -> event => event.unwrap_or_else(|_| fallback()),
            recv(quick) -> answer => {
                self.awaited = self.awaited.saturating_sub(1);
                answered(answer)
            }
            recv(slow) -> answer => answered(answer),
            default(until) => Event::Tick,
        }
    }

    /// Takes answers that come within `grace`, as long as some are awaited.
    fn answers_within(&mut self, grace: Duration) -> Result<(), TuiError> {
        let until = Instant::now() + grace;
        while let Some(desk) = self.desk.as_ref().filter(|_| self.awaited > 0) {
            let Ok(answer) = desk.quick_answers().recv_deadline(until) else {
                break;
            };
            self.awaited -= 1;
            self.take(Event::Answer(Box::new(answer)))?;
        }
        Ok(())
    }

    /// A key waits until the screen that it is meant for is there: what it does must not depend on who is faster.
    fn hold(&mut self, event: Event) -> Option<Event> {
        let is_urgent = |key: &Key| key.ctrl && key.code == KeyCode::Char('c');
        match &event {
            Event::Key(key)
                if !is_urgent(key) && (self.app.is_settling() || !self.held.is_empty()) =>
            {
                if self.held.is_empty() {
                    self.held_since = Instant::now();
                }
                if self.held.len() < MAX_EVENTS {
                    self.held.push_back(event);
                }
                None
            }
            _ => Some(event),
        }
    }

    /// Keys that may go on now: their screen has come, or it does not come.
    fn released(&mut self) -> Option<Event> {
        let is_over = self.held_since.elapsed() > PATIENCE;
        if self.app.is_settling() && !is_over {
            return None;
        }
        self.held.pop_front()
    }

    fn take(&mut self, event: Event) -> Result<(), TuiError> {
        let Some(event) = self.hold(event) else {
            return Ok(());
        };
        let now = self.now();
        for news in self.jobs.news() {
            let effects = update(&mut self.app, now, Event::Work(news));
            self.obey(effects)?;
        }
        if matches!(event, Event::DeskGone) {
            self.desk = None;
        }
        if let Some(path) = self.jobs.opened() {
            self.open(&path)?;
            self.app.enter_workspace();
        }
        self.happens(event)?;
        while let Some(event) = self.released() {
            self.happens(event)?;
        }
        Ok(())
    }

    fn happens(&mut self, event: Event) -> Result<(), TuiError> {
        if self.panic_key && matches!(event, Event::Key(key) if key == Key::plain(KeyCode::F(12))) {
            panic_on_purpose();
        }
        let now = self.now();
        let effects = update(&mut self.app, now, event);
        self.obey(effects)
    }

    fn now(&self) -> Now {
        let ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Now {
            ms,
            us: jiff::Timestamp::now().as_microsecond(),
        }
    }

    fn obey(&mut self, effects: Vec<Effect>) -> Result<(), TuiError> {
        for effect in effects {
            match effect {
                Effect::Ask(ask) => {
                    if let Some(desk) = &self.desk {
                        self.awaited += usize::from(!ask.is_slow());
                        desk.ask(ask);
                    }
                }
                Effect::Forget(ask) => {
                    if let Some(desk) = &self.desk {
                        desk.forget(&ask);
                    }
                }
                Effect::Start(order) => {
                    let now = self.now();
                    self.jobs.start(&mut self.app, &self.path, order, now.us);
                }
                Effect::Cancel(id) => self.jobs.cancel(id),
                Effect::Copy(text) => self.terminal.copy(&text)?,
                Effect::Mouse(mouse) => self.terminal.set_mouse(mouse)?,
                Effect::Clear => self.terminal.clear()?,
                Effect::Suspend => self.suspend()?,
                Effect::OpenDemo => self.open_demo(),
                Effect::Quit => self.leaving = true,
            }
        }
        Ok(())
    }

    /// Stops the process, but only when everything asked for is written: it may never be brought back.
    fn suspend(&mut self) -> Result<(), TuiError> {
        let until = Instant::now() + PATIENCE;
        let mut came = Vec::new();
        while let Some(desk) = self.desk.as_ref().filter(|_| self.awaited > 0) {
            let Ok(answer) = desk.quick_answers().recv_deadline(until) else {
                break;
            };
            self.awaited -= 1;
            came.push(answer);
        }
        if !self.terminal.suspend()? {
            came.clear();
            self.take(Event::Terminate)?;
        }
        for answer in came {
            self.take(Event::Answer(Box::new(answer)))?;
        }
        Ok(())
    }

    fn open(&mut self, path: &Path) -> Result<(), TuiError> {
        self.awaited = 0;
        self.desk = Some(Desk::open(path, self.read_only)?);
        path.clone_into(&mut self.path);
        Ok(())
    }

    fn open_demo(&mut self) {
        self.app.set.demo = true;
        let now_us = self.now().us;
        self.jobs.open_demo(&mut self.app, now_us);
    }

    fn draw(&mut self) -> Result<(), TuiError> {
        self.terminal.draw(|buffer| view::draw(&self.app, buffer))?;
        Ok(())
    }
}

#[expect(
    clippy::panic,
    reason = "a test asks for it, to see the terminal given back"
)]
fn panic_on_purpose() {
    panic!("F12 was pressed with TRIAGENT_TEST_PANIC set");
}
