//! Everything that can happen to the screen, in one closed list, and the thread that listens to the keyboard.

use super::key::Key;
use crate::jobs::desk::Answer;
use crossbeam_channel::{Receiver, Sender, unbounded};
use ratatui::crossterm::event::{self, Event as Raw, KeyEventKind, MouseButton, MouseEventKind};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// When something happened: for pace and toasts, and for the decision log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Now {
    /// Milliseconds since the program started; never goes back.
    pub(crate) ms: u64,
    /// Microseconds UTC.
    pub(crate) us: i64,
}

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted.
    Paste(String),
    /// The mouse did something.
    Mouse(Mouse),
    /// The terminal has another size.
    Resize(u16, u16),
    /// The desk answered.
    Answer(Box<Answer>),
    /// Work in the background said something.
    Work(super::work::News),
    /// Time passed while something moves.
    Tick,
    /// The operating system asks us to go.
    Terminate,
    /// We were stopped and go on.
    Resumed,
    /// The workspace cannot be read any more; the last answer said why.
    DeskGone,
}

/// What the mouse did, in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mouse {
    /// A click.
    Click(u16, u16),
    /// The wheel, down.
    WheelDown(u16, u16),
    /// The wheel, up.
    WheelUp(u16, u16),
}

/// Listens to the terminal on a thread of its own, for as long as the program runs.
pub(crate) fn listen() -> std::io::Result<Receiver<Event>> {
    let (send, receive) = unbounded();
    std::thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || while forward(&send).is_some() {})?;
    Ok(receive)
}

/// Listens to the operating system's signals.
pub(crate) fn listen_to_signals() -> std::io::Result<Receiver<Event>> {
    let (send, receive) = unbounded();
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGCONT])?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for signal in signals.forever() {
                let event = if signal == SIGCONT {
                    Event::Resumed
                } else {
                    Event::Terminate
                };
                if send.send(event).is_err() {
                    return;
                }
            }
        })?;
    Ok(receive)
}

/// Passes one event on; `None` when nobody listens or the terminal is gone.
fn forward(send: &Sender<Event>) -> Option<()> {
    match event::read() {
        Ok(raw) => match translate(raw) {
            Some(event) => send.send(event).ok(),
            None => Some(()),
        },
        Err(_) => {
            // The terminal is gone, so nobody can press a key any more.
            let _ = send.send(Event::Terminate);
            None
        }
    }
}

/// Key releases and what nobody handles are left out.
fn translate(raw: Raw) -> Option<Event> {
    match raw {
        Raw::Key(key) if key.kind != KeyEventKind::Release => Some(Event::Key(key.into())),
        Raw::Paste(text) => Some(Event::Paste(text)),
        Raw::Resize(columns, rows) => Some(Event::Resize(columns, rows)),
        Raw::Mouse(mouse) => {
            let (x, y) = (mouse.column, mouse.row);
            match mouse.kind {
                MouseEventKind::Down(MouseButton::Left) => Some(Event::Mouse(Mouse::Click(x, y))),
                MouseEventKind::ScrollDown => Some(Event::Mouse(Mouse::WheelDown(x, y))),
                MouseEventKind::ScrollUp => Some(Event::Mouse(Mouse::WheelUp(x, y))),
                _ => None,
            }
        }
        Raw::Key(_) | Raw::FocusGained | Raw::FocusLost => None,
    }
}
