//! The desk: answers the screen's questions from a store of its own, off the drawing thread.
//!
//! Two threads share the work: one for what a key press waits for, one for what may take its time. A question that a newer
//! one of its kind makes pointless is dropped unanswered. Every answer names what it answers, so a late one can be told.

mod answer;
mod decide;
mod question;
mod read;

pub use answer::answer;
pub use question::{Answer, Ask, Bodies, CallHead, FoundStep, JumpRow, Listing, Outline, RunPage};

use super::THREAD_PREFIX;
use crate::store::{Store, StoreError};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// What opens a store on the thread that will own it.
type Opener = Box<dyn FnOnce() -> Result<Store, StoreError> + Send>;

/// The way to the two threads. Dropping it ends them.
#[derive(Debug)]
pub struct Desk {
    quick: Sender<Ask>,
    slow: Sender<Ask>,
    answers: Receiver<Answer>,
}

impl Desk {
    /// Opens the workspace on both threads.
    pub fn open(path: &Path, read_only: bool) -> std::io::Result<Self> {
        let (send, answers) = unbounded();
        let quick = serve("desk", opener(path, read_only), send.clone())?;
        let slow = serve("desk-slow", opener(path, true), send)?;
        Ok(Self {
            quick,
            slow,
            answers,
        })
    }

    /// Asks; the answer comes through [`Desk::answers`].
    pub fn ask(&self, ask: Ask) {
        let to = if ask.is_slow() {
            &self.slow
        } else {
            &self.quick
        };
        // A thread that is gone has said so in its last answer.
        let _ = to.send(ask);
    }

    /// Where answers come.
    pub fn answers(&self) -> &Receiver<Answer> {
        &self.answers
    }
}

fn opener(path: &Path, read_only: bool) -> Opener {
    let path: PathBuf = path.to_owned();
    Box::new(move || {
        if read_only {
            Store::open_read_only(&path)
        } else {
            Store::create(&path)
        }
    })
}

fn serve(name: &str, open: Opener, answers: Sender<Answer>) -> std::io::Result<Sender<Ask>> {
    let (asks, inbox) = unbounded::<Ask>();
    std::thread::Builder::new()
        .name(format!("{THREAD_PREFIX}{name}"))
        .spawn(move || match open() {
            Ok(mut store) => work(&mut store, &inbox, &answers),
            Err(error) => {
                let _ = answers.send(Answer::failed("opening the workspace", &error));
            }
        })?;
    Ok(asks)
}

fn work(store: &mut Store, inbox: &Receiver<Ask>, answers: &Sender<Answer>) {
    while let Ok(first) = inbox.recv() {
        let mut waiting = vec![first];
        waiting.extend(inbox.try_iter());
        for ask in newest(waiting) {
            let what = ask.what();
            let said = catch_unwind(AssertUnwindSafe(|| answer(store, ask)))
                .unwrap_or_else(|_| Answer::failed(what, &"a bug of ours; see `triagent doctor`"));
            if answers.send(said).is_err() {
                return;
            }
        }
    }
}

/// Drops questions that a later one of the same kind makes pointless; the rest keeps its order.
fn newest(asks: Vec<Ask>) -> Vec<Ask> {
    let mut kept: Vec<Ask> = Vec::with_capacity(asks.len());
    for ask in asks {
        kept.retain(|old| !ask.supersedes(old));
        kept.push(ask);
    }
    kept
}
