//! What the status line says: toasts that fade, errors that stay until a key, and a list of all of it.

use std::collections::VecDeque;

/// How long a toast is seen.
const TOAST_MS: u64 = 4_000;
/// Messages kept; older ones are forgotten.
const MAX_MESSAGES: usize = 500;

/// How loud a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Something was done.
    Done,
    /// Something to know.
    Info,
    /// Something was done, and it came to nothing or needs a look.
    Warn,
    /// Something did not work.
    Error,
}

impl Tone {
    /// It is seen until a key is pressed.
    fn stays(self) -> bool {
        matches!(self, Self::Warn | Self::Error)
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    /// How loud.
    pub(crate) tone: Tone,
    /// What.
    pub(crate) text: String,
    /// When, in milliseconds since the program started.
    pub(crate) at_ms: u64,
}

/// What is said now, and what was said.
#[derive(Debug, Default)]
pub(crate) struct Says {
    current: Option<Message>,
    past: VecDeque<Message>,
}

impl Says {
    /// Says something.
    pub(crate) fn say(&mut self, tone: Tone, text: impl Into<String>, at_ms: u64) {
        let message = Message {
            tone,
            text: text.into(),
            at_ms,
        };
        if self.past.len() == MAX_MESSAGES {
            self.past.pop_front();
        }
        self.past.push_back(message.clone());
        self.current = Some(message);
    }

    /// What is said now.
    pub(crate) fn current(&self) -> Option<&Message> {
        self.current.as_ref()
    }

    /// Everything that was said, newest first.
    pub(crate) fn past(&self) -> impl Iterator<Item = &Message> {
        self.past.iter().rev()
    }

    /// A toast waits to vanish.
    pub(crate) fn is_fading(&self) -> bool {
        self.current.as_ref().is_some_and(|m| !m.tone.stays())
    }

    /// Lets time pass.
    pub(crate) fn fade(&mut self, now_ms: u64) {
        let over = |m: &Message| !m.tone.stays() && now_ms >= m.at_ms + TOAST_MS;
        if self.current.as_ref().is_some_and(over) {
            self.current = None;
        }
    }

    /// Another page is seen: what was said before `now_ms` spoke of the last one.
    pub(crate) fn page_turned(&mut self, now_ms: u64) {
        let is_old = |m: &Message| !m.tone.stays() && m.at_ms < now_ms;
        if self.current.as_ref().is_some_and(is_old) {
            self.current = None;
        }
    }

    /// A key was pressed: an error has been seen.
    pub(crate) fn key_pressed(&mut self) {
        if self.current.as_ref().is_some_and(|m| m.tone.stays()) {
            self.current = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toasts_fade_and_errors_wait_for_a_key() {
        let mut says = Says::default();
        says.say(Tone::Done, "saved", 0);
        says.fade(TOAST_MS - 1);
        assert!(says.current().is_some());
        says.fade(TOAST_MS);
        assert!(says.current().is_none());
        says.say(Tone::Error, "disk full", 0);
        says.fade(1_000_000);
        assert!(says.current().is_some());
        says.key_pressed();
        assert!(says.current().is_none());
        assert_eq!(says.past().count(), 2);
    }
}
