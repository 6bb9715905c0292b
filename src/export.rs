//! Writes datasets that the real trainers read as they are, and the manifest beside them.
