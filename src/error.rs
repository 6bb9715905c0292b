//! One error for the edges: what kind it is, what failed, where, and a hint.
//!
//! Rooms have their own small error enums; here they meet and become an exit code. This file prints nothing.

use std::fmt;
use std::io;

/// Whose fault it is, which decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The user can mend it: exit code 1.
    User,
    /// The command line itself is wrong: exit code 2.
    Usage,
    /// Nobody reads our output any more: silent success.
    BrokenPipe,
    /// Our bug: exit code 70.
    Bug,
}

/// A failure on its way to the user.
#[derive(Debug)]
pub struct Failure {
    /// Whose fault it is.
    pub kind: Kind,
    /// What failed, with its causes.
    pub error: anyhow::Error,
    /// What to do about it, most useful first.
    pub hints: Vec<String>,
}

/// What edges return.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Something that the user can mend.
    pub fn user(message: impl fmt::Display) -> Self {
        Self::of(Kind::User, anyhow::anyhow!("{message}"))
    }

    /// A wrong command line.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::of(Kind::Usage, anyhow::anyhow!("{message}"))
    }

    /// A broken promise of ours.
    pub fn bug(message: impl fmt::Display) -> Self {
        Self::of(Kind::Bug, anyhow::anyhow!("{message}"))
            .hint("this is a bug in triagent; please report it with the command that you ran")
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Exit code by kind.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            Kind::BrokenPipe => 0,
            Kind::User => 1,
            Kind::Usage => 2,
            Kind::Bug => 70,
        }
    }

    /// The lines that people read: `error: …`, causes, hints.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("error: {}", self.error)];
        let mut said = self.error.to_string();
        for cause in self.error.chain().skip(1).map(ToString::to_string) {
            // A message often repeats its source; say each thing once.
            if !said.contains(&cause) {
                lines.push(format!("  because: {cause}"));
                said.push_str(&cause);
            }
        }
        lines.extend(self.hints.iter().map(|h| format!("hint: {h}")));
        lines
    }

    fn of(kind: Kind, error: anyhow::Error) -> Self {
        Self {
            kind,
            error,
            hints: Vec::new(),
        }
    }
}

impl<E: std::error::Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        let error = anyhow::Error::new(error);
        let kind = if is_broken_pipe(&error) {
            Kind::BrokenPipe
        } else {
            Kind::User
        };
        Self::of(kind, error)
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|io| io.kind() == io::ErrorKind::BrokenPipe)
}

/// Adds hints and context on the way up.
pub trait Explain<T> {
    /// Says what was being done.
    fn doing(self, what: impl fmt::Display) -> Result<T>;

    /// Says what to do about it.
    fn hint(self, hint: impl Into<String>) -> Result<T>;
}

impl<T, E: Into<Failure>> Explain<T> for std::result::Result<T, E> {
    fn doing(self, what: impl fmt::Display) -> Result<T> {
        self.map_err(|e| {
            let mut failure = e.into();
            failure.error = failure.error.context(what.to_string());
            failure
        })
    }

    fn hint(self, hint: impl Into<String>) -> Result<T> {
        self.map_err(|e| e.into().hint(hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_the_documented_ones() {
        let pipe = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        let codes = [
            Failure::user("x").exit_code(),
            Failure::usage("x").exit_code(),
            Failure::bug("x").exit_code(),
            pipe.exit_code(),
        ];
        // DESIGN §4 and HOUSE B3.8.
        assert_eq!(codes, [1, 2, 70, 0]);
    }

    #[test]
    fn a_failure_says_what_why_and_what_to_do() {
        let io = Err::<(), _>(io::Error::other("disk on fire"));
        let failure = io
            .doing("while reading runs.jsonl")
            .hint("use another disk")
            .unwrap_err();
        assert_eq!(
            failure.lines(),
            [
                "error: while reading runs.jsonl",
                "  because: disk on fire",
                "hint: use another disk"
            ]
        );
    }
}
