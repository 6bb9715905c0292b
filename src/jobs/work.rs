//! Threads: one job a thread, a panic becomes a failed job.

use crate::domain::Progress;
use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Name of every worker thread starts so; the screen's panic hook leaves the terminal alone for them.
pub const THREAD_PREFIX: &str = "job-";
/// How often a watcher is told.
const TICK: Duration = Duration::from_millis(100);

/// How a job ended: its value, or the text of its panic.
pub type Ended<T> = Result<T, String>;

/// A job that runs beside the drawing thread.
#[derive(Debug)]
pub struct Job<T> {
    /// What it does, in words for the status line.
    pub name: String,
    /// How far it is; `cancel` stops it at the next safe point.
    pub progress: Arc<Progress>,
    ended: Receiver<Ended<T>>,
}

impl<T> Job<T> {
    /// Its end, if it has come. The value is handed out once.
    pub fn poll(&self) -> Option<Ended<T>> {
        self.ended.try_recv().ok()
    }

    /// The channel that its end comes through, to select on.
    pub fn ended(&self) -> &Receiver<Ended<T>> {
        &self.ended
    }
}

/// Runs `work` on a thread of its own.
pub fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce(&Progress) -> T + Send + 'static,
) -> Job<T> {
    let progress = Arc::new(Progress::default());
    let (send, ended) = bounded(1);
    let shared = Arc::clone(&progress);
    let failed = send.clone();
    let thread = std::thread::Builder::new().name(format!("{THREAD_PREFIX}{name}"));
    let started = thread.spawn(move || {
        // Nobody waits any more if this fails, and that is fine.
        let _ = send.send(guarded(|| work(&shared)));
    });
    if let Err(error) = started {
        let _ = failed.send(Err(format!("no thread to run it on: {error}")));
    }
    Job {
        name: name.to_owned(),
        progress,
        ended,
    }
}

/// Runs `work` on a worker and calls `tick` here until it ends: for a command line that draws a progress line.
pub fn watched<T: Send>(
    progress: &Progress,
    work: impl FnOnce() -> T + Send,
    mut tick: impl FnMut(&Progress),
) -> Ended<T> {
    std::thread::scope(|scope| {
        let (send, ended) = bounded(1);
        let name = format!("{THREAD_PREFIX}watched");
        std::thread::Builder::new()
            .name(name)
            .spawn_scoped(scope, move || {
                let _ = send.send(guarded(work));
            })
            .map_err(|e| format!("no thread to run it on: {e}"))?;
        loop {
            match ended.recv_timeout(TICK) {
                Ok(end) => return end,
                Err(RecvTimeoutError::Timeout) => tick(progress),
                Err(RecvTimeoutError::Disconnected) => return Err("no answer".to_owned()),
            }
        }
    })
}

fn guarded<T>(work: impl FnOnce() -> T) -> Ended<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
        text.or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "unknown".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_gives_its_value_once() {
        let job = spawn("sum", |progress| {
            progress.add(2);
            40 + 2
        });
        assert_eq!(job.ended().recv().unwrap(), Ok(42));
        assert_eq!(job.progress.seen().0, 2);
        assert!(job.poll().is_none());
    }

    #[test]
    fn a_panic_is_a_failed_job_and_nothing_more() {
        let job: Job<()> = spawn("bad", |_| panic!("oh no"));
        assert_eq!(job.ended().recv().unwrap(), Err("oh no".to_owned()));
    }

    #[test]
    fn watched_work_comes_back_to_the_caller() {
        let progress = Progress::default();
        let text = String::from("borrowed");
        let ended = watched(&progress, || text.len(), |_| {});
        assert_eq!(ended, Ok(8));
    }
}
