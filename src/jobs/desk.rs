//! The desk: answers the screen's questions from a store of its own, off the drawing thread.
//!
//! Two threads share the work: one for what a key press waits for, one for what may take its time. A question that a newer
//! one of its kind makes pointless is dropped unanswered. Every answer names what it answers, so a late one can be told.

mod clerk;
mod decide;
mod lists;
mod pages;
mod pair;
mod preview;
mod question;
mod read;
mod reply;
mod search;

pub use clerk::Clerk;
pub use pages::{
    Bodies, CallHead, FindingRow, Findings, FoundStep, JumpRow, Listing, Outline, PairPage,
    PairRow, PairSide, PairWrite, Preview, Queue, RewardPage, RunPage,
};
pub use question::Ask;
pub use reply::Answer;

use super::THREAD_PREFIX;
use crate::store::{Store, StoreError};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// What opens a store on the thread that will own it.
type Opener = Box<dyn FnOnce() -> Result<Store, StoreError> + Send>;

/// The way to the two threads. Dropping it ends them, and waits until everything asked for is written.
#[derive(Debug)]
pub struct Desk {
    quick: Line,
    slow: Line,
}

impl Drop for Desk {
    fn drop(&mut self) {
        let (nobody, _) = unbounded();
        self.quick.asks = nobody;
        if let Some(thread) = self.quick.thread.take() {
            // Whoever leaves right after a decision must find it on the disk. The slow thread only reads.
            let _ = thread.join();
        }
    }
}

/// One thread: where it is asked and where it answers, once for every question.
#[derive(Debug)]
struct Line {
    asks: Sender<Ask>,
    answers: Receiver<Answer>,
    thread: Option<JoinHandle<()>>,
}

impl Desk {
    /// Opens the workspace on both threads.
    pub fn open(path: &Path, read_only: bool) -> std::io::Result<Self> {
        Ok(Self {
            quick: serve("desk", opener(path, read_only))?,
            slow: serve("desk-slow", opener(path, read_only))?,
        })
    }

    /// Asks; the answer comes through [`Desk::quick_answers`] or [`Desk::slow_answers`].
    pub fn ask(&self, ask: Ask) {
        let line = if ask.is_slow() {
            &self.slow
        } else {
            &self.quick
        };
        // A thread that is gone has said so in its last answer.
        let _ = line.asks.send(ask);
    }

    /// Answers that a key press waits for.
    pub fn quick_answers(&self) -> &Receiver<Answer> {
        &self.quick.answers
    }

    /// Answers that may take their time.
    pub fn slow_answers(&self) -> &Receiver<Answer> {
        &self.slow.answers
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

fn serve(name: &str, open: Opener) -> std::io::Result<Line> {
    let (asks, inbox) = unbounded::<Ask>();
    let (send, answers) = unbounded();
    let thread = std::thread::Builder::new()
        .name(format!("{THREAD_PREFIX}{name}"))
        .spawn(move || match open() {
            Ok(store) => work(&mut Clerk::new(store), &inbox, &send),
            Err(error) => {
                let _ = send.send(Answer::failed("opening the workspace", &error));
            }
        })?;
    Ok(Line {
        asks,
        answers,
        thread: Some(thread),
    })
}

fn work(clerk: &mut Clerk, inbox: &Receiver<Ask>, answers: &Sender<Answer>) {
    while let Ok(first) = inbox.recv() {
        let mut waiting = vec![first];
        waiting.extend(inbox.try_iter());
        for ask in newest(waiting) {
            let said = ask.map_or(Answer::Dropped, |ask| guarded(clerk, ask));
            // Whoever asked may be gone; what was asked for is written all the same.
            let _ = answers.send(said);
        }
    }
}

fn guarded(clerk: &mut Clerk, ask: Ask) -> Answer {
    let what = ask.what();
    catch_unwind(AssertUnwindSafe(|| clerk.answer(ask)))
        .unwrap_or_else(|_| Answer::failed(what, &"a bug of ours; `triagent doctor` may tell more"))
}

/// Empties the places of questions that a later one of the same kind makes pointless.
fn newest(asks: Vec<Ask>) -> Vec<Option<Ask>> {
    let mut kept: Vec<Option<Ask>> = Vec::with_capacity(asks.len());
    for ask in asks {
        for old in &mut kept {
            if old.as_ref().is_some_and(|old| ask.supersedes(old)) {
                *old = None;
            }
        }
        kept.push(Some(ask));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jump(text: &str) -> Ask {
        Ask::Jump(text.to_owned())
    }

    #[test]
    fn a_newer_question_of_its_kind_makes_an_older_one_pointless() {
        let draft = |text: &str| Ask::KeepDraft {
            reviewer: "a".to_owned(),
            subject: "note r".to_owned(),
            text: text.to_owned(),
            now_us: 0,
        };
        let undo = Ask::Undo {
            reviewer: "a".to_owned(),
            now_us: 0,
        };
        let asks = vec![
            jump("a"),
            undo.clone(),
            undo.clone(),
            draft("x"),
            jump("ab"),
            draft("xy"),
        ];
        let expected = vec![
            None,
            Some(undo.clone()),
            Some(undo),
            None,
            Some(jump("ab")),
            Some(draft("xy")),
        ];
        assert_eq!(newest(asks), expected);
    }
}
