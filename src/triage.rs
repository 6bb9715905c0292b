//! Labels, pairs, queues, agreement, evidence status, differences: facts in, conclusions out. No clock, no disk.
