//! The command line as a script sees it: the real binary, real exit codes, real JSON.

mod advise;
mod basics;
mod change;
mod demo;
pub(crate) mod desk;
mod export;
mod follow;
mod hints;
mod hostile;
mod report;
mod rewards;
mod schema;
mod show;
mod suggest;
