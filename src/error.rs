//! One error for the edges: what failed, where, and a hint.
