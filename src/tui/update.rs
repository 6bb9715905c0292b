//! Update: from the state and an event to a new state and what is wanted outside. No I/O, no clock.

mod answer;
mod board;
mod change;
mod compare;
mod copy;
mod decide;
mod find;
mod finding;
mod go;
mod label;
mod marks;
mod mouse;
mod moves;
mod note;
mod overlay;
mod pair;
mod picker;
mod prepare;
mod program;
mod prompt;
mod read;
mod run;
mod settle;
mod sheet;
mod work;

use super::action::{Action, Group};
use super::app::says::Tone;
use super::app::{App, Screen};
use super::available::why_not;
use super::effect::Effect;
use super::event::{Event, Now};
use super::key::{Key, show};
use super::keymap::Meaning;
use super::place::Place;
use ratatui::crossterm::event::KeyCode;

pub(crate) use picker::{help_lines, palette_lines};
pub(crate) use work::started;

/// Largest count that can be typed before a movement.
const MAX_COUNT: usize = 1_000_000;

/// Takes one event; returns what is wanted outside.
pub(crate) fn update(app: &mut App, now: Now, event: Event) -> Vec<Effect> {
    app.now = now;
    app.says.fade(now.ms);
    let page = page(app);
    match event {
        Event::Key(key) => press(app, key),
        Event::Paste(text) => overlay::paste(app, &text),
        Event::Mouse(mouse) => mouse::act(app, mouse),
        Event::Resize(columns, rows) => app.size = (columns, rows),
        Event::Answer(answer) => answer::take(app, *answer),
        Event::Work(news) => work::take(app, news),
        Event::Tick | Event::DeskGone => {}
        Event::Terminate => app.want(Effect::Quit),
        Event::Resumed => app.want(Effect::Clear),
    }
    if page != self::page(app) {
        app.says.page_turned(now.ms);
    }
    prepare::prepare(app);
    app.take_effects()
}

/// What is seen, as far as a message can speak of it.
fn page(app: &App) -> (Place, String) {
    let name = match app.screens.last() {
        Some(Screen::Run(view)) => view.run.0.clone(),
        Some(Screen::Pair(view)) => view.place.to_string(),
        Some(Screen::Sheet(sheet)) => sheet.kind.word().to_owned(),
        _ => String::new(),
    };
    (app.place(), name)
}

fn press(app: &mut App, key: Key) {
    app.says.key_pressed();
    let now_ms = app.now.ms;
    if let Some(view) = app.run_mut() {
        view.pace.touch(now_ms);
    }
    if let Some(view) = app.pair_mut() {
        view.pace.touch(now_ms);
    }
    if let Some(action) = always(key) {
        return act(app, action);
    }
    if app.overlay.is_some() {
        return overlay::press(app, key);
    }
    if app.typed.is_empty() && take_count(app, key) {
        return;
    }
    if key.code == KeyCode::Esc && !(app.typed.is_empty() && app.count.is_none()) {
        app.typed.clear();
        app.count = None;
        return;
    }
    sequence(app, key);
}

/// Keys that must work whatever lies above: a program that cannot be left is a trap.
fn always(key: Key) -> Option<Action> {
    match key.code {
        KeyCode::Char('c') if key.ctrl => Some(Action::Quit),
        KeyCode::Char('z') if key.ctrl => Some(Action::Suspend),
        KeyCode::Char('l') if key.ctrl => Some(Action::Redraw),
        _ => None,
    }
}

/// Digits before a movement; where digits are labels, they are labels.
fn take_count(app: &mut App, key: Key) -> bool {
    if matches!(app.place(), Place::Run | Place::Pair | Place::Welcome) {
        return false;
    }
    let digit = key.as_char().and_then(|c| c.to_digit(10));
    match digit {
        Some(0) if app.count.is_none() => false,
        Some(digit) => {
            let so_far = app.count.unwrap_or(0) * 10 + digit as usize;
            app.count = Some(so_far.min(MAX_COUNT));
            true
        }
        None => false,
    }
}

fn sequence(app: &mut App, key: Key) {
    app.typed.push(key);
    match app.keymap.meaning(app.place(), &app.typed) {
        Meaning::Does(action) => {
            app.typed.clear();
            act(app, action);
        }
        Meaning::Begins => {}
        Meaning::Nothing => {
            let keys = show(&app.typed);
            app.typed.clear();
            app.count = None;
            if key.code != KeyCode::Esc {
                let text = nothing(app, key, &keys);
                say(app, Tone::Info, text);
            }
        }
    }
}

/// A key that does nothing here may do something on the board.
fn nothing(app: &App, key: Key, keys: &str) -> String {
    let place = app.place();
    let is_finding = |action: Action| action.info().group == Group::Find;
    match app.keymap.meaning(Place::Board, &[key]) {
        Meaning::Does(action) if place == Place::Sheet && is_finding(action) => {
            let board = app.keymap.first_key(Action::GoBoard).unwrap_or_default();
            format!(
                "{keys} ({}) works on the board; {board} goes there",
                action.info().name
            )
        }
        _ => format!("{keys} does nothing in {}; ? shows what does", place.word()),
    }
}

/// Does an action, or says why not.
pub(super) fn act(app: &mut App, action: Action) {
    if let Some(reason) = why_not(app, action) {
        app.count = None;
        let name = action.info().name;
        return say(app, Tone::Info, format!("{name}: {reason}"));
    }
    let count = app.count.take().unwrap_or(1);
    app.leave_asked &= action == Action::Back;
    match action.info().group {
        Group::Label => label::act(app, action),
        Group::Pair => pair::act(app, action),
        Group::Decide => decide::act(app, action),
        Group::Read => read::act(app, action),
        Group::Move => moves::act(app, action, count),
        Group::Find => find::act(app, action),
        Group::Go => go::act(app, action),
        Group::Copy => copy::act(app, action),
        Group::Work => work::act(app, action),
        Group::Program => program::act(app, action),
    }
}

/// Says something in the status line.
pub(super) fn say(app: &mut App, tone: Tone, text: impl Into<String>) {
    let at = app.now.ms;
    app.says.say(tone, text, at);
}
