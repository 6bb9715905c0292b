//! Finds secrets, personal data, near-duplicates, template repetition, tampering and false evidence. It reports; people decide.
