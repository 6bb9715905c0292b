//! Probes and calibrations through their jobs, with models that answer by hand, and through the real binary.

mod calibrate;
mod hand;
mod job;
mod recorded;
mod verb;
