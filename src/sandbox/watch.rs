//! Waits for a grader within its limits. Whoever it started goes with it; a pipe that such a one holds open holds
//! nobody up.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How often a quiet child is looked at.
const LOOK: Duration = Duration::from_millis(10);
/// How long pipes may stay open after the command itself has ended.
const GRACE: Duration = Duration::from_millis(500);

pub(super) struct Watch {
    pub(super) time: Duration,
    pub(super) output_bytes: usize,
    pub(super) error_bytes: usize,
}

pub(super) enum Ended {
    ByItself {
        status: ExitStatus,
        output: Vec<u8>,
        errors: String,
    },
    TooSlow,
    TooMuch,
}

/// What a reading thread reports.
enum Read1 {
    Output(Vec<u8>),
    Errors(Vec<u8>),
    TooMuch,
}

/// What has been read of both pipes.
#[derive(Default)]
struct Pipes {
    output: Option<Vec<u8>>,
    errors: Option<Vec<u8>>,
    too_much: bool,
}

impl Pipes {
    fn take(&mut self, report: Read1) {
        match report {
            Read1::Output(bytes) => self.output = Some(bytes),
            Read1::Errors(bytes) => self.errors = Some(bytes),
            Read1::TooMuch => self.too_much = true,
        }
    }

    fn are_read(&self) -> bool {
        self.output.is_some() && self.errors.is_some()
    }
}

impl Watch {
    pub(super) fn until_end(&self, mut child: Child) -> io::Result<Ended> {
        let (send, reports) = channel();
        self.listen(&mut child, &send)?;
        let ended = self.wait(&mut child, &reports);
        if !matches!(ended, Ok(Ended::ByItself { .. })) {
            stop(&mut child);
        }
        ended
    }

    fn listen(&self, child: &mut Child, send: &Sender<Read1>) -> io::Result<()> {
        if let Some(pipe) = child.stdout.take() {
            let (send, limit) = (send.clone(), self.output_bytes);
            thread("grader-output", move || report_output(pipe, limit, &send))?;
        }
        if let Some(pipe) = child.stderr.take() {
            let (send, limit) = (send.clone(), self.error_bytes);
            thread("grader-errors", move || report_errors(pipe, limit, &send))?;
        }
        Ok(())
    }

    fn wait(&self, child: &mut Child, reports: &Receiver<Read1>) -> io::Result<Ended> {
        let deadline = Instant::now() + self.time;
        let mut pipes = Pipes::default();
        let mut last_call = None;
        loop {
            match reports.recv_timeout(LOOK) {
                Ok(report) => pipes.take(report),
                // Both readers are gone: only the command itself is waited for, not round and round.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(LOOK),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if pipes.too_much {
                return Ok(Ended::TooMuch);
            }
            let now = Instant::now();
            if let Some(status) = child.try_wait()? {
                // What the command left running holds the pipes open; it must not outlive the answer anyway.
                let until = *last_call.get_or_insert_with(|| {
                    stop_group(child);
                    now + GRACE
                });
                if pipes.are_read() || now >= until {
                    let output = pipes.output.unwrap_or_default();
                    let errors =
                        String::from_utf8_lossy(&pipes.errors.unwrap_or_default()).into_owned();
                    return Ok(Ended::ByItself {
                        status,
                        output,
                        errors,
                    });
                }
            } else if now >= deadline {
                return Ok(Ended::TooSlow);
            }
        }
    }
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(|_| ())
}

fn report_output(pipe: impl Read, limit: usize, send: &Sender<Read1>) {
    let mut bytes = Vec::new();
    let read = pipe.take(limit as u64 + 1).read_to_end(&mut bytes);
    let report = if read.is_ok() && bytes.len() > limit {
        Read1::TooMuch
    } else {
        Read1::Output(bytes)
    };
    // The watcher may have gone home already.
    let _ = send.send(report);
}

/// Keeps the beginning, which says how well the command is kept in, and reads on so that nothing blocks.
fn report_errors(mut pipe: impl Read, limit: usize, send: &Sender<Read1>) {
    let mut bytes = Vec::new();
    let _ = pipe.by_ref().take(limit as u64).read_to_end(&mut bytes);
    let _ = io::copy(&mut pipe, &mut io::sink());
    let _ = send.send(Read1::Errors(bytes));
}

/// Ends the command and everything in its process group.
fn stop(child: &mut Child) {
    stop_group(child);
    let _ = child.kill();
    let _ = child.wait();
}

/// Ends whatever is left of the command's process group, which is named after the command.
fn stop_group(child: &Child) {
    // There is no safe call for it in the standard library.
    let group = format!("-{}", child.id());
    let _ = Command::new("kill")
        .args(["-KILL", "--", &group])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}
