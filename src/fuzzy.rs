//! Fuzzy matching behind one small door, so that the crate can be swapped.
