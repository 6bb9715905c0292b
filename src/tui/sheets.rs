//! What sheets are filled with: plain functions from an answer to rows and pages.

mod advice;
mod agreement;
mod audits;
mod bars;
mod changes;
mod export;
mod findings;
mod jobs;
mod pairs;
mod probes;
mod queues;
mod rewards;
mod search;

pub(crate) use advice::advice;
pub(crate) use agreement::agreement;
pub(crate) use changes::changes;
pub(crate) use export::{formats, preview};
pub(crate) use findings::findings;
pub(crate) use jobs::jobs;
pub(crate) use pairs::pairs;
pub(crate) use probes::probes;
pub(crate) use queues::queues;
pub(crate) use rewards::rewards;
pub(crate) use search::found;
