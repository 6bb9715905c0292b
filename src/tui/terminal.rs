//! The terminal: taken over, and given back as it was, whatever happens.
//!
//! ratatui's own hook acts on a panic of any thread and undoes less than we do, so this is ours.

use crate::jobs::THREAD_PREFIX;
use ratatui::Terminal as Frames;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::clipboard::CopyToClipboard;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use signal_hook::consts::{SIGHUP, SIGTERM, SIGTSTP};
use std::io::{Result, Stdout, Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

/// The terminal, while it is ours. Dropping it gives it back.
pub(crate) struct Terminal {
    frames: Frames<CrosstermBackend<Stdout>>,
    mouse: bool,
}

impl Terminal {
    /// Takes the terminal over.
    pub(crate) fn take(mouse: bool) -> Result<Self> {
        watch_panics();
        enter(mouse)?;
        Ok(Self {
            frames: Frames::new(CrosstermBackend::new(stdout()))?,
            mouse,
        })
    }

    /// Columns and rows.
    pub(crate) fn size(&self) -> Result<(u16, u16)> {
        let size = self.frames.size()?;
        Ok((size.width, size.height))
    }

    /// Draws a frame. `paint` fills the cells and says where the cursor stands.
    pub(crate) fn draw(
        &mut self,
        paint: impl FnOnce(&mut Buffer) -> Option<(u16, u16)>,
    ) -> Result<()> {
        self.frames.draw(|frame| {
            let cursor = paint(frame.buffer_mut());
            if let Some(at) = cursor {
                frame.set_cursor_position(at);
            }
        })?;
        Ok(())
    }

    /// Forgets what is on screen, so that the next frame draws everything.
    pub(crate) fn clear(&mut self) -> Result<()> {
        // Not `clear`: that asks the terminal where its cursor is, and the thread that listens to the keyboard would
        // swallow the answer.
        let area = self.frames.size()?.into();
        self.frames.resize(area)
    }

    /// Takes the mouse, or gives it back.
    pub(crate) fn set_mouse(&mut self, mouse: bool) -> Result<()> {
        self.mouse = mouse;
        if mouse {
            execute!(stdout(), EnableMouseCapture)
        } else {
            execute!(stdout(), DisableMouseCapture)
        }
    }

    /// Puts text on the clipboard, between two frames so that it cannot run into one.
    pub(crate) fn copy(&mut self, text: &str) -> Result<()> {
        execute!(stdout(), CopyToClipboard::to_clipboard_from(text))
    }

    /// Gives the terminal back, stops the process, and takes the terminal again when the shell brings us back. `false` = we were
    /// brought back only to end: the terminal is the shell's by then, and whoever touches it from the background is stopped again.
    pub(crate) fn suspend(&mut self) -> Result<bool> {
        let is_over = Arc::new(AtomicBool::new(false));
        let watched =
            [SIGTERM, SIGHUP].map(|s| signal_hook::flag::register(s, Arc::clone(&is_over)));
        leave();
        signal_hook::low_level::raise(SIGTSTP)?;
        for id in watched.into_iter().flatten() {
            signal_hook::low_level::unregister(id);
        }
        if is_over.load(Ordering::SeqCst) {
            return Ok(false);
        }
        enter(self.mouse)?;
        self.clear()?;
        Ok(true)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        leave();
    }
}

/// The terminal is ours. The hook for panics has no other way to know, and giving it back twice would write over what
/// was printed in between.
static TAKEN: AtomicBool = AtomicBool::new(false);

fn enter(mouse: bool) -> Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    // No kitty flags: asking whether they are known would make every start wait for an answer, and no key needs them.
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
    if mouse {
        execute!(stdout(), EnableMouseCapture)?;
    }
    Ok(())
}

/// Gives everything back. Whatever fails, the rest is tried.
fn leave() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = stdout();
    let _ = execute!(
        out,
        DisableMouseCapture,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Show
    );
    let _ = disable_raw_mode();
    let _ = out.flush();
}

/// A panic on the drawing thread gives the terminal back before anything is printed; one on a worker, which becomes a
/// failed job, must not.
fn watch_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let thread = std::thread::current();
            if thread
                .name()
                .is_some_and(|name| name.starts_with(THREAD_PREFIX))
            {
                return;
            }
            leave();
            before(info);
        }));
    });
}
