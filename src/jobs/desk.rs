//! The desk: answers the screen's questions from a store of its own, off the drawing thread.
//!
//! Three threads share the work: one for what a key press waits for, one for the board's whole list and its counts, one for
//! pages that may take their time. A question that a newer one of its kind makes pointless, or that nobody waits for any
//! more, is dropped unanswered. Every answer names what it answers, so a late one can be told.

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
mod stop;

pub use clerk::Clerk;
pub use pages::{
    AgreementPage, Bodies, CallHead, Dispute, FindingRow, Findings, FoundStep, JumpRow, Listing,
    Outline, PairPage, PairRow, PairSide, PairWrite, Preview, Queue, RewardPage, RunPage,
};
pub use question::Ask;
pub use reply::Answer;

use super::THREAD_PREFIX;
use crate::clean::Cleaner;
use crate::domain::Progress;
use crate::store::{Store, StoreError};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use stop::Stop;

/// What opens a store on the thread that will own it.
type Opener = Box<dyn FnOnce() -> Result<Store, StoreError> + Send>;

/// What masks secrets, made once for all threads: its rules take longer to compile than a first frame may.
type Masks = Arc<OnceLock<Option<Cleaner>>>;

/// The way to the threads. Dropping it ends them, and waits until everything asked for is written.
#[derive(Debug)]
pub struct Desk {
    quick: Line,
    list: Line,
    slow: Line,
    quick_answers: Receiver<Answer>,
    slow_answers: Receiver<Answer>,
}

impl Drop for Desk {
    fn drop(&mut self) {
        let (nobody, _) = unbounded();
        self.quick.asks = nobody;
        if let Some(thread) = self.quick.thread.take() {
            // Whoever leaves right after a decision must find it on the disk. The other threads only read.
            let _ = thread.join();
        }
    }
}

/// One thread: where it is asked; it answers every question once.
#[derive(Debug)]
struct Line {
    asks: Sender<Ask>,
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

impl Desk {
    /// Opens the workspace on all threads.
    pub fn open(path: &Path, read_only: bool) -> std::io::Result<Self> {
        let masks = Masks::default();
        let (quick, quick_answers) = unbounded();
        let (slow, slow_answers) = unbounded();
        let serve = |name, answers, warms| {
            let masks = Arc::clone(&masks);
            serve(name, opener(path, read_only), answers, masks, warms)
        };
        Ok(Self {
            quick: serve("desk", quick, false)?,
            list: serve("desk-list", slow.clone(), false)?,
            slow: serve("desk-slow", slow, true)?,
            quick_answers,
            slow_answers,
        })
    }

    /// Asks; the answer comes through [`Desk::quick_answers`] or [`Desk::slow_answers`].
    pub fn ask(&self, ask: Ask) {
        let line = self.line(&ask);
        line.stop.asked(&ask);
        // A thread that is gone has said so in its last answer.
        let _ = line.asks.send(ask);
    }

    /// Nobody waits for this answer any more: it is not worked out to its end.
    pub fn forget(&self, ask: &Ask) {
        if ask.is_slow() {
            self.line(ask).stop.forget(ask);
        }
    }

    fn line(&self, ask: &Ask) -> &Line {
        match (ask.is_of_list(), ask.is_slow()) {
            (true, _) => &self.list,
            (false, true) => &self.slow,
            (false, false) => &self.quick,
        }
    }

    /// Answers that a key press waits for.
    pub fn quick_answers(&self) -> &Receiver<Answer> {
        &self.quick_answers
    }

    /// Answers that may take their time.
    pub fn slow_answers(&self) -> &Receiver<Answer> {
        &self.slow_answers
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

fn serve(
    name: &str,
    open: Opener,
    send: Sender<Answer>,
    masks: Masks,
    warms: bool,
) -> std::io::Result<Line> {
    let (asks, inbox) = unbounded::<Ask>();
    let stop = Arc::new(Stop::default());
    let seen = Arc::clone(&stop);
    let thread = std::thread::Builder::new()
        .name(format!("{THREAD_PREFIX}{name}"))
        .spawn(move || match open() {
            Ok(store) => {
                seen.opened(store.interrupter());
                let mut clerk = Clerk::with(store, masks);
                if warms {
                    clerk.warm();
                }
                work(&mut clerk, &inbox, &send, &seen);
            }
            Err(error) => {
                let _ = send.send(Answer::failed("opening the workspace", &error));
            }
        })?;
    Ok(Line {
        asks,
        stop,
        thread: Some(thread),
    })
}

fn work(clerk: &mut Clerk, inbox: &Receiver<Ask>, answers: &Sender<Answer>, stop: &Stop) {
    while let Ok(first) = inbox.recv() {
        let mut waiting = vec![first];
        waiting.extend(inbox.try_iter());
        for ask in newest(waiting) {
            let said = ask.map_or(Answer::Dropped, |ask| attended(clerk, ask, stop));
            // Whoever asked may be gone; what was asked for is written all the same.
            let _ = answers.send(said);
        }
    }
}

/// Answers as long as somebody waits for it.
fn attended(clerk: &mut Clerk, ask: Ask, stop: &Stop) -> Answer {
    let Some(progress) = stop.begin(&ask) else {
        return Answer::Dropped;
    };
    let said = guarded(clerk, ask, &progress);
    if stop.end() { said } else { Answer::Dropped }
}

fn guarded(clerk: &mut Clerk, ask: Ask, progress: &Progress) -> Answer {
    let what = ask.what();
    catch_unwind(AssertUnwindSafe(|| clerk.answer_while(ask, progress)))
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
