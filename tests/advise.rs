//! Tests of advise.
