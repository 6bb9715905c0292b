//! A terminal with a shell in it, read through a vt100 parser.

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Nothing takes that long; a machine under load may come near.
const PATIENCE: Duration = Duration::from_secs(60);

struct Shared {
    parser: Mutex<vt100::Parser>,
    changed: Condvar,
}

pub(crate) struct Term {
    shared: Arc<Shared>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    _master: Box<dyn MasterPty + Send>,
}

/// A shell with job control, and no settings but those of the test.
pub(crate) fn shell(folder: &Path, columns: u16, rows: u16) -> Term {
    let size = PtySize {
        rows,
        cols: columns,
        pixel_width: 0,
        pixel_height: 0,
    };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new("bash");
    command.args(["--norc", "--noprofile", "-i"]);
    command.cwd(folder);
    for (name, value) in [
        ("PS1", "READY> "),
        ("TERM", "xterm-256color"),
        ("TRIAGENT_REVIEWER", "anna"),
        ("TRIAGENT_CONFIG", "/nowhere/config.toml"),
        ("RUST_BACKTRACE", "0"),
    ] {
        command.env(name, value);
    }
    command.env(
        "PATH",
        format!("{}:{}", bin().parent().unwrap().display(), path()),
    );
    let child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let zero = |n: u16| NonZeroU16::new(n).unwrap();
    let shared = Arc::new(Shared {
        parser: Mutex::new(vt100::Parser::new(zero(rows), zero(columns), 0)),
        changed: Condvar::new(),
    });
    listen(pair.master.try_clone_reader().unwrap(), Arc::clone(&shared));
    Term {
        shared,
        writer: pair.master.take_writer().unwrap(),
        child,
        _master: pair.master,
    }
}

fn path() -> String {
    std::env::var("PATH").unwrap()
}

pub(crate) fn bin() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_triagent"))
}

fn listen(mut reader: Box<dyn Read + Send>, shared: Arc<Shared>) {
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = reader.read(&mut bytes) {
            let parser = shared.parser.lock();
            parser
                .unwrap_or_else(PoisonError::into_inner)
                .process(&bytes[..read]);
            shared.changed.notify_all();
        }
    });
}

impl Term {
    /// A failed wait leaves the lock behind; the reader must not fail for that.
    fn lock(&self) -> MutexGuard<'_, vt100::Parser> {
        self.shared
            .parser
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Types as it stands.
    pub(crate) fn types(&mut self, text: &str) -> &mut Self {
        self.writer.write_all(text.as_bytes()).unwrap();
        self.writer.flush().unwrap();
        self
    }

    /// Types a line.
    pub(crate) fn line(&mut self, text: &str) -> &mut Self {
        self.types(text).types("\r")
    }

    /// Waits until the screen is as wanted; returns it.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, wanted: impl Fn(&vt100::Screen) -> bool) -> String {
        let end = Instant::now() + PATIENCE;
        let mut parser = self.lock();
        loop {
            if wanted(parser.screen()) {
                return parser.screen().contents();
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "no {what} on\n{}",
                parser.screen().contents()
            );
            (parser, _) = self.shared.changed.wait_timeout(parser, left).unwrap();
        }
    }

    /// Waits until the screen shows words.
    #[track_caller]
    pub(crate) fn shows(&self, words: &str) -> String {
        self.until(words, |screen| screen.contents().contains(words))
    }

    /// Waits until words are gone.
    #[track_caller]
    pub(crate) fn hides(&self, words: &str) -> String {
        self.until(words, |screen| !screen.contents().contains(words))
    }

    /// Insists that the terminal is as it was: main screen, cursor, no mouse, no bracketed paste of ours, line editing.
    #[track_caller]
    pub(crate) fn is_restored(&mut self) {
        self.until("prompt on the main screen", |s| {
            let text = s.contents();
            let last = text
                .trim_end()
                .lines()
                .last()
                .unwrap_or_default()
                .to_owned();
            !s.alternate_screen() && !s.hide_cursor() && last.trim_end() == "READY>"
        });
        {
            let parser = self.lock();
            assert_eq!(
                parser.screen().mouse_protocol_mode(),
                vt100::MouseProtocolMode::None
            );
        }
        // `stty` says what raw mode would have left behind.
        self.line("stty -a | tr ';' '\\n' | grep -o '[-]*icanon\\|[-]*echo ' | xargs echo STATE:");
        let screen = self.shows("STATE: icanon echo");
        assert!(screen.contains("READY> "), "{screen}");
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
    }
}

impl Drop for Term {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
    }
}
