//! Runs a user's grader command by re-executing this program, which restricts itself first.
