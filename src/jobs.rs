//! Work that takes time, with progress and cancel. Both faces call these functions; only this room starts threads.
//!
//! Each function ties rooms together and decides nothing itself. The command line calls them as they are; the screen
//! calls them through [`spawn`].

pub mod desk;
mod samples;
mod work;

pub use samples::{SAMPLES, SampleFile, sample};
pub use work::{Ended, Job, THREAD_PREFIX, spawn, watched};
