//! Tests of score.
