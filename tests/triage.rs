//! Tests of triage.
