//! The scriptable face: one file a verb. Holds no rule of the domain.
