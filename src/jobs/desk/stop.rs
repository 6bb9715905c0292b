//! Stopping an answer that nobody waits for any more: the one under way is interrupted, one that waits is never begun.

use super::question::Ask;
use crate::domain::Progress;
use crate::store::Interrupter;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What one thread works on; shared with whoever asks it.
#[derive(Debug, Default)]
pub(super) struct Stop(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    now: Option<(Ask, Arc<Progress>)>,
    unwanted: Vec<Ask>,
    interrupter: Option<Interrupter>,
}

impl Stop {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread has opened its store.
    pub(super) fn opened(&self, interrupter: Interrupter) {
        self.lock().interrupter = Some(interrupter);
    }

    /// It is asked: what the question makes pointless ends now.
    pub(super) fn asked(&self, ask: &Ask) {
        let mut inner = self.lock();
        inner.unwanted.retain(|old| old != ask);
        let is_old = |(now, _): &(Ask, _)| now != ask && ask.supersedes(now);
        if inner.now.as_ref().is_some_and(is_old) {
            inner.stop();
        }
    }

    /// Nobody waits for the answer any more.
    pub(super) fn forget(&self, ask: &Ask) {
        let mut inner = self.lock();
        match &inner.now {
            Some((now, _)) if now == ask => inner.stop(),
            _ => inner.unwanted.push(ask.clone()),
        }
    }

    /// The thread takes a question up; nothing if nobody waits for its answer.
    pub(super) fn begin(&self, ask: &Ask) -> Option<Arc<Progress>> {
        let mut inner = self.lock();
        if let Some(at) = inner.unwanted.iter().position(|old| old == ask) {
            inner.unwanted.swap_remove(at);
            return None;
        }
        let progress = Arc::new(Progress::default());
        inner.now = Some((ask.clone(), Arc::clone(&progress)));
        Some(progress)
    }

    /// The thread is done with it; says whether the answer is still waited for.
    pub(super) fn end(&self) -> bool {
        let done = self.lock().now.take();
        done.is_none_or(|(_, progress)| !progress.is_cancelled())
    }
}

impl Inner {
    /// Loops of ours look at the progress; SQLite is interrupted.
    fn stop(&self) {
        if let Some((_, progress)) = &self.now {
            progress.cancel();
        }
        if let Some(interrupter) = &self.interrupter {
            interrupter.interrupt();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_waits_for_is_not_begun_and_not_answered() {
        let stop = Stop::default();
        let (one, two) = (Ask::Agreement, Ask::Groups);
        // Forgotten while it waits.
        stop.forget(&one);
        assert!(stop.begin(&one).is_none());
        // Forgotten while it is worked on.
        let progress = stop.begin(&two).unwrap();
        stop.forget(&two);
        assert!(progress.is_cancelled() && !stop.end());
        // Forgotten and asked again: it is answered.
        stop.forget(&one);
        stop.asked(&one);
        assert!(stop.begin(&one).is_some() && stop.end());
        // A newer search makes the older pointless.
        let search = |words: &str| Ask::Search(words.to_owned());
        let progress = stop.begin(&search("a")).unwrap();
        stop.asked(&search("b"));
        assert!(progress.is_cancelled());
    }
}
