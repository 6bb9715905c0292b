//! Tests of pty.
