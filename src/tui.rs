//! The screen: one thread draws, one table of actions, update is pure. Holds no rule of the domain.
