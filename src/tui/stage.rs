//! The stage: the screen without a terminal, a thread or a clock. Keys in, text out.
//!
//! Tests play on it, and the screens in the README are printed from it.

use super::app::{Advance, App, Role, Settings};
use super::effect::Effect;
use super::event::{Event, Now};
use super::key::Key;
use super::keymap::{KeyChanges, Keymap, KeymapError};
use super::theme::{Theme, ThemeError};
use super::update::update;
use super::view;
use crate::jobs::desk::{Ask, Clerk};
use crate::store::Store;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use std::collections::VecDeque;

/// Time that passes between two keys.
const STEP_MS: u64 = 1_000;
/// When the play begins, microseconds UTC: 2026-01-01.
const BEGIN_US: i64 = 1_767_225_600_000_000;

/// The screen without a terminal.
pub struct Stage {
    app: App,
    clerk: Option<Clerk>,
    now: Now,
    /// Texts that were put on the clipboard.
    pub copied: Vec<String>,
    /// Somebody left.
    pub has_left: bool,
    /// Questions that may take their time, while they are left open.
    slow: Option<VecDeque<Ask>>,
}

impl Stage {
    /// Opens on a workspace, or on the first screen where there is none.
    pub fn new(store: Option<Store>, columns: u16, rows: u16) -> Result<Self, StageError> {
        let keymap = Keymap::with(&KeyChanges::new())?;
        let theme = Theme::named("default")?;
        let settings = Settings {
            reviewer: "anna".to_owned(),
            role: Role::Annotator,
            advance: Advance::Step,
            read_only: false,
            locked: false,
            mask_secrets: true,
            mouse: false,
            gates: toml::Table::new(),
            demo: false,
            here: String::new(),
            model: String::new(),
        };
        let mut stage = Self {
            app: App::new(settings, keymap, theme, store.is_some()),
            clerk: store.map(Clerk::new),
            now: Now {
                ms: 0,
                us: BEGIN_US,
            },
            copied: Vec::new(),
            has_left: false,
            slow: None,
        };
        stage.resize(columns, rows);
        Ok(stage)
    }

    /// Takes the workspace for one that is thrown away at the end.
    pub fn as_demo(&mut self) -> &mut Self {
        self.app.set.demo = true;
        self
    }

    /// Leaves open, from now on, what the program asks its second thread.
    pub fn leave_slow_open(&mut self) -> &mut Self {
        self.slow.get_or_insert_default();
        self
    }

    /// Answers one question that was left open; says which.
    pub fn answer_slow(&mut self) -> Option<&'static str> {
        let ask = self.slow.as_mut()?.pop_front()?;
        let what = ask.what();
        let answer = self.clerk.as_mut()?.answer(ask);
        self.happens(Event::Answer(Box::new(answer)));
        Some(what)
    }

    /// Gives the terminal another size.
    pub fn resize(&mut self, columns: u16, rows: u16) -> &mut Self {
        self.happens(Event::Resize(columns, rows))
    }

    /// Lets time pass.
    pub fn wait(&mut self, ms: u64) -> &mut Self {
        self.now.ms += ms;
        self.now.us += i64::try_from(ms).unwrap_or(0) * 1_000;
        self.happens(Event::Tick)
    }

    /// Presses keys: `gg`, `<enter>`, `<ctrl-d>`, `<space>a`. What is no key is left out.
    pub fn keys(&mut self, keys: &str) -> &mut Self {
        let mut rest = keys;
        while let Some(first) = rest.chars().next() {
            let named = rest.strip_prefix('<').and_then(|r| r.split_once('>'));
            let named = named.and_then(|(name, tail)| Some((Key::parse(name)?, tail)));
            let mut chars = rest.chars();
            chars.next();
            let (key, tail) = named.unwrap_or((Key::char(first), chars.as_str()));
            rest = tail;
            self.wait(STEP_MS);
            self.happens(Event::Key(key));
        }
        self
    }

    /// Types text as it stands.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            self.happens(Event::Key(Key::char(c)));
        }
        self
    }

    /// Pastes text.
    pub fn paste(&mut self, text: &str) -> &mut Self {
        self.happens(Event::Paste(text.to_owned()))
    }

    /// The screen as text, one line a row, without trailing spaces.
    pub fn screen(&self) -> String {
        let buffer = self.draw();
        let rows = buffer.area.height;
        let lines: Vec<String> = (0..rows).map(|y| line(&buffer, y)).collect();
        lines.join("\n")
    }

    /// Rows that are drawn in reverse video: what is selected.
    pub fn selected(&self) -> Vec<String> {
        let buffer = self.draw();
        (0..buffer.area.height)
            .filter(|y| {
                let is_reversed = |x| buffer[(x, *y)].modifier.contains(Modifier::REVERSED);
                (0..buffer.area.width).filter(|x| is_reversed(*x)).count() > 3
            })
            .map(|y| line(&buffer, y))
            .collect()
    }

    /// The store behind the screen.
    pub fn store(&self) -> Option<&Store> {
        self.clerk.as_ref().map(Clerk::store)
    }

    fn draw(&self) -> Buffer {
        let (columns, rows) = self.app.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
        view::draw(&self.app, &mut buffer);
        buffer
    }

    fn happens(&mut self, event: Event) -> &mut Self {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            for effect in update(&mut self.app, self.now, event) {
                match (effect, self.clerk.as_mut()) {
                    (Effect::Ask(ask), Some(_)) if ask.is_slow() && self.slow.is_some() => {
                        self.slow.get_or_insert_default().push_back(ask);
                    }
                    (Effect::Ask(ask), Some(clerk)) => {
                        events.push_back(Event::Answer(Box::new(clerk.answer(ask))));
                    }
                    (Effect::Forget(ask), _) => {
                        if let Some(open) = self.slow.as_mut() {
                            open.retain(|other| *other != ask);
                        }
                    }
                    (Effect::Copy(text), _) => self.copied.push(text),
                    (Effect::Quit, _) => self.has_left = true,
                    _ => {}
                }
            }
        }
        self
    }
}

/// A row as text; the second half of a wide character is no character.
fn line(buffer: &Buffer, y: u16) -> String {
    let mut out = String::new();
    let mut skip = 0;
    for x in 0..buffer.area.width {
        if skip > 0 {
            skip -= 1;
            continue;
        }
        let symbol = buffer[(x, y)].symbol();
        skip = crate::text::width(symbol).saturating_sub(1);
        out.push_str(symbol);
    }
    out.trim_end().to_owned()
}

/// Why a stage cannot be set up: our own keys or theme are broken.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// The keys.
    #[error(transparent)]
    Keys(#[from] KeymapError),
    /// The theme.
    #[error(transparent)]
    Theme(#[from] ThemeError),
}
