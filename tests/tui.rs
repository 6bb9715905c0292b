//! Tests of tui.
