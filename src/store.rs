//! The only room with a key to the disk: one SQLite file, append-only decisions, views for what is current.
