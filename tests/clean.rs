//! Tests of clean.
