//! Tests of reward.
